package explain

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// CallTracer is the name of the tracer whose answer Name completes.
const CallTracer = "callTracer"

// mostNamed bounds the answers that are completed.
const mostNamed = 4 << 20

// callFrame is a call as the callTracer answers it, with the members that Name adds at the end. The members keep their order.
type callFrame struct {
	From         json.RawMessage `json:"from,omitempty"`
	Gas          json.RawMessage `json:"gas,omitempty"`
	GasUsed      json.RawMessage `json:"gasUsed,omitempty"`
	To           *common.Address `json:"to,omitempty"`
	Input        hexutil.Bytes   `json:"input"`
	Output       hexutil.Bytes   `json:"output,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
	RevertReason json.RawMessage `json:"revertReason,omitempty"`
	Calls        []*callFrame    `json:"calls,omitempty"`
	Logs         json.RawMessage `json:"logs,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
	Type         string          `json:"type"`

	Contract string `json:"contract,omitempty"`
	Function string `json:"function,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Name adds the names of contracts and functions, with the reasons of failures, to the answer of the callTracer about an execution on the state of
// a block. It returns the answer as it is if no artifacts are known, or if it cannot be read.
func (e *Explainer) Name(ctx context.Context, c *reader.Chain, b *reader.Block, config *reader.TraceConfig, trace reader.Trace) reader.Trace {
	if !e.On() || config == nil || config.Tracer == nil || *config.Tracer != CallTracer || trace.Size() > mostNamed {
		return trace
	}
	var root callFrame
	if json.Unmarshal(trace.JSON(), &root) != nil || root.Type == "" {
		return trace
	}
	states, err := c.State(ctx, b)
	if err != nil {
		return trace
	}
	e.name(&root, states.GetCode)
	named, err := json.Marshal(&root)
	if err != nil || evm.Fault(states) != nil {
		return trace
	}
	return reader.Trace{reader.PlainPart(named)}
}

func (e *Explainer) name(f *callFrame, code func(common.Address) []byte) {
	creation := strings.HasPrefix(f.Type, "CREATE")
	r := newRecorder(e.Registry)
	known := r.registry.Creation(f.Input)
	if !creation {
		known = nil
		if f.To != nil {
			known = r.registry.Runtime(code(*f.To))
		}
	}
	switch {
	case known != nil && creation:
		f.Contract, f.Function = known.Name, "constructor"
	case known != nil:
		f.Contract = known.Name
		if d := r.registry.Call(known, f.Input); d != nil {
			f.Function = d.Signature
		}
	}
	if known != nil && len(f.Error) > 0 && len(f.Output) > 0 {
		f.Reason, _ = r.reverted(known, f.Output)
	}
	for _, inner := range f.Calls {
		e.name(inner, code)
	}
}
