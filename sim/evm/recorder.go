package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/store"
)

// recorder keeps the calls inside transactions that moved value or created a contract. It sees every call, but keeps
// only what the index lists; a full trace is made by executing again.
type recorder struct {
	block store.Position
	tx    int
	calls []store.Call
	open  []frame
}

// frame is a call under way: the row it will fill (or -1) and how many rows there were when it began.
type frame struct{ row, first int }

// newRecorder records the calls of a block, whose rows are counted from a position.
func newRecorder(block store.Position) *recorder { return &recorder{block: block} }

// rows are the calls of all transactions so far, in the order in which they began.
func (r *recorder) rows() []store.Call { return r.calls }

// hooks is the tracer.
func (r *recorder) hooks() *tracing.Hooks {
	return &tracing.Hooks{OnEnter: r.enter, OnExit: r.exit}
}

func (r *recorder) enter(depth int, kind byte, from, to common.Address, _ []byte, gas uint64, value *big.Int) {
	f := frame{row: -1, first: len(r.calls)}
	if depth > 0 && listed(vm.OpCode(kind), value) {
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

func listed(kind vm.OpCode, value *big.Int) bool {
	switch kind {
	case vm.CREATE, vm.CREATE2:
		return true
	case vm.CALL, vm.CALLCODE, vm.SELFDESTRUCT:
		return value != nil && value.Sign() > 0
	default:
		return false
	}
}

func (r *recorder) exit(_ int, _ []byte, gasUsed uint64, err error, reverted bool) {
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
	}
}

// begin starts a transaction and says how many calls there are before it.
func (r *recorder) begin(tx int) (calls int) {
	r.tx = tx
	return len(r.calls)
}

// truncate drops the calls of a transaction that turned out not to be valid.
func (r *recorder) truncate(calls int) {
	r.calls, r.open = r.calls[:calls], r.open[:0]
}
