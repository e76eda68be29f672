package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/events"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
)

// settled is the corpus on the C-Chains of a tiny world, where alice sends transactions.
type settled struct {
	*ground
	world  *sim.World
	log    simtest.Log
	events *events.Hub
	*Explainer
	nonces map[int]uint64
}

var (
	slotProxy   = common.HexToAddress("0x1967000000000000000000000000000000000001")
	beaconProxy = common.HexToAddress("0x1967000000000000000000000000000000000002")
	beacon      = common.HexToAddress("0x1967000000000000000000000000000000000003")
	badBeacon   = common.HexToAddress("0x1967000000000000000000000000000000000004")
)

func settle(t *testing.T) *settled {
	t.Helper()
	g := newGround(t, corpus(t, "plain"))
	g.deployAll()
	g.strangers()
	w := seedtest.Copy(t, 1)
	s := &settled{ground: g, world: w, events: events.NewHub(), nonces: map[int]uint64{}}
	quiet := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	s.Explainer = &Explainer{Registry: g.registry, World: "snow", Events: s.events, Log: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{ReplaceAttr: quiet}))}
	stranger := common.BytesToAddress([]byte{0xbb})
	all := types.GenesisAlloc{
		beacon:    {Code: slices.Concat(hexutil.MustDecode("0x73"), g.made["Bottom"].Bytes(), hexutil.MustDecode("0x5f5260205ff3")), Balance: new(big.Int)},
		badBeacon: {Code: hexutil.MustDecode("0x60015f5360015ff3"), Balance: new(big.Int)},
		stranger:  {Code: g.config.State.GetCode(stranger), Balance: new(big.Int)},
	}
	for _, at := range g.made {
		all[at] = types.Account{Code: g.config.State.GetCode(at), Balance: new(big.Int)}
	}
	proxy := g.contract("Proxy").Runtime.Bytes
	all[slotProxy] = types.Account{Code: proxy, Balance: new(big.Int), Storage: map[common.Hash]common.Hash{artifacts.ImplementationSlot: common.BytesToHash(g.made["Bottom"].Bytes())}}
	all[beaconProxy] = types.Account{Code: proxy, Balance: new(big.Int), Storage: map[common.Hash]common.Hash{artifacts.BeaconSlot: common.BytesToHash(beacon.Bytes())}}
	all[common.Address{0xbe}] = types.Account{Code: proxy, Balance: new(big.Int), Storage: map[common.Hash]common.Hash{artifacts.BeaconSlot: common.BytesToHash(badBeacon.Bytes())}}
	for i := range 2 {
		if _, err := w.Miners[i].LoadState(t.Context(), all, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.Miners[i].AddBalance(t.Context(), alice, uint256.NewInt(9e18)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// send sends a transaction and returns its hash.
func (s *settled) send(chain int, to *common.Address, input []byte, value int64) common.Hash {
	s.Helper()
	id := new(big.Int).SetUint64(s.world.Chains[chain].Row.EVMID)
	data := &types.DynamicFeeTx{ChainID: id, Nonce: s.nonces[chain], GasTipCap: common.Big1, GasFeeCap: big.NewInt(500_000_000_000), Gas: 1_000_000, To: to, Value: big.NewInt(value), Data: input}
	tx, err := evm.Impersonate(types.NewTx(data), id, alice)
	if err != nil {
		s.Fatal(err)
	}
	if err := s.world.Miners[chain].SendFrom(s.Context(), tx, alice); err != nil {
		s.Fatal(err)
	}
	s.nonces[chain]++
	return tx.Hash()
}

func (s *settled) head(chain int) *reader.Block {
	s.Helper()
	head, err := s.world.Chains[chain].Head(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return head
}

// TestGasOfASession counts the transactions since the session began by network, chain, contract and function, apart from payments. A proxy's count for
// the contract behind it.
func TestGasOfASession(t *testing.T) {
	s := settle(t)
	notes, clerk, stranger, proxy := s.made["Notes"], s.made["Clerk"], common.BytesToAddress([]byte{0xbb}), beaconProxy
	s.send(0, &notes, s.input("Notes", "note", 1), 0)
	session, err := Begin(t.Context(), s.world.Chains)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := s.Gas(t.Context(), session); err != nil || len(report.Functions) > 0 || report.Left > 0 {
		t.Fatalf("%v %+v", err, report)
	}
	for _, n := range []int{1, 10, 2, 3} {
		s.send(0, &notes, s.input("Notes", "note", n), 0)
	}
	s.send(0, &notes, s.input("Notes", "small", 2, 2, 2), 0)
	s.send(0, &notes, s.input("Notes", "small", 2, 2, 1), 0)
	s.send(0, &notes, hexutil.MustDecode("0x12345678aa"), 0)
	s.send(0, &clerk, nil, 5)
	s.send(0, &clerk, []byte{1, 2, 3}, 0)
	s.send(0, &nobody, nil, 5)
	s.send(0, &stranger, hexutil.MustDecode("0xa9059cbb"+strings.Repeat("0", 62)+"11"+strings.Repeat("0", 63)+"5"), 0)
	s.send(0, nil, s.creation("Picky", big.NewInt(5)), 0)
	s.send(0, nil, hexutil.MustDecode("0x00"), 0)
	s.send(0, &proxy, s.input("Bottom", "fail", 0), 0)
	s.send(1, &notes, s.input("Notes", "increment"), 0)
	report, err := s.Gas(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Functions {
		got = append(got, fmt.Sprintf("%s %s %s.%s %d %d used %s %s %s charged %s %s %s", f.Network, f.ChainID, f.Contract, f.Function, f.Calls, f.Failed,
			f.Used.Least, f.Used.Median, f.Used.Most, f.Charged.Least, f.Charged.Median, f.Charged.Most))
	}
	want := []string{
		"fuji 43113 Notes.increment() 1 0 used 43561 43561 43561 charged 500000 500000 500000",
		"mainnet 43114 0x00000000000000000000000000000000000000bb.transfer(address,uint256) 1 1 used 21348 21348 21348 charged 500000 500000 500000",
		"mainnet 43114 Bottom.fail(uint256) 1 0 used 25975 25975 25975 charged 500000 500000 500000",
		"mainnet 43114 Clerk.receive 2 1 used 21033 21059 21086 charged 500000 500000 500000",
		"mainnet 43114 Notes.0x12345678 1 1 used 21291 21291 21291 charged 500000 500000 500000",
		"mainnet 43114 Notes.note(uint256) 4 1 used 24392 29709 29709 charged 500000 500000 500000",
		"mainnet 43114 Notes.small(uint256,uint256,uint256) 2 1 used 22612 22817 23023 charged 500000 500000 500000",
		"mainnet 43114 Picky.constructor 1 0 used 106466 106466 106466 charged 500000 500000 500000",
		"mainnet 43114 unknown.constructor 1 0 used 53006 53006 53006 charged 500000 500000 500000",
	}
	if !slices.Equal(got, want) || report.Left != 0 {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSpreads: the median of an even number of amounts lies between the two in the middle.
func TestSpreads(t *testing.T) {
	for _, c := range []struct {
		gas  []uint64
		want Spread
	}{
		{[]uint64{7}, Spread{"7", "7", "7"}}, {[]uint64{9, 4}, Spread{"4", "6", "9"}}, {[]uint64{9, 1, 5}, Spread{"1", "5", "9"}},
		{[]uint64{40, 10, 30, 20}, Spread{"10", "25", "40"}},
	} {
		if got := spreadOf(c.gas); got != c.want {
			t.Errorf("%v: %v, want %v", c.gas, got, c.want)
		}
	}
}

// TestContractsBehindProxies finds the contract at an address and the one that it delegates to.
func TestContractsBehindProxies(t *testing.T) {
	s := settle(t)
	name := func(c *artifacts.Contract) string {
		if c == nil {
			return "none"
		}
		return c.Name
	}
	for _, c := range []struct {
		at   common.Address
		want string
	}{
		{s.made["Notes"], "Notes none"}, {nobody, "none none"}, {s.made["clone"], "none Bottom"}, {slotProxy, "Proxy Bottom"}, {beaconProxy, "Proxy Bottom"}, {common.Address{0xbe}, "Proxy none"},
	} {
		for chain := range 2 {
			own, target, err := s.ContractAt(t.Context(), s.world.Chains[chain], s.head(chain), c.at)
			if got := name(own) + " " + name(target); err != nil || got != c.want {
				t.Errorf("%s on %d: %v %s, want %s", c.at, chain, err, got, c.want)
			}
		}
	}
	off := &Explainer{Registry: artifacts.New()}
	if own, target, err := off.ContractAt(t.Context(), s.world.Chains[0], s.head(0), s.made["Notes"]); own != nil || target != nil || err != nil {
		t.Error(own, target, err)
	}
}

// TestWatching: while blocks are made, the log says what contracts logged and why transactions failed, once each. Without artifacts it has the messages
// only.
func TestWatching(t *testing.T) {
	for _, on := range []bool{true, false} {
		s := settle(t)
		if !on {
			s.Explainer.Registry = artifacts.New()
		}
		listener := s.events.Listen(events.Console)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			s.Watch(ctx, s.world.Chains[:2])
			close(ended)
		}()
		time.Sleep(20 * time.Millisecond) // until it has subscribed
		notes, vault, stranger := s.made["Notes"], s.made["Vault"], common.BytesToAddress([]byte{0xbb})
		s.send(0, &notes, s.input("Notes", "note", 3), 0)
		s.send(0, &stranger, nil, 0)
		failed := s.send(0, &notes, s.input("Notes", "note", 10), 0)
		logged := s.send(0, &vault, s.input("Vault", "logged", 0), 0)
		id := s.world.Chains[0].Row.EVMID
		want := fmt.Sprintf("level=INFO msg=\"console.log %s: Vault: n is 0\" network=%s chain=%d transaction=%s\n", vault.Hex(), s.world.Chains[0].Row.Network, id, logged)
		if on {
			want = fmt.Sprintf("level=WARN msg=\"transaction failed: reverted with TooLate(at: 10) at Notes.note(n: 10) (src/Odd.sol:34:27)\" network=%s chain=%d transaction=%s\n", s.world.Chains[0].Row.Network, id, failed) +
				strings.Replace(want, vault.Hex(), "Vault.logged", 1)
		}
		for range 500 {
			if len(s.log.String()) >= len(want) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := s.log.String(); got != want {
			t.Errorf("with artifacts %t:\n%s, want\n%s", on, got, want)
		}
		select {
		case e := <-listener.Events():
			data := e.Data.(*ConsoleEvent)
			if data.Transaction != logged.Hex() || data.EVMChainID != id || data.Message.Message != "Vault: n is 0" || e.World != "snow" {
				t.Errorf("%+v", data)
			}
		case <-time.After(5 * time.Second):
			t.Error("no event")
		}
		end()
		<-ended
		listener.End()
	}
}

// TestChosenTransactions: failed ones if artifacts are known, and those that may have logged, but none of a block that is undone; more than fit are
// left out, because the chain does not wait.
func TestChosenTransactions(t *testing.T) {
	row := func(n byte, status uint64) store.Transaction {
		return store.Transaction{Hash: common.Hash{n}.Bytes(), Status: status}
	}
	on, off := &Explainer{Registry: corpus(t, "ir")}, &Explainer{Registry: artifacts.New()}
	all := []store.Transaction{row(1, 1), row(2, 0), row(3, 1), row(4, 0)}
	for _, c := range []struct {
		by    *Explainer
		event reader.BlockEvent
		room  int
		want  []byte
	}{
		{on, reader.BlockEvent{Transactions: all, Console: []int{2, 3}}, 9, []byte{2, 3, 4}}, {off, reader.BlockEvent{Transactions: all, Console: []int{2, 3}}, 9, []byte{3, 4}},
		{on, reader.BlockEvent{Transactions: all}, 1, []byte{2}}, {on, reader.BlockEvent{Transactions: all, Rewound: true}, 9, nil}, {nil, reader.BlockEvent{Transactions: all}, 9, nil},
	} {
		queue := make(chan common.Hash, c.room)
		c.by.choose(&c.event, queue)
		close(queue)
		var got []byte
		for hash := range queue {
			got = append(got, hash[0])
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// TestNamedTraces adds names to the answer of the callTracer for a call, and leaves every other answer alone.
func TestNamedTraces(t *testing.T) {
	s := settle(t)
	tracer, other := CallTracer, "prestateTracer"
	top, input := s.made["Notes"], hexutil.Bytes(s.input("Notes", "note", 10))
	trace, err := s.world.Chains[0].TraceCall(t.Context(), s.head(0), &reader.Call{From: &alice, To: &top, Input: &input}, reader.Overrides{}, &reader.TraceConfig{Tracer: &tracer})
	if err != nil {
		t.Fatal(err)
	}
	plain := string(trace.JSON())
	want := strings.TrimSuffix(plain, "}") + `,"contract":"Notes","function":"note(uint256)","reason":"reverted with TooLate(at: 10)"}`
	given := func(text string) reader.Trace { return reader.Trace{reader.PlainPart([]byte(text))} }
	large := `{"type":"CALL","input":"0x` + strings.Repeat("00", mostNamed/2) + `"}`
	for _, c := range []struct {
		by          *Explainer
		config      *reader.TraceConfig
		trace, want string
	}{
		{s.Explainer, &reader.TraceConfig{Tracer: &tracer}, plain, want}, {s.Explainer, &reader.TraceConfig{Tracer: &other}, plain, plain}, {s.Explainer, &reader.TraceConfig{}, plain, plain},
		{s.Explainer, nil, plain, plain}, {nil, &reader.TraceConfig{Tracer: &tracer}, plain, plain}, {&Explainer{Registry: artifacts.New()}, &reader.TraceConfig{Tracer: &tracer}, plain, plain},
		{s.Explainer, &reader.TraceConfig{Tracer: &tracer}, `{"a":1}`, `{"a":1}`}, {s.Explainer, &reader.TraceConfig{Tracer: &tracer}, `7`, `7`}, {s.Explainer, &reader.TraceConfig{Tracer: &tracer}, `{"type":"CALL","gas":`, `{"type":"CALL","gas":`},
		{s.Explainer, &reader.TraceConfig{Tracer: &tracer}, large, large},
	} {
		if got := string(c.by.Name(t.Context(), s.world.Chains[0], s.head(0), c.config, given(c.trace)).JSON()); got != c.want {
			t.Errorf("%.400s\nis named\n%.400s, want\n%.400s", c.trace, got, c.want)
		}
	}
}

// TestReportsOfAChain explains a call and a transaction of a chain.
func TestReportsOfAChain(t *testing.T) {
	s := settle(t)
	notes, input := s.made["Notes"], hexutil.Bytes(s.input("Notes", "note", 10))
	const want = "reverted with TooLate(at: 10)\n    at Notes.note(n: 10) (src/Odd.sol:34:27)"
	report, err := s.Call(t.Context(), s.world.Chains[0], s.head(0), &reader.Call{From: &alice, To: &notes, Input: &input}, reader.Overrides{})
	if err != nil || report.Failure.String() != want {
		t.Error(err, report)
	}
	sent, err := s.world.Chains[0].Transaction(t.Context(), s.send(0, &notes, input, 0))
	if err != nil {
		t.Fatal(err)
	}
	if report, err := s.Transaction(t.Context(), s.world.Chains[0], sent); err != nil || report.Failure.String() != want {
		t.Error(err, report)
	}
	if report, err := s.Call(t.Context(), s.world.Chains[0], s.head(0), &reader.Call{From: &alice, To: &notes, Value: (*hexutil.Big)(new(big.Int).Lsh(common.Big1, 200))}, reader.Overrides{}); err == nil {
		t.Errorf("%+v", report)
	}
}

// TestExplainedErrors: libraries find the bytes where they look for them, beside the explanation. An error stays as it is if no artifact is known.
func TestExplainedErrors(t *testing.T) {
	failed := errors.New("execution reverted")
	failure := func(contracts ...string) *Report {
		r := &Report{Failure: &Failure{Reason: "reverted"}}
		for _, c := range contracts {
			r.Failure.Stack = append(r.Failure.Stack, SourceFrame{Contract: c, Function: "f", Address: "0x1"})
		}
		return r
	}
	for _, r := range []*Report{nil, {}, failure(), failure("")} {
		if got := Explain(failed, 3, []byte{1}, r); got != failed {
			t.Errorf("%v of %+v", got, r)
		}
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{[]byte{1, 2}, `{"message":"execution reverted","data":"0x0102","reason":"reverted","stack":[{"contract":"A","function":"f","address":"0x1"}],"trace":"reverted\n    at A.f"}`},
		{nil, `{"message":"execution reverted","reason":"reverted","stack":[{"contract":"A","function":"f","address":"0x1"}],"trace":"reverted\n    at A.f"}`},
	} {
		e := Explain(failed, 3, c.data, failure("A")).(*explained)
		if got := marshal(t, e.ErrorData()); got != c.want || e.ErrorCode() != 3 || e.Error() != "execution reverted" || e.Advice() != "reverted at A.f" {
			t.Errorf("%d %s %s", e.ErrorCode(), e.Advice(), got)
		}
	}
	f := failure("A", "", "C", "D", "E").Failure
	if got := f.Line(); got != "reverted at A.f at unknown contract 0x1.f at C.f at D.f …" {
		t.Error(got)
	}
	if got := failure("A", "B", "C", "D").Failure.Line(); got != "reverted at A.f at B.f at C.f at D.f" {
		t.Error(got)
	}
	if got := f.Lines(); !slices.Equal(got, []string{"A.f", "unknown contract 0x1.f", "C.f", "D.f", "E.f"}) {
		t.Errorf("%q", got)
	}
}

// TestPlacesAsText writes functions with a place, with a note, with both and with neither.
func TestPlacesAsText(t *testing.T) {
	for want, s := range map[string]SourceFrame{
		"A.f (a.sol:3:4)":         {Contract: "A", Function: "f", Source: "a.sol", Line: 3, Column: 4},
		"A.f (a.sol:3, no)":       {Contract: "A", Function: "f", Source: "a.sol", Line: 3, Column: 4, Note: "no"},
		"A (no)":                  {Contract: "A", Note: "no", Arguments: []Argument{{"n", "uint256", "1"}}},
		"A.f(n: 1, 2)":            {Contract: "A", Function: "f", Arguments: []Argument{{"n", "uint256", "1"}, {"", "uint256", "2"}}},
		"unknown contract 0x12.f": {Address: "0x12", Function: "f"},
	} {
		if got := s.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, m := range map[string]Message{"A.f: hi": {Contract: "A", Function: "f", Address: "0x1", Message: "hi"}, "0x1: hi": {Address: "0x1", Message: "hi"}, "A: hi": {Contract: "A", Message: "hi"}} {
		if got := m.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLongData is shortened in errors, and in messages of the console.
func TestLongData(t *testing.T) {
	for _, n := range []int{99, 100, 101} {
		want := hexutil.Encode(make([]byte, min(n, 100)))
		if n > 100 {
			want += "…"
		}
		if got := shortHex(make([]byte, n)); got != want {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
	for _, n := range []int{mostMessage, mostMessage + 1} {
		text := common.FromHex("0x41304fac" + strings.Repeat("0", 62) + "20" + fmt.Sprintf("%064x", n))
		text = append(text, bytes.Repeat([]byte{'a'}, (n+31)/32*32)...)
		want := strings.Repeat("a", mostMessage)
		if n > mostMessage {
			want += "…"
		}
		if got, ok := consoleText(text); !ok || got != want {
			t.Errorf("%d bytes: %t, %d bytes", n, ok, len(got))
		}
	}
	if got, ok := consoleText(common.FromHex("0x51973ec9")); !ok || got != "" {
		t.Error(got, ok)
	}
}

// TestWhereItFailed: of code that the compiler shares, the place is that of another line. Then the latest place after the last tested condition is
// where a function failed or, if there is none, that condition.
func TestWhereItFailed(t *testing.T) {
	place := func(line, start, end int, code string) *artifacts.Place {
		return &artifacts.Place{Source: "a.sol", Line: line, Start: start, End: end, Code: code, Text: code}
	}
	guard, branch := place(5, 50, 60, "require(a > 1)"), place(5, 50, 60, "if (a > 1)")
	early, late := place(2, 20, 30, "revert()"), place(8, 80, 90, "revert()")
	for name, c := range map[string]struct {
		at, test, after, want *artifacts.Place
		note                  string
	}{
		"no condition":                           {late, nil, nil, late, ""},
		"no condition, but code after it":        {late, nil, early, late, ""},
		"after the condition":                    {late, guard, nil, late, ""},
		"after the condition, and more ran":      {late, guard, place(6, 62, 70, "b = 1"), late, ""},
		"the condition itself":                   {guard, guard, nil, guard, ""},
		"the branch itself":                      {branch, place(5, 50, 70, "a > 1"), nil, branch, shared},
		"a branch on a later line":               {place(8, 85, 90, "if (b > 1)"), guard, nil, guard, shared},
		"the body of a branch on a later line":   {&artifacts.Place{Line: 8, Start: 85, End: 90, Code: "revert()", Text: "if (b > 1) revert();"}, guard, nil, guard, shared},
		"the body of a branch on the same line":  {&artifacts.Place{Line: 5, Start: 62, End: 70, Code: "revert()", Text: "if (a > 1) revert();"}, guard, nil, &artifacts.Place{Line: 5, Start: 62, End: 70, Code: "revert()", Text: "if (a > 1) revert();"}, ""},
		"another guard":                          {place(8, 80, 90, "require(b > 1)"), guard, nil, place(8, 80, 90, "require(b > 1)"), "the compiler shares the code that failed with other lines"},
		"before the guard":                       {early, guard, nil, guard, ""},
		"before an assertion":                    {early, place(5, 50, 60, "assert(a > 1)"), nil, place(5, 50, 60, "assert(a > 1)"), ""},
		"before the branch":                      {early, branch, nil, branch, shared},
		"before what ran after the branch":       {early, branch, place(6, 62, 70, "b = 1"), place(6, 62, 70, "b = 1"), ""},
		"before what ran and starts as the test": {early, branch, place(5, 50, 70, "if (a > 1) b = 1"), place(5, 50, 70, "if (a > 1) b = 1"), ""},
		"before what ran and ends as the test":   {early, branch, place(5, 55, 60, "1)"), place(5, 55, 60, "1)"), ""},
		"before what ran, which is the test":     {early, branch, place(5, 50, 60, "if (a > 1)"), branch, shared},
	} {
		if got, note := failedAt(c.at, c.test, c.after); *got != *c.want || note != c.note {
			t.Errorf("%s: %+v %q, want %+v %q", name, got, note, c.want, c.note)
		}
	}
}

// TestDoubts: a guard other than the one tested last is doubted, unless one lies within the other.
func TestDoubts(t *testing.T) {
	place := func(start, end int, code string) *artifacts.Place {
		return &artifacts.Place{Source: "a.sol", Start: start, End: end, Code: code}
	}
	for _, c := range []struct {
		test, at *artifacts.Place
		doubted  bool
	}{
		{place(10, 20, "a > 1"), place(30, 40, "require(b > 1)"), true}, {place(10, 20, "a > 1"), place(30, 40, "assert(b > 1)"), true}, {place(10, 20, "a > 1"), place(30, 40, "b = 1"), false},
		{place(30, 40, "b > 1"), place(30, 40, "require(b > 1)"), false}, {place(25, 45, "b > 1"), place(30, 40, "require(b > 1)"), false},
		{place(32, 38, "b > 1"), place(30, 40, "require(b > 1)"), false}, {place(25, 35, "b > 1"), place(30, 40, "require(b > 1)"), true}, {place(35, 45, "b > 1"), place(30, 40, "require(b > 1)"), true},
		{place(30, 45, "b > 1"), place(30, 40, "require(b > 1)"), false}, {place(25, 40, "b > 1"), place(30, 40, "require(b > 1)"), false}, {place(30, 35, "b > 1"), place(30, 40, "require(b > 1)"), false}, {place(35, 40, "b > 1"), place(30, 40, "require(b > 1)"), false},
	} {
		if got := doubt(c.test, c.at); (got != "") != c.doubted {
			t.Errorf("%+v after %+v: %s", c.at, c.test, got)
		}
	}
	function := place(30, 40, "")
	for _, c := range []struct {
		start, end int
		want       bool
	}{{30, 40, true}, {31, 39, true}, {29, 40, false}, {30, 41, false}, {10, 20, false}, {50, 60, false}} {
		if within(place(c.start, c.end, ""), function) != c.want {
			t.Errorf("%d to %d", c.start, c.end)
		}
	}
	if within(&artifacts.Place{Source: "b.sol", Start: 31, End: 39}, function) {
		t.Error("another source")
	}
}
