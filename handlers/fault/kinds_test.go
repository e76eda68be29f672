package fault_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
)

// over is a request on a WebSocket connection.
func over(r *fault.Request) *fault.Request {
	r.Header.Set("Upgrade", "websocket")
	return r
}

// listing is a request of the Data API with a query.
func listing(method, query string, paged bool) *fault.Request {
	return &fault.Request{Interface: "data", Operation: "list chains", Method: method, Path: "/v1", Text: "/v1?" + query, Header: http.Header{}, Paged: paged}
}

// TestWhatARequestMayHave draws one kind after the other.
func TestWhatARequestMayHave(t *testing.T) {
	key, err := crypto.ToECDSA(slices.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: 7}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	unsigned, _ := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(43114)}).MarshalBinary()
	unnamed := listing("POST", "", false)
	unnamed.Operation = ""
	sender := crypto.PubkeyToAddress(key.PublicKey)
	const always, reading = "429 503 limited reset slow", "429 503 cut limited reset slow"
	for _, c := range []struct {
		name     string
		request  func() *fault.Request
		kinds    string
		on, what string
	}{
		{"a chain", func() *fault.Request { return chainRequest(1) }, reading + " stale", "getChain", "GET /v1/chains/1"},
		{"a page", func() *fault.Request { return listing("GET", "apikey=secret&rltoken=secret&a=1", true) }, reading + " short stale", "list_chains", "GET /v1?a=1"},
		{"another page", func() *fault.Request { return listing("GET", "pageToken=x", true) }, reading + " short stale expired", "list_chains", "GET /v1?pageToken=*"},
		{"a head", func() *fault.Request { return listing("HEAD", "", false) }, reading + " stale", "list_chains", "HEAD /v1"},
		{"a change", func() *fault.Request { return listing("POST", "", false) }, always, "list_chains", "POST /v1"},
		{"no operation", func() *fault.Request { return unnamed }, always, "POST", "POST /v1"},
		{"120 bytes", func() *fault.Request { return listing("GET", "a="+strings.Repeat("x", 110), false) }, reading + " stale", "list_chains", "GET /v1?a=" + strings.Repeat("x", 110)},
		{"121 bytes", func() *fault.Request { return listing("GET", "a="+strings.Repeat("x", 111), false) }, reading + " stale", "list_chains", "GET /v1?a=" + strings.Repeat("x", 110) + "…"},
		{"a number", func() *fault.Request { return rpc("eth_gasPrice", "[]") }, reading, "eth_gasPrice", "eth_gasPrice []"},
		{"a balance", func() *fault.Request { return rpc("eth_getBalance", `["0x1"]`) }, reading + " reorg", "eth_getBalance", `eth_getBalance ["0x1"]`},
		{"a receipt", func() *fault.Request { return rpc("eth_getTransactionReceipt", "[]") }, reading + " null reorg", "eth_getTransactionReceipt", "eth_getTransactionReceipt []"},
		{"a status", func() *fault.Request { return rpc("platform.getTxStatus", "{}") }, reading + " processing", "platform.getTxStatus", "platform.getTxStatus {}"},
		{"a payment", func() *fault.Request {
			return rpc("eth_sendTransaction", `[{"from":"`+sender.Hex()+`","nonce":"0x7"}]`)
		}, always + " lost silent", "eth_sendTransaction", "eth_sendTransaction from " + sender.Hex() + " with nonce 7"},
		{"a payment without a sender", func() *fault.Request { return rpc("eth_sendTransaction", `[{"nonce":"0x7"}]`) }, always, "eth_sendTransaction", `eth_sendTransaction [{"nonce":"0x7"}]`},
		{"no payment", func() *fault.Request { return rpc("eth_sendTransaction", `[]`) }, always, "eth_sendTransaction", `eth_sendTransaction []`},
		{"a signed payment", func() *fault.Request { return rpc("eth_sendRawTransaction", `["`+hexutil.Encode(raw)+`"]`) }, always + " lost silent", "eth_sendRawTransaction", "eth_sendRawTransaction from " + sender.Hex() + " with nonce 7"},
		{"an unsigned payment", func() *fault.Request { return rpc("eth_sendRawTransaction", `["`+hexutil.Encode(unsigned)+`"]`) }, always, "eth_sendRawTransaction", `eth_sendRawTransaction ["` + hexutil.Encode(unsigned) + `"]`},
		{"no signed payment", func() *fault.Request { return rpc("eth_sendRawTransaction", `[]`) }, always, "eth_sendRawTransaction", `eth_sendRawTransaction []`},
		{"nonsense", func() *fault.Request { return rpc("eth_sendRawTransaction", `["0x1"]`) }, always, "eth_sendRawTransaction", `eth_sendRawTransaction ["0x1"]`},
		{"a filter", func() *fault.Request { return rpc("eth_newFilter", `[{}]`) }, always, "eth_newFilter", "eth_newFilter [{}]"},
		{"a filter's changes", func() *fault.Request { return rpc("eth_getFilterChanges", `["0x1"]`) }, always, "eth_getFilterChanges", `eth_getFilterChanges ["*"]`},
		{"a platform transaction", func() *fault.Request { return rpc("platform.issueTx", `{}`) }, always, "platform.issueTx", "platform.issueTx {}"},
		{"a batch", func() *fault.Request { return batch("eth_gasPrice", "eth_chainId") }, reading, "batch", "eth_gasPrice [] eth_chainId []"},
		{"a batch with a receipt", func() *fault.Request { return batch("eth_newFilter", "eth_getTransactionReceipt") }, always + " null reorg", "batch", "eth_newFilter [] eth_getTransactionReceipt []"},
		{"a receipt over WebSocket", func() *fault.Request { return over(rpc("eth_getTransactionReceipt", "[]")) }, "503 null reorg reset slow", "eth_getTransactionReceipt", "eth_getTransactionReceipt [] over WebSocket"},
		{"a filter over WebSocket", func() *fault.Request { return over(rpc("eth_newFilter", "[]")) }, "503 reset slow", "eth_newFilter", "eth_newFilter [] over WebSocket"},
		{"a subscription", func() *fault.Request { return over(rpc("eth_subscribe", "[]")) }, "slow", "eth_subscribe", "eth_subscribe [] over WebSocket"},
		{"an end", func() *fault.Request { return over(rpc("eth_unsubscribe", "[]")) }, "", "", ""},
		{"a subscription over HTTP", func() *fault.Request { return rpc("eth_subscribe", "[]") }, always, "eth_subscribe", "eth_subscribe []"},
	} {
		kinds := map[string]bool{}
		for number := int64(1); number < 2*22*8; number += 2 {
			s := fault.Draw(number, nil, true)
			for range 6 {
				follow(s).Decide(c.request())
			}
			for _, p := range s.Applied() {
				if kinds[p.Kind] = true; p.On != c.on || p.What != c.what {
					t.Errorf("%s: %s %s, want %s %s", c.name, p.On, p.What, c.on, c.what)
				}
				if most := map[string]int{"429": 2, "503": 2, "slow": 4, "cut": 2, "reset": 2, "null": 3, "processing": 3, "stale": 3}[p.Kind]; p.Times < 1 || p.Times > max(most, 1) {
					t.Errorf("%s: %s*%d", c.name, p.Kind, p.Times)
				}
			}
		}
		want := strings.Fields(c.kinds)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
			t.Errorf("%s may have %s, want %s", c.name, got, want)
		}
	}
}

