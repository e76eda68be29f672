package anvil

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"
)

// These methods change the newest state at once, without a block, as anvil does: eth_getBalance and eth_call show the change, also when
// asked for the newest block by number, and so do balances everywhere else. Earlier blocks keep their state. The newest block keeps its
// header, whose state root precedes the change; the next block's state root includes it. eth_getProof proves against the changed state.

// wei returns the number as an amount, which any number fits.
func (n *number) wei() *uint256.Int { return uint256.MustFromBig(&n.Int) }

// slot returns the number as a storage slot.
func (n *number) slot() common.Hash { return common.BigToHash(&n.Int) }

// maxNonce leaves an account more transactions than anybody sends below 2^63, the largest nonce that the file can store.
const maxNonce = 1 << 62

func (a *api) setNonce(ctx context.Context, address common.Address, nonce *number, mayFall bool) error {
	n, err := nonce.upTo(maxNonce, "the nonce")
	if err != nil {
		return err
	}
	return a.miner.SetNonce(ctx, address, n, mayFall)
}

// SetBalance sets an account's balance in wei.
func (a *anvilAPI) SetBalance(ctx context.Context, address common.Address, balance number) error {
	return a.miner.SetBalance(ctx, address, balance.wei())
}

// AddBalance adds wei to an account's balance.
func (a *anvilAPI) AddBalance(ctx context.Context, address common.Address, more number) error {
	return a.miner.AddBalance(ctx, address, more.wei())
}

// SetNonce sets an account's next nonce.
func (a *anvilAPI) SetNonce(ctx context.Context, address common.Address, nonce number) error {
	return a.setNonce(ctx, address, &nonce, true)
}

// SetCode sets an account's code.
func (a *anvilAPI) SetCode(ctx context.Context, address common.Address, code hexutil.Bytes) error {
	return a.miner.SetCode(ctx, address, code)
}

// SetStorageAt sets a slot of an account's storage.
func (a *anvilAPI) SetStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	return done(a.miner.SetStorage(ctx, address, slot.slot(), value, nil))
}

// DealERC20 sets an account's balance of a token.
func (a *anvilAPI) DealERC20(ctx context.Context, address, token common.Address, amount number) error {
	return a.deal(ctx, address, token, amount)
}

// SetERC20Balance is another name for DealERC20.
func (a *anvilAPI) SetERC20Balance(ctx context.Context, address, token common.Address, amount number) error {
	return a.deal(ctx, address, token, amount)
}

// SetERC20Allowance sets how much of an owner's token a spender may spend.
func (a *anvilAPI) SetERC20Allowance(ctx context.Context, owner, spender, token common.Address, amount number) error {
	return a.allow(ctx, owner, spender, token, amount)
}

// SetBalance sets an account's balance in wei.
func (a *hardhatAPI) SetBalance(ctx context.Context, address common.Address, balance number) (bool, error) {
	return done(a.miner.SetBalance(ctx, address, balance.wei()))
}

// AddBalance adds wei to an account's balance.
func (a *hardhatAPI) AddBalance(ctx context.Context, address common.Address, more number) (bool, error) {
	return done(a.miner.AddBalance(ctx, address, more.wei()))
}

// SetNonce raises an account's next nonce; like Hardhat, it refuses to lower it.
func (a *hardhatAPI) SetNonce(ctx context.Context, address common.Address, nonce number) (bool, error) {
	return done(a.setNonce(ctx, address, &nonce, false))
}

// SetCode sets an account's code.
func (a *hardhatAPI) SetCode(ctx context.Context, address common.Address, code hexutil.Bytes) (bool, error) {
	return done(a.miner.SetCode(ctx, address, code))
}

// SetStorageAt sets a slot of an account's storage.
func (a *hardhatAPI) SetStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	return done(a.miner.SetStorage(ctx, address, slot.slot(), value, nil))
}

// DealERC20 sets an account's balance of a token.
func (a *hardhatAPI) DealERC20(ctx context.Context, address, token common.Address, amount number) (bool, error) {
	return done(a.deal(ctx, address, token, amount))
}

// SetAccountNonce is another name for anvil_setNonce.
func (a *evmAPI) SetAccountNonce(ctx context.Context, address common.Address, nonce number) (bool, error) {
	return done(a.setNonce(ctx, address, &nonce, true))
}

// SetAccountBalance is another name for anvil_setBalance. viem's ganache mode calls it and the next two.
func (a *evmAPI) SetAccountBalance(ctx context.Context, address common.Address, balance number) (bool, error) {
	return done(a.miner.SetBalance(ctx, address, balance.wei()))
}

// SetAccountCode is another name for anvil_setCode.
func (a *evmAPI) SetAccountCode(ctx context.Context, address common.Address, code hexutil.Bytes) (bool, error) {
	return done(a.miner.SetCode(ctx, address, code))
}

// SetAccountStorageAt is another name for anvil_setStorageAt.
func (a *evmAPI) SetAccountStorageAt(ctx context.Context, address common.Address, slot number, value common.Hash) (bool, error) {
	return done(a.miner.SetStorage(ctx, address, slot.slot(), value, nil))
}

// tenderlyAPI implements the methods that anvil also has under Tenderly's names.
type tenderlyAPI struct{ *api }

// SetBalance does the same as anvil_setBalance.
func (a *tenderlyAPI) SetBalance(ctx context.Context, address common.Address, balance number) error {
	return a.miner.SetBalance(ctx, address, balance.wei())
}

// AddBalance does the same as anvil_addBalance.
func (a *tenderlyAPI) AddBalance(ctx context.Context, address common.Address, more number) error {
	return a.miner.AddBalance(ctx, address, more.wei())
}
