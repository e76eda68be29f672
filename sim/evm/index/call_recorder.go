package index

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/store"
)

// CallRecorder keeps the calls inside transactions that moved value or created a contract, and every address called. It traces every call,
// but keeps only those that the index lists; a full trace executes the transaction again.
type CallRecorder struct {
	block store.Position
	tx    int
	calls []store.Call
	open  []openCall

	called []store.Called
	seen   map[store.Called]bool // contents of called
}

// openCall is a call that has not returned: its row (or -1), and the number of rows and callees when it began.
type openCall struct{ row, first, firstCalled int }

// NewCallRecorder records the calls of a block, numbering their rows from a position.
func NewCallRecorder(block store.Position) *CallRecorder {
	return &CallRecorder{block: block, seen: map[store.Called]bool{}}
}

// Calls returns the calls of all transactions so far, in the order they began.
func (r *CallRecorder) Calls() []store.Call { return r.calls }

// Called returns the addresses that transactions called internally, once per transaction, except in reverted calls.
func (r *CallRecorder) Called() []store.Called { return r.called }

// Hooks returns the tracer.
func (r *CallRecorder) Hooks() *tracing.Hooks {
	return &tracing.Hooks{OnEnter: r.enter, OnExit: r.exit}
}

func (r *CallRecorder) enter(depth int, kind byte, from, to common.Address, _ []byte, gas uint64, value *big.Int) {
	f := openCall{row: -1, first: len(r.calls), firstCalled: len(r.called)}
	if c := (store.Called{Tx: r.tx, Address: to}); depth > 0 && !r.seen[c] {
		r.called, r.seen[c] = append(r.called, c), true
	}
	if depth > 0 && isIndexed(vm.OpCode(kind), value) {
		f.row = len(r.calls)
		call := store.Call{
			ID: r.block + store.Position(f.row), Tx: r.tx, Depth: depth, Type: vm.OpCode(kind).String(),
			Sender: from.Bytes(), Recipient: to.Bytes(), Value: make([]byte, 32), Gas: gas,
		}
		if value != nil {
			value.FillBytes(call.Value)
		}
		r.calls = append(r.calls, call)
	}
	r.open = append(r.open, f)
}

func isIndexed(kind vm.OpCode, value *big.Int) bool {
	switch kind {
	case vm.CREATE, vm.CREATE2:
		return true
	case vm.CALL, vm.CALLCODE, vm.SELFDESTRUCT:
		return value != nil && value.Sign() > 0
	default:
		return false
	}
}

func (r *CallRecorder) exit(_ int, _ []byte, gasUsed uint64, err error, reverted bool) {
	last := len(r.open) - 1
	f := r.open[last]
	r.open = r.open[:last]
	if f.row >= 0 {
		r.calls[f.row].GasUsed = gasUsed
		if err != nil {
			r.calls[f.row].Error = err.Error()
		}
	}
	if reverted {
		for i := f.first; i < len(r.calls); i++ {
			r.calls[i].Reverted = true
		}
		r.forget(f.firstCalled)
	}
}

// forget drops all but the first callees.
func (r *CallRecorder) forget(but int) {
	for _, c := range r.called[but:] {
		delete(r.seen, c)
	}
	r.called = r.called[:but]
}

// Begin starts a transaction and returns the number of calls before it.
func (r *CallRecorder) Begin(tx int) (calls int) {
	r.tx = tx
	return len(r.calls)
}

// Truncate drops the calls of the latest transaction, which turned out to be invalid.
func (r *CallRecorder) Truncate(calls int) {
	r.calls, r.open = r.calls[:calls], r.open[:0]
	first := slices.IndexFunc(r.called, func(c store.Called) bool { return c.Tx == r.tx })
	if first >= 0 {
		r.forget(first)
	}
}
