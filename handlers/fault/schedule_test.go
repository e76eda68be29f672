package fault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
)

// follow returns a set that follows a schedule.
func follow(s *fault.Schedule) *fault.Set {
	set := fault.NewSet(1, "main", time.Now, events.NewHub())
	revision := int64(0)
	set.Follow(s, func() int64 { revision++; return revision }, func(context.Context) {})
	return set
}

// chainRequest is a request of the Data API for a chain.
func chainRequest(chain int) *fault.Request {
	path := fmt.Sprintf("/v1/chains/%d", chain)
	return &fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Text: path + "?", Header: http.Header{}}
}

func rpc(method, params string) *fault.Request {
	return &fault.Request{Interface: "node", Method: "POST", Path: "/ext/bc/C/rpc", Header: http.Header{}, Calls: []fault.Call{{Method: method, Params: json.RawMessage(params)}}}
}

func textOf(p *fault.Plan) string {
	if p == nil {
		return ""
	}
	return p.Text
}

// TestTheOrderOfRequestsDecidesNothing asks for chains four times each, in two orders, and each request meets the same faults, even where there are
// so many that few may fail.
func TestTheOrderOfRequestsDecidesNothing(t *testing.T) {
	const times = 4
	for _, chains := range []int{10, 60} {
		calm := fault.Repeat(nil)
		askForChains(calm, chains, times, false)
		met := 0
		for number := range int64(60) {
			var got [2]fault.List
			for order := range got {
				s := fault.Draw(number, calm.Requests(), true)
				askForChains(s, chains, times, order == 1)
				got[order] = s.Applied()
			}
			if got[0].ID() != got[1].ID() {
				t.Errorf("schedule %d: %v, in another order %v", number, got[0], got[1])
			}
			met += len(got[0])
		}
		if met < 100 {
			t.Errorf("%d chains: only %d faults in all", chains, met)
		}
	}
}

// TestLongRunsHaveNoMoreFaults asks for many chains: about as many requests fail as if there were few, and they wait no longer.
func TestLongRunsHaveNoMoreFaults(t *testing.T) {
	for _, chains := range []int{20, 200} {
		calm := fault.Repeat(nil)
		askForChains(calm, chains, 1, false)
		faults, waited, slow := 0, time.Duration(0), []time.Duration{}
		const numbers = 100
		for number := range int64(numbers) {
			s := fault.Draw(number, calm.Requests(), false)
			askForChains(s, chains, 1, false)
			faults, waited = faults+len(s.Applied()), waited+s.Waited()
			if !slices.ContainsFunc(s.Applied(), func(p fault.Planned) bool { return p.Kind != "slow" }) && s.Waited() > 0 {
				slow = append(slow, s.Waited())
			}
			if len(s.Applied()) > 50 || s.Waited() > 12*time.Second {
				t.Errorf("%d chains, schedule %d: %d faults, %s", chains, number, len(s.Applied()), s.Waited())
			}
		}
		if sum := int64(0); len(slow) > 0 {
			for _, d := range slow {
				sum += int64(d)
			}
			if mean := time.Duration(sum / int64(len(slow))); mean > 4*time.Second {
				t.Errorf("%d chains: slow answers alone take %s on average", chains, mean)
			}
		} else {
			t.Error("no number draws only slow answers")
		}
		if faults/numbers < 2 || faults/numbers > 24 || waited/numbers < 100*time.Millisecond || waited/numbers > 3*time.Second {
			t.Errorf("%d chains: %d faults and %s on average", chains, faults/numbers, waited/numbers)
		}
	}
}

// TestOddNumbersDrawWhatACommandCanMeet: a number that draws one kind doesn't choose one that none of the requests may have.
func TestOddNumbersDrawWhatACommandCanMeet(t *testing.T) {
	ask := func(s *fault.Schedule) {
		s.World()
		askForChains(s, 10, 2, false)
	}
	calm := fault.Repeat(nil)
	ask(calm)
	without, met := 0, map[string]bool{}
	for number := int64(1); number < 60; number += 2 {
		s := fault.Draw(number, calm.Requests(), false)
		if ask(s); len(s.Applied()) == 0 {
			without++
		}
		for _, p := range s.Applied() {
			met[p.Kind] = true
		}
	}
	if without > 5 || len(met) != 10 {
		t.Errorf("%d of 30 runs have no fault, and the others have %v", without, met)
	}
}

