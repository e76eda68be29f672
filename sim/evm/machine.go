package evm

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// surroundings are what an EVM runs in. Every EVM is made from them, so that code finds the same world wherever it is
// executed: in a block, in a call, in a trace or again for verification.
type surroundings struct {
	rules    *params.ChainConfig
	block    vm.BlockContext
	states   vm.StateDB
	jumps    vm.JumpDestCache
	builtins builtins
	hooks    *tracing.Hooks // a tracer's; may be nil
	mail     precompile.Mail
	free     bool // gas may cost nothing
}

// machine is an EVM with the frames that its contracts which keep state look at.
type machine struct {
	*vm.EVM
	frames  *precompile.Frames // nil where no contract needs them
	carries bool               // messages of other chains mean something here
	early   []common.Address   // cheap to reach, beside the engine's own
	whole   types.AccessList   // of the message under way, with what it carries; nil for its own
}

func (s surroundings) machine() *machine {
	m := &machine{early: s.builtins.early}
	contracts, hooks, states := s.builtins.pure, s.hooks, vm.StateDB(networkState{s.states, m})
	if len(s.builtins.stateful) > 0 {
		m.carries = s.builtins.carries()
		m.frames = precompile.NewFrames(s.builtins.active(), s.mail)
		contracts = maps.Clone(contracts)
		for address, c := range s.builtins.stateful {
			contracts[address] = m.frames.Bind(c)
		}
		hooks, states = m.frames.Hooks(hooks), m.frames.State(states)
	}
	m.EVM = vm.NewEVM(s.block, states, s.rules, vm.Config{Tracer: hooks, NoBaseFee: s.free})
	if m.frames != nil {
		m.frames.Attach(m.EVM)
	}
	m.SetJumpDestCache(s.jumps)
	m.SetPrecompiles(contracts)
	return m
}

// networkState is a state as these chains count gas: nothing is given back for storage that is cleared, and every transaction
// begins with more addresses that are cheap to reach.
type networkState struct {
	vm.StateDB
	machine *machine
}

func (networkState) AddRefund(uint64)  {}
func (networkState) SubRefund(uint64)  {}
func (networkState) GetRefund() uint64 { return 0 }

func (n networkState) Prepare(rules params.Rules, sender, coinbase common.Address, to *common.Address, precompiles []common.Address, list types.AccessList) {
	if n.machine.whole != nil {
		list = n.machine.whole
	}
	n.StateDB.Prepare(rules, sender, coinbase, to, slices.Concat(precompiles, n.machine.early), list)
}

// apply executes a message. failed are the messages of other chains among those it carries that were refused. The error
// says why it could not be tried; a failure of the code is in the result.
func (m *machine) apply(message *core.Message, gas *core.GasPool, failed *big.Int) (result *core.ExecutionResult, err error) {
	if m.frames == nil {
		return core.ApplyMessage(m.EVM, message, gas)
	}
	carried, rest := carriedBy(message.AccessList)
	if len(carried) == 0 || !m.carries {
		result, err = core.ApplyMessage(m.EVM, message, gas)
	} else {
		m.frames.Mail.Carried, m.frames.Mail.Failed = carried, failed
		result, err = m.carry(message, carried, rest, gas)
		m.frames.Mail.Carried, m.frames.Mail.Failed = nil, nil
	}
	if err == nil {
		result.Err = m.frames.Explain(result.Err)
	}
	return result, err
}

// builtins are the contracts that a chain has built in at a time, each at its address.
type builtins struct {
	pure     vm.PrecompiledContracts // shared unless overridden: not to be changed
	stateful map[common.Address]*precompile.Contract
	early    []common.Address // cheap to reach, beside the engine's own
}

// active are the contracts that keep state.
func (b builtins) active() []*precompile.Contract {
	var all []*precompile.Contract
	for _, c := range b.stateful {
		all = append(all, c)
	}
	return all
}

// carries says whether the messages of other chains that a transaction carries mean something.
func (b builtins) carries() bool { return b.stateful[precompile.WarpAddress] == precompile.Warp }

// own is a copy that may be changed.
func (b builtins) own() builtins {
	return builtins{maps.Clone(b.pure), maps.Clone(b.stateful), b.early}
}

// move takes the contract away from an address and, when a target is given, puts it there; it says whether there was one.
func (b builtins) move(from common.Address, to *common.Address) bool {
	pure, isPure := b.pure[from]
	stateful, isStateful := b.stateful[from]
	if to != nil && isPure {
		b.pure[*to] = pure
	}
	if to != nil && isStateful {
		b.stateful[*to] = stateful
	}
	delete(b.pure, from)
	delete(b.stateful, from)
	return isPure || isStateful
}
