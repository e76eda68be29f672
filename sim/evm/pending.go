package evm

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
)

// What the next block is executed on: the state, the fee rules and the VM context.

// stateAt is the state that a block at a time begins with: the head's, with the contracts turned on and off that are due.
func (b *Builder) stateAt(time uint64) (*state.StateDB, error) {
	var base state.Database = b.state
	if off := b.schedule.Disabled(b.head.Time, time); len(off) > 0 {
		base = withoutAccounts{b.state, off}
	}
	states, err := state.New(b.head.Root, base)
	if err != nil {
		return nil, err
	}
	return states, b.schedule.Apply(states, &b.head.Time, time, b.head.Number.Uint64()+1)
}

// feeRules are those that hold after the head: the fee manager's, where there is one.
func (b *Builder) feeRules() (feeRules, error) {
	f := feeRules{b.kind, b.schedule.FeeConfig}
	if !b.schedule.HasFeeManager(b.head.Time) {
		return f, nil
	}
	var failed error
	f.config, _ = precompile.StoredFeeConfig(func(contract common.Address, slot common.Hash) common.Hash {
		value, err := b.state.Storage(contract, slot)
		failed = errors.Join(failed, err)
		return value
	})
	return f, failed
}

// contractReader calls contracts on the state after the head, whose header is h.
func (b *Builder) contractReader(h *Header) (*index.ContractReader, error) {
	states, err := state.New(h.Root, b.state)
	if err != nil {
		return nil, err
	}
	s := b.vmContext(h, states)
	s.NoBaseFee = true
	return index.NewContractReader(s.NewVM().EVM, states), nil
}

// vmContext are those of code in a block with this header.
func (b *Builder) vmContext(h *Header, states vm.StateDB) VMContext {
	return VMContext{
		ChainConfig: b.chainConfig, Block: NewBlockContext(h, b.blockHash), State: states, JumpDests: b.jumpDests,
		Precompiles: PrecompilesAt(b.kind, b.rulesAt(h), b.schedule, h.Time), Warp: b.home.PrecompileInput(),
	}
}
