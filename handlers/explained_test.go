// Failed executions and console.log, explained in the response, the log, the journal and the trace of one server, with the artifacts of each tool.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/events"
	"snowglobe/sim/simtest"
)

// developer deploys contracts from artifacts on a C-Chain.
type developer struct {
	*testing.T
	server   *handlers.Server
	log      *simtest.Log
	registry *artifacts.Registry
	events   *events.Hub
	from     string
}

func (d *developer) logged() string { return strings.ReplaceAll(d.log.String(), `\"`, `"`) }

func newDeveloper(t *testing.T, folder string) *developer {
	t.Helper()
	d := &developer{T: t, log: &simtest.Log{}, registry: artifacts.New()}
	if folder != "" {
		if err := d.registry.AddFolder(folder); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	d.events = events.NewHub()
	d.server, err = handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet", Artifacts: d.registry, Log: slog.New(slog.NewTextHandler(d.log, nil)), Events: d.events})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Work(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d.server.Close()
	})
	var accounts []string
	d.must(&accounts, "eth_accounts")
	d.from = accounts[0]
	return d
}

// failure is the error of a call.
type failure struct {
	Code    int
	Message string
	Data    json.RawMessage
}

type explanation struct {
	Message, Data, Reason, Trace string
	Stack                        []struct {
		Contract, Function, Source, Code, Note string
		Line                                   int
		Arguments                              []struct{ Name, Value string }
	}
}

func (d *developer) call(result any, method string, params ...any) *failure {
	d.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		d.Fatal(err)
	}
	var answer struct {
		Result json.RawMessage
		Error  *failure
	}
	if err := json.Unmarshal([]byte(ask(d.server, http.MethodPost, "/ext/bc/C/rpc", string(body))), &answer); err != nil {
		d.Fatal(err)
	}
	if answer.Error == nil && result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			d.Fatal(err)
		}
	}
	return answer.Error
}

func (d *developer) must(result any, method string, params ...any) {
	d.Helper()
	if err := d.call(result, method, params...); err != nil {
		d.Fatalf("%s: %d %s", method, err.Code, err.Message)
	}
}

func (d *developer) contract(name string) *artifacts.Contract {
	d.Helper()
	for _, c := range d.registry.Contracts() {
		if c.Name == name {
			return c
		}
	}
	d.Fatalf("no contract %s", name)
	return nil
}

// send sends a transaction and returns its hash, the address that it created and its gas.
func (d *developer) send(tx map[string]any) (hash, created, gas string) {
	d.Helper()
	tx["from"], tx["gas"] = d.from, "0x300000"
	d.must(&hash, "eth_sendTransaction", tx)
	var receipt struct{ ContractAddress, GasUsed string }
	d.must(&receipt, "eth_getTransactionReceipt", hash)
	return hash, receipt.ContractAddress, receipt.GasUsed
}

// init returns the creation code of a contract.
func (d *developer) init(name, library string, argument byte) string {
	d.Helper()
	c := d.contract(name)
	code := bytes.Clone(c.Creation.Bytes)
	for _, l := range c.Creation.Links {
		copy(code[l.Start:], common.HexToAddress(library).Bytes())
	}
	if argument != 0xff {
		code = append(code, common.LeftPadBytes([]byte{argument}, 32)...)
	}
	return "0x" + hex.EncodeToString(code)
}

func input(signature string, argument byte) string {
	return "0x" + hex.EncodeToString(append(crypto.Keccak256([]byte(signature))[:4], common.LeftPadBytes([]byte{argument}, 32)...))
}

