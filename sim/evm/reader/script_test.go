package reader_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// newest returns a chain's newest transaction that executes code.
func newest(t *testing.T, c *randomChain) *reader.Transaction {
	t.Helper()
	b, err := c.Head(t.Context())
	for ; err == nil; b, err = c.Block(t.Context(), b.Number-1) {
		transactions, err := c.Transactions(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if len(transactions) > 0 {
			return transactions[0]
		}
	}
	t.Fatal(err)
	return nil
}

// traceWith traces that transaction.
func traceWith(t *testing.T, c *randomChain, tracer, config string) (string, error) {
	t.Helper()
	trace, err := c.TraceTransaction(t.Context(), newest(t, c), &reader.TraceConfig{Tracer: &tracer, TracerConfig: json.RawMessage(config)})
	if err != nil {
		return "", err
	}
	return string(trace.JSON()), nil
}

// TestScriptsTrace compares the results of scripts with the tracers in Go.
func TestScriptsTrace(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newRandomChain(t, kind, 3, 8)
		log, err := c.TraceTransaction(t.Context(), newest(t, c), nil)
		if err != nil {
			t.Fatal(err)
		}
		var steps struct{ StructLogs []struct{ Op string } }
		if err := json.Unmarshal(log.JSON(), &steps); err != nil {
			t.Fatal(err)
		}
		ops := []string{}
		for _, s := range steps.StructLogs {
			ops = append(ops, s.Op)
		}
		want, _ := json.Marshal(ops)
		if got, err := traceWith(t, c, `{ops:[],step:function(l){this.ops.push(l.op.toString())},fault:function(){},result:function(){return this.ops}}`, ""); err != nil || got != string(want) {
			t.Errorf("steps: %v %s, want %s", err, got, want)
		}
		for script, want := range map[string]string{
			`{setup:function(c){this.c=JSON.parse(c)},result:function(){return this.c.a},fault:function(){}}`:                                  `7`,
			`{n:0,enter:function(f){this.n++},exit:function(f){this.n+=10},fault:function(){},result:function(){return this.n}}`:               `0`, // the outermost call does not count
			`{result:function(x,db){return [toHex(x.to)===toHex(toAddress(toHex(x.to))),x.txIndex,db.exists(x.to)]},fault:function(){}}`:       `[true,0,true]`,
			`(()=>{let n=0;return{step(){n++},fault(){},result:()=>n>0}})()`:                                                                   `true`,
			`{result:function(x){return [typeof x.gasUsed,toHex(new Uint8Array([1,2])),"ab".repeat(2),"a".padEnd(3,"b")]},fault:function(){}}`: `["number","0x0102","abab","abb"]`,
		} {
			if got, err := traceWith(t, c, script, `{"a":7}`); err != nil || got != want {
				t.Errorf("%s: %v %s, want %s", script, err, got, want)
			}
		}
		own, err := traceWith(t, c, "callTracer", "")
		if err != nil {
			t.Fatal(err)
		}
		four, err := traceWith(t, c, "4byteTracer", "")
		if err != nil {
			t.Fatal(err)
		}
		wantMux := `{"4byteTracer":` + four + `,"callTracer":` + own + `,"{result:function(){return 1},fault:function(){}}":1}`
		if got, err := traceWith(t, c, "muxTracer", `{"callTracer":{},"4byteTracer":null,"{result:function(){return 1},fault:function(){}}":{}}`); err != nil || got != wantMux {
			t.Errorf("%v %s, want %s", err, got, wantMux)
		}
		for _, name := range []string{"4byteTracerLegacy", "bigramTracer", "callTracerLegacy", "evmdisTracer", "noopTracerLegacy", "opcountTracer", "prestateTracerLegacy", "trigramTracer", "unigramTracer"} {
			got, err := traceWith(t, c, name, "")
			if err != nil || !json.Valid([]byte(got)) {
				t.Errorf("%s: %v %s", name, err, got)
			}
			if name == "4byteTracerLegacy" && got != four {
				t.Errorf("%s, want %s", got, four)
			}
		}
	}
}

