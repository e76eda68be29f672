package explain

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/events"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// Explainer explains executions of one world. A nil Explainer explains nothing.
type Explainer struct {
	Registry *artifacts.Registry // of the process
	Log      *slog.Logger
	Events   *events.Hub
	World    string
	Console  io.Writer // gets what contracts log if the log is quiet; may be nil
}

// Report is what an execution did.
type Report struct {
	Failure *Failure
	Console []Message
	Events  []Event // in the order of the receipt's logs
	Root    *Step
}

// Message is what a contract logged to the console.
type Message struct {
	Contract string `json:"contract,omitempty" doc:"Absent if no artifact matches the code at the address."`
	Function string `json:"function,omitempty"`
	Address  string `json:"address"`
	Source   string `json:"source,omitempty"`
	Line     int    `json:"line,omitempty"`
	Message  string `json:"message"`
}

// String writes the message after the function that logged it.
func (m *Message) String() string {
	name := cmp.Or(m.Contract, m.Address)
	if m.Function != "" {
		name += "." + m.Function
	}
	return name + ": " + m.Message
}

// Step is a call within an execution.
type Step struct {
	Kind      string     `json:"type" doc:"CALL, STATICCALL, DELEGATECALL, CREATE, …"`
	From      string     `json:"from"`
	To        string     `json:"to"`
	Contract  string     `json:"contract,omitempty"`
	Function  string     `json:"function,omitempty" doc:"Name with the types of its parameters."`
	Arguments []Argument `json:"arguments,omitempty"`
	Result    []Argument `json:"result,omitempty"`
	Value     string     `json:"value,omitempty" doc:"Wei."`
	GasUsed   uint64     `json:"gasUsed"`
	Error     string     `json:"error,omitempty"`
	Events    []Event    `json:"events,omitempty"`
	Calls     []*Step    `json:"calls,omitempty"`
}

// Event is a log with its values.
type Event struct {
	Address   string     `json:"address"`
	Contract  string     `json:"contract,omitempty"`
	Name      string     `json:"name,omitempty" doc:"Name with the types of its parameters; absent for an unknown event."`
	Arguments []Argument `json:"arguments,omitempty"`
}

// On reports whether artifacts are known, so that failures can be explained.
func (e *Explainer) On() bool { return e != nil && !e.Registry.Empty() }

