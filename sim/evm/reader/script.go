package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/js" // registers the script tracers
)

// A client's own tracer is a script that evaluates to an object with methods,
// https://geth.ethereum.org/docs/developers/evm-tracing/custom-tracer. go-ethereum evaluates it, and calls its setup, before the tracer can
// be stopped. We pass a script that evaluates the client's when the execution begins, so that an endless loop anywhere can be stopped.

// deferred is that script, around the client's and its configuration as JSON strings. bounded, in front of it, keeps one step of a script
// from using too much memory: the script can be stopped only between two steps.
const (
	bounded = `(function(most){` +
		`function check(n){if(n>most)throw new RangeError("a tracer has at most "+most+" bytes at once")}` +
		`["repeat","padStart","padEnd"].forEach(function(f){var own=String.prototype[f];String.prototype[f]=function(n,s){check(f==="repeat"?n*this.length:n);return own.call(this,n,s)}});` +
		`["ArrayBuffer","Int8Array","Uint8Array","Uint8ClampedArray","Int16Array","Uint16Array","Int32Array","Uint32Array","Float32Array","Float64Array"].forEach(function(f){` +
		`var own=this[f];this[f]=new Proxy(own,{construct:function(t,a){check(typeof a[0]==="object"?0:a[0]*(own.BYTES_PER_ELEMENT||1));return Reflect.construct(own,a)}})},this)` +
		`}).call(this,%d),`
	loaded = `(function(){var own;function load(){if(own===undefined){own=(0,eval)(%s);if(typeof own.setup==="function")own.setup(%s)}return own}`
	// probed returns which methods the client's object has.
	probed = loaded + `return{fault:function(){},result:function(){var o=load();return["result","fault","step","enter","exit"].filter(function(m){return typeof o[m]==="function"})}}})()`
	// deferred defines the optional methods that the client's object has.
	deferred = loaded + `return{fault:function(l,d){return load().fault(l,d)},result:function(c,d){return load().result(c,d)}%s}})()`
	steps    = `,step:function(l,d){return load().step(l,d)}`
	frames   = `,enter:function(f){return load().enter(f)},exit:function(f){return load().exit(f)}`
)

// scriptStep bounds the memory of one step of a script.
const scriptStep = 16 << 20

// newScript makes a tracer from a client's script. Cancelling the context stops it at once.
func (x *execution) newScript(ctx context.Context, code string, at *tracers.Context, config json.RawMessage) (*tracers.Tracer, error) {
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	source, setup := jsString("("+code+")"), jsString(string(config))
	start := func(script string, a ...any) (*tracers.Tracer, error) {
		return tracers.DefaultDirectory.New(fmt.Sprintf(bounded+script, append([]any{scriptStep, source, setup}, a...)...), at, config, x.chain.chainConfig)
	}
	probe, err := start(probed)
	if err != nil {
		return nil, err
	}
	methods, err := methodsOf(ctx, probe, x.chain.Limits.Script)
	if err != nil {
		return nil, err
	}
	optional := ""
	switch {
	case !methods["result"]:
		return nil, errors.New("trace object must expose a function result()")
	case !methods["fault"]:
		return nil, errors.New("trace object must expose a function fault()")
	case methods["enter"] != methods["exit"]:
		return nil, errors.New("trace object must expose either both or none of enter() and exit()")
	case methods["enter"]:
		optional = frames
	}
	if methods["step"] {
		optional += steps
	}
	return start(deferred, optional)
}

// methodsOf evaluates a client's script and returns which methods its object has.
func methodsOf(ctx context.Context, probe *tracers.Tracer, memory uint64) (map[string]bool, error) {
	stop := context.AfterFunc(ctx, func() { probe.Stop(errTimeout) })
	defer stop()
	defer watchMemory(probe.Stop, memory)()
	found, err := probe.GetResult()
	if err != nil { // go-ethereum adds a location that means nothing to a client
		text, _, _ := strings.Cut(err.Error(), "    in server-side tracer function")
		if what, found := strings.CutSuffix(text, " at eval (native)"); found { // a syntax error in the client's script; the client did not write the eval around it
			text = strings.Replace(what, "<eval>", "(anonymous)", 1)
		}
		return nil, errors.New(text)
	}
	var names []string
	if err := json.Unmarshal(found, &names); err != nil {
		return nil, err
	}
	methods := map[string]bool{}
	for _, name := range names {
		methods[name] = true
	}
	return methods, nil
}

// jsString quotes a string for JavaScript.
func jsString(text string) string {
	literal, _ := json.Marshal(text) // a string always marshals; JSON escapes U+2028 and U+2029 too
	return string(literal)
}

// runaway is how often memory has to grow by a script's limit before the script is stopped at once.
const runaway = 4

// watchMemory stops a script once the process's memory grows by more than a limit. Calling the returned function ends the watch.
func watchMemory(stop func(error), limit uint64) (done func()) {
	ended, before := make(chan struct{}), memoryInUse()
	go func() {
		const interval = 5 * time.Millisecond
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			used := memoryInUse()
			if used < before+limit {
				continue
			}
			// Count live memory only, unless there is so much that it cannot be others' garbage: a script that doubles a text goes on doubling it while
			// the collector waits for each copy to end.
			if used < before+runaway*limit {
				runtime.GC()
				used = memoryInUse()
			}
			if used >= before+limit {
				stop(fmt.Errorf("the tracer takes more than %d bytes of memory", limit))
				return
			}
		}
	}()
	return func() { close(ended) }
}

// memoryInUse returns the memory of heap objects and stacks.
func memoryInUse() uint64 {
	all := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() + all[1].Value.Uint64()
}
