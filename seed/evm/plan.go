package evm

import (
	"cmp"
	"slices"

	"snowglobe/seed/population"
)

// plannedBlock is when a block is to be made, in Unix milliseconds, how many transactions it should hold, and what they are beside
// those that were going to happen anyway.
type plannedBlock struct {
	TimeMS uint64
	Size   int
	rush   *rush // nil for everyday life
}

// fullBlock is how many transactions a block of everyday life has on average at most.
const fullBlock = 5

// planBlocks spreads a chain's transactions over history as activity spreads, with rushes on a C-Chain. A
// rush takes blocks away from everyday life, so that a chain has as many with it as without.
func (c *Chain) planBlocks() []plannedBlock {
	r := c.rng.For("schedule", c.Row.EVMID)
	blocks := c.planRushes(c.rng.For("rushes", c.Row.EVMID))
	rest := c.size
	for i := range blocks {
		rest -= blocks[i].Size
	}
	count := max(c.size/population.TxsPerBlock-len(blocks), rest/fullBlock)
	for _, b := range population.PlanBlocks(r, rest, count, c.span) {
		blocks = append(blocks, plannedBlock{TimeMS: 1000*b.Time + uint64(r.IntN(1000)), Size: b.Size})
	}
	slices.SortStableFunc(blocks, func(a, b plannedBlock) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
	return blocks
}