// Call executes a call again and reports on it.
func (e *Explainer) Call(ctx context.Context, c *reader.Chain, b *reader.Block, call *reader.Call, o reader.Overrides) (*Report, error) {
	r := newRecorder(e.Registry)
	if _, err := c.TraceCall(ctx, b, call, o, &reader.TraceConfig{Observer: r.hooks()}); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// Transaction executes a transaction again and reports on it.
func (e *Explainer) Transaction(ctx context.Context, c *reader.Chain, t *reader.Transaction) (*Report, error) {
	r := newRecorder(e.Registry)
	if _, err := c.TraceTransaction(ctx, t, &reader.TraceConfig{Observer: r.hooks()}); err != nil {
		return nil, err
	}
	return r.report(), nil
}

func (r *recorder) report() *Report {
	report := &Report{Failure: r.explain()}
	for _, m := range r.console {
		report.Console = append(report.Console, r.messageOf(m))
	}
	for _, l := range r.logs {
		report.Events = append(report.Events, r.eventOf(l.by, l.log))
	}
	if r.root != nil {
		report.Root = r.stepOf(r.root)
	}
	return report
}

func (r *recorder) messageOf(m message) Message {
	s := Message{Address: m.by.to.Hex(), Message: m.text}
	if m.by.contract == nil {
		return s
	}
	s.Contract = m.by.contract.Name
	if s.Function, _ = r.entry(m.by); s.Function == "" {
		s.Function = "fallback"
	}
	if at := m.at; at != nil {
		s.Source, s.Line = at.Source, at.Line
		s.Function = cmp.Or(at.Function, s.Function)
	}
	return s
}

// delegates reports whether a frame passes its call on to other code, as a proxy does.
func (f *frame) delegates() bool {
	n := len(f.calls)
	return n > 0 && f.calls[n-1].kind == vm.DELEGATECALL && bytes.Equal(f.calls[n-1].input, f.input)
}

func (r *recorder) eventOf(by *frame, log event) Event {
	e := Event{Address: log.address.Hex()}
	if by.contract != nil {
		e.Contract = by.contract.Name
	}
	if d := r.registry.Event(by.contract, log.topics, log.data); d != nil {
		e.Name, e.Arguments = d.Signature, argumentsOf(d.Values)
	}
	return e
}

func (r *recorder) stepOf(f *frame) *Step {
	s := &Step{Kind: f.kind.String(), From: f.from.Hex(), To: f.to.Hex(), GasUsed: f.used}
	if f.value != nil && f.value.Sign() > 0 {
		s.Value = f.value.String()
	}
	var method string
	if f.contract != nil {
		s.Contract = f.contract.Name
		method, s.Arguments = r.entry(f)
	}
	s.Function = method
	if d := r.registry.Call(f.contract, f.input); d != nil && !r.creation(f) && (method != "fallback" || f.delegates()) {
		s.Function, s.Arguments = d.Signature, argumentsOf(d.Values)
		if f.contract != nil && f.err == nil {
			if m, err := f.contract.Interface().MethodById(f.input[:4]); err == nil {
				if values, err := m.Outputs.Unpack(f.output); err == nil {
					s.Result = argumentsOf(artifacts.Values(m.Outputs, values))
				}
			}
		}
	}
	if f.err != nil {
		s.Error, _ = r.reason(f)
	}
	for _, log := range f.events {
		s.Events = append(s.Events, r.eventOf(f, log))
	}
	for _, inner := range f.calls {
		s.Calls = append(s.Calls, r.stepOf(inner))
	}
	return s
}

// explained is a failed execution for the client: the error of the node, with an explanation beside the bytes that libraries parse.
type explained struct {
	error
	data   []byte
	code   int
	report *Report
}

// Explain adds an explanation to the error of a failed execution; code and data are those of the node's error. Like Hardhat's node, it has an
// object in place of the bytes, with the bytes in its data: viem, ethers, alloy and Hardhat look there.
func Explain(failed error, code int, data []byte, report *Report) error {
	if report == nil || report.Failure == nil || !report.Failure.known() {
		return failed
	}
	return &explained{failed, data, code, report}
}

func (e *explained) ErrorCode() int { return e.code }

// Data is the data of an explained error.
type Data struct {
	Message string `json:"message"`
	Data    string `json:"data,omitempty"`
	*Failure
	Trace string `json:"trace"`
}

func (e *explained) ErrorData() any {
	d := &Data{Message: e.Error(), Failure: e.report.Failure, Trace: e.report.Failure.String()}
	if len(e.data) > 0 {
		d.Data = hexutil.Encode(e.data)
	}
	return d
}

// Advice is the explanation for the log and the journal.
func (e *explained) Advice() string { return e.report.Failure.Line() }

// Line writes the failure in one line, with the innermost functions.
func (f *Failure) Line() string {
	const most = 4
	text := f.Reason
	for i := range f.Stack {
		if i == most {
			return text + " …"
		}
		text += " at " + f.Stack[i].String()
	}
	return text
}

// Printed writes messages of the console to the log and to those who listen.
func (e *Explainer) Printed(c *reader.Chain, hash *common.Hash, all []Message) {
	for i := range all {
		m := &all[i]
		attrs := []any{"network", c.Row.Network, "chain", c.Row.EVMID}
		if hash != nil {
			attrs = append(attrs, "transaction", hash.Hex())
		}
		if e.Console != nil && !e.Log.Enabled(context.Background(), slog.LevelInfo) {
			fmt.Fprintln(e.Console, "console.log "+strings.ToValidUTF8(m.String(), "?"))
		}
		e.Log.Info("console.log "+m.String(), attrs...)
		e.Events.Publish(events.Console, e.World, func() any {
			printed := &ConsoleEvent{Network: c.Row.Network, EVMChainID: c.Row.EVMID, Message: *m}
			if hash != nil {
				printed.Transaction = hash.Hex()
			}
			return printed
		})
	}
}

// ConsoleEvent is the data of a console event.
type ConsoleEvent struct {
	Network     string `json:"network"`
	EVMChainID  uint64 `json:"evmChainId"`
	Transaction string `json:"transaction,omitempty"` // absent for a call
	Message
}

// waiting is the number of transactions that wait to be explained; more are not.
const waiting = 1_000

// Watch explains transactions of new blocks until the context ends: what they logged to the console and, if artifacts are known, why they failed.
func (e *Explainer) Watch(ctx context.Context, chains []*reader.Chain) {
	var all sync.WaitGroup
	for _, c := range chains {
		blocks, queue := make(chan *reader.BlockEvent), make(chan common.Hash, waiting)
		subscription := c.Subscribe(blocks)
		all.Go(func() {
			defer subscription.Unsubscribe()
			defer close(queue)
			for {
				select {
				case b := <-blocks:
					e.choose(b, queue)
				case <-subscription.Err():
					return
				case <-ctx.Done():
					return
				}
			}
		})
		all.Go(func() {
			for hash := range queue {
				if ctx.Err() == nil {
					e.tell(ctx, c, hash)
				}
			}
		})
	}
	all.Wait()
}

// choose queues the transactions of a block that there is something to say about. It never waits, as the block does.
func (e *Explainer) choose(b *reader.BlockEvent, queue chan<- common.Hash) {
	if b.Rewound {
		return
	}
	for i := range b.Transactions {
		t := &b.Transactions[i]
		if slices.Contains(b.Console, i) || t.Status == types.ReceiptStatusFailed && e.On() {
			select {
			case queue <- common.BytesToHash(t.Hash):
			default:
			}
		}
	}
}

func (e *Explainer) tell(ctx context.Context, c *reader.Chain, hash common.Hash) {
	t, err := c.Transaction(ctx, hash)
	if err != nil {
		return // it has been undone
	}
	report, err := e.Transaction(ctx, c, t)
	if err != nil {
		e.Log.Warn("a transaction could not be explained", "transaction", hash.Hex(), "error", err)
		return
	}
	e.Printed(c, &hash, report.Console)
	if f := report.Failure; f != nil && f.known() {
		e.Log.Warn("transaction failed: "+f.Line(), "network", c.Row.Network, "chain", c.Row.EVMID, "transaction", hash.Hex())
	}
}

// ContractAt returns the contract at an address after a block and, if that is a proxy (ERC-1167, ERC-1967), the contract that it delegates to. Each is
// nil if it is not known.
func (e *Explainer) ContractAt(ctx context.Context, c *reader.Chain, b *reader.Block, at common.Address) (own, target *artifacts.Contract, err error) {
	if !e.On() {
		return nil, nil, nil
	}
	states, err := c.State(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	code := states.GetCode(at)
	own = e.Registry.Runtime(code)
	implementation, proxy := artifacts.CloneTarget(code)
	if slot := states.GetState(at, evm.StateKey(c.Kind, artifacts.ImplementationSlot)); !proxy && slot != (common.Hash{}) {
		implementation, proxy = common.BytesToAddress(slot[:]), true
	}
	if slot := states.GetState(at, evm.StateKey(c.Kind, artifacts.BeaconSlot)); !proxy && slot != (common.Hash{}) {
		beacon, input := common.BytesToAddress(slot[:]), hexutil.Bytes(hexutil.MustDecode("0x5c60da1b")) // implementation()
		result, err := c.Call(ctx, b, &reader.Call{To: &beacon, Input: &input}, reader.Overrides{})
		if err == nil && !result.Failed() && len(result.Return()) == common.HashLength {
			implementation = common.BytesToAddress(result.Return())
		}
	}
	target = e.Registry.Runtime(states.GetCode(implementation))
	return own, target, evm.Fault(states)
}