// TestBadWeatherAlone: a number that draws only a fault of the world always has it.
func TestBadWeatherAlone(t *testing.T) {
	calm := fault.Repeat(nil)
	calm.World()
	for number, want := range map[int64]string{1: "fee", 3: "settlement", 5: "relay", 7: "fee", 9: "settlement", 11: "relay"} {
		if got := fault.Draw(number, calm.Requests(), false).World(); len(got) != 1 || got[0] != want {
			t.Errorf("schedule %d has %v, want %s", number, got, want)
		}
	}
}

// TestOneRequestMoreChangesNothing: a client that polls again, or asks for some more in another run, still meets the same faults.
func TestOneRequestMoreChangesNothing(t *testing.T) {
	draw := func(number int64, expected, times int) string {
		calm := fault.Repeat(nil)
		askForChains(calm, expected, times, false)
		s := fault.Draw(number, calm.Requests(), false)
		askForChains(s, 64, 1, false)
		return s.Applied().ID()
	}
	different := 0
	for number := range int64(40) {
		few, many := draw(number, 33, 1), draw(number, 64, 1)
		if few != many || draw(number, 32, 50) != many {
			t.Errorf("schedule %d is not the same for 33 requests, for 64, and for 32 that are repeated", number)
		}
		if draw(number, 65, 1) != many {
			different++
		}
	}
	if different == 0 {
		t.Error("the number of requests has no effect")
	}
}

// TestAReorganisationComesOnceOrTwice asks for many balances: of the numbers that draw a reorganisation, most draw one or two.
func TestAReorganisationComesOnceOrTwice(t *testing.T) {
	for _, balances := range []int{1, 5, 60} {
		ask := func(s *fault.Schedule) {
			set := follow(s)
			for i := range balances {
				set.Decide(rpc("eth_getBalance", fmt.Sprintf(`["0x%040x","latest"]`, i)))
			}
		}
		calm := fault.Repeat(nil)
		ask(calm)
		reorgs, with := 0, 0
		for number := range int64(400) {
			s := fault.Draw(number, calm.Requests(), true)
			ask(s)
			n := 0
			for _, p := range s.Applied() {
				if p.Kind == "reorg" {
					n++
				}
			}
			if reorgs += n; n > 0 {
				with++
			}
			if n > 7 {
				t.Errorf("%d balances, schedule %d: %d reorganisations", balances, number, n)
			}
		}
		if with < 20 || reorgs > 2*with {
			t.Errorf("%d balances: %d reorganisations with %d numbers", balances, reorgs, with)
		}
	}
}

// askForChains asks for each of many chains several times, one time after the other or one chain after the other, from the last one.
func askForChains(s *fault.Schedule, chains, times int, otherOrder bool) {
	set := follow(s)
	for i := range chains * times {
		chain := i % chains
		if otherOrder {
			chain = chains - 1 - i/times
		}
		set.Decide(chainRequest(chain))
	}
}

// TestNoRequestFailsForLong: three tries in a row are enough, and after two faults the same request has no others.
func TestNoRequestFailsForLong(t *testing.T) {
	for number := range int64(200) {
		set := follow(fault.Draw(number, nil, true))
		row, all := 0, 0
		for range 30 {
			switch textOf(set.Decide(chainRequest(1))) {
			case "", "schedule: reorg", "schedule: slow":
				row = 0
			case "schedule: limited":
			default:
				row++
				all++
			}
			if row > 3 || all > 6 {
				t.Errorf("schedule %d: %d faults in a row, %d in all", number, row, all)
				break
			}
		}
	}
}

