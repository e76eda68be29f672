package etherscan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
)

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// TestRefusals: what requests lack, or have wrong, is told in Etherscan's envelope.
func TestRefusals(t *testing.T) {
	s := reading(t)
	const window, format, number = "Result window is too large, PageNo x Offset size must be less than or equal to 10000", "Error! Invalid address format", "Error! Invalid page or offset"
	const block, hash = "Error! Invalid block number", "Error! Invalid transaction hash"
	for query, reason := range map[string]string{
		"":                              "Error! Missing Or invalid Module name",
		"module=accounts":               "Error! Missing Or invalid Module name",
		"module=Account":                "Error! Missing Or invalid Action name",
		"module=account&action=nothing": "Error! Missing Or invalid Action name",
		"module=account&action=txlist&page=-1&address=" + alice:                                    number,
		"module=account&action=txlist&offset=1.5&address=" + alice:                                 number,
		"module=account&action=txlist&page=0x&address=" + alice:                                    number,
		"module=account&action=txlist&startblock=x&address=" + alice:                               block,
		"module=account&action=txlist&endblock=0xg&address=" + alice:                               block,
		"module=account&action=balance&tag=newest&address=" + alice:                                block,
		"module=account&action=balance&blockno=newest&address=" + alice:                            block,
		"module=account&action=tokenbalance&tag=-1&contractaddress=" + alice + "&address=" + alice: block,
		"module=account&action=tokenbalance&contractaddress=0x1&address=" + alice:                  format,
		"module=account&action=tokentx&contractaddress=0x1":                                        format,
		"module=account&action=addresstokenbalance&page=x&address=" + alice:                        number,
		"module=account&action=getminedblocks&page=x&address=" + alice:                             number,
		"module=token&action=tokenholderlist&page=x&contractaddress=" + alice:                      number,
		"module=token&action=tokenholderlist&contractaddress=0x1":                                  format,
		"module=stats&action=tokensupply&tag=-1&contractaddress=" + alice:                          block,
		"module=transaction&action=getstatus&txhash=0x12":                                          hash,
		"module=transaction&action=gettxreceiptstatus":                                             hash,
		"module=account&action=txlistinternal&txhash=1x" + strings.Repeat("ab", 32):                hash,
		"module=account&action=txlistinternal&txhash=0y" + strings.Repeat("ab", 32):                hash,
		"module=account&action=txlistinternal&txhash=0x" + strings.Repeat("ag", 32):                hash,
		"module=account&action=balance&address=%zz":                                                "Error! The query string is malformed",
	} {
		s.rejects(query, reason)
	}
	for _, action := range []string{
		"account&action=balance", "account&action=balancehistory", "account&action=txlist", "account&action=txlistinternal", "account&action=getminedblocks", "account&action=tokenbalance",
		"account&action=addresstokenbalance", "account&action=tokenbalancehistory", "account&action=tokentx", "account&action=tokennfttx", "account&action=token1155tx",
		"contract&action=getcontractcreation", "stats&action=tokensupply", "token&action=tokeninfo", "token&action=tokenholderlist", "contract&action=getabi", "contract&action=getsourcecode",
		"contract&action=verifyproxycontract", "contract&action=checkproxyverification", "contract&action=verifysourcecode",
	} {
		for _, wrong := range []string{"", "0x12", alice[2:], alice + "0", strings.Replace(alice, "0x", "1x", 1)} {
			s.rejects("module="+action+"&address="+wrong+"&contractaddress="+wrong+"&contractaddresses="+wrong+"&guid="+wrong, format)
		}
	}
	for _, page := range []string{"page=2&offset=9000", "page=10001", "offset=10001", "page=2&offset=18446744073709551615", "page=2&offset=0x" + strings.Repeat("f", 64), "page=101&offset=100", "page=10001&offset=1"} {
		s.refuses("module=account&action=txlist&address="+alice+"&"+page, window, "null")
	}
	for _, page := range []string{"page=2&offset=5000", "page=10000&offset=1", "offset=10000&page=", "page=100&offset=100"} {
		if a := s.get("module=account&action=txlist&address=" + alice + "&" + page); a.Message == window || a.Message == "NOTOK" {
			t.Errorf("%s: %+v", page, a)
		}
	}
	if upper := s.get("module=account&action=balance&address=0X" + alice[2:]); upper.Status != "1" {
		t.Errorf("an address with 0X: %+v", upper)
	}
	for text, want := range map[string]bool{strings.Repeat("9", 78): true, strings.Repeat("9", 79): false, "0x" + strings.Repeat("f", 64): true, "0x" + strings.Repeat("f", 65): false} {
		if a := s.get("module=account&action=balance&address=" + alice + "&tag=" + text); (a.Status == "1") != want {
			t.Errorf("block %s: %+v", text, a)
		}
	}
}

