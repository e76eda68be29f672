package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/population"
	"snowglobe/sim/evm/precompile"
)

const (
	gasRole = 80_000  // enough to grant a role, or to mint
	gasFees = 320_000 // enough to change a fee configuration
)

// precompileCalls generates calls of the precompiles in an L1's genesis: minting, roles, fee configurations. Some revert because the sender
// has no role that allows them.
type precompileCalls struct{ chain *Chain }

// actions returns the actions that precede everyone else's, and those scattered over history, in order.
func (p *precompileCalls) actions() (opening, later []action) {
	w := p.chain.Personas
	has := func(c *precompile.Contract) bool { _, named := p.chain.precompiles.Genesis[c.Key]; return named }
	if has(precompile.NativeMinter) {
		opening = append(opening, p.mint(w.Deployer, w.Alice, 1_000), p.setRole(w.Deployer, precompile.NativeMinter, "setEnabled", w.Bob))
		later = append(later, p.mint(w.Bob, w.Collector, 40), p.mint(w.Clumsy, w.Clumsy, 1_000_000),
			p.mint(w.Whale, w.Spammed, 75), p.setRole(w.Deployer, precompile.NativeMinter, "setNone", w.Bob), p.mint(w.Bob, w.Bob, 9))
	}
	if has(precompile.DeployerAllowList) {
		later = append(later, p.deploy(w.Clumsy), p.setRole(w.Alice, precompile.DeployerAllowList, "setEnabled", w.Collector), p.deploy(w.Collector),
			p.setRole(w.Alice, precompile.DeployerAllowList, "setNone", w.Collector), p.setRole(w.Clumsy, precompile.DeployerAllowList, "setAdmin", w.Clumsy))
	}
	if has(precompile.FeeManager) {
		changes := []action{p.setFees(w.Deployer, 25, 15), p.setFees(w.Clumsy, 1, 1), p.setFees(w.Deployer, 8, 9), p.setFees(w.Deployer, 12, 11)}
		for i, change := range changes {
			later = slices.Insert(later, min(2*i+1, len(later)), change)
		}
	}
	return opening, inOrder(later)
}

// inOrder returns as many actions, each of which does the first one not done yet. It skips actions that have become impossible.
func inOrder(actions []action) []action {
	next := 0
	return slices.Repeat([]action{func(r *rand.Rand) (*TxRequest, error) {
		for ; next < len(actions); next++ {
			request, err := actions[next](r)
			if err != nil {
				return nil, err
			}
			if request != nil {
				request.done = func() { next++ }
				return request, nil
			}
		}
		return nil, nil
	}}, len(actions))
}

// call calls a precompile while it is active.
func (p *precompileCalls) call(who *population.Account, c *precompile.Contract, gas uint64, signature string, words ...common.Hash) (*TxRequest, error) {
	if head, _ := p.chain.Builder.Head(); !slices.Contains(p.chain.precompiles.Active(head.Time), c) {
		return nil, nil
	}
	return &TxRequest{From: who, To: &c.Address, Data: precompile.PackInput(signature, words...), Gas: gas}, nil
}

func (p *precompileCalls) mint(who, to *population.Account, coins int64) action {
	return func(*rand.Rand) (*TxRequest, error) {
		return p.call(who, precompile.NativeMinter, gasRole, "mintNativeCoin(address,uint256)", wordOf(to), common.BigToHash(population.Units(coins, 18)))
	}
}

func (p *precompileCalls) setRole(who *population.Account, c *precompile.Contract, method string, to *population.Account) action {
	return func(*rand.Rand) (*TxRequest, error) { return p.call(who, c, gasRole, method+"(address)", wordOf(to)) }
}

func wordOf(who *population.Account) common.Hash {
	return common.BytesToHash(who.Address.Bytes())
}

func (p *precompileCalls) deploy(who *population.Account) action {
	return func(*rand.Rand) (*TxRequest, error) { return Deploy(who, "", "Vault") }
}

// setFees sets floor and target to so many tenths of their initial values.
func (p *precompileCalls) setFees(who *population.Account, floor, target int64) action {
	return func(*rand.Rand) (*TxRequest, error) {
		f := p.chain.precompiles.FeeConfig
		f.MinBaseFee, f.TargetGas = tenths(f.MinBaseFee, floor), tenths(f.TargetGas, target)
		return p.call(who, precompile.FeeManager, gasFees, precompile.SetFeeConfig, f.Words()...)
	}
}

func tenths(n *big.Int, count int64) *big.Int {
	n = new(big.Int).Mul(n, big.NewInt(count))
	return n.Div(n, big.NewInt(10))
}
