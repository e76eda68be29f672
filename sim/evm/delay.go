package evm

import "sort"

// Constants of ACP-226, by which validators decide how long a block must wait after its parent since Granite: avalanchego's
// vms/evm/acp226.
const (
	minDelay        = 1       // milliseconds
	delayConversion = 1 << 20 // delay excess that multiplies the delay by e
	maxDelayDiff    = 200     // a block moves the delay excess no further
	maxDelayExcess  = 46_516_320
	initialDelay    = 7_970_124 // the delay excess that a chain starts with: two seconds
)

// delay is how many milliseconds pass at least between a block with this delay excess and its child.
func delay(excess uint64) uint64 { return exponential(minDelay, excess, delayConversion) }

// DelayExcess is the least delay excess with which blocks are so many milliseconds apart.
func DelayExcess(milliseconds uint64) uint64 {
	return uint64(sort.Search(maxDelayExcess, func(excess int) bool { return delay(uint64(excess)) >= milliseconds }))
}

// EarliestChild is the first millisecond in which a block may follow this one.
func (h *Header) EarliestChild() uint64 {
	return saturatingAdd(h.TimeMilliseconds, delay(h.MinDelayExcess))
}

// buildableGas is the most capacity for which coreth's miner waits before it makes a block: the gas limit of a C-Chain since Cortina.
const buildableGas = 15_000_000

// EarliestBlock is the first millisecond in which a node makes a block: as soon as ACP-226 allows and, on a C-Chain, once it has most of
// its capacity (coreth, miner.createCurrentEnvironment).
func EarliestBlock(kind Kind, head *Header) uint64 {
	first := head.EarliestChild()
	if kind != KindC {
		return first
	}
	state := feeStateAt(head, first)
	limit := state.maxCapacity()
	need := min(limit-limit/timeToFillCapacity, buildableGas)
	if state.capacity >= need {
		return first
	}
	rate := state.target() / millisPerSecond * targetToCapacity // each millisecond, as feeStateAt has it
	return first + (need-state.capacity+rate-1)/rate
}