// TestPages: a list has at most so many rows on a page, whatever the client asks.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		form parameters
		most int
		want page
	}{
		{parameters{}, 100, page{0, 100, false}}, {parameters{"page": "0", "offset": "0"}, 100, page{0, 100, false}}, {parameters{"offset": "99", "sort": "asc"}, 100, page{0, 99, false}},
		{parameters{"page": "3", "offset": "101", "sort": "DESC"}, 100, page{200, 100, true}}, {parameters{"page": "2", "offset": "5000"}, 1000, page{1000, 1000, false}},
		{parameters{"page": "0x2", "offset": "7"}, maxRows, page{7, 7, false}}, {parameters{"page": "1", "offset": "10000"}, maxRows, page{0, 10_000, false}},
		{parameters{"page": "100"}, 100, page{9_900, 100, false}},
	} {
		if have, err := c.form.page(c.most); have != c.want || err != nil {
			t.Errorf("%v of at most %d: %+v %v, want %+v", c.form, c.most, have, err, c.want)
		}
	}
}

// TestPaths: each path names a network or a chain in its own way.
func TestPaths(t *testing.T) {
	s := reading(t)
	l1 := fmt.Sprint(s.world.Chains[2].Row.EVMID)
	const missing = "Missing chainid parameter (required for v2 api), please see https://api.etherscan.io/v2/chainlist for the list of supported chainids"
	const unknown = "Missing or unsupported chainid parameter (required for v2 api), please see https://api.etherscan.io/v2/chainlist for the list of supported chainids"
	const nothing = "Error! There is nothing at this path: expected /v2/network/{network}/evm/{chainId}/etherscan/api"
	for path, want := range map[string]string{
		"/api?": "43114", "/api/?": "43114", "/api?chainid=43113&": "43113", "/api?chain_id=" + l1 + "&": l1, "/api?chainid=43113&chain_id=43114&": "43113",
		"/mainnet/api?": "43114", "/fuji/api?": "43113", "/fuji/api?chainid=43114&": "43114", "/v2/api?chainid=43113&": "43113", "/v2/api/?CHAINID=" + l1 + "&": l1,
		"/v2/network/mainnet/evm/43114/etherscan?": "43114", "/v2/network/mainnet/evm/43114/etherscan/api?": "43114", "/v2/network/fuji/evm/43113/etherscan/api/?": "43113",
		"/v2/network/testnet/evm/43113/etherscan/api?": "43113", "/v2/network/all/evm/43113/etherscan?": "43113", "/v2/network/mainnet/evm/" + l1 + "/etherscan/api?": l1,
		"/v2/network/mainnet/evm/43114/etherscan/api?chainid=43113&": "43114",
		"/v2/api?": missing, "/v2/api?chainid=1&": unknown, "/v2/api?chainid=x&": unknown, "/api?chainid=0&": unknown, "/api?chainid=18446744073709551616&": unknown,
		"/v2/network/mainnet/evm/43113/etherscan/api?": unknown, "/v2/network/testnet/evm/43114/etherscan/api?": unknown, "/v2/network/mainnet/evm/1/etherscan/api?": unknown,
		"/v2/network/mainnet/evm?": nothing, "/v2/network/mainnet/evm/43114/api?": nothing, "/v2/network/mainnet/avm/43114/etherscan/api?": nothing,
		"/v2/network/mainnet/evm/43114/routescan/api?": nothing, "/v2/network/mainnet/evm/43114/etherscan/api/more?": nothing, "/api/more?": nothing,
	} {
		if !slices.ContainsFunc(Prefixes, func(p string) bool { return strings.HasPrefix(path, p+"/") || strings.HasPrefix(path, p+"?") }) {
			t.Errorf("%s is below no prefix", path)
		}
		w := s.try(http.MethodGet, path+"module=account&action=balance&address="+alice, nil)
		located, network, chain := s.Locate(httptest.NewRequest(http.MethodGet, path+"module=account&action=balance", nil))
		var a answer
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(s.world.Chains, func(c *reader.Chain) bool { return fmt.Sprint(c.Row.EVMID) == want })
		if i < 0 {
			status := http.StatusOK
			if want == nothing {
				status = http.StatusNotFound
			}
			if text := fmt.Sprintf("%q", want); a.Status != "0" || a.Message != "NOTOK" || string(a.Result) != text || w.Code != status || network+chain != "" {
				t.Errorf("%s: %d %s, located %q %q, want %s", path, w.Code, w.Body, network, chain, text)
			}
			continue
		}
		c := s.world.Chains[i]
		of := &scanner{t, s.API, s.world, c}
		if b := of.get("module=account&action=balance&address=" + alice); string(a.Result) != string(b.Result) || a.Status != "1" || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, b.Result)
		}
		if network != c.Row.Network || chain != want {
			t.Errorf("%s is located at %s %s", path, network, chain)
		}
		if _, p := parse(located); p.values["action"] != "balance" {
			t.Errorf("%s: the located request has %v", path, p.values)
		}
	}
	fuji := New(Options{World: s.world, Network: func(*http.Request) string { return "fuji" }})
	if _, network, _ := fuji.Locate(httptest.NewRequest(http.MethodGet, "/api", nil)); network != "fuji" {
		t.Errorf("/api of fuji is of %q", network)
	}
	nowhere := New(Options{World: s.world, Network: func(*http.Request) string { return "devnet" }})
	w := httptest.NewRecorder()
	if nowhere.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api?module=stats&action=ethprice", nil)); !strings.Contains(w.Body.String(), unknown) {
		t.Errorf("/api of an unknown network: %s", w.Body)
	}
}

