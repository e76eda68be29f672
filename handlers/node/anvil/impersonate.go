package anvil

import "github.com/ethereum/go-ethereum/common"

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

// ImpersonateAccount lets eth_sendTransaction send from an account without its key, even from a contract.
func (a *hardhatAPI) ImpersonateAccount(address common.Address) (bool, error) {
	err := a.wish(func() { a.miner.Impersonation.Start(address) })
	return err == nil, err
}

// StopImpersonatingAccount stops impersonating an account and reports whether it was impersonated.
func (a *hardhatAPI) StopImpersonatingAccount(address common.Address) (was bool, err error) {
	err = a.wish(func() { was = a.miner.Impersonation.Stop(address) })
	return was, err
}

// AutoImpersonateAccount lets eth_sendTransaction send from every account.
func (a *hardhatAPI) AutoImpersonateAccount(on bool) (bool, error) {
	err := a.wish(func() { a.miner.Impersonation.SetAll(on) })
	return err == nil, err
}
