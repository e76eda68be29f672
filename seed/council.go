package seed

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm/precompile"
)

const (
	gasRole = 80_000  // enough to give a role, or to make coins
	gasFees = 320_000 // enough to change a fee configuration
)

// council is what happens with the contracts that an L1 has built in, in order: opening comes before everyone else, later
// is strewn over the history. Some of it is done by people who may not.
func (s *evmChain) precompileCalls() (opening, later []action) {
	has := func(c *precompile.Contract) bool { _, named := s.schedule.Genesis[c.Key]; return named }
	if has(precompile.Minter) {
		opening = append(opening, s.mintCoins("deployer", "alice", 1_000), s.role("deployer", precompile.Minter, "setEnabled", "bob"))
		later = append(later, s.mintCoins("bob", "collector", 40), s.mintCoins("clumsy", "clumsy", 1_000_000),
			s.mintCoins("whale", "spammed", 75), s.role("deployer", precompile.Minter, "setNone", "bob"), s.mintCoins("bob", "bob", 9))
	}
	if has(precompile.Deployers) {
		later = append(later, s.putUp("clumsy"), s.role("alice", precompile.Deployers, "setEnabled", "collector"), s.putUp("collector"),
			s.role("alice", precompile.Deployers, "setNone", "collector"), s.role("clumsy", precompile.Deployers, "setAdmin", "clumsy"))
	}
	if has(precompile.Fees) {
		changes := []action{s.changeFees("deployer", 25, 15), s.changeFees("clumsy", 1, 1), s.changeFees("deployer", 8, 9), s.changeFees("deployer", 12, 11)}
		for i, change := range changes {
			later = slices.Insert(later, min(2*i+1, len(later)), change)
		}
	}
	return opening, s.inOrder(later)
}

// inOrder is as many steps, each of which does the first act that has not been done yet. An act that has become
// impossible is passed over.
func (s *evmChain) inOrder(acts []action) []action {
	next := 0
	return slices.Repeat([]action{func(r *rand.Rand) (*txRequest, error) {
		for ; next < len(acts); next++ {
			i, err := acts[next](r)
			if err != nil {
				return nil, err
			}
			if i != nil {
				i.done = func() { next++ }
				return i, nil
			}
		}
		return nil, nil
	}}, len(acts))
}

// use calls a built-in contract, as long as it is there.
func (s *evmChain) use(who string, c *precompile.Contract, gas uint64, signature string, words ...common.Hash) (*txRequest, error) {
	if head, _ := s.builder.Head(); !slices.Contains(s.schedule.Active(head.Time), c) {
		return nil, nil
	}
	return &txRequest{from: s.people[who], to: &c.Address, data: precompile.Input(signature, words...), gas: gas}, nil
}

func (s *evmChain) mintCoins(who, to string, coins int64) action {
	return func(*rand.Rand) (*txRequest, error) {
		return s.use(who, precompile.Minter, gasRole, "mintNativeCoin(address,uint256)", s.wordOf(to), common.BigToHash(units(coins, 18)))
	}
}

func (s *evmChain) role(who string, c *precompile.Contract, method, to string) action {
	return func(*rand.Rand) (*txRequest, error) { return s.use(who, c, gasRole, method+"(address)", s.wordOf(to)) }
}

func (s *evmChain) wordOf(name string) common.Hash {
	return common.BytesToHash(s.people[name].address.Bytes())
}

// putUp is somebody deploying a small contract.
func (s *evmChain) putUp(who string) action {
	return func(*rand.Rand) (*txRequest, error) { return create(s.people[who], "", "Vault") }
}

// changeFees sets floor and target to so many tenths of what they were at the beginning.
func (s *evmChain) changeFees(who string, floor, target int64) action {
	return func(*rand.Rand) (*txRequest, error) {
		f := s.schedule.Fees
		f.MinBaseFee, f.TargetGas = tenths(f.MinBaseFee, floor), tenths(f.TargetGas, target)
		return s.use(who, precompile.Fees, gasFees, precompile.SetFees, f.Words()...)
	}
}

func tenths(n *big.Int, count int64) *big.Int {
	n = new(big.Int).Mul(n, big.NewInt(count))
	return n.Div(n, big.NewInt(10))
}