// TestForms: a POST has its parameters in the query or in a form of either type; names have any case, and the first value counts.
func TestForms(t *testing.T) {
	s := reading(t)
	want := s.try(http.MethodGet, s.path("module=account&action=txlist&sort=desc&offset=3&page=1&address="+alice), nil).Body.String()
	if !strings.HasPrefix(want, `{"status":"1","message":"OK","result":[{"blockNumber":"`) {
		t.Fatal(want)
	}
	form := url.Values{"Module": {"account", "block"}, "ACTION": {" TxList "}, "sort": {"desc"}, "offset": {"3"}, "page": {"1"}, "address": {alice}}
	const plain = "application/x-www-form-urlencoded"
	var parts bytes.Buffer
	multi := multipart.NewWriter(&parts)
	for name, values := range form {
		s.check(multi.WriteField(name, values[0]))
	}
	s.check(multi.Close())
	for _, c := range []struct{ query, body, kind string }{
		{"", form.Encode(), plain}, {"", form.Encode(), plain + "; charset=utf-8"}, {"", form.Encode(), ""}, {"", parts.String(), multi.FormDataContentType()},
		{form.Encode() + "&address=0x12", "", plain}, {"address=" + alice + "&apikey=x", form.Encode() + "&address=0x12", plain},
		{form.Encode(), "not a form%zz", "text/plain"},
	} {
		if w := s.try(http.MethodPost, s.path(c.query), strings.NewReader(c.body), "Content-Type", c.kind); w.Body.String() != want {
			t.Errorf("%+v: %.300s", c, w.Body)
		}
	}
	const balance = "module=account&action=balance&address=" + alice
	for _, c := range []struct {
		body         io.Reader
		kind, reason string
	}{
		{strings.NewReader("module=%zz"), plain, "Error! The form is malformed"},
		{strings.NewReader("module"), "multipart/form-data", "Error! The form is malformed"},
		{strings.NewReader("module"), "multipart/form-data; boundary=x", "Error! The form is malformed"},
		{strings.NewReader(strings.Repeat("x", 5<<20+1)), plain, "Error! The body is larger than 5 MiB or could not be read to its end"},
		{iotest.ErrReader(errors.New("gone")), plain, "Error! The body is larger than 5 MiB or could not be read to its end"},
	} {
		w := s.try(http.MethodPost, s.path(balance), c.body, "Content-Type", c.kind)
		if want := fmt.Sprintf(`{"status":"0","message":"NOTOK","result":%q}`, c.reason); w.Body.String() != want || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want %s", c.kind, w.Code, w.Body, want)
		}
	}
	large := s.try(http.MethodPost, s.path(balance), strings.NewReader(strings.Repeat("x", 5<<20)), "Content-Type", plain)
	malformed := s.try(http.MethodPost, s.path("a=%zz"), strings.NewReader(balance), "Content-Type", plain)
	if !strings.Contains(large.Body.String(), `"status":"1"`) || !strings.Contains(malformed.Body.String(), "The query string is malformed") {
		t.Errorf("the largest form: %s; a malformed query: %s", large.Body, malformed.Body)
	}
	none := httptest.NewRequest(http.MethodPost, s.path(balance), nil)
	none.Body = nil
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, none); !strings.Contains(w.Body.String(), `"status":"1"`) {
		t.Errorf("without a body: %s", w.Body)
	}
	source := parameters{}
	source.add(url.Values{"sourceCode": {" contract A {} \n"}, "contractName": {" A "}, "none": {}})
	if fmt.Sprintf("%q", source) != `map["contractname":"A" "sourcecode":" contract A {} \n"]` {
		t.Errorf("the parameters are %q", source)
	}
}

