package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/population"
)

// rush is an hour in which everybody wants the same thing: blocks follow each other as fast as they may, they are full or nearly
// so, and the base fee rises as long as that lasts.
type rush struct {
	act func(a *activity, gasLeft uint64, r *rand.Rand) (*TxRequest, error)
	txs int // in a block
}

var (
	mintRush        = &rush{(*activity).rushToMint, 2}
	airdropRush     = &rush{(*activity).rushToClaim, 3}
	liquidationRush = &rush{(*activity).rushToLiquidate, 1}
)

// Sizes of rushes, in blocks. At the minimal delay of two seconds the base fee doubles in thirty blocks.
const (
	minRush      = 36
	longestRush  = 1_040 // takes the base fee from 1 wei to some gwei
	txsPerRush   = 1_300 // a chain has a short rush in so many transactions, and
	txsPerLong   = 9     // spends one transaction in so many on its longest one
	restSeconds  = 40    // between the blocks after a rush, in which the base fee falls
	blocksOfRest = 12
)

// planRushes plans the rushes of a chain: a long one and short ones, each followed by some minutes of rest.
func (c *Chain) planRushes(r *rand.Rand) []plannedBlock {
	if c.size < fullSize {
		return nil
	}
	blocks := c.planRush(r, liquidationRush, min(c.size/txsPerLong, longestRush))
	for n := range c.size / txsPerRush {
		what, length := mintRush, population.Between(r, 4, 9)
		switch n % 3 {
		case 1:
			what, length = airdropRush, population.Between(r, 3, 6)
		case 2:
			what, length = liquidationRush, minRush+population.Between(r, 0, minRush)
		}
		blocks = append(blocks, c.planRush(r, what, int(length))...)
	}
	return blocks
}

// planRush plans blocks for the same moment, which makes them follow each other at the minimal delay, and some afterwards.
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

// rushToMint mints a collection for whoever came, a dozen at a time.
func (a *activity) rushToMint(_ uint64, r *rand.Rand) (*TxRequest, error) {
	return a.mintCrystals(a.chain.randomAccount(r), 12)
}

// rushToClaim sends an airdrop to many accounts at a time.
func (a *activity) rushToClaim(_ uint64, r *rand.Rand) (*TxRequest, error) {
	t := tokens[r.IntN(len(tokens))]
	to, amounts := make([]common.Address, 40), make([]*big.Int, 40)
	for i := range to {
		to[i], amounts[i] = a.chain.randomAccount(r).Address, worth(r, t.role, t.decimals, 1, 60)
	}
	return a.chain.CallWith(a.chain.Personas.Deployer, t.role, "Token", "batchTransfer", nil, 60_000+30_000*uint64(len(to)), to, amounts)
}

const (
	bots     = 24        // accounts that race for liquidations
	gasRace  = 3_950_000 // what they offer at most: about what a chain can use between two blocks
	gasWrite = 24_000    // for each slot that is written
)

// rushToLiquidate is a bot that races through as many positions as there is gas for. Most of them come too late: an assertion fails,
// which takes all of their gas, or there is more to do by then than they have gas for.
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
	return a.chain.CallWith(bot, "registry", "Registry", "touch", nil, gas, new(big.Int).SetUint64(positions))
}
