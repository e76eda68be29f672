package population

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// daily holds the activity of each hour of a UTC day, weekly that of each day from Sunday on.
var (
	daily  = [24]int{30, 22, 16, 12, 10, 10, 14, 24, 40, 56, 66, 72, 78, 86, 94, 100, 98, 92, 86, 80, 72, 62, 50, 40}
	weekly = [7]int{62, 92, 100, 100, 98, 96, 70}
)

// Hour and Day are in seconds, like block times.
const (
	Hour = 60 * 60
	Day  = 24 * Hour
)

// Span is the time of a world's history, in Unix seconds.
type Span struct{ Start, Until uint64 }

// At returns the time so many thousandths into history, plus some seconds.
func (s Span) At(thousandth, seconds int) uint64 {
	return s.Start + (s.Until-s.Start)*uint64(thousandth)/1000 + uint64(seconds)
}

// Busyness returns the activity in the hour of a time in Unix seconds, on a scale to 100.
func Busyness(unix uint64) int64 { return int64(daily[unix%Day/Hour]) }

const (
	TxsPerBlock = 3  // transactions in an average block
	burstEvery  = 70 // one hour in so many is a burst,
	burstFactor = 9  // with so many times the activity
	trainEvery  = 40 // one block in so many starts a train: blocks that follow each other by seconds

	finale       = 7 * 24  // the last hours of history, in which activity rises
	finaleFactor = 3       // to so many times the usual
	lastDay      = 2       // blocks of so many average days lie in the last day in any case
	lastBlocks   = 40 * 60 // seconds of the last hour; the rest is room for what did not fit
)

// PlannedBlock holds a block's planned time and number of transactions.
type PlannedBlock struct {
	Time uint64
	Size int
}

// PlanBlocks spreads n transactions in so many blocks over history as activity spreads: by hour of the day and day of the week, growing
// over time, with bursts and quiet nights. Every chain is awake where history ends: one block lies in the last hour, and the last day is a
// busy one.
func PlanBlocks(r *rand.Rand, n, count int, s Span) []PlannedBlock {
	sums := busyness(r, s)
	times := make([]uint64, 0, max(count, 1))
	times = append(times, s.Until-Hour+uint64(r.IntN(lastBlocks)))
	for range min(lastDay*count*Day/int(s.Until-s.Start), cap(times)-1) {
		times = append(times, s.Until-Day+uint64(r.IntN(Day-Hour)))
	}
	for len(times) < cap(times) {
		hour := sort.SearchInts(sums, r.IntN(sums[len(sums)-1])+1)
		t := s.Start + uint64(hour)*Hour + uint64(r.IntN(Hour))
		if t >= s.Until-Hour+lastBlocks {
			t -= Hour
		}
		times = append(times, t)
		for r.IntN(trainEvery) == 0 && len(times) < cap(times) {
			for range min(int(Between(r, 5, 14)), cap(times)-len(times)) {
				t += uint64(Between(r, 1, 3))
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	blocks := make([]PlannedBlock, 0, len(times))
	for _, t := range slices.Compact(times) {
		blocks = append(blocks, PlannedBlock{Time: t, Size: 1})
	}
	for range n - len(blocks) {
		blocks[r.IntN(len(blocks))].Size++
	}
	return blocks
}

// busyness returns the running sum of the hours' activity. It leaves out the first hour: chains start before their users.
func busyness(r *rand.Rand, s Span) []int {
	hours := int((s.Until - s.Start) / Hour)
	sums, total := make([]int, hours), 0
	for h := range sums {
		at := time.Unix(int64(s.Start)+int64(h)*Hour, 0).UTC()
		weight := daily[at.Hour()] * weekly[at.Weekday()] * (100 + 150*h/hours) / 100
		if begun := h - (hours - finale); begun > 0 {
			weight = weight * (finale + (finaleFactor-1)*begun) / finale
		}
		weight = weight * int(Between(r, 70, 130)) / 100
		if r.IntN(burstEvery) == 0 {
			weight *= burstFactor
		}
		if h > 0 {
			total += weight
		}
		sums[h] = total
	}
	return sums
}

// slot is the least distance between actions on a chain, in seconds: more than between blocks.
const slot = 5

// TimesIn returns the times of actions in the hour that begins at a time after the history: at the history's rate of so many thousandths on
// an average day, and by the same rhythm. It rounds fractions up or down at random.
func TimesIn(r *rand.Rand, hour uint64, perDay int64) []uint64 {
	at := time.Unix(int64(hour), 0).UTC()
	weight := int64(daily[at.Hour()]*weekly[at.Weekday()]) * Between(r, 70, 130)
	if r.IntN(burstEvery) == 0 {
		weight *= burstFactor
	}
	expected := perDay * weight / averageWeight
	count := int(expected / 1000)
	if r.Int64N(1000) < expected%1000 {
		count++
	}
	const slots = Hour / slot
	slotsOf := r.Perm(slots)[:min(count, slots)]
	slices.Sort(slotsOf)
	times := make([]uint64, len(slotsOf))
	for i, n := range slotsOf {
		times[i] = hour + uint64(n*slot)
	}
	return times
}

// averageWeight is the average day's, bursts included.
var averageWeight = func() (sum int64) {
	for _, hour := range daily {
		for _, day := range weekly {
			sum += int64(hour * day)
		}
	}
	return sum * 100 * (burstEvery + burstFactor - 1) / burstEvery / int64(len(weekly))
}()
