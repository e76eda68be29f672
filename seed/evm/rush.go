package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/population"
)

// rush is an hour in which everybody wants the same thing: blocks follow each other at the minimal delay, all but full, and the base fee
// rises as long as that lasts.
type rush struct {
	act func(a *activity, gasLeft uint64, r *rand.Rand) (*TxRequest, error)
	txs int // in a block
}

var (
	mintRush        = &rush{(*activity).rushToMint, 3}
	airdropRush     = &rush{(*activity).rushToClaim, 3}
	liquidationRush = &rush{(*activity).rushToLiquidate, 1}
)

// Sizes of rushes, in blocks. At the minimal delay of two seconds the base fee doubles in thirty blocks.
const (
	minRush      = 36
	maxRush      = 46
	longestRush  = 1_040 // takes the base fee from 1 wei to some gwei
	txsPerRush   = 1_300 // a chain has a short rush per so many transactions, and
	txsPerLong   = 10    // spends one transaction in so many on its longest one
	restSeconds  = 40    // between the blocks after a rush, in which the base fee falls
	blocksOfRest = 12
)

// hasRushes reports whether a chain has rushes: a C-Chain that is not too small.
func (c *Chain) hasRushes() bool { return !c.IsL1() && c.size >= fullSize }

// planRushes plans a chain's rushes: a long liquidation, a mint, an airdrop and more of these, each followed by some minutes of rest.
func (c *Chain) planRushes(r *rand.Rand) []plannedBlock {
	if !c.hasRushes() {
		return nil
	}
	blocks := c.planRush(r, liquidationRush, min(c.size/txsPerLong, longestRush))
	kinds := []*rush{mintRush, airdropRush, liquidationRush}
	for n := range max(2, c.size/txsPerRush) {
		blocks = append(blocks, c.planRush(r, kinds[n%len(kinds)], int(population.Between(r, minRush, maxRush)))...)
	}
	return blocks
}

// planRush plans blocks for the same time, so that they follow each other at the minimal delay, and some later ones.
func (c *Chain) planRush(r *rand.Rand, what *rush, length int) []plannedBlock {
	at := 1000*c.span.At(int(population.Between(r, 150, 930)), r.IntN(population.Hour)) + uint64(r.IntN(1000))
	var blocks []plannedBlock
	for range length {
		blocks = append(blocks, plannedBlock{at, what.txs, what})
	}
	end := at + 2000*uint64(length)
	for n := range blocksOfRest {
		blocks = append(blocks, plannedBlock{TimeMS: end + 1000*restSeconds*uint64(n+1) + uint64(r.IntN(20_000)), Size: 1})
	}
	return blocks
}

// openRushes deploys the contracts of rushes: globes that everybody may mint, and an airdrop of tokens with a vesting period.
func (d *deployment) openRushes() []action {
	if !d.chain.hasRushes() {
		return nil
	}
	deployer := d.chain.Personas.Deployer
	return []action{
		func(*rand.Rand) (*TxRequest, error) { return Deploy(deployer, "drop", "Drop", "Snow Globes", "GLOBE") },
		func(*rand.Rand) (*TxRequest, error) {
			return Deploy(deployer, "vesting", "Vesting", uint64(90*population.Day))
		},
		d.chain.approve(deployer, airdropped, "vesting"),
	}
}

const (
	airdropped = "frost" // the token
	gasGlobe   = 845_000 // mostly for the code of the globe's account
	gasGrant   = 555_000 // mostly for the code of the wallet
	gasBatch   = 70_000  // for either, beside those
	batch      = 3       // of either at most
)

// rushToMint mints globes for everybody who came.
func (a *activity) rushToMint(gasLeft uint64, r *rand.Rand) (*TxRequest, error) {
	n := batchOf(gasGlobe, gasLeft)
	if n == 0 {
		return nil, nil
	}
	return a.chain.CallWith(a.chain.randomAccount(r), "drop", "Drop", "mint", nil, gasBatch+n*gasGlobe, new(big.Int).SetUint64(n))
}

// rushToClaim has the deployer give tokens to claimants, each in a wallet that releases them over time.
func (a *activity) rushToClaim(gasLeft uint64, r *rand.Rand) (*TxRequest, error) {
	n := batchOf(gasGrant, gasLeft)
	if n == 0 {
		return nil, nil
	}
	to := make([]common.Address, n)
	for i := range to {
		to[i] = a.chain.randomAccount(r).Address
	}
	return a.chain.CallWith(a.chain.Personas.Deployer, "vesting", "Vesting", "grant", nil, gasBatch+n*gasGrant, a.chain.byRole[airdropped], to, worth(r, airdropped, 18, 1, 60))
}

// batchOf returns how many items of so much gas one transaction makes: as many as the block has gas for.
func batchOf(gas, gasLeft uint64) uint64 {
	return min(batch, (gasLeft-min(gasLeft, gasBatch+gasAccess))/gas)
}

const (
	bots     = 24        // accounts that race for liquidations
	gasRace  = 3_950_000 // their highest gas limit: about what a chain can use between two blocks
	gasWrite = 24_000    // per written slot
)

// rushToLiquidate races, like a bot, through as many positions as its gas allows. Most come too late: an assertion fails, which uses all
// their gas, or by then there is more to do than they have gas for.
func (a *activity) rushToLiquidate(gasLeft uint64, r *rand.Rand) (*TxRequest, error) {
	bot := a.chain.accounts[r.IntN(min(bots, len(a.chain.accounts)))]
	gas := min(gasRace, gasLeft-min(gasLeft, gasAccess)) - uint64(r.IntN(100_000))
	positions := gas / gasWrite
	switch n := r.IntN(100); {
	case n < 80:
		return a.chain.CallWith(bot, "reverter", "Reverter", "invalid", nil, gas)
	case n < 96:
		positions *= 2
	}
	return a.chain.CallWith(bot, "key-value-store", "KeyValueStore", "touch", nil, gas, new(big.Int).SetUint64(positions))
}
