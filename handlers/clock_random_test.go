// Two whole worlds, moved by the same amount in one step and in several, are equal in every interface.

package handlers_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim/txs"
)

// TestRandomTimeIsTheSameInParts moves the clocks of two worlds by the same random amounts, from a second to weeks, with and without people, and
// mines and sends in between on every kind of chain. One world takes each move in one step, the other in several. They stay equal, they verify, all
// interfaces agree, and the balances add up.
func TestRandomTimeIsTheSameInParts(t *testing.T) {
	t.Parallel()
	for number := range uint64(times(t, 4)) {
		var digests [][]byte
		for _, parts := range []bool{false, true} {
			s := newMovedStory(t)
			s.wander(number, parts)
			digests = append(digests, s.world.Digest())
			if parts {
				s.compareStakers()
				s.compareNetwork()
				s.compareL1Validators()
				s.ends()
			}
		}
		if !bytes.Equal(digests[0], digests[1]) {
			t.Errorf("sequence %d: the parts in which time passes make a difference", number)
		}
	}
}

// newMovedStory returns a story in a world with people.
func newMovedStory(t *testing.T) *story {
	t.Helper()
	w := tinyWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Relayer: true, People: peopleOf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &story{&views{t, w, h, w.Networks[0]}}
}

// wander acts on a sequence of random numbers. Another sequence divides each step into parts.
func (s *story) wander(number uint64, parts bool) {
	s.Helper()
	r, cuts := rand.New(rand.NewPCG(number, 1)), rand.New(rand.NewPCG(number, 2))
	whale := s.wallet("whale")
	for range 8 + r.IntN(8) {
		chain := []string{"/ext/bc/C/rpc", "/fuji/ext/bc/C/rpc", "/ext/bc/" + s.l1Chain() + "/rpc"}[r.IntN(3)]
		switch r.IntN(6) {
		case 0, 1:
			longest := []time.Duration{time.Minute, 12 * time.Hour, 20 * 24 * time.Hour}[r.IntN(3)]
			s.pass(time.Duration(1+r.Int64N(int64(longest/time.Millisecond)))*time.Millisecond, false, parts, cuts)
		case 2:
			s.pass(time.Duration(1+r.Int64N(int64(8*time.Hour/time.Second)))*time.Second, true, parts, cuts)
		case 3:
			s.rpcDone(chain, "anvil_mine", fmt.Sprintf(`["0x%x"]`, 1+r.IntN(3)))
		case 4:
			s.rpcDone(chain, "eth_sendTransaction", fmt.Sprintf(`[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x%x"}]`, r.Uint32()))
		default:
			base := whale.spend(txs.PChain, 0, whale.output(uint64(1+r.IntN(1000))))
			whale.issue(txs.PChain, &base)
		}
	}
}

// l1Chain returns the blockchain id of mainnet's L1.
func (s *story) l1Chain() string {
	for _, c := range s.world.Chains {
		if c.Row.Network == s.l.Name && c != s.l.CChain() {
			return ids.ID(c.Row.BlockchainID).String()
		}
	}
	s.Fatal("there is no L1")
	return ""
}

// pass lets time pass, in one step or in several.
func (s *story) pass(span time.Duration, people, parts bool, cuts *rand.Rand) {
	s.Helper()
	end := s.world.Clock.Now().Add(span)
	for now := s.world.Clock.Now(); now.Before(end); now = s.world.Clock.Now() {
		to := end
		if parts && cuts.IntN(4) > 0 {
			to = now.Add(time.Duration(1+cuts.Int64N(int64(end.Sub(now)/time.Millisecond)+1)) * time.Millisecond)
		}
		if to.After(end) {
			to = end
		}
		body := fmt.Sprintf(`{"set":%q,"populate":%v}`, to.Format(time.RFC3339Nano), people)
		s.decode(body, ask(s.h, http.MethodPost, "/sim/clock", body))
	}
}

func (s *story) rpcDone(path, method, params string) {
	s.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	s.decode(body, ask(s.h, http.MethodPost, path, body))
}