// TestEvenNumbersDrawSomeKinds: about half of them, and no reorganisation unless the user asks for it.
func TestEvenNumbersDrawSomeKinds(t *testing.T) {
	with, times := map[string]int{}, map[string]int{}
	const numbers = 60
	for number := int64(0); number < 2*numbers; number += 2 {
		s := fault.Draw(number, nil, false)
		for i := range 200 {
			follow(s).Decide(rpc("eth_getTransactionReceipt", fmt.Sprintf("[%d]", i)))
		}
		met := map[string]bool{}
		for _, p := range s.Applied() {
			met[p.Kind], times[p.Kind] = true, max(times[p.Kind], p.Times)
		}
		for kind := range met {
			with[kind]++
		}
	}
	for _, kind := range []string{"429", "503", "cut", "reset", "null"} {
		if n := with[kind]; n < numbers/4 || n > numbers*3/4 {
			t.Errorf("%d of %d numbers draw %s", n, numbers, kind)
		}
	}
	if with["reorg"] > 0 || times["null"] != 3 || times["503"] != 2 {
		t.Errorf("%d have reorganisations; the most in a row are %v", with["reorg"], times)
	}
	fault.Draw(1, fault.Requests{}, false) // of a client without requests
}

// TestASilentAnswerComesOnce for the same transaction.
func TestASilentAnswerComesOnce(t *testing.T) {
	silent := 0
	for number := int64(1); number < 2*22*4; number += 2 {
		s := fault.Draw(number, nil, true)
		for range 30 {
			follow(s).Decide(rpc("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","nonce":"0x1"}]`))
		}
		if list := s.Applied(); len(list) > 0 && list[0].Kind == "silent" {
			if silent++; len(list) != 1 {
				t.Errorf("%s", list)
			}
		}
	}
	if silent == 0 {
		t.Error("no number draws it")
	}
}

// TestPlansOfAList compares the plan for each kind.
func TestPlansOfAList(t *testing.T) {
	reorgs := 0
	for kind, right := range map[string]func(p *fault.Plan) bool{
		"503": func(p *fault.Plan) bool {
			return p.Whole.Status == 503 && p.Delay == 0 && p.Calls == nil && p.After == nil
		},
		"slow":    func(p *fault.Plan) bool { return p.Whole == nil && p.Delay == 300*time.Millisecond && p.Calls == nil },
		"null":    func(p *fault.Plan) bool { return p.Whole == nil && len(p.Calls) == 1 && p.Calls[0] != nil },
		"stale":   func(p *fault.Plan) bool { return p.Whole.Stale },
		"reset":   func(p *fault.Plan) bool { return p.Whole.Drop.When == "before" && !p.Whole.Answerless() },
		"lost":    func(p *fault.Plan) bool { return p.Whole.Answerless() },
		"expired": func(p *fault.Plan) bool { return p.Whole.PageToken == "expired" },
		"reorg":   func(p *fault.Plan) bool { p.After(t.Context()); return p.Whole == nil && reorgs == 1 },
	} {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		if set.Any() {
			t.Error("a set without rules has faults")
		}
		set.Follow(fault.Repeat(fault.List{{Kind: kind, Times: 1, On: "eth_getTransactionReceipt", Key: "*", Nth: 1}}), func() int64 { return 0 }, func(context.Context) { reorgs++ })
		if p := set.Decide(rpc("eth_getTransactionReceipt", "[]")); !set.Any() || p == nil || p.Text != "schedule: "+kind || !right(p) {
			t.Errorf("%s: %+v", kind, p)
		}
	}
}

// TestWhereAListApplies: to one request by its parameters and its repetitions, or to any of its operation.
func TestWhereAListApplies(t *testing.T) {
	one, other := keyOf(chainRequest(1)), keyOf(chainRequest(2))
	for _, c := range []struct {
		list   string
		chains []int // -1 for another method
		want   string
	}{
		{"503*1 getChain * 2", []int{1, 2, 3}, "-x-"}, {"503*1 getChain * 2", []int{1, -1, -1, 2}, "---x"}, {"503*2 getChain " + one + " 2", []int{1, 2, 1, 2, 1, 1}, "--x-x-"}, {"503*1 getChain " + other + " 1", []int{1, 2, 2}, "-x-"},
		{"limited*1 getChain " + one + " 1", []int{1, 1, 2, 1, 1}, "xx-xx"},
		{"stale*2 getChain " + one + " 1", []int{1, 1, 1}, "xx-"}, {"stale*2 getChain " + one + " 1", []int{1, 2, 1}, "x--"}, // the index has shown its state
		{"stale*1 getChain " + one + " 1", []int{-1, 1}, "-x"}, {"stale*1 getChain " + one + " 2", []int{1, 1}, "--"}, {"503*1 getChain " + one + " 2", []int{1, 1}, "-x"},
	} {
		lists, err := fault.ParseLists("schedule a\n" + c.list)
		if err != nil {
			t.Fatal(err)
		}
		s := fault.Repeat(lists[0])
		if s.Stale() != strings.HasPrefix(c.list, "stale") {
			t.Errorf("%s may be stale: %v", c.list, s.Stale())
		}
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		var got strings.Builder
		for _, chain := range c.chains {
			r := chainRequest(chain)
			if chain < 0 {
				r = rpc("eth_chainId", "[]")
			}
			if set.Decide(r) == nil {
				got.WriteByte('-')
			} else {
				got.WriteByte('x')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s applies to %s of %v, want %s", c.list, &got, c.chains, c.want)
		}
	}
	if fault.Draw(1, nil, false).Stale() || !fault.Draw(21, nil, false).Stale() {
		t.Error("which numbers draw stale answers alone")
	}
}

// TestIndexedRequests are those whose answer lags: in a world that follows a schedule, only where the schedule says so.
func TestIndexedRequests(t *testing.T) {
	idle := fault.NewSet(1, "main", time.Now, events.NewHub())
	for _, set := range []*fault.Set{nil, idle} {
		if !fault.Indexed(set.Scheduled(t.Context())) {
			t.Error("a world without a schedule")
		}
	}
	ctx := follow(fault.Repeat(nil)).Scheduled(t.Context())
	for _, c := range []struct {
		plan *fault.Plan
		want bool
	}{{nil, false}, {&fault.Plan{}, false}, {&fault.Plan{Whole: &fault.Action{}}, false}, {&fault.Plan{Whole: &fault.Action{Stale: true}}, true}} {
		within := ctx
		if c.plan != nil {
			within = fault.WithPlan(ctx, c.plan)
		}
		if got := fault.Indexed(within); got != c.want {
			t.Errorf("%+v: %v", c.plan, got)
		}
	}
}

// TestFaultsInWords explains faults, and reads what it wrote.
func TestFaultsInWords(t *testing.T) {
	for n, want := range map[int]string{1: "the first", 2: "the 2nd", 3: "the 3rd", 4: "the 4th", 10: "the 10th", 11: "the 11th", 12: "the 12th", 13: "the 13th", 21: "the 21st", 22: "the 22nd", 23: "the 23rd", 101: "the 101st", 111: "the 111th", 112: "the 112th"} {
		for times, more := range map[int]string{1: "", 2: ", 2 times in a row"} {
			p := fault.Planned{Kind: "503", Times: times, On: "getChain", Key: "aa", Nth: n, What: "GET /v1"}
			if got := p.String(); got != want+" of GET /v1 is answered with a 503"+more {
				t.Errorf("%d, %d times: %s", n, times, got)
			}
			if read, err := fault.ParseLists(fault.List{p}.String()); err != nil || read[0][0] != p {
				t.Errorf("%s is read as %+v, %v", p, read, err)
			}
		}
	}
	for text, want := range map[string]string{
		"rain*1 getChain aa 2": "rain*1 getChain aa 2", "503*1 getChain aa 2": "the 2nd of getChain is answered with a 503",
		"fee*1 world fee 1": "gas costs 1 nAVAX, and until eight seconds after the first transaction 15 % more in each block than was announced",
	} {
		var p fault.Planned
		kind, rest, _ := strings.Cut(text, "*")
		p.Kind = kind
		if _, err := fmt.Sscan(rest, &p.Times, &p.On, &p.Key, &p.Nth); err != nil || p.String() != want {
			t.Errorf("%s: %s, %v", text, p, err)
		}
	}
	for _, comment := range []string{"", "# the first of GET /v1 was lucky", "# of GET /v1 is answered with a 503"} {
		if all, err := fault.ParseLists("schedule a\n503*1 getChain aa 1 " + comment); err != nil || all[0][0].What != "" {
			t.Errorf("%s is about %q, %v", comment, all[0][0].What, err)
		}
	}
}

// TestListsWithoutParameters count the requests of an operation; a fault that was read, or that is for any request, stays.
func TestListsWithoutParameters(t *testing.T) {
	lists, err := fault.ParseLists("schedule a\n503*1 getChain " + keyOf(chainRequest(2)) + " 1\n429*1 getChain * 3\n")
	if err != nil {
		t.Fatal(err)
	}
	s := fault.Repeat(lists[0])
	set := follow(s)
	for chain := range 3 {
		set.Decide(chainRequest(chain + 1))
	}
	for _, c := range []struct {
		list fault.List
		want string
	}{
		{lists[0], "getChain " + keyOf(chainRequest(2)) + " 1, getChain * 3"},
		{s.Applied(), "getChain * 2 getChain, whatever its parameters,, getChain * 3 GET /v1/chains/3"},
	} {
		var got []string
		for _, p := range c.list.Loose() {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", p.On, p.Key, p.Nth, p.What)))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLogsThatAreMissing are the newest ones.
func TestLogsThatAreMissing(t *testing.T) {
	for _, c := range []struct {
		list string
		n    int
		want string
	}{
		{`[{"a":1},{"a":2},{"a":3}]`, 2, `[{"a":1}]`}, {`[{"a":1}]`, 2, `[]`}, {`[]`, 1, `[]`}, {`["0x1","0x2"]`, 1, `["0x1","0x2"]`}, {`{"a":1}`, 1, `{"a":1}`},
	} {
		if got := string(fault.WithoutLogs([]byte(c.list), c.n)); got != c.want {
			t.Errorf("%s without %d: %s, want %s", c.list, c.n, got, c.want)
		}
	}
}
