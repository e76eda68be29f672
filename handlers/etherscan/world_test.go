package etherscan

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/verification"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// row is an object in an answer.
type row = map[string]any

// scanner asks the API of a world about one chain.
type scanner struct {
	*testing.T
	*API
	world *sim.World
	chain *reader.Chain
}

func newScanner(t *testing.T, w *sim.World, compilers *solc.Compilers) *scanner {
	t.Helper()
	contracts, err := verification.New(w, artifacts.New(), compilers, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(contracts.Close)
	api := New(Options{World: w, Contracts: contracts, Network: func(*http.Request) string { return "mainnet" }})
	return &scanner{t, api, w, w.Chains[0]}
}

// reading asks about a world that stays as it is.
func reading(t *testing.T) *scanner {
	t.Helper()
	return newScanner(t, seedtest.Shared(t, "tiny", 1), solc.New(nil))
}

// writing asks about a world of the test's own.
func writing(t *testing.T) *scanner {
	t.Helper()
	return newScanner(t, seedtest.Copy(t, 1), solc.New(nil))
}

// each runs a test for every chain.
func (s *scanner) each(run func(s *scanner, h *history)) {
	s.Helper()
	for _, c := range s.world.Chains {
		s.Run(fmt.Sprint(c.Row.EVMID), func(t *testing.T) {
			of := &scanner{t, s.API, s.world, c}
			run(of, of.history())
		})
	}
}

// answer is an envelope as a client reads it.
type answer struct {
	Status, Message string
	Result          json.RawMessage
}

// try sends a request.
func (s *scanner) try(method, target string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	r, w := httptest.NewRequest(method, target, body), httptest.NewRecorder()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	s.ServeHTTP(w, r)
	return w
}

// path is where the queries about the chain go.
func (s *scanner) path(query string) string {
	return fmt.Sprintf("/v2/api?chainid=%d&%s", s.chain.Row.EVMID, query)
}

// get asks about the chain.
func (s *scanner) get(query string) (a answer) {
	s.Helper()
	w := s.try(http.MethodGet, s.path(query), nil)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		s.Fatalf("%s: %d %s %v", query, w.Code, w.Body, err)
	}
	return a
}

// want compares the result of a query, which has one.
func (s *scanner) want(query string, want any) {
	s.Helper()
	a, have := s.get(query), reflect.New(reflect.TypeOf(want))
	if err := json.Unmarshal(a.Result, have.Interface()); err != nil || a.Status != "1" || a.Message != "OK" || !reflect.DeepEqual(have.Elem().Interface(), want) {
		s.Errorf("%s: %s %s %.2000s %v\nwant %.2000v", query, a.Status, a.Message, a.Result, err, want)
	}
}

// refuses compares the message and the result, in JSON, of a query without one.
func (s *scanner) refuses(query, message, result string) {
	s.Helper()
	if a := s.get(query); a.Status != "0" || a.Message != message || string(a.Result) != result {
		s.Errorf("%s: %s %s %s, want %s %s", query, a.Status, a.Message, a.Result, message, result)
	}
}

// rejects compares the reason for which a query has no result.
func (s *scanner) rejects(query, reason string) {
	s.Helper()
	s.refuses(query, "NOTOK", fmt.Sprintf("%q", reason))
}

// history is all of a chain.
type history struct {
	blocks    []*reader.Block
	txs       []*reader.Transaction // with logs
	at        map[store.Position]*reader.Transaction
	calls     []store.Call
	transfers []store.Transfer
	tokens    map[store.TokenID]*store.Token
	addresses []common.Address // of accounts and in transfers, and one more
}

func (h *history) head() uint64 { return uint64(len(h.blocks)) - 1 }

func (s *scanner) history() *history {
	s.Helper()
	h := &history{at: map[store.Position]*reader.Transaction{}, tokens: map[store.TokenID]*store.Token{}}
	ctx, db, id := s.Context(), s.world.DB, s.chain.Row.ID
	head, err := s.chain.Head(ctx)
	s.check(err)
	for n := range head.Number + 1 {
		b, err := s.chain.Block(ctx, n)
		s.check(err)
		txs, err := s.chain.Receipts(ctx, b)
		s.check(err)
		for _, tx := range txs {
			h.at[tx.Row.ID] = tx
		}
		h.blocks, h.txs = append(h.blocks, b), append(h.txs, txs...)
	}
	h.calls, err = db.CallsBetween(ctx, store.First(id), store.Last(id))
	s.check(err)
	h.transfers, err = db.Transfers(ctx, store.First(id), store.Last(id))
	s.check(err)
	accounts, err := db.AccountsAt(ctx, id, store.MaxNumber)
	s.check(err)
	h.addresses = append(h.addresses, common.Address{0xde, 0xad, 19: 1})
	for i := range accounts {
		h.addresses = append(h.addresses, common.BytesToAddress(accounts[i].Address))
	}
	for i := range h.transfers {
		t := &h.transfers[i]
		h.addresses = append(h.addresses, common.BytesToAddress(t.Sender), common.BytesToAddress(t.Recipient))
	}
	for _, standard := range []store.Standard{store.ERC20, store.ERC721, store.ERC1155} {
		tokens, err := db.Tokens(ctx, id, standard, 0)
		s.check(err)
		for i := range tokens {
			h.tokens[tokens[i].ID] = &tokens[i]
		}
	}
	slices.SortFunc(h.addresses, common.Address.Cmp)
	h.addresses = slices.Compact(h.addresses)
	return h
}

func (s *scanner) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func lower(address []byte) string {
	if address == nil {
		return ""
	}
	return "0x" + common.Bytes2Hex(address)
}

func low(a common.Address) string { return strings.ToLower(a.Hex()) }
