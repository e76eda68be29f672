package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/webhook"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/miner"
	"snowglobe/sim/simtest"
)

const alice, bob = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

// world is a tiny world whose webhooks are delivered by a clock that the test moves.
type world struct {
	*testing.T
	*sim.World
	server    *rest.Server
	deliverer *webhook.Deliverer
	journal   *journal.Journal
	events    *events.Hub
	faults    *fault.Set
	logged    *simtest.Log
	end       func() // of the deliverer

	mu  sync.Mutex
	now time.Time
}

// open serves the webhooks of a world, and delivers if wanted.
func open(t *testing.T, of *sim.World, delivers bool) *world {
	t.Helper()
	w := &world{T: t, World: of, now: time.Unix(1_800_000_000, 0)}
	s, err := rest.New(rest.Options{Clock: of.Clock, Revision: of.Revision, WorldKey: []byte(strings.Repeat("k", 32)), Alias: of.Alias})
	if err != nil {
		t.Fatal(err)
	}
	w.events = events.NewHub()
	w.journal = journal.New(100, nil, w.events)
	w.logged = &simtest.Log{}
	w.faults = fault.NewSet(1, "main", of.Clock.Now, w.events)
	w.server, w.deliverer = s, webhook.New(of, webhook.Options{Faults: w.faults, Now: w.clock, Journal: w.journal, Events: w.events, Log: slog.New(slog.NewTextHandler(w.logged, nil))})
	if err := webhook.Register(s, w.deliverer, webhook.Targets{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.end = cancel
	if delivers {
		ended := make(chan struct{})
		go func() { w.deliverer.Run(ctx); close(ended) }()
		w.end = func() { cancel(); <-ended }
	}
	t.Cleanup(func() { w.end() })
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// wait moves the wall clock.
func (w *world) wait(span time.Duration) {
	w.mu.Lock()
	w.now = w.now.Add(span)
	w.mu.Unlock()
	w.deliverer.Wake()
}

type object = map[string]any

// ask sends a request and compares the answer with the document.
func (w *world) ask(method, path, key, body string, status int) object {
	w.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("X-Glacier-Api-Key", key)
	}
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, r)
	if answer.Code != status {
		w.Fatalf("%s %s is %d %s: want %d", method, path, answer.Code, answer.Body, status)
	}
	var o object
	if err := json.Unmarshal(answer.Body.Bytes(), &o); err != nil {
		w.Fatal(err)
	}
	r.Header.Del("X-Glacier-Api-Key") // the upstream dialect has another document
	if err := w.server.CheckAnswer(r, answer.Code, answer.Body.Bytes()); err != nil && key == "" {
		w.Errorf("%s %s: %v", method, path, err)
	}
	return o
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// create makes a webhook about addresses of the C-Chain.
func (w *world) create(url string, more object, addresses ...string) string {
	w.Helper()
	body := object{"eventType": "address_activity", "url": url, "chainId": "43114", "metadata": object{"addresses": addresses}}
	for name, value := range more {
		body[name] = value
	}
	return w.ask("POST", "/v1/webhooks", "", text(body), 201)["id"].(string)
}

// pay sends some wei from alice to an address.
func (w *world) pay(to string, wei int64) common.Hash {
	w.Helper()
	at := common.HexToAddress(to)
	return w.send(&at, big.NewInt(wei), nil)
}

func (w *world) send(to *common.Address, value *big.Int, data []byte) (hash common.Hash) {
	w.Helper()
	m := w.MinerOf(w.NetworkNamed(fixtures.MainnetName).CChain())
	from := common.HexToAddress(alice)
	err := m.SendNext(w.Context(), from, func(n miner.Next) (*types.Transaction, error) {
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: n.Nonce, To: to, Value: value, Data: data, Gas: 500_000,
			GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1_000_000_000_000)})
		personas, err := w.DB.Personas(w.Context())
		if err != nil {
			return nil, err
		}
		key, err := personaKey(personas, "alice")
		if err != nil {
			return nil, err
		}
		signed, err := types.SignTx(tx, types.LatestSignerForChainID(big.NewInt(43114)), key)
		if err == nil {
			hash = signed.Hash()
		}
		return signed, err
	})
	if err != nil {
		w.Fatal(err)
	}
	return hash
}

// receiver responds as configured and records the messages it got and accepted.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	answers  []int // the next ones; 200 when there are none
	got      []object
	attempts int
	wrong    []string
	secret   string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.attempts++
		if r.secret != "" && q.Header.Get("X-Signature") != signatureOf(r.secret, body) {
			r.wrong = append(r.wrong, string(body))
		}
		if len(r.answers) > 0 {
			status := r.answers[0]
			if r.answers = r.answers[1:]; status != 200 {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(status)
				return
			}
		}
		var message object
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&message); err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		r.got = append(r.got, message)
	}))
	t.Cleanup(r.Close)
	return r
}

func signatureOf(secret string, body []byte) string {
	key, _ := hex.DecodeString(secret)
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// hashes returns the hashes of the accepted transactions, in order.
func (r *receiver) hashes() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, message := range r.got {
		all = append(all, dig(message, "event", "transaction", "txHash"))
	}
	return all
}

func (r *receiver) tried() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attempts
}

func (r *receiver) answer(statuses ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = statuses
}

func dig(v any, keys ...string) string {
	for _, key := range keys {
		o, _ := v.(object)
		v = o[key]
	}
	s, _ := v.(string)
	return s
}

// until waits for something that happens in the background.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

func same(t *testing.T, what string, have, want []string) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%s: %q, want %q", what, have, want)
	}
}

// generated is the file of a world that was made once for all tests.
var generated struct {
	sync.Once
	raw []byte
	err error
}

// fresh returns a world in a file for one test alone.
func fresh(t *testing.T) (w *sim.World, path string) {
	t.Helper()
	generated.Do(func() {
		path := filepath.Join(t.TempDir(), "w.db")
		if err := seedtest.Generate(t, path, "tiny", 1).Close(); err != nil {
			t.Fatal(err)
		}
		generated.raw, generated.err = os.ReadFile(path)
	})
	path = filepath.Join(t.TempDir(), "w.db")
	if err := errors.Join(generated.err, os.WriteFile(path, generated.raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func inFile(t *testing.T) *sim.World {
	w, _ := fresh(t)
	t.Cleanup(func() { w.Close() })
	return w
}