// TestAListRepeatsWhatANumberDrew repeats drawn schedules from their text.
func TestAListRepeatsWhatANumberDrew(t *testing.T) {
	requests := []func() *fault.Request{
		func() *fault.Request { return chainRequest(1) }, func() *fault.Request { return chainRequest(2) },
		func() *fault.Request { return rpc("eth_getTransactionReceipt", `["0x01"]`) },
		func() *fault.Request {
			return rpc("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","nonce":"0x1","value":"0x1"}]`)
		},
		func() *fault.Request {
			return rpc("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1"}]`)
		},
		func() *fault.Request { return rpc("platform.getTxStatus", `{"txID":"x"}`) },
		func() *fault.Request { return batch("eth_getBalance", "eth_getTransactionReceipt") },
	}
	run := func(s *fault.Schedule) (got []string) {
		set := follow(s)
		for range 3 {
			for _, r := range requests {
				got = append(got, textOf(set.Decide(r())))
			}
		}
		return got
	}
	kinds, unnumbered := map[string]bool{}, map[string]bool{}
	for number := range int64(100) {
		s := fault.Draw(number, nil, false)
		drawn := run(s)
		list := s.Applied()
		for _, p := range list {
			kinds[p.Kind] = true
			unnumbered[p.Kind] = unnumbered[p.Kind] || p.On == "eth_sendTransaction" && !strings.Contains(p.What, "with nonce")
		}
		read, err := fault.ParseLists("# a comment\n\n" + list.String())
		if err != nil || len(read) != 1 || read[0].ID() != list.ID() || read[0].String() != list.String() {
			t.Fatalf("%s is read as %v, %v", list, read, err)
		}
		if again := run(fault.Repeat(read[0])); fmt.Sprint(again) != fmt.Sprint(drawn) {
			t.Errorf("schedule %d: %q, again %q\n%s", number, drawn, again, list)
		}
	}
	for _, kind := range []string{"429", "503", "limited", "slow", "cut", "reset", "lost", "silent", "null", "processing", "stale"} {
		if !kinds[kind] {
			t.Errorf("%s is never drawn", kind)
		}
	}
	if unnumbered["lost"] || unnumbered["silent"] {
		t.Error("a client that sends again pays twice")
	}
}

// batch is a batch of calls without parameters.
func batch(methods ...string) *fault.Request {
	r := rpc(methods[0], "[]")
	for _, m := range methods[1:] {
		r.Calls = append(r.Calls, fault.Call{Method: m, Params: json.RawMessage("[]")})
	}
	return r
}

// TestTheReceiptOfABatchIsLate: of the calls of a batch, null goes to the receipt.
func TestTheReceiptOfABatchIsLate(t *testing.T) {
	for number := range int64(400) {
		p := follow(fault.Draw(number, nil, false)).Decide(batch("eth_blockNumber", "eth_getTransactionReceipt", "eth_getBalance"))
		if textOf(p) != "schedule: null" {
			continue
		}
		if len(p.Calls) != 1 || p.Calls[1] == nil {
			t.Errorf("%v, want call 1", p.Calls)
		}
		return
	}
	t.Fatal("no receipt of a batch is late")
}