// TestScriptsAreRefused expects go-ethereum's errors for invalid tracers.
func TestScriptsAreRefused(t *testing.T) {
	c := newRandomChain(t, evm.KindC, 3, 8)
	for script, want := range map[string]string{
		`nopeTracer`:                                        "ReferenceError: nopeTracer is not defined",
		`{`:                                                 "SyntaxError: SyntaxError: (anonymous): Line 1:4 Unexpected token )",
		`{fault:function(){}}`:                              "trace object must expose a function result()",
		`{result:function(){}}`:                             "trace object must expose a function fault()",
		`{result(){},fault(){},enter(){}}`:                  "trace object must expose either both or none of enter() and exit()",
		`{result(){},fault(){},step(){a.b.c}}`:              "ReferenceError: a is not defined at step (<eval>:1:31(1))    in server-side tracer function 'step'",
		`{result(){return x},fault(){},step(){}}`:           "ReferenceError: x is not defined at result (<eval>:1:19(1))    in server-side tracer function 'result'",
		`{setup(){throw 5},result(){},fault(){}}`:           "5 at setup (<eval>:1:11(2))",
		`{result(){return "a".repeat(1e12)},fault(){}}`:     "RangeError: a tracer has at most 16777216 bytes at once",
		`{result(){return new Uint32Array(1e8)},fault(){}}`: "RangeError: a tracer has at most 16777216 bytes at once",
	} {
		if got, err := traceWith(t, c, script, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", script, got, err, want)
		}
		if strings.HasPrefix(want, "RangeError") || strings.Contains(want, "'step'") {
			continue // go-ethereum has no such bounds, and needs an execution to step
		}
		tracer, err := tracers.DefaultDirectory.New(script, new(tracers.Context), nil, params.MainnetChainConfig)
		if err == nil {
			_, err = tracer.GetResult()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: go-ethereum says %v, want %s", script, err, want)
		}
	}
}

// TestTracersStopBeforeTheFirstCall uses time limits that end while a trace begins.
func TestTracersStopBeforeTheFirstCall(t *testing.T) {
	c := newRandomChain(t, evm.KindC, 3, 8)
	transaction := newest(t, c)
	ended := 0
	for i := range 400 {
		timeout := (time.Duration(i) * 2 * time.Microsecond).String()
		for _, tracer := range []string{"callTracer", "flatCallTracer", "muxTracer"} {
			config := json.RawMessage(`{"callTracer":{"withLog":true}}`)
			if tracer != "muxTracer" {
				config = json.RawMessage(`{}`)
			}
			_, err := c.TraceTransaction(t.Context(), transaction, &reader.TraceConfig{Tracer: &tracer, TracerConfig: config, Timeout: &timeout})
			if err != nil && err.Error() != "execution timeout" {
				t.Fatalf("%s, %s: %v", tracer, timeout, err)
			}
			if err != nil {
				ended++
			}
		}
	}
	if ended == 0 {
		t.Error("no trace reached its time limit")
	}
}

// TestScriptsEnd runs endless scripts, and scripts that take all memory.
func TestScriptsEnd(t *testing.T) {
	c := newRandomChain(t, evm.KindC, 3, 8)
	c.Limits.Time = 100 * time.Millisecond
	for _, script := range []string{
		`(function(){while(true){}})()`,
		`{setup:function(){while(true){}},result:function(){},fault:function(){}}`,
		`{step:function(){while(true){}},result:function(){},fault:function(){}}`,
		`{step:function(){try{while(true){}}finally{while(true){}}},result:function(){},fault:function(){}}`,
		`{result:function(){for(;;){}},fault:function(){}}`,
		`{get step(){while(true){}},result:function(){},fault:function(){}}`,
	} {
		began := time.Now()
		if got, err := traceWith(t, c, script, ""); err == nil || !strings.HasPrefix(err.Error(), "execution timeout") {
			t.Errorf("%s: %s, %v", script, got, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", script, took)
		}
	}
	if got, err := traceWith(t, c, "muxTracer", `{"{result:function(){for(;;){}},fault:function(){}}":{},"callTracer":{}}`); err == nil || !strings.HasPrefix(err.Error(), "execution timeout") {
		t.Error(got, err)
	}
	c.Limits.Time, c.Limits.Script = time.Minute, 16<<20
	for _, script := range []string{
		`{step:function(){var all=[];while(true){all.push("a"+all.length)}},result:function(){},fault:function(){}}`,
		`{result:function(){var s="x";while(true){s+=s}},fault:function(){}}`,
	} {
		if got, err := traceWith(t, c, script, ""); err == nil || !strings.HasPrefix(err.Error(), "the tracer takes more than 16777216 bytes of memory") {
			t.Errorf("%s: %s, %v", script, got, err)
		}
	}
	c.Limits.Trace = 1 << 20
	if got, err := traceWith(t, c, `{result:function(){return "x".repeat(2e6)},fault:function(){}}`, ""); err == nil || !strings.HasPrefix(err.Error(), "the trace is larger than 1048576 bytes") {
		t.Error(len(got), err)
	}
}
