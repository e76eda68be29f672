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

// Chain is one EVM chain while its history is made: its builder, who acts on it, and what was deployed.
type Chain struct {
	Row      store.Chain
	Builder  *evm.Builder
	Personas *population.Personas

	rng         population.RNG
	size        int // how many transactions its history has
	span        population.Span
	signer      types.Signer
	genesis     *store.Delta // block 0
	precompiles *precompile.Upgrades
	desired     evm.Desired           // what proposers ask for who ask for anything
	accounts    []*population.Account // that are no personas, the most active first

	byRole    map[string]common.Address // contracts
	artifacts map[string]string         // what they run, by role
	listed    []fixtures.ListedToken    // of a C-Chain
	own       []common.Address          // tokens of a user's
	quote     *worldfile.Quote          // of the token of a user's L1
	allocated *big.Int                  // wei that the genesis gives to accounts
	contracts []store.Contract
	balances  tokenHoldings

	hour uint64 // for which the mood was drawn last
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

// Release forgets what only the chain's history needed: its state and who holds what.
func (c *Chain) Release() { c.Builder, c.genesis, c.balances = nil, nil, nil }

// IsL1 tells whether the chain is an L1's; the others are C-Chains.
func (c *Chain) IsL1() bool { return c.Row.Kind == string(evm.KindL1) }

// Size is how many transactions the chain's history has.
func (c *Chain) Size() int { return c.size }

// Allocated is how many nAVAX the genesis of a C-Chain gives to accounts.
func (c *Chain) Allocated() uint64 { return new(big.Int).Div(c.allocated, big.NewInt(gwei)).Uint64() }

// Contracts are those with a role.
func (c *Chain) Contracts() []store.Contract { return c.contracts }

// Contract is the address of the contract with a role, zero while there is none.
func (c *Chain) Contract(role string) common.Address { return c.byRole[role] }

// addContract remembers a contract that has a role.
func (c *Chain) addContract(role, artifact string, address common.Address) {
	c.byRole[role], c.artifacts[role] = address, artifact
	c.contracts = append(c.contracts, store.Contract{Chain: c.Row.ID, Address: address.Bytes(), Role: role, Artifact: artifact})
}

// spammer sends tokens that nobody asked for.
func (c *Chain) spammer() *population.Account { return c.accounts[2] }

// randomAccount is an account that is no persona, more often an active one.
func (c *Chain) randomAccount(r *rand.Rand) *population.Account {
	return c.accounts[population.Skewed(r, len(c.accounts))]
}

// ofPhrase reports whether an account is one of the phrase's.
func (c *Chain) ofPhrase(a *population.Account) bool {
	return slices.ContainsFunc(c.Personas.Funded[:fixtures.MnemonicAccounts], func(p population.FundedAccount) bool { return p.Account.Address == a.Address })
}

const (
	usualGift = 50            // coins that somebody gets who cannot pay
	plenty    = 2 * usualGift // coins of who can give as much
	mostAsked = 64            // how many accounts are asked for a gift
)

// gift is money for who cannot pay. A rich account gives it, until it has given all away in a very long history, then an account that has plenty,
// and when nobody has who is asked, the richest of them gives half.
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
func (c *Chain) execute(p *evm.Pending, request *TxRequest, data types.TxData) (*types.Receipt, error) {
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
