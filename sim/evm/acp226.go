package evm

import (
	"sort"

	"snowglobe/sim/rules"
)

// Constants of ACP-226, by which validators decide since Granite how long a block must wait after its parent: avalanchego's vms/evm/acp226.
const (
	minDelay        = 1       // milliseconds
	delayConversion = 1 << 20 // delay excess that multiplies the delay by e
	maxDelayDiff    = 200     // the most that one block moves the delay excess
	maxDelayExcess  = 46_516_320
	initialDelay    = 7_970_124 // the delay excess that a chain starts with: two seconds
)

// delay returns the fewest milliseconds between a block with this delay excess and its child.
func delay(excess uint64) uint64 { return rules.Exponential(minDelay, excess, delayConversion) }

// DelayExcess returns the lowest delay excess that keeps blocks this many milliseconds apart.
func DelayExcess(milliseconds uint64) uint64 {
	return uint64(sort.Search(maxDelayExcess, func(excess int) bool { return delay(uint64(excess)) >= milliseconds }))
}

// EarliestChild returns the first millisecond in which a block may follow this one.
func (h *Header) EarliestChild() uint64 {
	return saturatingAdd(h.TimeMilliseconds, delay(h.MinDelayExcess))
}

// buildableGas is the most capacity that coreth's miner waits for before it makes a block: the gas limit of a C-Chain since Cortina.
const buildableGas = 15_000_000

// EarliestBlock returns the first millisecond in which a node makes a block: as soon as ACP-226 allows and, on a C-Chain before Helicon, once
// most of its capacity is available (coreth, miner.createCurrentEnvironment).
func EarliestBlock(kind Kind, head *Header) uint64 {
	first := head.EarliestChild()
	if kind != KindC || head.Asynchronous() {
		return first
	}
	state := feeStateAt(head, first)
	limit := state.maxCapacity()
	need := min(limit-limit/timeToFillCapacity, buildableGas)
	if state.capacity >= need {
		return first
	}
	rate := state.target() / millisPerSecond * targetToCapacity // per millisecond, as in feeStateAt
	return first + (need-state.capacity+rate-1)/rate
}
