package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
)

// Chain is an EVM chain during its history, with its builder, participants and deployed contracts.
type Chain struct {
	Row      store.Chain
	Builder  *evm.Builder
	Personas *population.Personas

	rng         population.RNG
	size        int // transactions in its history
	span        population.Span
	signer      types.Signer
	genesis     *store.Delta // block 0
	precompiles *precompile.Upgrades
	desired     evm.Desired           // settings of the proposers that ask for any
	accounts    []*population.Account // other than personas, the most active first

	byRole    map[string]common.Address // contracts
	artifacts map[string]string         // their artifacts, by role
	listed    []fixtures.ListedToken    // of a C-Chain
	own       []common.Address          // a user's tokens
	quote     *worldfile.Quote          // of a user's L1's native token
	allocated *big.Int                  // wei that the genesis gives to accounts
	contracts []store.Contract
	balances  tokenHoldings

	hour uint64 // of the last drawn mood
	mood int64
}

// NewChain makes the n-th EVM chain of a world with its genesis block.
func NewChain(g population.RNG, spec *ChainSpec, n, size int, span population.Span, personas *population.Personas, accounts []*population.Account, alloc types.GenesisAlloc) (*Chain, error) {
	spec, known := spec.roomFor(size, span), spec.knownContracts(personas)
	row, genesis, err := spec.genesis(n+1, span, personas, accounts, alloc, known)
	if err != nil {
		return nil, err
	}
	row.Description = population.Fill(g.Faker("chain", row.EVMID), row.Description)
	c := &Chain{
		Row: row, Personas: personas, rng: g, size: size, span: span, precompiles: &genesis.Precompiles, accounts: accounts, desired: spec.desired(),
		signer: types.LatestSignerForChainID(new(big.Int).SetUint64(row.EVMID)), byRole: map[string]common.Address{}, artifacts: map[string]string{}, allocated: new(big.Int), balances: newTokenBalances(),
	}
	if !c.IsL1() {
		c.listed = fixtures.ListedTokens[spec.Network]
	}
	for _, account := range genesis.Alloc {
		if account.Balance != nil {
			c.allocated.Add(c.allocated, account.Balance)
		}
	}
	for _, t := range spec.Tokens {
		c.own = append(c.own, t.Address)
	}
	c.quote = spec.Quote
	for _, k := range known {
		c.addContract(k.role, k.artifact, k.address)
	}
	c.Builder, c.genesis, err = evm.NewBuilder(row.ID, genesis)
	return c, err
}

// Release drops the state and balances that only the chain's history needed.
func (c *Chain) Release() { c.Builder, c.genesis, c.balances = nil, nil, nil }

// IsL1 reports whether the chain belongs to an L1; the others are C-Chains.
func (c *Chain) IsL1() bool { return c.Row.Kind == string(evm.KindL1) }

// Size returns the number of transactions in the chain's history.
func (c *Chain) Size() int { return c.size }

// Genesis returns block 0.
func (c *Chain) Genesis() *store.Delta { return c.genesis }

// Allocated returns the nAVAX that a C-Chain's genesis gives to accounts.
func (c *Chain) Allocated() uint64 { return new(big.Int).Div(c.allocated, big.NewInt(gwei)).Uint64() }

// Contracts returns the contracts with a role.
func (c *Chain) Contracts() []store.Contract { return c.contracts }

// Contract returns the address of the contract with a role, or zero while there is none.
func (c *Chain) Contract(role string) common.Address { return c.byRole[role] }

func (c *Chain) addContract(role, artifact string, address common.Address) {
	c.byRole[role], c.artifacts[role] = address, artifact
	c.contracts = append(c.contracts, store.Contract{Chain: c.Row.ID, Address: address.Bytes(), Role: role, Artifact: artifact})
}

// spammer sends unsolicited tokens.
func (c *Chain) spammer() *population.Account { return c.accounts[2] }

// randomAccount returns an account other than a persona, more often an active one.
func (c *Chain) randomAccount(r *rand.Rand) *population.Account {
	return c.accounts[population.Skewed(r, len(c.accounts))]
}

// ofPhrase reports whether an account comes from the mnemonic.
func (c *Chain) ofPhrase(a *population.Account) bool {
	return slices.ContainsFunc(c.Personas.Funded[:fixtures.MnemonicAccounts], func(p population.FundedAccount) bool { return p.Account.Address == a.Address })
}

const (
	usualGift = 50            // coins for an account that cannot pay
	plenty    = 2 * usualGift // coins of a giver who can spare as much
	mostAsked = 64            // accounts that are asked for a gift
)

// gift sends money to an account that cannot pay. A rich account gives it, until it runs out in a very long history; then an account that
// has plenty does, and if none of the accounts asked has, the richest of them gives half.
func (c *Chain) gift(from *population.Account, to common.Address, balance func(common.Address) *uint256.Int, r *rand.Rand) *TxRequest {
	enough := uint256.MustFromBig(population.Units(plenty, 18))
	has := balance(from.Address)
	for asked := 0; has.Lt(enough) && asked < mostAsked; asked++ {
		a := c.accounts[r.IntN(len(c.accounts))]
		if more := balance(a.Address); has.Lt(more) {
			from, has = a, more
		}
	}
	value, half := population.Units(usualGift, 18), new(uint256.Int).Rsh(has, 1).ToBig()
	if half.Cmp(value) < 0 {
		value = half
	}
	return transfer(from, to, value)
}

// execute signs a request and executes it in the pending block.
func (c *Chain) execute(p *evm.BlockExecution, request *TxRequest, data types.TxData) (*types.Receipt, error) {
	tx, err := secp256k1.SignTx(types.NewTx(data), c.signer, request.From.Key)
	if err != nil {
		return nil, err
	}
	receipt, err := p.Apply(tx, request.From.Address)
	if err != nil {
		return nil, err
	}
	if request.role != "" {
		c.addContract(request.role, request.artifact, deployed(receipt))
	}
	c.balances.observe(receipt)
	return receipt, nil
}
