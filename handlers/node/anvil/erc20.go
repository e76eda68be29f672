package anvil

import (
	"context"
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
)

// A token's balance or allowance slot is found as anvil finds it: among the slots that a call reads, it is the one whose value the call
// returns.

var (
	balanceOf = crypto.Keccak256([]byte("balanceOf(address)"))[:4]
	allowance = crypto.Keccak256([]byte("allowance(address,address)"))[:4]
)

var (
	errNoBalance   = errors.New("Unable to set ERC20 balance, no slot found")
	errNoAllowance = errors.New("Unable to set ERC20 allowance, no slot found")
)

func (a *api) deal(ctx context.Context, owner, token common.Address, amount number) error {
	slot, err := a.slotOf(ctx, token, amount, append(balanceOf[:4:4], common.LeftPadBytes(owner[:], 32)...))
	if errors.Is(err, errNoSlot) {
		err = errNoBalance
	}
	if err != nil {
		return err
	}
	return a.miner.SetStorage(ctx, token, slot, amount.slot(), &owner)
}

func (a *api) allow(ctx context.Context, owner, spender, token common.Address, amount number) error {
	input := append(allowance[:4:4], common.LeftPadBytes(owner[:], 32)...)
	slot, err := a.slotOf(ctx, token, amount, append(input, common.LeftPadBytes(spender[:], 32)...))
	if errors.Is(err, errNoSlot) {
		err = errNoAllowance
	}
	if err != nil {
		return err
	}
	return a.miner.SetStorage(ctx, token, slot, amount.slot(), nil)
}

var errNoSlot = errors.New("the call answers the value of no slot")

// slotOf finds the slot of a contract whose value a call returns. It tries two values, so that a slot which happens to hold the call's
// current result, or a switch, does not match.
func (a *api) slotOf(ctx context.Context, contract common.Address, value number, input hexutil.Bytes) (slot common.Hash, err error) {
	chain := a.miner.Chain
	head, err := chain.Head(ctx)
	if err != nil {
		return slot, err
	}
	list, _, err := chain.AccessList(ctx, head, &reader.Call{To: &contract, Input: &input}, reader.Overrides{})
	if err != nil {
		return slot, err
	}
	want := value.slot()
	other := want
	other[common.HashLength-1] ^= 3
	answers := func(slot, value common.Hash) (bool, error) {
		o := reader.StateOverrides{contract: {StateDiff: map[common.Hash]common.Hash{slot: value}}}
		result, err := chain.Call(ctx, head, &reader.Call{To: &contract, Input: &input}, reader.Overrides{State: o})
		if err != nil {
			return false, err
		}
		answer := result.Return()
		return len(answer) >= common.HashLength && common.BytesToHash(answer[:common.HashLength]) == value, nil
	}
	for _, entry := range list {
		if entry.Address != contract {
			continue
		}
		for _, slot := range entry.StorageKeys {
			found, err := answers(slot, want)
			if found && err == nil {
				found, err = answers(slot, other)
			}
			if found || err != nil {
				return slot, err
			}
		}
	}
	return slot, errNoSlot
}