// TestFailuresAreExplained: with the artifacts of each tool, a call, an estimate and a transaction say on which line and why they failed. The bytes
// that libraries parse equal those of a server without artifacts.
func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, folder, prefix string }{
		{"Foundry", "foundry/out", "src"}, {"Hardhat 2", "hardhat2/artifacts", "contracts"}, {"Hardhat 3", "hardhat3/artifacts", "contracts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDeveloper(t, filepath.Join("artifacts", "testdata", c.folder))
			_, sums, _ := d.send(map[string]any{"data": d.init("Sums", "", 0xff)})
			_, counter, _ := d.send(map[string]any{"data": d.init("Counter", sums, 2)})
			_, maker, _ := d.send(map[string]any{"data": d.init("Maker", sums, 0xff)})
			for _, f := range []struct {
				tx                          map[string]any
				message, data, reason, line string
				stack                       []string
			}{
				{map[string]any{"to": counter, "data": input("add(uint256)", 11)}, "execution reverted", "0x", "reverted with TooMany(caller: 0x", "revert TooMany(msg.sender, times);", []string{"Counter.add(times: 11)"}},
				{map[string]any{"to": counter, "data": input("add(uint256)", 7)}, "execution reverted: Counter: not seven", "0x08c379a0", `reverted with "Counter: not seven"`, `require(times != 7, "Counter: not seven");`, []string{"Counter.next", "Counter.add(times: 7)"}},
				{map[string]any{"data": d.init("Counter", sums, 0)}, "execution reverted: Counter: no step", "0x08c379a0", `reverted with "Counter: no step"`, `require(by != 0, "Counter: no step");`, []string{"Counter.constructor(by: 0)"}},
				{map[string]any{"to": maker, "data": input("make(uint256)", 0)}, "execution reverted: Counter: no step", "0x08c379a0", `reverted with "Counter: no step"`, `require(by != 0, "Counter: no step");`, []string{"Counter.constructor(by: 0)", "Maker.make(by: 0)"}},
				{map[string]any{"to": counter, "data": input("minus(uint256)", 7)}, "execution reverted", "", "function 0x", "", []string{"Counter"}},
			} {
				call := map[string]any{"from": d.from}
				for name, value := range f.tx {
					call[name] = value
				}
				for _, method := range []string{"eth_call", "eth_estimateGas"} {
					err := d.call(nil, method, call)
					var e explanation
					if err == nil || json.Unmarshal(err.Data, &e) != nil {
						t.Fatalf("%s: %+v", method, err)
					}
					if err.Message != f.message || e.Message != f.message || !strings.HasPrefix(e.Data, f.data) || !strings.HasPrefix(e.Reason, f.reason) {
						t.Errorf("%s: %s", method, err.Data)
					}
					if e.Stack[0].Code != f.line || f.line != "" && (e.Stack[0].Note != "" || !strings.HasPrefix(e.Stack[0].Source, c.prefix+"/Counter.sol")) {
						t.Errorf("%s is at %+v", f.line, e.Stack[0])
					}
					var stack []string
					for _, line := range strings.Split(e.Trace, "\n    at ")[1:] {
						stack = append(stack, regexp.MustCompile(` \((src|contracts)/.*| \(before.*`).ReplaceAllString(line, ""))
					}
					if !slices.Equal(stack, f.stack) {
						t.Errorf("the stack is %q, want %q", stack, f.stack)
					}
				}
				if f.line == "" {
					continue
				}
				hash, _, _ := d.send(f.tx)
				var calls struct{ Contract, Function, Reason string }
				d.must(&calls, "debug_traceTransaction", hash, map[string]string{"tracer": "callTracer"})
				function, _, _ := strings.Cut(f.stack[len(f.stack)-1], "(")
				if named, _, _ := strings.Cut(calls.Contract+"."+calls.Function, "("); named != function || !strings.HasPrefix(calls.Reason, f.reason) {
					t.Errorf("the callTracer names %s, %s", named, calls.Reason)
				}
				trace := ask(d.server, http.MethodGet, "/sim/transactions/"+hash+"/trace", "")
				var explained struct{ Failure explanation }
				if err := json.Unmarshal([]byte(trace), &explained); err != nil || explained.Failure.Stack[0].Code != f.line {
					t.Errorf("%v %s", err, trace)
				}
				logged := regexp.MustCompile(`transaction failed: ` + regexp.QuoteMeta(f.reason) + `.*` + hash)
				await(t, func() bool { return logged.MatchString(d.logged()) })
				if n := len(logged.FindAllString(d.logged(), -1)); n != 1 {
					t.Errorf("logged %d times", n)
				}
			}
			tight := d.call(nil, "eth_estimateGas", map[string]any{"from": d.from, "to": counter, "data": input("add(uint256)", 3), "gas": "0x7530"})
			var e explanation
			if tight == nil || json.Unmarshal(tight.Data, &e) != nil || tight.Message != "gas required exceeds allowance (30000)" || !strings.HasPrefix(e.Reason, "out of gas: ") || e.Stack[len(e.Stack)-1].Function != "add" {
				t.Errorf("%+v", tight)
			}
			d.call(nil, "eth_estimateGas", map[string]any{"from": d.from, "to": counter, "data": input("minus(uint256)", 7)})
			taken := ask(d.server, http.MethodGet, "/sim/requests?operation=eth_estimateGas&pageSize=1", "")
			if !strings.Contains(taken, `"stack":["Counter (`) {
				t.Errorf("the journal has %s", taken)
			}
			d.call(nil, "eth_call", map[string]any{"to": counter, "data": input("add(uint256)", 3)})
			if taken := ask(d.server, http.MethodGet, "/sim/requests?operation=eth_call&pageSize=1", ""); !strings.Contains(taken, `"decoded":"Counter.add(times: 3)"`) {
				t.Errorf("the journal has %s", taken)
			}
		})
	}
}

