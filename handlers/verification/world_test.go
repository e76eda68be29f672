package verification

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/solc"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// alice sends what tests send.
var alice = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")

// service verifies the contracts of a world's first chain.
type service struct {
	*testing.T
	*Service
	chain *reader.Chain
	miner *miner.Miner
	logs  *logs
}

func newService(t *testing.T, w *sim.World, compilers *solc.Compilers) *service {
	t.Helper()
	l := &logs{}
	s, err := New(w, artifacts.New(), compilers, slog.New(slog.NewTextHandler(l, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &service{t, s, w.Chains[0], w.MinerOf(w.Chains[0]), l}
}

// writing verifies the contracts of a world of the test's own, without a compiler.
func writing(t *testing.T) *service {
	t.Helper()
	return newService(t, seedtest.Copy(t, 1), solc.New(nil))
}

func (s *service) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// find returns what is known of a contract.
func (s *service) find(address common.Address) *Contract {
	s.Helper()
	c, err := s.Find(s.Context(), s.world.DB, s.chain, address)
	s.check(err)
	return c
}

// logs keeps the lines of a log.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