// TestHeaders: pages of any origin may read; a HEAD has no body; other methods are refused.
func TestHeaders(t *testing.T) {
	s := reading(t)
	query := s.path("module=account&action=txlist&address=" + alice)
	w, head := s.try(http.MethodGet, query, nil, "Origin", "https://app.example"), s.try(http.MethodHead, query, nil)
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Content-Type") != "application/json; charset=utf-8" || h.Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
		t.Errorf("headers: %v", w.Header())
	}
	if head.Body.Len() > 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") {
		t.Errorf("HEAD: %s %v", head.Body, head.Header())
	}
	put := s.try(http.MethodPut, query, nil)
	if put.Code != http.StatusMethodNotAllowed || put.Header().Get("Allow") != "GET, HEAD, OPTIONS, POST" || put.Body.String() != `{"status":"0","message":"NOTOK","result":"Error! Only GET and POST are allowed"}` {
		t.Errorf("PUT: %d %s %v", put.Code, put.Body, put.Header())
	}
	for _, asked := range []string{"", "x-any"} {
		options := s.try(http.MethodOptions, query, nil, "Access-Control-Request-Headers", asked)
		h := options.Header()
		if options.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS, POST" || h.Get("Access-Control-Allow-Headers") != asked || len(h["Access-Control-Allow-Headers"]) != len(asked)/5 ||
			h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Vary") != "Access-Control-Request-Method, Access-Control-Request-Headers" {
			t.Errorf("OPTIONS: %d %v", options.Code, h)
		}
	}
}

