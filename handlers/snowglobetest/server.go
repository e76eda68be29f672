package snowglobetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/sim/txs"
)

// Server is a running simulator.
type Server struct {
	URL        string // of everything, such as http://127.0.0.1:40001
	RPCURL     string // of mainnet's C-Chain; RPC returns those of other chains
	WSURL      string // the same for WebSocket
	DataURL    string // base of the Data API's paths
	MetricsURL string // base of the Metrics API's paths
	Mnemonic   string // of the first ten personas

	t      testing.TB
	log    *testLog
	close  func() error
	client *Client
	named  func() (*control.World, error) // the unchanging part: names, ids, keys and addresses
}

// Run starts a simulator that runs until the test ends.
func Run(t testing.TB, options ...Option) *Server {
	t.Helper()
	log := &testLog{t: t}
	s, err := start(t, options, log)
	if err != nil {
		t.Fatalf("snowglobe: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func start(t testing.TB, options []Option, log *testLog) (*Server, error) {
	o, err := read(options, log)
	if err != nil {
		return nil, err
	}
	w, err := o.open(t)
	if err != nil {
		return nil, err
	}
	if found := hex.EncodeToString(w.Digest()); o.digest != "" && o.digest != found {
		return nil, errors.Join(fmt.Errorf("the world has the digest %s, not %s as expected: run snowglobe types again", found, o.digest), w.Close())
	}
	if err := w.Claim(t.Context()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	hub := events.NewHub()
	o.server.Events, o.server.Journal = hub, journal.New(o.server.JournalSize, o.server.Keys.Texts(), hub)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // the test's own context ends before its cleanups, which may send requests
	l, err := o.listen.Listen()
	if err != nil {
		stop()
		return nil, errors.Join(err, w.Close())
	}
	o.server.At(l)
	all, err := handlers.NewWorlds(ctx, w, o.server)
	if err != nil {
		stop()
		return nil, errors.Join(err, l.Close(), w.Close())
	}
	url := l.URL()
	s := &Server{
		URL: url, RPCURL: url + "/ext/bc/C/rpc", WSURL: "ws" + strings.TrimPrefix(url, "http") + "/ext/bc/C/ws", DataURL: url, MetricsURL: url,
		Mnemonic: fixtures.Mnemonic, t: t, log: log, client: newClient(url),
	}
	ended := make(chan error, 2)
	go func() { ended <- all.Work(ctx) }()
	go func() { ended <- l.Answer(ctx, all, o.server.Log) }()
	s.close = sync.OnceValue(func() error {
		stop()
		hub.Close()
		return errors.Join(<-ended, <-ended, all.Close(), w.Close())
	})
	s.named = sync.OnceValues(func() (*control.World, error) { return s.client.World(context.WithoutCancel(t.Context())) })
	return s, nil
}

// Close stops the simulator. So does the end of the test.
func (s *Server) Close() {
	s.t.Helper()
	err := s.close()
	s.log.end()
	if err != nil {
		s.t.Errorf("snowglobe: close: %v", err)
	}
}

// Client returns a client whose methods return errors, for helpers and other goroutines.
func (s *Server) Client() *Client { return s.client }

// World describes the world now: its digest, counts, chains, contracts, nodes and sample ids by name, as /sim/world does.
func (s *Server) World() *control.World {
	s.t.Helper()
	return must(s, s.client.World)
}

// Chain returns an EVM chain with its URLs.
func (s *Server) Chain(name Chain) control.Chain {
	s.t.Helper()
	chain, err := name.find(s.names(), "")
	s.check(err)
	return chain
}

// RPC returns the JSON-RPC URL of a chain.
func (s *Server) RPC(chain Chain) string {
	s.t.Helper()
	url, err := chain.rpcURL(s.names(), s.URL)
	s.check(err)
	return url
}

// Persona is a named account.
type Persona struct {
	Name       string
	Key        *ecdsa.PrivateKey
	PrivateKey string         // the same in the form of P- and X-Chain wallets: PrivateKey- and CB58
	Address    common.Address // on every EVM chain
	Addresses  map[Network]Addresses
}

// Addresses holds an account's addresses on a network's chains.
type Addresses struct{ P, X, C string }

// Persona returns the account of this name, such as alice.
func (s *Server) Persona(name string) *Persona {
	s.t.Helper()
	var known []string
	for _, p := range s.names().Personas {
		if p.Name == name {
			if p.Key == "" {
				s.t.Fatalf("snowglobe: only its owner has the key of %s", name)
			}
			raw, err := hexutil.Decode(p.Key)
			s.check(err)
			key, err := crypto.ToECDSA(raw)
			s.check(err)
			text, err := txs.KeyFromBytes(raw)
			s.check(err)
			all := map[Network]Addresses{}
			for network, on := range p.ChainAddresses {
				all[Network(network)] = Addresses{P: on["P"], X: on["X"], C: on["C"]}
			}
			return &Persona{p.Name, key, text.String(), common.HexToAddress(p.Address), all}
		}
		known = append(known, p.Name)
	}
	s.t.Fatalf("snowglobe: there is no persona %q, but %s", name, strings.Join(known, ", "))
	return nil
}

// Fund pays an account from the faucet, in whole coins such as 2.5, on the chain of the address; for 0x that is mainnet's C-Chain. An empty amount
// means 1. Client.Fund also pays on other chains and in tokens.
func (s *Server) Fund(address, amount string) *control.FaucetPayment {
	s.t.Helper()
	paid, err := s.client.Fund(s.context(), control.FaucetRequest{Address: address, Amount: control.FaucetAmount(amount)})
	s.check(err)
	return paid
}

// Advance advances the world's clock. Everything that falls due on the way happens.
func (s *Server) Advance(by time.Duration) {
	s.t.Helper()
	s.check(s.client.Advance(s.context(), by))
}

// Now returns the world's time.
func (s *Server) Now() time.Time {
	s.t.Helper()
	return must(s, s.client.Now)
}

// Mine makes blocks on an EVM chain.
func (s *Server) Mine(chain Chain, blocks int) {
	s.t.Helper()
	s.check(s.client.Mine(s.context(), s.RPC(chain), blocks))
}

// Snapshot is a state to which the world can revert.
type Snapshot string

// Snapshot takes a snapshot of the whole world: all chains, the clock, the pool, exports and webhooks.
func (s *Server) Snapshot() Snapshot {
	s.t.Helper()
	return must(s, s.client.Snapshot)
}

// Revert reverts to a snapshot and keeps it; it deletes all later ones.
func (s *Server) Revert(to Snapshot) {
	s.t.Helper()
	s.check(s.client.Revert(s.context(), to))
}

// Reset reverts to the freshly generated world.
func (s *Server) Reset() {
	s.t.Helper()
	s.check(s.client.Reset(s.context()))
}

// Fault makes responses fail by a rule, until the caller calls remove.
func (s *Server) Fault(rule fault.Rule) (remove func()) {
	s.t.Helper()
	id, err := s.client.Fault(s.context(), rule)
	s.check(err)
	return func() {
		s.t.Helper()
		s.check(s.client.RemoveFault(s.context(), id))
	}
}

// ClearFaults removes all rules.
func (s *Server) ClearFaults() {
	s.t.Helper()
	s.check(s.client.ClearFaults(s.context()))
}

// VerifyRequests fails the test unless clients made the described requests, at least once unless Times says otherwise. It returns how often they did.
func (s *Server) VerifyRequests(expected control.ExpectedRequests) int {
	s.t.Helper()
	count, err := s.client.VerifyRequests(s.context(), expected)
	s.check(err)
	return count
}

// names returns the unchanging part of the world.
func (s *Server) names() *control.World {
	s.t.Helper()
	w, err := s.named()
	s.check(err)
	return w
}

// context does not end with the test's context, which ends before its cleanups.
func (s *Server) context() context.Context { return context.WithoutCancel(s.t.Context()) }

func (s *Server) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("snowglobe: %v", err)
	}
}

// must returns the result of a client's method, or fails the test.
func must[T any](s *Server, ask func(context.Context) (T, error)) T {
	s.t.Helper()
	answer, err := ask(s.context())
	s.check(err)
	return answer
}

// testLog writes the server's warnings to the test's log while the test runs.
type testLog struct {
	mu    sync.Mutex
	t     testing.TB
	ended bool
}

func (l *testLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.t.Logf("snowglobe: %s", bytes.TrimSpace(line))
	}
	return len(line), nil
}

func (l *testLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}