// TestCallsOverAWebSocket meet what a connection can do to them, and a connection breaks once or twice in a run.
func TestCallsOverAWebSocket(t *testing.T) {
	const balances = 12
	ask := func(s *fault.Schedule) {
		set := follow(s)
		for _, r := range append([]*fault.Request{
			rpc("eth_subscribe", `["newHeads"]`), rpc("eth_getTransactionReceipt", `["0x01"]`),
			rpc("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","nonce":"0x1","value":"0x1"}]`), rpc("eth_unsubscribe", `["0x1"]`),
		}, func() (all []*fault.Request) {
			for i := range balances {
				all = append(all, rpc("eth_getBalance", fmt.Sprintf(`["0x%040x","latest"]`, i)))
			}
			return all
		}()...) {
			r.Header.Set("Upgrade", "websocket")
			set.Decide(r)
		}
	}
	calm := fault.Repeat(nil)
	ask(calm)
	kinds, broken, with := map[string][]string{}, 0, 0
	for number := range int64(600) {
		s := fault.Draw(number, calm.Requests(), false)
		ask(s)
		before := broken
		for _, p := range s.Applied() {
			if kind := p.Kind; !slices.Contains(kinds[p.On], kind) {
				kinds[p.On] = append(kinds[p.On], kind)
			}
			if p.On == "eth_getBalance" && p.Kind != "slow" {
				broken += p.Times
			}
			if !strings.Contains(p.String(), " over WebSocket ") {
				t.Errorf("%s does not say how it came", p)
			}
		}
		if broken > before {
			with++
		}
	}
	for _, all := range kinds {
		slices.Sort(all)
	}
	if want := "map[eth_getBalance:[503 reset slow] eth_getTransactionReceipt:[503 null reset slow] eth_sendTransaction:[503 lost reset silent slow] eth_subscribe:[slow]]"; fmt.Sprint(kinds) != want {
		t.Errorf("%v, want %s", kinds, want)
	}
	if with < 100 || broken > 2*with {
		t.Errorf("connections break in %d runs, %d times", with, broken)
	}
}

// TestASlowAnswerMayTakeLonger: the schedule says how long, and one answer waits, not the next.
func TestASlowAnswerMayTakeLonger(t *testing.T) {
	list, err := fault.ParseLists("schedule x\n slow*3 getChain " + keyOf(chainRequest(1)) + " 1 # the first of GET /v1/chains/1 is answered after 900ms\n")
	if err != nil {
		t.Fatal(err)
	}
	s := fault.Repeat(list[0])
	set := follow(s)
	if p := set.Decide(chainRequest(1)); p == nil || p.Delay != 900*time.Millisecond || s.Waited() != p.Delay {
		t.Errorf("%+v, waited %s", p, s.Waited())
	}
	if p := set.Decide(chainRequest(1)); p != nil {
		t.Errorf("the next one has %+v", p)
	}
	if text := s.Applied()[0].String(); text != "the first of GET /v1/chains/1 is answered after 900ms" {
		t.Error(text)
	}
	longest := time.Duration(0)
	for number := range int64(200) {
		if p := follow(fault.Draw(number, nil, false)).Decide(chainRequest(1)); textOf(p) == "schedule: slow" {
			longest = max(longest, p.Delay)
		}
	}
	if longest != 1200*time.Millisecond {
		t.Errorf("no answer takes longer than %s", longest)
	}
}

// TestMergedFaults: another delay takes over one that is left out, and the same kind takes over its repetitions, up to what a number may draw.
func TestMergedFaults(t *testing.T) {
	for text, want := range map[string]string{
		"slow*1 getChain aa 1\nslow*2 getChain bb 1":                                   "[slow*3 bb] [slow*3 aa]",
		"limited*1 getChain aa 1\nslow*1 getChain bb 1":                                "[slow*5 bb]",
		"slow*9 getChain aa 1\nsilent*1 eth_sendTransaction bb 1":                      "[slow*10 aa]",
		"late*1 newHeads aa 1\nslow*1 getChain bb 1":                                   "[slow*2 bb] [late*2 aa]",
		"null*2 eth_getTransactionReceipt aa 1\nnull*1 eth_getTransactionReceipt bb 1": "[null*3 bb] [null*3 aa]",
		"null*2 eth_getTransactionReceipt aa 1\nnull*2 eth_getTransactionReceipt bb 1": "",
		"503*1 getChain aa 1\n429*1 getChain bb 1":                                     "",
		"reset*1 getChain aa 1\nslow*1 getChain bb 1":                                  "",
	} {
		all, err := fault.ParseLists("schedule a\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range all[0].Merged() {
			if len(l) != 1 {
				t.Errorf("%s: %v", text, l)
			}
			got = append(got, fmt.Sprintf("[%s*%d %s]", l[0].Kind, l[0].Times, l[0].Key))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

// TestASentTransactionIsToldOnce: bad weather begins with the first one.
func TestASentTransactionIsToldOnce(t *testing.T) {
	pay := rpc("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","value":"0x1"}]`)
	sent := 0
	s := fault.Draw(1, nil, false)
	s.WhenSent(func() { sent++ })
	set := follow(s)
	if set.Decide(chainRequest(1)); sent != 0 {
		t.Error("a request that sends nothing is told")
	}
	set.Decide(pay)
	if set.Decide(pay); sent != 1 {
		t.Errorf("two transactions are told %d times", sent)
	}
}

// TestWhatDiffersBetweenRunsIsNoPartOfARequest: ports, random ids, values beside a nonce and spaces don't make a request different.
func TestWhatDiffersBetweenRunsIsNoPartOfARequest(t *testing.T) {
	key := func(r *fault.Request) string {
		s := fault.Draw(1, nil, false) // draws only 429s, often
		for range 50 {
			follow(s).Decide(r)
		}
		if len(s.Applied()) == 0 {
			return "none"
		}
		return s.Applied()[0].Key
	}
	webhook := func(text string) *fault.Request {
		return &fault.Request{Interface: "data", Operation: "getWebhook", Method: "GET", Path: text, Text: text + "?", Header: http.Header{}}
	}
	for _, same := range [][2]*fault.Request{
		{webhook("/v1/webhooks/0f8fad5b-d9cb-469f-a165-70867728950e"), webhook("/v1/webhooks/7c9e6679-7425-40de-944b-e07fc1f90ae7")},
		{rpc("eth_call", `[ {"to":"0x1"}, "latest" ]`), rpc("eth_call", `[{"to":"0x1"},"latest"]`)},
		{rpc("eth_call", `["http://127.0.0.1:1234/"]`), rpc("eth_call", `["http://127.0.0.1:5678/"]`)},
		{rpc("eth_getFilterLogs", `["0xa1"]`), rpc("eth_getFilterLogs", `["0xb2"]`)},
	} {
		if a, b := key(same[0]), key(same[1]); a != b {
			t.Errorf("%v is %s, %v is %s", same[0], a, same[1], b)
		}
	}
	if a, b := key(chainRequest(1)), key(chainRequest(2)); a == b {
		t.Errorf("two chains have the key %s", a)
	}
	for _, params := range []string{"", "[]"} {
		s := fault.Draw(1, nil, false)
		for range 50 {
			follow(s).Decide(rpc("eth_blockNumber", params))
		}
		if text := s.Applied().String(); strings.Contains(text, "  is ") {
			t.Errorf("a call with the parameters %q is told as %s", params, text)
		}
	}
}

// TestControlMethodsDoNotFail: schedules leave control methods, the simulator's pages and an opening WebSocket alone.
func TestControlMethodsDoNotFail(t *testing.T) {
	left := []*fault.Request{rpc("evm_mine", "[]"), rpc("anvil_setBalance", "[]"), rpc("hardhat_reset", "[]"), {Interface: "sim", Path: "/sim/clock", Header: http.Header{}}}
	opening := chainRequest(1)
	opening.Header.Set("Upgrade", "websocket")
	for _, r := range append(left, opening) {
		for number := range int64(50) {
			if p := follow(fault.Draw(number, nil, true)).Decide(r); p != nil {
				t.Errorf("%v: %s", r, p.Text)
			}
		}
	}
}

// TestAnIndexDoesNotGoBack: once the index has shown a state, it lags only after the next change.
func TestAnIndexDoesNotGoBack(t *testing.T) {
	list, err := fault.ParseLists("schedule x\n stale*2 getChain " + keyOf(chainRequest(1)) + " 1\n stale*1 getChain " + keyOf(chainRequest(1)) + " 3\n")
	if err != nil {
		t.Fatal(err)
	}
	s := fault.Repeat(list[0])
	set := fault.NewSet(1, "main", time.Now, events.NewHub())
	revision := int64(0)
	set.Follow(s, func() int64 { return revision }, func(context.Context) {})
	var got []string
	for i := range 6 {
		got = append(got, textOf(set.Decide(chainRequest(1))))
		if i == 4 {
			revision++
		}
	}
	if !slices.Equal(got, []string{"schedule: stale", "schedule: stale", "", "", "", ""}) {
		t.Errorf("%q", got)
	}
}

// keyOf returns the key of a request.
func keyOf(r *fault.Request) string {
	for number := int64(0); ; number++ {
		s := fault.Draw(number, nil, false)
		if set := follow(s); set.Decide(r) != nil {
			return s.Applied()[0].Key
		}
	}
}

// TestSchedulesThatAreNone reads malformed schedules.
func TestSchedulesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"503*1 getChain aa 1": "line 1: expected a line that begins with schedule", "schedule a\nrain getChain aa 1": "line 2: expected a fault", "schedule a\n503 getChain aa 0": "is not a number from 1",
		"schedule a\n503*0 getChain aa 1": "is not a number from 1", "schedule a\n503 getChain 1": "expected a fault",
	} {
		if _, err := fault.ParseLists(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v: want %s", text, err, want)
		}
	}
	if all, err := fault.ParseLists("schedule a\nschedule b\n503 getChain aa 2 # note\n"); err != nil || len(all) != 2 || len(all[0]) != 0 || all[1][0].Times != 1 || all[1][0].Nth != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestMilderFaults tries fewer faults in a row, then a milder kind.