// TestPermission: beyond loopback nobody verifies contracts, and no page of another origin does, which may not read the refusal either.
func TestPermission(t *testing.T) {
	s := reading(t)
	query := s.path("module=contract&action=verifysourcecode&contractaddress=" + alice)
	page := s.try(http.MethodPost, query, nil, "Origin", "https://evil.example")
	if !strings.Contains(page.Body.String(), `"result":"Error! a page of https://evil.example may not do this`) || page.Header().Get("Access-Control-Allow-Origin") != "" || page.Code != http.StatusOK {
		t.Errorf("a page: %d %s %v", page.Code, page.Body, page.Header())
	}
	if own := s.try(http.MethodPost, query, nil, "Origin", "http://localhost:3000"); !strings.Contains(own.Body.String(), "Error! Missing sourceCode") || own.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a page of loopback: %s", own.Body)
	}
	o := s.options
	o.Permit = &permit.Rule{Exposed: true}
	exposed := &scanner{t, New(o), s.world, s.chain}
	w := exposed.try(http.MethodPost, query, nil)
	if !strings.Contains(w.Body.String(), `"message":"NOTOK","result":"Error! this server listens beyond loopback`) || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("beyond loopback: %s %v", w.Body, w.Header())
	}
	exposed.want("module=account&action=balance&address="+nobody, "0")
}

// nobody is an address without an account.
const nobody = "0x0102030000000000000000000000000000000000"

// TestFailures: what fails inside is told in general words, with another status; what was sent already is not completed.
func TestFailures(t *testing.T) {
	s := writing(t)
	const list = "module=account&action=txlist&address=" + alice
	for statement, query := range map[string]string{
		"FROM account":  "module=account&action=balance&address=" + alice,
		"FROM token":    "module=token&action=tokeninfo&contractaddress=" + alice,
		"FROM log":      "module=logs&action=getLogs&fromBlock=0",
		"FROM verified": "module=contract&action=getsourcecode&address=0xcA11bde05977b3631167028862bE2a173976CA11",
	} {
		s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		w := s.try(http.MethodGet, s.path(query), nil)
		if w.Code != http.StatusInternalServerError || w.Body.String() != `{"status":"0","message":"NOTOK","result":"Unexpected error, timeout or server too busy. Please try again later"}` {
			t.Errorf("%s fails: %d %s", statement, w.Code, w.Body)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		r, ended := httptest.NewRequest(http.MethodGet, s.path(query), nil).WithContext(gone), httptest.NewRecorder()
		if s.ServeHTTP(ended, r); ended.Code != http.StatusServiceUnavailable || !strings.Contains(ended.Body.String(), "Error! The world was reverted during this request: try again") {
			t.Errorf("%s fails in an ended request: %d %s", statement, ended.Code, ended.Body)
		}
		s.world.DB.FailStatements(nil)
	}
	s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, "k.at") || strings.Contains(text, "SELECT at") })
	defer s.world.DB.FailStatements(nil)
	defer func() {
		if problem := recover(); problem != http.ErrAbortHandler {
			t.Errorf("a list that cannot be completed: %v", problem)
		}
	}()
	w := s.try(http.MethodGet, s.path(list), nil)
	t.Errorf("a list without rows: %d %s", w.Code, w.Body)
}

