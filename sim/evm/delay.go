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