func TestMilderFaults(t *testing.T) {
	all, err := fault.ParseLists("schedule a\n503*2 getChain aa 1\nlost*1 eth_sendTransaction bb 1\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all[0].Milder() {
		got = append(got, fmt.Sprintf("%s*%d %s*%d", l[0].Kind, l[0].Times, l[1].Kind, l[1].Times))
	}
	if want := []string{"503*1 lost*1", "503*2 503*1", "503*2 reset*1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNotificationsOfASchedule: the content of a notification identifies it.
func TestNotificationsOfASchedule(t *testing.T) {
	kinds := map[string]bool{}
	for number := range int64(100) {
		s := fault.Draw(number, nil, false)
		set := follow(s)
		failed := false
		for block := range 6 {
			a, delay := set.DecideEvent(&fault.Event{Subscription: "newHeads", Text: fmt.Sprintf(`{"number":"0x%x"}`, block)}, chainRequest(1))
			failed = failed || a != nil || delay > 0
			set.DecideEvent(&fault.Event{Webhook: "address_activity", Number: int64(block)}, &fault.Request{})
		}
		for _, p := range s.Applied() {
			kinds[p.On+" "+p.Kind] = true
		}
	}
	for _, want := range []string{"newHeads dropped", "newHeads doubled", "newHeads late", "newHeads reordered", "newHeads ended", "address_activity doubled", "address_activity late", "address_activity reordered"} {
		if !kinds[want] {
			t.Errorf("never %s", want)
		}
	}
	if kinds["address_activity dropped"] || kinds["address_activity ended"] {
		t.Error("a webhook's message is lost")
	}
}

// TestALogIsTheSameInAnotherBlock: a held transaction shifts other transactions' logs, and a schedule still finds them.
func TestALogIsTheSameInAnotherBlock(t *testing.T) {
	log := func(block, index string) *fault.Event {
		return &fault.Event{Subscription: "logs", Text: `{"blockNumber":"` + block + `","transactionHash":"0xaa","logIndex":"` + index + `"}`}
	}
	for number := range int64(100) {
		s := fault.Draw(number, nil, false)
		if a, _ := follow(s).DecideEvent(log("0x1", "0x0"), chainRequest(1)); a == nil {
			continue
		}
		if a, _ := follow(fault.Repeat(s.Applied())).DecideEvent(log("0x2", "0x1"), chainRequest(1)); a == nil {
			t.Errorf("%s does not hold in another block", s.Applied())
		}
	}
}