// TestLongLists are sent in parts, whole or not at all.
func TestLongLists(t *testing.T) {
	const parts, size = 7, 100
	var want []row
	part := func(i int) (all []any, err error) {
		for j := range size {
			all = append(all, row{"n": fmt.Sprint(i*size + j), "text": strings.Repeat("<", 1000)})
		}
		return all, nil
	}
	for i := range parts {
		all, _ := part(i) // never fails
		for _, r := range all {
			want = append(want, r.(row))
		}
	}
	flushed := &counting{ResponseRecorder: httptest.NewRecorder()}
	send(flushed, httptest.NewRequest(http.MethodGet, "/api", nil), http.StatusOK, &rows{parts, part})
	var a struct {
		Status, Message string
		Result          []row
	}
	if err := json.Unmarshal(flushed.Body.Bytes(), &a); err != nil || a.Status != "1" || a.Message != "OK" || fmt.Sprint(a.Result) != fmt.Sprint(want) {
		t.Errorf("%v %.200s", err, flushed.Body)
	}
	if h := flushed.Header(); flushed.writes != 3 || h.Get("Content-Type") != "application/json; charset=utf-8" || h.Get("Cache-Control") != "no-cache" || h.Get("Content-Length") != "" {
		t.Errorf("%d writes, %v", flushed.writes, flushed.Header())
	}
	head := httptest.NewRecorder()
	if send(head, httptest.NewRequest(http.MethodHead, "/api", nil), http.StatusOK, &rows{parts, part}); head.Body.Len() > 0 || head.Header().Get("Content-Length") != fmt.Sprint(flushed.Body.Len()) {
		t.Errorf("HEAD: %.200s %v", head.Body, head.Header())
	}
	short := httptest.NewRecorder()
	if send(short, httptest.NewRequest(http.MethodGet, "/api", nil), http.StatusOK, &rows{3, part}); short.Body.Len() < flushAt || short.Header().Get("Content-Length") != fmt.Sprint(short.Body.Len()) {
		t.Errorf("a short list: %v", short.Header())
	}
	for name, l := range map[string]*rows{
		"a part that fails":             {1, func(int) ([]any, error) { return nil, errors.New("no") }},
		"a row that is not JSON":        {1, func(int) ([]any, error) { return []any{make(chan int)}, nil }},
		"a client that reads no longer": {parts, part},
	} {
		var to http.ResponseWriter = httptest.NewRecorder()
		if l.parts > 1 {
			to = &counting{ResponseRecorder: httptest.NewRecorder(), fails: true}
		}
		func() {
			defer func() {
				if problem := recover(); problem != http.ErrAbortHandler {
					t.Errorf("%s: %v", name, problem)
				}
			}()
			send(to, httptest.NewRequest(http.MethodGet, "/api", nil), http.StatusOK, l)
		}()
	}
	wrong := httptest.NewRecorder()
	if send(wrong, httptest.NewRequest(http.MethodGet, "/api", nil), http.StatusOK, make(chan int)); wrong.Code != http.StatusInternalServerError || wrong.Body.String() != `{"status":"0","message":"NOTOK","result":"Unexpected error"}` {
		t.Errorf("a result that is not JSON: %d %s", wrong.Code, wrong.Body)
	}
}

// counting is a client that counts what it gets, or gets nothing.
type counting struct {
	*httptest.ResponseRecorder
	writes int
	fails  bool
}

func (c *counting) Write(p []byte) (int, error) {
	if c.writes++; c.fails {
		return 0, errors.New("gone")
	}
	return c.ResponseRecorder.Write(p)
}

