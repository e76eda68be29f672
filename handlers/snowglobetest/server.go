package snowglobetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
)

// Server is a simulator that runs.
type Server struct {
	URL        string // of everything, such as http://127.0.0.1:40001
	RPCURL     string // of mainnet's C-Chain; RPC has those of other chains
	WSURL      string // the same for WebSocket
	DataURL    string // base of the Data API's paths
	MetricsURL string // base of the Metrics API's paths
	Mnemonic   string // of the first ten personas

	t     testing.TB
	log   *testLog
	close func() error
	world func() (*control.World, error)
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
	if err := w.Claim(t.Context()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	hub := events.NewHub()
	o.server.Events, o.server.Journal = hub, journal.New(o.server.JournalSize, o.server.Keys.Texts(), hub)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // that of the test ends before its cleanups, which may ask
	all, err := handlers.NewWorlds(ctx, w, o.server)
	if err != nil {
		stop()
		return nil, errors.Join(err, w.Close())
	}
	l, err := o.listen.Listen()
	if err != nil {
		stop()
		return nil, errors.Join(err, all.Close(), w.Close())
	}
	url := "http://" + l.Main.Addr().String()
	s := &Server{
		URL: url, RPCURL: url + "/ext/bc/C/rpc", WSURL: "ws" + strings.TrimPrefix(url, "http") + "/ext/bc/C/ws", DataURL: url, MetricsURL: url,
		Mnemonic: fixtures.Mnemonic, t: t, log: log,
	}
	ended := make(chan error, 2)
	go func() { ended <- all.Work(ctx) }()
	go func() { ended <- handlers.Serve(ctx, l.Main, all, o.server.Log) }()
	s.close = sync.OnceValue(func() error {
		stop()
		hub.Close()
		return errors.Join(<-ended, <-ended, all.Close(), w.Close())
	})
	s.world = sync.OnceValues(func() (*control.World, error) {
		answer := &control.World{}
		return answer, s.request(http.MethodGet, "/sim/world", nil, answer)
	})
	return s, nil
}

// Close stops the simulator. The end of the test does so, too.
func (s *Server) Close() {
	s.t.Helper()
	err := s.close()
	s.log.end()
	if err != nil {
		s.t.Errorf("snowglobe: close: %v", err)
	}
}

// World is what was in the world when it was asked for first: chains, contracts, nodes and sample ids by name, as /sim/world has them.
func (s *Server) World() *control.World {
	s.t.Helper()
	w, err := s.world()
	s.must(err)
	return w
}

// Chain is an EVM chain by its name, its chain id or its blockchain id, with its URLs.
func (s *Server) Chain(name string) control.Chain {
	s.t.Helper()
	var known []string
	for _, c := range s.World().Chains {
		if c.Name == name || c.ChainID == name || c.BlockchainID == name {
			return c
		}
		known = append(known, c.Name+" ("+c.ChainID+")")
	}
	s.t.Fatalf("snowglobe: there is no EVM chain %q, but %s", name, strings.Join(known, ", "))
	return control.Chain{}
}

// RPC is the URL of the JSON-RPC of a chain: C, P or X of mainnet, fuji/C, fuji/P or fuji/X, or an EVM chain as Chain knows it.
func (s *Server) RPC(chain string) string {
	s.t.Helper()
	prefix, name := "", chain
	if network, of, named := strings.Cut(chain, "/"); named {
		prefix, name = "/"+network, of
	}
	switch name {
	case "C":
		return s.URL + prefix + "/ext/bc/C/rpc"
	case "P", "X":
		return s.URL + prefix + "/ext/bc/" + name
	}
	return s.Chain(chain).RPCURL
}

// Persona is a named account.
type Persona struct {
	Name      string
	Key       *ecdsa.PrivateKey
	Address   common.Address               // on every EVM chain
	Addresses map[string]map[string]string // by network and chain: P, X or C
}

// Persona is the account of this name, such as alice.
func (s *Server) Persona(name string) *Persona {
	s.t.Helper()
	var known []string
	for _, p := range s.World().Personas {
		if p.Name == name {
			if p.Key == "" {
				s.t.Fatalf("snowglobe: only its owner has the key of %s", name)
			}
			raw, err := hexutil.Decode(p.Key)
			s.must(err)
			key, err := crypto.ToECDSA(raw)
			s.must(err)
			return &Persona{p.Name, key, common.HexToAddress(p.Address), p.ChainAddresses}
		}
		known = append(known, p.Name)
	}
	s.t.Fatalf("snowglobe: there is no persona %q, but %s", name, strings.Join(known, ", "))
	return nil
}

// Advance moves the world's clock on. What falls due on the way happens.
func (s *Server) Advance(by time.Duration) {
	s.t.Helper()
	s.must(s.request(http.MethodPost, "/sim/clock", map[string]string{"advance": by.String()}, nil))
}

// Now is the world's time.
func (s *Server) Now() time.Time {
	s.t.Helper()
	var state control.ClockState
	s.must(s.request(http.MethodGet, "/sim/clock", nil, &state))
	return time.UnixMilli(state.Milliseconds).UTC()
}

// Mine makes blocks on an EVM chain as RPC names it.
func (s *Server) Mine(chain string, blocks int) {
	s.t.Helper()
	client, err := rpc.Dial(s.RPC(chain))
	s.must(err)
	defer client.Close()
	s.must(client.Call(nil, "anvil_mine", hexutil.EncodeUint64(uint64(blocks))))
}

// Snapshot is a moment to which the world can go back.
type Snapshot string

// Snapshot marks the whole world as it is now: all chains, the clock, what waits, exports and webhooks.
func (s *Server) Snapshot() Snapshot {
	s.t.Helper()
	var taken control.Snapshot
	s.must(s.request(http.MethodPost, "/sim/snapshots", nil, &taken))
	return Snapshot(taken.ID)
}

// Revert goes back to a snapshot, which stays; those that were taken after it are gone.
func (s *Server) Revert(to Snapshot) {
	s.t.Helper()
	s.must(s.request(http.MethodPost, "/sim/snapshots/"+string(to)+":revert", nil, nil))
}

// Reset goes back to the freshly generated world.
func (s *Server) Reset() {
	s.t.Helper()
	s.must(s.request(http.MethodPost, "/sim/reset", nil, nil))
}

// Fault lets answers fail by a rule, until clear is called.
func (s *Server) Fault(rule fault.Rule) (clear func()) {
	s.t.Helper()
	var added fault.State
	s.must(s.request(http.MethodPost, "/sim/faults", rule, &added))
	return func() {
		s.t.Helper()
		err := s.request(http.MethodDelete, "/sim/faults/"+added.ID, nil, nil)
		if said := (*refusal)(nil); !errors.As(err, &said) || said.status != http.StatusNotFound { // it may be gone with all others
			s.must(err)
		}
	}
}

// ClearFaults takes all rules away.
func (s *Server) ClearFaults() {
	s.t.Helper()
	s.must(s.request(http.MethodDelete, "/sim/faults", nil, nil))
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("snowglobe: %v", err)
	}
}

// request asks the simulator's own interface.
func (s *Server) request(method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, s.URL+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	return send(r, answer)
}

// send reads the answer of a request, and what it says when it is none.
func send(r *http.Request, into any) error {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= http.StatusBadRequest:
		return &refusal{response.StatusCode, fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, bytes.TrimSpace(text))}
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}

// refusal is an answer that says that something cannot be done.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// testLog writes what the server complains of to the log of the test, as long as that runs.
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
