package seed

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// daily is how busy each hour of a UTC day is, weekly each day from Sunday on.
var (
	daily  = [24]int{30, 22, 16, 12, 10, 10, 14, 24, 40, 56, 66, 72, 78, 86, 94, 100, 98, 92, 86, 80, 72, 62, 50, 40}
	weekly = [7]int{62, 92, 100, 100, 98, 96, 70}
)

const (
	perBlock    = 3  // transactions in an average block
	burstEvery  = 70 // one hour in so many is a burst,
	burstFactor = 9  // and so much busier
	trainEvery  = 40 // one block in so many starts a train: blocks that follow each other by seconds
)

// moment is a block to be: when, and how many transactions it should hold.
type moment struct {
	time uint64
	size int
}

// schedule spreads n transactions over the time from one moment to another as activity spreads: by the hour of the day
// and the day of the week, growing over time, with bursts and quiet nights.
func schedule(r *rand.Rand, n int, from, to time.Time) []moment {
	sums := busyness(r, from, to)
	times := make([]uint64, 0, max(n/perBlock, 1))
	start := uint64(from.Unix())
	for len(times) < cap(times) {
		hour := sort.SearchInts(sums, r.IntN(sums[len(sums)-1])+1)
		t := start + uint64(hour)*3600 + uint64(r.IntN(3600))
		times = append(times, t)
		for r.IntN(trainEvery) == 0 && len(times) < cap(times) {
			for range min(int(between(r, 5, 14)), cap(times)-len(times)) {
				t += uint64(between(r, 1, 3))
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	moments := make([]moment, 0, len(times))
	for _, t := range slices.Compact(times) {
		moments = append(moments, moment{time: t, size: 1})
	}
	for range n - len(moments) {
		moments[r.IntN(len(moments))].size++
	}
	return moments
}

// busyness is the running sum of how busy each hour is. The first hour is left out: chains start before their users.
func busyness(r *rand.Rand, from, to time.Time) []int {
	hours := int(to.Sub(from)/time.Hour) - 1 // the last hour is room for what did not fit
	sums, total := make([]int, hours), 0
	for h := range sums {
		at := from.Add(time.Duration(h) * time.Hour)
		weight := daily[at.Hour()] * weekly[at.Weekday()] * (100 + 150*h/hours) / 100
		weight = weight * int(between(r, 70, 130)) / 100
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