// TestIndexed: an index that lags answers, save for the module proxy and what changes the world; the caller is done with it afterwards.
func TestIndexed(t *testing.T) {
	s := writing(t)
	behind, err := s.world.Copy(t.Context())
	s.check(err)
	defer behind.Close()
	s.check(s.world.MinerOf(s.chain).Mine(t.Context(), 3, time.Second))
	o, asked, done := s.options, 0, 0
	var problem error
	o.Node = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest.WriteJSON(w, r, http.StatusOK, []byte(`{"status":"1","message":"the node"}`))
	})
	o.Indexed = func(_ context.Context, c *reader.Chain) (*sim.World, func(), error) {
		if asked++; c.Row.EVMID != 43114 {
			return nil, nil, problem
		}
		return behind, func() { done++ }, problem
	}
	old := s.history()
	lagging := &scanner{t, New(o), s.world, s.chain}
	first := fmt.Sprintf("module=block&action=getblockreward&blockno=%d", old.head())
	if a := s.get(first); a.Status != "1" {
		t.Errorf("without a lag: %+v", a)
	}
	lagging.refuses(first, "No records found", "[]")
	if a := lagging.get(fmt.Sprintf("module=block&action=getblockreward&blockno=%d", old.head()-3)); a.Status != "1" || asked != 2 || done != 2 {
		t.Errorf("%+v, the index was asked %d times, %d of them done", a, asked, done)
	}
	if a := lagging.get("module=proxy&action=eth_blockNumber"); a.Message != "the node" || asked != 2 {
		t.Errorf("the node: %+v, the index was asked %d times", a, asked)
	}
	lagging.rejects("module=contract&action=verifysourcecode&contractaddress="+alice, "Error! Missing sourceCode")
	other := &scanner{t, lagging.API, s.world, s.world.Chains[1]}
	if a := other.get("module=block&action=getblockreward&blockno=1"); a.Status != "1" || asked != 3 || done != 2 {
		t.Errorf("a chain that does not lag: %+v, asked %d times, done %d", a, asked, done)
	}
	problem = errors.New("no")
	if w := lagging.try(http.MethodGet, lagging.path(first), nil); w.Code != http.StatusInternalServerError {
		t.Errorf("an index that fails: %d %s", w.Code, w.Body)
	}
}

// TestProxy: the module proxy forwards each method with its parameters in order, as the client sent it, and sends the answer as it is.
func TestProxy(t *testing.T) {
	s := reading(t)
	o := s.options
	var got struct {
		JSONRPC, Method string
		ID              int
		Params          []any
	}
	var call *http.Request
	o.Node = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call, got.Params = r, nil
		s.check(json.NewDecoder(r.Body).Decode(&got))
		rest.WriteJSON(w, r, http.StatusTeapot, []byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"0x1\"}\n"))
	})
	proxy := &scanner{t, New(o), s.world, s.world.Chains[1]}
	for query, want := range map[string][]any{
		"proxy&action=eth_blockNumber":                                      {"eth_blockNumber"},
		"block&action=eth_block_number":                                     {"eth_blockNumber"},
		"proxy&action=eth_gasPrice":                                         {"eth_gasPrice"},
		"proxy&action=eth_getBlockByNumber&tag=0x5&boolean=true":            {"eth_getBlockByNumber", "0x5", true},
		"proxy&action=eth_getBlockByNumber&boolean=false":                   {"eth_getBlockByNumber", "latest", false},
		"proxy&action=eth_getUncleByBlockNumberAndIndex&tag=0x5&index=0x0":  {"eth_getUncleByBlockNumberAndIndex", "0x5", "0x0"},
		"proxy&action=eth_getBlockTransactionCountByNumber&tag=0x5":         {"eth_getBlockTransactionCountByNumber", "0x5"},
		"proxy&action=eth_getTransactionByHash&txhash=0x12":                 {"eth_getTransactionByHash", "0x12"},
		"proxy&action=eth_getTransactionByBlockNumberAndIndex&index=0x1":    {"eth_getTransactionByBlockNumberAndIndex", "latest", "0x1"},
		"proxy&action=eth_getTransactionCount&tag=pending&address=" + alice: {"eth_getTransactionCount", alice, "pending"},
		"proxy&action=eth_sendRawTransaction&hex=0x12":                      {"eth_sendRawTransaction", "0x12"},
		"proxy&action=eth_getTransactionReceipt&txhash=0x12":                {"eth_getTransactionReceipt", "0x12"},
		"proxy&action=eth_call&to=0x1&data=0x2&from=0x3&value=0x4&gas=0x5&gasPrice=0x6&tag=0x7": {"eth_call",
			row{"to": "0x1", "data": "0x2", "from": "0x3", "value": "0x4", "gas": "0x5", "gasPrice": "0x6"}, "0x7"},
		"proxy&action=eth_call&to=0x1":                                {"eth_call", row{"to": "0x1"}, "latest"},
		"proxy&action=eth_getCode&address=" + alice:                   {"eth_getCode", alice, "latest"},
		"proxy&action=eth_getStorageAt&position=0x0&address=" + alice: {"eth_getStorageAt", alice, "0x0", "latest"},
		"proxy&action=eth_estimateGas&to=0x1&gasprice=0x6":            {"eth_estimateGas", row{"to": "0x1", "gasPrice": "0x6"}},
	} {
		call = nil
		w := proxy.try(http.MethodGet, proxy.path("module="+query), nil, "X-Api-Key", "key", "Content-Type", "text/plain")
		path := "/ext/bc/" + ids.ID(proxy.chain.Row.BlockchainID).String() + "/rpc"
		if w.Code != http.StatusTeapot || w.Body.String() != `{"jsonrpc":"2.0","id":1,"result":"0x1"}` || call == nil {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
		if have := append([]any{got.Method}, got.Params...); fmt.Sprint(have) != fmt.Sprint(want) || got.JSONRPC != "2.0" || got.ID != 1 || got.Params == nil {
			t.Errorf("%s calls %v, want %v", query, have, want)
		}
		if call.Method != http.MethodPost || call.URL.Path != path || call.RequestURI != path || call.Header.Get("X-Api-Key") != "key" || call.Header.Get("Content-Type") != "application/json" ||
			call.RemoteAddr != "192.0.2.1:1234" || call.Host != "example.com" || !rest.IsInside(call.Context()) {
			t.Errorf("%s sends %s %s %v", query, call.Method, call.URL, call.Header)
		}
	}
}

