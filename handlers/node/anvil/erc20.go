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
	return a.setFound(ctx, token, amount, append(balanceOf[:4:4], common.LeftPadBytes(owner[:], 32)...), &owner, errNoBalance)
}

func (a *api) allow(ctx context.Context, owner, spender, token common.Address, amount number) error {
	input := append(allowance[:4:4], common.LeftPadBytes(owner[:], 32)...)
	return a.setFound(ctx, token, amount, append(input, common.LeftPadBytes(spender[:], 32)...), nil, errNoAllowance)
}

// setFound sets the slot of a contract whose value a call returns, which may be a holder's balance; missing is the error for none. It tries two
// values, so that a slot which happens to hold the call's current result, or a switch, does not match.
func (a *api) setFound(ctx context.Context, contract common.Address, value number, input hexutil.Bytes, holder *common.Address, missing error) error {
	chain := a.miner.Chain
	head, err := chain.Head(ctx)
	if err != nil {
		return err
	}
	list, _, err := chain.AccessList(ctx, head, &reader.Call{To: &contract, Input: &input}, reader.Overrides{})
	if err != nil {
		return err
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
			if err != nil {
				return err
			}
			if found {
				return a.miner.SetStorage(ctx, contract, slot, want, holder)
			}
		}
	}
	return missing
}
