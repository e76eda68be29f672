package evm

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/evm/precompile"
)

// What the next block of a builder stands on: state, fees and surroundings.

// stateFor is the state that a block at a time begins with: the head's, with the contracts turned on and off that are due.
func (b *Builder) stateFor(time uint64) (*state.StateDB, error) {
	var base state.Database = b.state
	if off := b.schedule.Disabled(b.head.Time, time); len(off) > 0 {
		base = without{b.state, off}
	}
	states, err := state.New(b.head.Root, base)
	if err != nil {
		return nil, err
	}
	return states, b.schedule.Apply(states, &b.head.Time, time, b.head.Number.Uint64()+1)
}

// fees are those that hold after the head: the fee manager's, where there is one.
func (b *Builder) fees() (fees, error) {
	f := fees{b.kind, b.schedule.Fees}
	if !b.schedule.Manages(b.head.Time) {
		return f, nil
	}
	var failed error
	f.config, _ = precompile.FeesIn(func(contract common.Address, slot common.Hash) common.Hash {
		value, err := b.state.Storage(contract, slot)
		failed = errors.Join(failed, err)
		return value
	})
	return f, failed
}

// contractReader calls contracts on the state after the head, whose header is h.
func (b *Builder) contractReader(h *Header) (*probe, error) {
	states, err := state.New(h.Root, b.state)
	if err != nil {
		return nil, err
	}
	s := b.surroundings(h, states)
	s.free = true
	return NewContractReader(s.machine().EVM, states), nil
}

// surroundings are those of code in a block with this header.
func (b *Builder) surroundings(h *Header, states vm.StateDB) surroundings {
	return surroundings{
		rules: b.rules, block: blockContext(h, b.blockHash), states: states, jumps: b.jumps,
		builtins: builtinsAt(b.kind, b.evmRules(h), b.schedule, h.Time), mail: b.home.mail(),
	}
}
