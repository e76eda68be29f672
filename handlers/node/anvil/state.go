package anvil

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"
)

// What a client sets here is there at the newest block at once, and no block is made: eth_getBalance and eth_call say so, with the
// number of the newest block too, and so do balances everywhere else. Earlier blocks stay as they were. The header of the
// newest block stays as well, so that its state root is that before; the next block's includes the change. eth_getProof is about
// the changed state. On anvil all of this is so.

// wei is the number as an amount: none is larger.
func (n *number) wei() *uint256.Int { return uint256.MustFromBig(&n.Int) }

// slot is the number as a place in a storage.
func (n *number) slot() common.Hash { return common.BigToHash(&n.Int) }

// maxNonce leaves an account more transactions than anybody sends below 2^63, the most that the file can keep.
const maxNonce = 1 << 62

func (a *api) setNonce(ctx context.Context, address common.Address, nonce *number, mayFall bool) error {
	n, err := nonce.upTo(maxNonce, "the nonce")
	if err != nil {
		return err
	}
	return a.miner.SetNonce(ctx, address, n, mayFall)
}

// SetBalance makes an account hold an amount of wei.
func (a *anvilAPI) SetBalance(ctx context.Context, address common.Address, balance number) error {
	return a.miner.SetBalance(ctx, address, balance.wei())
}

// AddBalance makes an account hold more wei.
func (a *anvilAPI) AddBalance(ctx context.Context, address common.Address, more number) error {
	return a.miner.AddBalance(ctx, address, more.wei())
}

// SetNonce sets the next nonce of an account.
func (a *anvilAPI) SetNonce(ctx context.Context, address common.Address, nonce number) error {
	return a.setNonce(ctx, address, &nonce, true)
}

// SetCode sets the code of an account.
func (a *anvilAPI) SetCode(ctx context.Context, address common.Address, code hexutil.Bytes) error {
	return a.miner.SetCode(ctx, address, code)
}

// SetStorageAt sets a slot of an account's storage.
func (a *anvilAPI) SetStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	err := a.miner.SetStorage(ctx, address, slot.slot(), value, nil)
	return err == nil, err
}

// DealERC20 makes an account hold an amount of a token.
func (a *anvilAPI) DealERC20(ctx context.Context, address, token common.Address, amount number) error {
	return a.deal(ctx, address, token, amount)
}

// SetERC20Balance is DealERC20.
func (a *anvilAPI) SetERC20Balance(ctx context.Context, address, token common.Address, amount number) error {
	return a.deal(ctx, address, token, amount)
}

// SetERC20Allowance lets a spender spend an amount of an owner's token.
func (a *anvilAPI) SetERC20Allowance(ctx context.Context, owner, spender, token common.Address, amount number) error {
	return a.allow(ctx, owner, spender, token, amount)
}

// SetBalance makes an account hold an amount of wei.
func (a *hardhatAPI) SetBalance(ctx context.Context, address common.Address, balance number) (bool, error) {
	err := a.miner.SetBalance(ctx, address, balance.wei())
	return err == nil, err
}

// AddBalance makes an account hold more wei.
func (a *hardhatAPI) AddBalance(ctx context.Context, address common.Address, more number) (bool, error) {
	err := a.miner.AddBalance(ctx, address, more.wei())
	return err == nil, err
}

// SetNonce raises the next nonce of an account: Hardhat lets none fall.
func (a *hardhatAPI) SetNonce(ctx context.Context, address common.Address, nonce number) (bool, error) {
	err := a.setNonce(ctx, address, &nonce, false)
	return err == nil, err
}

// SetCode sets the code of an account.
func (a *hardhatAPI) SetCode(ctx context.Context, address common.Address, code hexutil.Bytes) (bool, error) {
	err := a.miner.SetCode(ctx, address, code)
	return err == nil, err
}

// SetStorageAt sets a slot of an account's storage.
func (a *hardhatAPI) SetStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	err := a.miner.SetStorage(ctx, address, slot.slot(), value, nil)
	return err == nil, err
}

// DealERC20 makes an account hold an amount of a token.
func (a *hardhatAPI) DealERC20(ctx context.Context, address, token common.Address, amount number) (bool, error) {
	err := a.deal(ctx, address, token, amount)
	return err == nil, err
}

// SetAccountNonce is another name of anvil_setNonce.
func (a *evmAPI) SetAccountNonce(ctx context.Context, address common.Address, nonce number) (bool, error) {
	err := a.setNonce(ctx, address, &nonce, true)
	return err == nil, err
}

// SetAccountBalance is another name of anvil_setBalance, as viem calls it in its mode ganache, and so the next two.
func (a *evmAPI) SetAccountBalance(ctx context.Context, address common.Address, balance number) (bool, error) {
	err := a.miner.SetBalance(ctx, address, balance.wei())
	return err == nil, err
}

// SetAccountCode is another name of anvil_setCode.
func (a *evmAPI) SetAccountCode(ctx context.Context, address common.Address, code hexutil.Bytes) (bool, error) {
	err := a.miner.SetCode(ctx, address, code)
	return err == nil, err
}

// SetAccountStorageAt is another name of anvil_setStorageAt.
func (a *evmAPI) SetAccountStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	err := a.miner.SetStorage(ctx, address, slot.slot(), value, nil)
	return err == nil, err
}

// tenderlyAPI has what anvil has under Tenderly's name too.
type tenderlyAPI struct{ *api }

// SetBalance is anvil_setBalance.
func (a *tenderlyAPI) SetBalance(ctx context.Context, address common.Address, balance number) error {
	return a.miner.SetBalance(ctx, address, balance.wei())
}

// AddBalance is anvil_addBalance.
func (a *tenderlyAPI) AddBalance(ctx context.Context, address common.Address, more number) error {
	return a.miner.AddBalance(ctx, address, more.wei())
}