func await(t *testing.T, what func() bool) {
	t.Helper()
	for range 500 {
		if what() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

// TestErrorsWithoutArtifacts: the error is the node's own.
func TestErrorsWithoutArtifacts(t *testing.T) {
	t.Parallel()
	with := newDeveloper(t, filepath.Join("artifacts", "testdata", "foundry", "out"))
	without := newDeveloper(t, "")
	without.registry = with.registry
	var errors [2]*failure
	for i, d := range []*developer{with, without} {
		d.registry = with.registry
		errors[i] = d.call(nil, "eth_call", map[string]any{"from": d.from, "data": d.init("Counter", "", 0)})
	}
	var e explanation
	if err := json.Unmarshal(errors[0].Data, &e); err != nil {
		t.Fatal(err)
	}
	if plain := fmt.Sprintf("%q", e.Data); string(errors[1].Data) != plain || errors[0].Code != errors[1].Code || errors[0].Message != errors[1].Message || errors[1].Code != 3 {
		t.Errorf("%s %+v, %s", plain, errors[0], errors[1].Data)
	}
}

// TestConsole: a contract's console.log is in the log, the journal, the events and the trace, and costs as much as a call of any other empty account.
func TestConsole(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, "")
	listener := d.events.Listen(events.Console)
	defer listener.End()
	// logs returns a contract that calls an address with log("n is %d", 5).
	logs := func(to string) string {
		text := common.RightPadBytes([]byte("n is %d"), 32)
		payload := slices.Concat(crypto.Keccak256([]byte("log(string,uint256)"))[:4], common.LeftPadBytes([]byte{0x40}, 32), common.LeftPadBytes([]byte{5}, 32), common.LeftPadBytes([]byte{7}, 32), text)
		size, offset := byte(len(payload)), byte(46)
		code := slices.Concat([]byte{0x60, size, 0x60, offset, 0x5f, 0x39, 0x5f, 0x5f, 0x60, size, 0x5f, 0x73}, common.HexToAddress(to).Bytes(), []byte{0x5a, 0xfa, 0x50, 0x00})
		code = slices.Concat(code, make([]byte, int(offset)-len(code)), payload)
		start := []byte{0x60, byte(len(code)), 0x60, 11, 0x5f, 0x39, 0x60, byte(len(code)), 0x5f, 0xf3, 0x00}
		return "0x" + hex.EncodeToString(append(start, code...))
	}
	_, other, _ := d.send(map[string]any{"data": logs("0x00000000000000000000000000000000000c0501")})
	_, console, _ := d.send(map[string]any{"data": logs("0x000000000000000000636F6e736F6c652e6c6f67")})
	want := common.HexToAddress(console).Hex() + ": n is 5"
	d.must(nil, "eth_call", map[string]any{"to": console})
	if taken := ask(d.server, http.MethodGet, "/sim/requests?operation=eth_call&pageSize=1", ""); !strings.Contains(taken, `"console":["`+want+`"]`) {
		t.Errorf("the journal has %s", taken)
	}
	hash, _, gas := d.send(map[string]any{"to": console})
	_, _, plain := d.send(map[string]any{"to": other})
	if gas != plain {
		t.Errorf("logging costs %s, another call %s", gas, plain)
	}
	if trace := ask(d.server, http.MethodGet, "/sim/transactions/"+hash+"/trace", ""); !strings.Contains(trace, `"message":"n is 5"`) {
		t.Error(trace)
	}
	await(t, func() bool { return strings.Count(d.logged(), "console.log "+want) > 1 })
	if n := strings.Count(d.logged(), "console.log "+want); n != 2 {
		t.Errorf("logged %d times: %s", n, d.log)
	}
	for _, of := range []string{`"evmChainId":43114,"address"`, `"transaction":"` + hash + `"`} {
		var e events.Event
		select {
		case e = <-listener.Events():
		case <-time.After(5 * time.Second):
			t.Fatal("no event")
		}
		data, err := json.Marshal(e.Data)
		if err != nil || !strings.Contains(string(data), of) || !strings.Contains(string(data), `"message":"n is 5"`) {
			t.Errorf("%s %v", data, err)
		}
	}
	var code string
	d.must(&code, "eth_getCode", "0x000000000000000000636F6e736F6c652e6c6f67", "latest")
	if code != "0x" {
		t.Errorf("the console has code %s", code)
	}
}

// TestGasReport counts the session's transactions by function, apart from calls and failures.
func TestGasReport(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, filepath.Join("artifacts", "testdata", "foundry", "out"))
	_, sums, _ := d.send(map[string]any{"data": d.init("Sums", "", 0xff)})
	_, counter, _ := d.send(map[string]any{"data": d.init("Counter", sums, 2)})
	d.send(map[string]any{"to": d.from, "value": "0x1"})
	for _, times := range []byte{1, 2, 11} {
		d.send(map[string]any{"to": counter, "data": input("add(uint256)", times)})
	}
	var report struct {
		Functions []struct {
			Contract, Function, ChainID string
			Calls, Failed               int
			Used, Charged               struct{ Least, Median, Most string }
		}
	}
	if err := json.Unmarshal([]byte(ask(d.server, http.MethodGet, "/sim/gas", "")), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Functions {
		got = append(got, fmt.Sprint(f.Contract, ".", f.Function, " ", f.Calls, " ", f.Failed))
	}
	if want := []string{"Counter.add(uint256) 3 1", "Counter.constructor 1 0", "Sums.constructor 1 0"}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	add := report.Functions[0]
	if add.Charged.Least != "1572864" || add.Charged.Most != "1572864" { // half of the limit, since Helicon
		t.Errorf("charged %+v", add.Charged)
	}
	least, median, most := amount(t, add.Used.Least), amount(t, add.Used.Median), amount(t, add.Used.Most)
	if !(21_000 < least && least < median && median < most && most < 100_000) {
		t.Errorf("used %+v", add.Used)
	}
	if page := ask(d.server, http.MethodGet, "/gas", ""); !strings.Contains(page, "Counter") || !strings.Contains(page, "add(uint256)") {
		t.Error("the page has no row for Counter.add")
	}
}

func amount(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
