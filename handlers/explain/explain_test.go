package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// TestConsoleSelectors covers selectors that Hardhat's console.sol and forge-std use.
func TestConsoleSelectors(t *testing.T) {
	for selector, want := range map[string]string{
		"0x51973ec9": "", "0x41304fac": "string", "0xf82c50f1": "uint256", "0xf5b1bba9": "uint256", "0x32458eed": "bool", "0x2c2ecbc2": "address",
		"0xb60e72cc": "string uint256", "0x9710a9d0": "string uint256", "0x2d5b6cb9": "int256", "0x4e0c1d1d": "int256", "0x0be77f56": "bytes", "0x27b7cf85": "bytes32",
		"0x3ca6268e": "string int256", "0x319af333": "string address", "0xc3b55635": "string bool", "0x4b5c4277": "string string",
	} {
		var types []string
		arguments, known := consoleMethods()[[4]byte(hexutil.MustDecode(selector))]
		for _, a := range arguments {
			types = append(types, a.Type.String())
		}
		if !known || strings.Join(types, " ") != want {
			t.Errorf("%s: %t %s, want %s", selector, known, types, want)
		}
	}
	modern, old := 0, 0
	for _, list := range [][]string{nil, {"uint256"}, {"string"}, {"bool"}, {"address"}} {
		if _, found := consoleMethods()[[4]byte(crypto.Keccak256([]byte("log("+strings.Join(list, ",")+")")))]; found {
			modern++
		}
	}
	if old = len(consoleMethods()); modern != 5 || old < 341+35 {
		t.Errorf("%d and %d overloads", modern, old)
	}
}