// TestEndpoints lists every action once, by its name in lower case.
func TestEndpoints(t *testing.T) {
	s := reading(t)
	all := s.Endpoints()
	if len(all) != 1 || len(all[0].Operations) != len(actions) || !slices.IsSorted(all[0].Operations) || !slices.Contains(all[0].Operations, "proxy.eth_getblockbynumber") || all[0].Interface != rest.Etherscan {
		t.Errorf("%+v", all)
	}
}

// TestRecorded: the journal names the action and keeps a form; the log has what fails inside.
func TestRecorded(t *testing.T) {
	s := writing(t)
	kept, log := journal.New(10, nil, nil), new(bytes.Buffer)
	server, err := rest.New(rest.Options{Clock: s.world.Clock, WorldKey: make([]byte, 32), Journal: kept, Log: slog.New(slog.NewTextHandler(log, nil))})
	s.check(err)
	for _, prefix := range Prefixes {
		server.Mount(rest.Etherscan, prefix, s)
	}
	form := "module=account&action=Balance&address=" + alice
	for _, c := range []struct{ method, path, body, operation string }{
		{http.MethodPost, "/api", form, "account.balance"}, {http.MethodGet, "/v2/network/mainnet/evm/43114/etherscan/api?" + form, "", "account.balance"},
		{http.MethodGet, "/fuji/api?module=proxy&action=eth_CALL&address=0x12&chainid=1", "", "proxy.eth_call"}, {http.MethodGet, "/v2/api?module=account&action=nothing", "", "etherscan"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		server.ServeHTTP(httptest.NewRecorder(), r)
		e := kept.Latest(0)[0]
		if e.Operation != c.operation || e.Interface != rest.Etherscan || string(e.Request.Kept) != c.body || e.Request.Size != int64(len(c.body)) {
			t.Errorf("%s: %s %q %s", c.path, e.Interface, e.Operation, e.Request.Kept)
		}
	}
	server.Mount(rest.Etherscan, "/located", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.Locate(r) }))
	server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/located?"+form, nil))
	if e := kept.Latest(0)[0]; e.Operation != "account.balance" {
		t.Errorf("a located request is %q", e.Operation)
	}
	s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, "FROM account") })
	server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api?"+form, nil))
	s.world.DB.FailStatements(nil)
	if !strings.Contains(log.String(), `level=ERROR msg="request failed" operation=account.balance err=`) {
		t.Errorf("the log has %s", log)
	}
}
