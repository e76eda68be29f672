package anvil

import (
	"context"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
)

// ImpersonateAccount lets eth_sendTransaction send from an account without its key, even from a contract.
func (a *anvilAPI) ImpersonateAccount(address common.Address) error {
	return a.wish(func() { a.miner.Impersonation.Start(address) })
}

// StopImpersonatingAccount stops impersonating an account.
func (a *anvilAPI) StopImpersonatingAccount(address common.Address) error {
	return a.wish(func() { a.miner.Impersonation.Stop(address) })
}

// AutoImpersonateAccount lets eth_sendTransaction send from every account.
func (a *anvilAPI) AutoImpersonateAccount(on bool) error {
	return a.wish(func() { a.miner.Impersonation.SetAll(on) })
}

var errSignature = errors.New("a signature has 65 bytes: r, s, and v, which is 0, 1, 27 or 28")

// ImpersonateSignature makes ecrecover return an account for a signature of 65 bytes, whatever the message, from the next block and call on. The zero
// address ends this.
func (a *anvilAPI) ImpersonateSignature(ctx context.Context, signature hexutil.Bytes, account common.Address) error {
	if len(signature) != evm.SignatureBytes {
		return errSignature
	}
	known := slices.Clone(signature)
	v := &known[evm.SignatureBytes-1]
	if *v < 27 {
		*v += 27
	}
	if *v > 28 || *v < 27 {
		return errSignature
	}
	return a.miner.SetStorage(ctx, evm.RecoverAddress, evm.SignatureSlot(known), common.BytesToHash(account[:]), nil)
}

// ImpersonateAccount lets eth_sendTransaction send from an account without its key, even from a contract.
func (a *hardhatAPI) ImpersonateAccount(address common.Address) (bool, error) {
	return done(a.wish(func() { a.miner.Impersonation.Start(address) }))
}

// StopImpersonatingAccount stops impersonating an account and reports whether it was impersonated.
func (a *hardhatAPI) StopImpersonatingAccount(address common.Address) (was bool, err error) {
	err = a.wish(func() { was = a.miner.Impersonation.Stop(address) })
	return was, err
}

// AutoImpersonateAccount lets eth_sendTransaction send from every account.
func (a *hardhatAPI) AutoImpersonateAccount(on bool) (bool, error) {
	return done(a.wish(func() { a.miner.Impersonation.SetAll(on) }))
}
