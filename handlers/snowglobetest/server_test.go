package snowglobetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/utils/cb58"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/handlers/control"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/snowglobetest"
)

func dial(t *testing.T, url string) *ethclient.Client {
	t.Helper()
	client, err := ethclient.DialContext(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// pay sends a payment from a persona and waits for its receipt.
func pay(t *testing.T, client *ethclient.Client, from *snowglobetest.Persona, to common.Address) *types.Receipt {
	t.Helper()
	id, err := client.ChainID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := client.PendingNonceAt(t.Context(), from.Address)
	if err != nil {
		t.Fatal(err)
	}
	tx := types.MustSignNewTx(from.Key, types.LatestSignerForChainID(id),
		&types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &to, Value: big.NewInt(1e15)})
	if err := client.SendTransaction(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	receipt, err := client.TransactionReceipt(t.Context(), tx.Hash())
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func height(t *testing.T, client *ethclient.Client) uint64 {
	t.Helper()
	n, err := client.BlockNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func status(t *testing.T, url string) int {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestRun uses every method of the server.
func TestRun(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(t)
	alice, bob := s.Persona("alice"), s.Persona("bob")
	if alice.Address != common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") || !strings.HasPrefix(alice.Addresses[snowglobetest.Mainnet].P, "P-avax1") ||
		!strings.HasPrefix(alice.Addresses[snowglobetest.Fuji].X, "X-fuji1") {
		t.Errorf("alice is %+v", alice)
	}
	client := dial(t, s.RPCURL)
	before, then := height(t, client), s.Now()
	snapshot, generated := s.Snapshot(), s.World().Digest
	if secret, err := cb58.Decode(strings.TrimPrefix(alice.PrivateKey, "PrivateKey-")); err != nil || !bytes.Equal(secret, crypto.FromECDSA(alice.Key)) {
		t.Errorf("%s: %v", alice.PrivateKey, err)
	}
	if receipt := pay(t, client, alice, bob.Address); receipt.BlockNumber.Uint64() != before+1 {
		t.Errorf("the payment is in block %d", receipt.BlockNumber)
	}
	s.Mine(snowglobetest.C, 3)
	if got := s.World().Digest; got == generated {
		t.Error("the digest is that of the world before")
	}
	s.Advance(36 * time.Hour)
	if got := s.Now().Sub(then); got < 36*time.Hour {
		t.Errorf("the clock moved by %s", got)
	}
	s.Revert(snapshot)
	if got := height(t, client); got != before || !s.Now().Equal(then) {
		t.Errorf("block %d at %s, it was %d at %s", got, s.Now(), before, then)
	}
	pay(t, client, alice, bob.Address)
	s.Reset()
	if got := height(t, client); got != before {
		t.Errorf("block %d, it was %d", got, before)
	}
	chain := s.DataURL + "/v1/chains/43114"
	remove := s.Fault(fault.Rule{Match: fault.Match{Operation: "getChain"}, Action: fault.Action{Status: http.StatusTooManyRequests}})
	if got := status(t, chain); got != http.StatusTooManyRequests {
		t.Errorf("status %d with the fault", got)
	}
	remove()
	if got := status(t, chain); got != http.StatusOK {
		t.Errorf("status %d without it", got)
	}
	s.Fault(fault.Rule{Action: fault.Action{Status: http.StatusBadGateway}})
	s.ClearFaults()
	if got := status(t, s.MetricsURL+"/v2/chains/43114/metrics/txCount"); got != http.StatusOK {
		t.Errorf("status %d of a metric", got)
	}
}

// TestRunsEveryChain calls each chain of both networks by name.
func TestRunsEveryChain(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(t)
	names := []snowglobetest.Chain{snowglobetest.C, snowglobetest.FujiC, "c", "mainnet/C", "testnet/c"}
	for _, c := range s.World().Chains {
		for _, name := range []string{c.Name, strings.ToLower(c.Name), c.ChainID, c.BlockchainID, c.Network + "/" + c.Name} {
			names = append(names, snowglobetest.Chain(name))
		}
	}
	for _, name := range names {
		height(t, dial(t, s.RPC(name)))
	}
	height(t, dial(t, s.WSURL))
	height(t, dial(t, s.Chain("43113").WSURL))
	for _, name := range []snowglobetest.Chain{snowglobetest.P, snowglobetest.X, snowglobetest.FujiP, snowglobetest.FujiX, "p"} {
		body := `{"jsonrpc":"2.0","id":1,"method":"` + map[bool]string{true: "platform", false: "avm"}[strings.HasSuffix(strings.ToUpper(string(name)), "P")] + `.getHeight"}`
		answer, err := http.Post(s.RPC(name), "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", name, answer.StatusCode)
		}
	}
}

// TestRunsAreApart: tests get the same world, do not see each other's, and accept the flags of serve; a file is kept.
func TestRunsAreApart(t *testing.T) {
	t.Parallel()
	one, other := snowglobetest.Run(t), snowglobetest.Run(t, snowglobetest.NoMining())
	if one.World().Digest != other.World().Digest {
		t.Errorf("digests %s and %s", one.World().Digest, other.World().Digest)
	}
	first, second := dial(t, one.RPCURL), dial(t, other.RPCURL)
	before := height(t, first)
	pay(t, first, one.Persona("whale"), common.Address{19: 7})
	if got := height(t, second); got != before {
		t.Errorf("block %d of the other, want %d", got, before)
	}
	one.Close()
	if _, err := first.BlockNumber(t.Context()); err == nil {
		t.Error("it answers though it is closed")
	}
	beside, err := http.Post(other.URL+"/sim/worlds", "application/json", strings.NewReader(`{"name":"beside"}`))
	if err != nil {
		t.Fatal(err)
	}
	beside.Body.Close()
	if got := height(t, dial(t, other.URL+"/w/beside/ext/bc/C/rpc")); beside.StatusCode != http.StatusCreated || got != before {
		t.Errorf("status %d, block %d of a world beside, want %d", beside.StatusCode, got, before)
	}
	file := filepath.Join(t.TempDir(), "world.db")
	kept := snowglobetest.Run(t, snowglobetest.DB(file), snowglobetest.Seed(2))
	if kept.World().Digest == other.World().Digest {
		t.Error("another seed gives the same world")
	}
	before = height(t, dial(t, kept.RPCURL))
	pay(t, dial(t, kept.RPCURL), kept.Persona("alice"), common.Address{19: 7})
	kept.Close()
	again := snowglobetest.Run(t, snowglobetest.DB(file))
	if got := height(t, dial(t, again.RPCURL)); got != before+1 {
		t.Errorf("block %d in the file, want %d", got, before+1)
	}
}

// TestListensWhereItIsTold: --addr and --fuji-addr are honoured, and /ext at the latter is fuji's.
func TestListensWhereItIsTold(t *testing.T) {
	t.Parallel()
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	main, fuji := free(), free()
	s := snowglobetest.Run(t, snowglobetest.Flags("--addr", main, "--fuji-addr", fuji))
	if s.URL != "http://"+main {
		t.Errorf("it listens at %s, want %s", s.URL, main)
	}
	for url, want := range map[string]int64{s.RPCURL: 43114, "http://" + fuji + "/ext/bc/C/rpc": 43113} {
		if id, err := dial(t, url).ChainID(t.Context()); err != nil || id.Int64() != want {
			t.Errorf("%s is of chain %s (%v), want %d", url, id, err, want)
		}
	}
	if got := s.World().Networks[1].URL; got != "http://"+fuji {
		t.Errorf("the world says that fuji is at %s", got)
	}
}

// TestErrorsOfAClient: failures that would end a test are errors for helpers and goroutines.
func TestErrorsOfAClient(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(t)
	client, ctx := s.Client(), t.Context()
	var refusal *snowglobetest.Refusal
	if err := client.Revert(ctx, "99"); !errors.As(err, &refusal) || refusal.Status != http.StatusNotFound {
		t.Error(err)
	}
	if err := client.Advance(ctx, -time.Hour); !errors.As(err, &refusal) || refusal.Status != http.StatusBadRequest {
		t.Error(err)
	}
	if err := client.RemoveFault(ctx, "99"); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := client.Now(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done := make(chan error)
	go func() {
		_, err := client.Snapshot(ctx)
		done <- errors.Join(err, client.Mine(ctx, s.RPCURL, 1))
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// failing is a test whose failures are recorded.
type failing struct{ testing.TB }

func (failing) Helper()                           {}
func (failing) Fatalf(format string, said ...any) { panic(fmt.Sprintf(format, said...)) }

// TestSaysWhatIsWrong: a refused request fails the test with a clear sentence.
func TestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(failing{t})
	snowglobetest.Run(t, snowglobetest.Digest(s.World().Digest))
	for _, c := range []struct {
		do   func()
		said string
	}{
		{func() { snowglobetest.Run(failing{t}, snowglobetest.Flags("--colour", "blue")) }, "-colour"},
		{func() { snowglobetest.Run(failing{t}, snowglobetest.Flags("blue")) }, `unexpected argument "blue"`},
		{func() { snowglobetest.Run(failing{t}, snowglobetest.Profile("huge")) }, "huge"},
		{func() { snowglobetest.Run(failing{t}, snowglobetest.Digest("00")) }, "not 00 as expected: run snowglobe types again"},
		{func() { s.Fund("nowhere", "") }, "nowhere"},
		{func() {
			s.VerifyRequests(control.ExpectedRequests{Criteria: journal.Criteria{Operation: "getChain"}})
		}, "0 requests, expected at least 1"},
		{func() { s.Persona("mallory") }, "but alice, bob"},
		{func() { s.Chain("43115") }, "43114"},
		{func() { s.RPC("foo/C") }, `chain "foo/C": unknown network "foo": mainnet or fuji`},
		{func() { s.RPC("Q") }, `there is no EVM chain "Q", but`},
		{func() { s.RPC("fuji/43114") }, `there is no EVM chain "43114" of fuji, but`},
		{func() { s.Mine(snowglobetest.C, -1) }, "-1 blocks cannot be mined"},
		{func() { s.Mine(snowglobetest.C, 0) }, "0 blocks cannot be mined"},
		{func() { snowglobetest.Run(failing{t}, snowglobetest.Flags("--addr", "nowhere")) }, "--addr"},
		{func() { snowglobetest.Run(failing{t}, snowglobetest.BlockTime(0)) }, "block-time"},
		{func() { s.Advance(-time.Hour) }, "advance"},
		{func() { s.Revert("99") }, `snapshot \"99\" does not exist`},
		{func() {
			s.Fault(fault.Rule{Match: fault.Match{Operation: "getChian"}, Action: fault.Action{Status: 429}})
		}, "getChain"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.said) {
					t.Errorf("%q, want something with %q", said, c.said)
				}
			}()
			c.do()
		}()
	}
}

// BenchmarkRun measures the cost of a further test with its own simulator, up to the first response.
func BenchmarkRun(b *testing.B) {
	snowglobetest.Run(b)
	for b.Loop() {
		s := snowglobetest.Run(b)
		answer, err := http.Get(s.URL + "/sim/health")
		if err != nil {
			b.Fatal(err)
		}
		answer.Body.Close()
		s.Close()
	}
}
