package precompile

import (
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Frames tracks the open call frames of an EVM. go-ethereum passes a precompile nothing but its input. Frames knows its caller, its gas and
// whether the call is static, because the EVM reports every call to its tracer before running it.
type Frames struct {
	Warp WarpInput // of the current transaction

	contracts []*Contract
	evm       *vm.EVM
	open      []frame
	refusal   error // of the outermost frame
}

// frame is a call that has not returned.
type frame struct {
	caller, target common.Address
	gas            tracing.Gas
	static         bool  // writes are forbidden, here and in inner calls
	delegated      bool  // DELEGATECALL or CALLCODE: the code runs in the context of its caller
	refused        error // why it must not create a contract
}

// NewFrames tracks the frames of an EVM with these stateful precompiles.
func NewFrames(contracts []*Contract) *Frames { return &Frames{contracts: contracts} }

// Attach sets the EVM whose calls to track.
func (f *Frames) Attach(evm *vm.EVM) { f.evm = evm }

// Detach forgets the EVM, so that another may be attached.
func (f *Frames) Detach() { *f = Frames{contracts: f.contracts, open: f.open[:0]} }

// Hooks returns hooks that record the frames and then call a tracer's hooks, which may be nil.
func (f *Frames) Hooks(inner *tracing.Hooks) *tracing.Hooks {
	var hooks tracing.Hooks
	if inner != nil {
		hooks = *inner
	}
	hooks.OnEnterV2 = func(depth int, kind byte, from, to common.Address, input []byte, gas tracing.Gas, value *big.Int) {
		f.enter(vm.OpCode(kind), from, to, gas)
		inner.EmitEnter(depth, kind, from, to, input, gas, value)
	}
	hooks.OnExitV2 = func(depth int, output []byte, left tracing.Gas, err error, reverted bool) {
		last := f.exit()
		if last.refused != nil && errors.Is(err, vm.ErrContractAddressCollision) {
			err = last.refused
		}
		inner.EmitExit(depth, output, last.gas, left, err, reverted)
	}
	return &hooks
}

func (f *Frames) enter(kind vm.OpCode, from, to common.Address, gas tracing.Gas) {
	next := frame{caller: from, target: to, gas: gas, static: kind == vm.STATICCALL}
	switch kind {
	case vm.DELEGATECALL, vm.CALLCODE:
		next.delegated = true
	case vm.CREATE, vm.CREATE2:
		next.refused = f.checkDeployer()
	}
	if len(f.open) == 0 {
		f.refusal = next.refused
	} else {
		next.static = next.static || f.top().static
	}
	f.open = append(f.open, next)
}

func (f *Frames) exit() frame {
	last := *f.top()
	f.open = f.open[:len(f.open)-1]
	return last
}

// Explain replaces the error of an outermost frame by subnet-evm's text.
func (f *Frames) Explain(err error) error {
	if f.refusal != nil && errors.Is(err, vm.ErrContractAddressCollision) {
		return f.refusal
	}
	return err
}

// Bind returns a contract that the EVM can run.
func (f *Frames) Bind(c *Contract) vm.PrecompiledContract { return boundContract{c, f} }

// boundContract is a contract in an EVM.
type boundContract struct {
	*Contract
	frames *Frames
}

func (b boundContract) Name() string { return b.Key }

// call returns the Call of the innermost frame.
func (b boundContract) call(input []byte) *Call {
	evm := b.frames.evm
	return &Call{
		Caller: b.frames.top().caller, State: evm.StateDB, Block: &evm.Context, Warp: &b.frames.Warp,
		Input: slices.Clone(input[selectorBytes:]),
	}
}

func (f *Frames) top() *frame { return &f.open[len(f.open)-1] }

// RequiredGas returns all gas for a DELEGATECALL or CALLCODE: since Granite that reverts and returns no gas (subnet-evm
// params.makePrecompile). An input that names no
// function costs nothing here; its failure uses all gas.
func (b boundContract) RequiredGas(input []byte) uint64 {
	if top := b.frames.top(); top.delegated {
		return top.gas.Execution
	}
	function, err := b.find(input)
	if err != nil {
		return 0
	}
	return function.Gas(b.call(input))
}

func (b boundContract) Run(input []byte) ([]byte, error) {
	top := b.frames.top()
	if top.delegated {
		return nil, vm.ErrExecutionReverted
	}
	function, err := b.find(input)
	if err != nil {
		return nil, err
	}
	if function.Writes && top.static {
		return nil, vm.ErrWriteProtection
	}
	if err := function.check(input[selectorBytes:]); err != nil {
		return nil, err
	}
	return function.Run(b.call(input))
}
