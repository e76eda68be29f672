package trace_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

// parityTrace is a trace from the trace_ methods.
type parityTrace struct {
	Action struct {
		CallType, CreationMethod      string
		From, To, Gas, Value, Balance string
		Address, RefundAddress        string
		Input, Init                   string
	}
	BlockNumber         uint64
	BlockHash           string
	Error               string
	Result              *struct{ Address, GasUsed, Output, Code string }
	Subtraces           int
	TraceAddress        []int
	TransactionHash     string
	TransactionPosition int
	Type                string
}

// line writes the fields that every tracer has for a call, in one form.
func (p *parityTrace) line() string {
	a, used := p.Action, ""
	if p.Result != nil {
		used = p.Result.GasUsed
	}
	switch p.Type {
	case "create":
		to := ""
		if p.Result != nil {
			to = p.Result.Address
		}
		return fmt.Sprint(a.CreationMethod, " ", a.From, " ", to, " ", a.Value, " ", a.Gas, " ", used, " ", a.Init, " ", p.TraceAddress)
	case "suicide":
		return fmt.Sprint("selfdestruct ", a.Address, " ", a.RefundAddress, " ", a.Balance, " ", p.TraceAddress)
	}
	return fmt.Sprint(a.CallType, " ", a.From, " ", a.To, " ", a.Value, " ", a.Gas, " ", used, " ", a.Input, " ", p.TraceAddress)
}

// lines writes the calls of the callTracer in the same form.
func lines(f *nodetest.Frame, at []int) (all []string) {
	to, used, value := f.To, f.GasUsed, f.Value
	if f.Error != "" && f.Error != "execution reverted" {
		used = ""
		if strings.HasPrefix(f.Type, "CREATE") {
			to = ""
		}
	}
	if value == "" {
		value = "0x0"
	}
	if f.Type == "SELFDESTRUCT" {
		return []string{fmt.Sprint("selfdestruct ", f.From, " ", f.To, " ", value, " ", at)}
	}
	all = append(all, fmt.Sprint(strings.ToLower(f.Type), " ", f.From, " ", to, " ", value, " ", f.Gas, " ", used, " ", f.Input, " ", at))
	place := 0
	for _, call := range f.Calls {
		if !call.IsPrecompile() {
			all = append(all, lines(&call, append(slices.Clone(at), place))...)
			place++
		}
	}
	return all
}

type object = nodetest.Object

var someone = common.HexToAddress("0x50e50e")

// TestTracesAgree compares the traces of blocks with the callTracer's and with the internal transactions in the index.
func TestTracesAgree(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	compared, internal := 0, 0
	for _, c := range w.Chains {
		d := nodetest.Open(t, w, c)
		head := d.Head()
		first := uint64(1)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but the last 40")
			first = head.Number - min(head.Number-1, 40)
		}
		for number := first; number <= head.Number; number++ {
			var traces []parityTrace
			var nested []struct {
				TxHash string
				Result nodetest.Frame
			}
			d.Call(&traces, "trace_block", hexutil.EncodeUint64(number))
			d.Call(&nested, "debug_traceBlockByNumber", hexutil.EncodeUint64(number), object{"tracer": "callTracer"})
			var got, want []string
			for _, trace := range traces {
				got = append(got, trace.TransactionHash+" "+trace.line())
			}
			for _, tx := range nested {
				for _, line := range lines(&tx.Result, []int{}) {
					want = append(want, tx.TxHash+" "+line)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, block %d: traces\n%s\nwant\n%s", c.Row.Name, number, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			compared += len(got)
			calls, err := w.DB.Calls(t.Context(), store.At(c.Row.ID, number, 0))
			if err != nil {
				t.Fatal(err)
			}
			internal += len(calls)
			var indexed []string
			for _, call := range calls {
				indexed = append(indexed, fmt.Sprintf("%d %s %x %d", call.Tx, call.Type, call.Sender, call.Depth))
			}
			var moved []string
			for _, trace := range traces {
				if kind, sender := indexedAs(&trace); kind != "" {
					moved = append(moved, fmt.Sprintf("%d %s %s %d", trace.TransactionPosition, kind, strings.TrimPrefix(sender, "0x"), len(trace.TraceAddress)))
				}
			}
			if !slices.Equal(moved, indexed) {
				t.Fatalf("%s, block %d: what moved value is %v, in the index %v", c.Row.Name, number, moved, indexed)
			}
		}
	}
	if compared < 20 || internal == 0 {
		t.Errorf("only %d traces were compared, and %d internal transactions", compared, internal)
	}
}

// indexedAs returns the type and the sender of a call in the index, or nothing if the index does not list it.
func indexedAs(p *parityTrace) (kind, sender string) {
	if len(p.TraceAddress) == 0 {
		return "", ""
	}
	switch p.Type {
	case "create":
		return strings.ToUpper(p.Action.CreationMethod), p.Action.From
	case "suicide":
		if p.Action.Balance == "0x0" {
			return "", ""
		}
		return "SELFDESTRUCT", p.Action.Address
	}
	if kind = strings.ToUpper(p.Action.CallType); (kind == "CALL" || kind == "CALLCODE") && p.Action.Value != "0x0" {
		return kind, p.Action.From
	}
	return "", ""
}

// TestPagesOfTraces searches for the same traces all at once and in pages.
func TestPagesOfTraces(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	head := c.Head()
	from := hexutil.EncodeUint64(head.Number - 60)
	ask := func(filter object) (all []json.RawMessage, problem string) {
		filter["fromBlock"] = from
		if err := c.Try(&all, "trace_filter", filter); err != nil {
			problem = err.Error()
		}
		return all, problem
	}
	all, problem := ask(object{})
	if problem != "" || len(all) < 20 {
		t.Fatalf("%d traces: %s", len(all), problem)
	}
	var pages []json.RawMessage
	for page := 0; ; page++ {
		found, problem := ask(object{"after": 7 * page, "count": 7})
		if problem != "" || len(found) > 7 {
			t.Fatalf("page %d has %d traces: %s", page, len(found), problem)
		}
		if pages = append(pages, found...); len(found) < 7 {
			break
		}
	}
	if fmt.Sprint(pages) != fmt.Sprint(all) {
		t.Errorf("the pages have %d traces, the whole %d", len(pages), len(all))
	}
}

func addressOf(place []int) []string {
	all := []string{}
	for _, i := range place {
		all = append(all, hexutil.EncodeUint64(uint64(i)))
	}
	return all
}