// TestFormat compares with the output of Node's util.format for the same values; %x is forge-std's.
func TestFormat(t *testing.T) {
	five := big.NewInt(5)
	for _, c := range []struct {
		values []any
		want   string
	}{
		{[]any{"n is", five}, "n is 5"}, {[]any{"n is %d", five}, "n is 5"}, {[]any{"%s and %s", "a", "b"}, "a and b"}, {[]any{"%s", "a", "b"}, "a b"},
		{[]any{"100%", five}, "100% 5"}, {[]any{"%%", five}, "% 5"}, {[]any{"%%"}, "%%"}, {[]any{"%d", "x"}, "NaN"}, {[]any{"%i", true}, "NaN"}, {[]any{"%o", "a"}, "'a'"},
		{[]any{"a%"}, "a%"}, {[]any{true, five}, "true 5"}, {[]any{"%s"}, "%s"}, {[]any{"%s %s", "a"}, "a %s"}, {[]any{"%j", "q"}, `"q"`}, {[]any{"%z", five}, "%z 5"},
		{[]any{"%x", big.NewInt(255)}, "0xff"}, {[]any{}, ""}, {[]any{common.HexToAddress("0x1")}, "0x0000000000000000000000000000000000000001"}, {[]any{[]byte{1, 2}}, "0x0102"},
	} {
		if got := formatConsole(c.values); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

// TestWrongMessages: a console call with an unknown function logs nothing.
func TestWrongMessages(t *testing.T) {
	for _, input := range []string{"0x", "0x41304f", "0x41304fac", "0x41304fac00000000000000000000000000000000000000000000000000000000ffffffff", "0x12345678"} {
		if text, ok := consoleText(hexutil.MustDecode(input)); ok {
			t.Errorf("%s: %q", input, text)
		}
	}
}

// TestRecorderIsBounded: an execution of a million calls with large data does not fill the memory.
func TestRecorderIsBounded(t *testing.T) {
	r := newRecorder(nil)
	hooks, input := r.hooks(), bytes.Repeat([]byte{1}, 100_000)
	message := append(hexutil.MustDecode("0xf82c50f1"), make([]byte, 32)...)
	hooks.OnEnter(0, byte(vm.CALL), common.Address{}, common.Address{1}, nil, 1, new(big.Int))
	for range 100_000 {
		hooks.OnEnter(1, byte(vm.CALL), common.Address{1}, common.Address{2}, input, 1, new(big.Int))
		hooks.OnLog(&types.Log{Data: input})
		hooks.OnExit(1, input, 1, nil, false)
		hooks.OnEnter(1, byte(vm.STATICCALL), common.Address{1}, evm.ConsoleAddress, message, 1, nil)
		hooks.OnExit(1, nil, 1, nil, false)
	}
	hooks.OnExit(0, []byte{}, 1, vm.ErrExecutionReverted, true)
	if len(r.root.calls) >= mostFrames || len(r.console) != mostConsole || len(r.logs) > mostFrames {
		t.Errorf("%d calls, %d messages, %d logs", len(r.root.calls), len(r.console), len(r.logs))
	}
	kept := 0
	for _, f := range r.root.calls {
		kept += len(f.input) + len(f.output)
		for _, e := range f.events {
			kept += len(e.data)
		}
	}
	if kept > mostKept {
		t.Errorf("%d bytes", kept)
	}
	if report := r.report(); report.Failure == nil || report.Failure.known() || len(report.Events) > 0 {
		t.Errorf("%+v", report.Failure)
	}
}

// TestUnbalancedHooks: hooks that arrive without a call, as in a block's own changes, do no harm.
func TestUnbalancedHooks(t *testing.T) {
	r := newRecorder(nil)
	hooks := r.hooks()
	hooks.OnExit(0, nil, 0, nil, false)
	hooks.OnLog(&types.Log{})
	hooks.OnOpcode(0, 0, 0, 0, nil, nil, 0, nil)
	hooks.OnFault(0, 0, 0, 0, nil, 0, nil)
	if report := r.report(); report.Failure != nil || report.Root != nil {
		t.Errorf("%+v", report)
	}
}

// TestReasons names what the EVM refuses and what the compiler checks.
func TestReasons(t *testing.T) {
	r := newRecorder(nil)
	panicData := func(code byte) []byte {
		return append(bytes.Clone(panicSelector), common.LeftPadBytes([]byte{code}, 32)...)
	}
	for _, c := range []struct {
		err    error
		output []byte
		want   string
	}{
		{vm.ErrOutOfGas, nil, "out of gas: 7 was not enough"}, {vm.ErrInsufficientBalance, nil, "0x0100000000000000000000000000000000000000 has less than the 9 wei that the call sends"},
		{vm.ErrWriteProtection, nil, "changes state in a static call"}, {vm.ErrDepth, nil, "calls are nested more than 1,024 deep"}, {errors.New("other"), nil, "other"},
		{vm.ErrExecutionReverted, panicData(0x11), "panic 0x11: arithmetic overflow or underflow"}, {vm.ErrExecutionReverted, panicData(0x77), "panic 0x77: of an unknown kind"},
		{vm.ErrExecutionReverted, hexutil.MustDecode("0xd93c0665"), "reverted with EnforcedPause()"}, {vm.ErrExecutionReverted, hexutil.MustDecode("0x12345678"), "reverted with data that no known error has: 0x12345678"},
		{vm.ErrExecutionReverted, nil, "reverted without a reason"},
	} {
		f := &frame{kind: vm.CALL, from: common.Address{1}, value: big.NewInt(9), gas: 7, err: c.err, output: c.output}
		if got, _ := r.reason(f); got != c.want {
			t.Errorf("%v %x: %s, want %s", c.err, c.output, got, c.want)
		}
	}
}

// TestLongStacks are shortened in the middle.
func TestLongStacks(t *testing.T) {
	r := newRecorder(nil)
	hooks := r.hooks()
	for depth := range 500 {
		hooks.OnEnter(depth, byte(vm.CALL), common.Address{1}, common.Address{2}, nil, 1, new(big.Int))
	}
	for depth := range 500 {
		hooks.OnExit(499-depth, []byte{1}, 1, vm.ErrExecutionReverted, true)
	}
	f := r.explain()
	if len(f.Stack) != mostShown+1 || f.Stack[mostShown/2].Note != "436 more" {
		t.Errorf("%d functions, %+v", len(f.Stack), f.Stack[mostShown/2])
	}
}

// TestDecodeParameters decodes what JSON-RPC calls are about, whatever their parameters.
func TestDecodeParameters(t *testing.T) {
	e := &Explainer{}
	transfer := `"0xa9059cbb000000000000000000000000a11ce000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000005"`
	const to = `"0x00000000000000000000000000000000000000aa"`
	const want = "transfer(to: 0xa11ce00000000000000000000000000000000001, value: 5)"
	for _, c := range []struct{ method, params, want string }{
		{"eth_call", `[{"to":` + to + `,"data":` + transfer + `},"latest"]`, want}, {"eth_estimateGas", `[{"to":` + to + `,"input":` + transfer + `}]`, want},
		{"eth_call", `[{"data":` + transfer + `}]`, ""}, {"eth_getBalance", `[{"to":` + to + `,"data":` + transfer + `}]`, ""}, {"eth_call", `[]`, ""}, {"eth_call", `{`, ""},
		{"eth_call", `[7]`, ""}, {"eth_sendRawTransaction", `["0x02"]`, ""}, {"eth_sendRawTransaction", `[7]`, ""},
	} {
		if got := e.Decode(c.method, []byte(c.params)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.params, got, c.want)
		}
	}
	signed := types.NewTx(&types.LegacyTx{To: &common.Address{1}, Data: hexutil.MustDecode(strings.Trim(transfer, `"`))})
	raw, err := signed.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	params, err := json.Marshal([]any{hexutil.Bytes(raw)})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Decode("eth_sendRawTransaction", params); got != want {
		t.Error(got)
	}
}

// TestQuietConsole: contracts' logs are printed even when the log is quiet, and only then.
func TestQuietConsole(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelError} {
		var log, console bytes.Buffer
		e := &Explainer{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})), Console: &console}
		e.Printed(&reader.Chain{}, nil, []Message{{Contract: "Vault", Function: "add", Message: "n is 5"}})
		want := ""
		if level == slog.LevelError {
			want = "console.log Vault.add: n is 5\n"
		}
		if console.String() != want || (log.Len() > 0) != (want == "") {
			t.Errorf("%v: printed %q, logged %q", level, console.String(), log.String())
		}
	}
}
