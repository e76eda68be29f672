package anvil

import "github.com/ethereum/go-ethereum/common"

// ImpersonateAccount lets eth_sendTransaction send for an account, a contract too, whose key nobody has.
func (a *anvilAPI) ImpersonateAccount(address common.Address) { a.miner.Impersonation.Start(address) }

// StopImpersonatingAccount ends that.
func (a *anvilAPI) StopImpersonatingAccount(address common.Address) {
	a.miner.Impersonation.Stop(address)
}

// AutoImpersonateAccount lets eth_sendTransaction send for every account.
func (a *anvilAPI) AutoImpersonateAccount(on bool) { a.miner.Impersonation.SetAll(on) }

// ImpersonateAccount lets eth_sendTransaction send for an account, a contract too, whose key nobody has.
func (a *hardhatAPI) ImpersonateAccount(address common.Address) bool {
	a.miner.Impersonation.Start(address)
	return true
}

// StopImpersonatingAccount ends that, and says whether it was so.
func (a *hardhatAPI) StopImpersonatingAccount(address common.Address) bool {
	return a.miner.Impersonation.Stop(address)
}

// AutoImpersonateAccount lets eth_sendTransaction send for every account.
func (a *hardhatAPI) AutoImpersonateAccount(on bool) bool {
	a.miner.Impersonation.SetAll(on)
	return true
}
