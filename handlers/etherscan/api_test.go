package etherscan

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
)

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// answered is the envelope of a response.
type answered struct {
	Status, Message string
	Result          json.RawMessage
}

// serve sends a request to the API of the shared world.
func serve(t *testing.T, r *http.Request) (a answered, text string) {
	t.Helper()
	api := New(Options{
		World: seedtest.Shared(t, "tiny", 1), Permit: &permit.Rule{}, Network: func(*http.Request) string { return "mainnet" },
		Indexed: func(context.Context, *reader.Chain) (*sim.World, func(), error) { return nil, nil, nil },
	})
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s: %s", r.URL, w.Body)
	}
	return a, w.Body.String()
}

func ask(t *testing.T, target string) (answered, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	path, query, _ := strings.Cut(target, "?")
	r.URL = &url.URL{Path: path, RawQuery: query}
	return serve(t, r)
}

// listed asks for a list.
func listed(t *testing.T, query string) (all []map[string]any) {
	t.Helper()
	a, text := ask(t, "/api?"+query)
	if err := json.Unmarshal(a.Result, &all); err != nil {
		t.Fatalf("%s: %.300s", query, text)
	}
	return all
}

// TestPages join to the whole list, in both directions, and block ranges cut it.
func TestPages(t *testing.T) {
	for _, sort := range []string{"asc", "desc"} {
		list := "module=account&action=txlist&sort=" + sort + "&address=" + alice
		whole := listed(t, list)
		var joined []map[string]any
		for n := 1; ; n++ {
			part := listed(t, fmt.Sprintf("%s&page=%d&offset=7", list, n))
			if len(part) == 0 {
				break
			}
			joined = append(joined, part...)
		}
		if fmt.Sprint(joined) != fmt.Sprint(whole) || len(whole) < 20 {
			t.Errorf("%s: %d rows in pages, %d at once", sort, len(joined), len(whole))
		}
		from := fmt.Sprint(whole[len(whole)/2]["blockNumber"])
		within := listed(t, list+"&startblock="+from+"&endblock="+from)
		for _, o := range within {
			if o["blockNumber"] != from {
				t.Errorf("a range of block %s has block %v", from, o["blockNumber"])
			}
		}
		next, err := strconv.Atoi(from)
		if a, text := ask(t, fmt.Sprintf("/api?%s&startblock=%d&endblock=%d", list, next+1, next)); err != nil || len(within) == 0 || a.Message != "No transactions found" {
			t.Errorf("a range that ends before it begins: %s, %v", text, err)
		}
	}
}

// TestRefusalsHaveTheirOwnShape sends wrong requests, and asks at every path.
func TestRefusalsHaveTheirOwnShape(t *testing.T) {
	t.Parallel()
	const window = "Result window is too large, PageNo x Offset size must be less than or equal to 10000"
	for path, want := range map[string]string{
		"/api":                               "Error! Missing Or invalid Module name",
		"/api?module=account&action=nothing": "Error! Missing Or invalid Action name",
		"/api?module=account&action=txlist":  "Error! Invalid address format",
		"/api?module=account&action=balance&address=" + alice[2:]:                               "Error! Invalid address format",
		"/api?module=account&action=balancemulti&address=" + alice + ",0x12":                    "Error! Invalid multi address format",
		"/api?module=account&action=txlist&page=2&offset=9000&address=" + alice:                 window,
		"/api?module=account&action=txlist&offset=18446744073709551615&page=2&address=" + alice: window,
		"/api?module=account&action=txlist&page=-1&address=" + alice:                            "Error! Invalid page or offset",
		"/api?module=account&action=txlist&startblock=x&address=" + alice:                       "Error! Invalid block number",
		"/api?module=account&action=txlistinternal&txhash=0x12":                                 "Error! Invalid transaction hash",
		"/api?module=block&action=getblockcountdown&blockno=1":                                  "Error! Block number already pass",
		"/api?module=block&action=getblocknobytime&timestamp=1&closest=before":                  "Error! No closest block found",
		"/api?module=logs&action=getLogs&fromBlock=0&topic0=0xzz":                               "Error! Invalid topic0 format",
		"/v2/api?module=account&action=balance&address=" + alice:                                "Missing chainid parameter",
		"/v2/api?chainid=1&module=account&action=balance&address=" + alice:                      "Missing or unsupported chainid parameter",
		"/v2/network/mainnet/evm/43113/etherscan/api?module=stats&action=ethprice":              "Missing or unsupported chainid parameter",
		"/v2/network/mainnet/evm":                        "Error! There is nothing at this path",
		"/api?module=account&action=balance&address=%zz": "Error! The query string is malformed",
	} {
		answer, text := ask(t, path)
		var result string
		_ = json.Unmarshal(answer.Result, &result) // other types are no text
		if answer.Status != "0" || !strings.HasPrefix(answer.Message, want) && !strings.HasPrefix(result, want) {
			t.Errorf("%s: %s, expected %s", path, text, want)
		}
	}
	for _, path := range []string{"/api?", "/v2/api?chainid=43114&", "/mainnet/api?", "/fuji/api?", "/api?chainid=43114&", "/v2/network/mainnet/evm/43114/etherscan?", "/v2/network/mainnet/evm/43114/etherscan/api?"} {
		if !slices.ContainsFunc(Prefixes, func(p string) bool { return strings.HasPrefix(path, p+"/") || strings.HasPrefix(path, p+"?") }) {
			t.Errorf("%s is below no prefix", path)
		}
		if _, text := ask(t, path+"module=block&action=getblockreward&blockno=1&apikey=anything"); !strings.Contains(text, `"blockNumber":"1"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	const block = "?module=block&action=getblockreward&blockno=40"
	_, mainnet := ask(t, "/api"+block)
	_, fuji := ask(t, "/fuji/api"+block)
	if _, testnet := ask(t, "/v2/network/testnet/evm/43113/etherscan/api"+block); testnet != fuji || fuji == mainnet {
		t.Errorf("the networks answer %s, %s and %s", mainnet, fuji, testnet)
	}
}

// TestForms: a POST with a form equals a GET, and names may have any case.
func TestForms(t *testing.T) {
	post := func(form url.Values) string {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/api", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		_, text := serve(t, r)
		return text
	}
	_, want := ask(t, "/api?module=account&action=txlist&sort=desc&offset=3&page=1&address="+alice)
	have := post(url.Values{"Module": {"account"}, "ACTION": {"TxList"}, "sort": {"desc"}, "offset": {"3"}, "page": {"1"}, "address": {alice}})
	if have != want || !strings.Contains(want, `"status":"1"`) {
		t.Errorf("the form: %.300s\nthe query: %.300s", have, want)
	}
	if have := post(url.Values{"module": {strings.Repeat("x", 6<<20)}}); !strings.Contains(have, `"message":"NOTOK"`) || !strings.Contains(have, "5 MiB") {
		t.Errorf("a large form: %.300s", have)
	}
}
