package store_test

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// beginning returns the start of the calendar interval around a time.
func beginning(i metric.Interval, unix int64) int64 {
	at := time.Unix(unix, 0).UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch i {
	case metric.Hour:
		return day.Add(time.Duration(at.Hour()) * time.Hour).Unix()
	case metric.Day:
		return day.Unix()
	case metric.Week: // begins on Monday
		return day.AddDate(0, 0, -(int(at.Weekday())+6)%7).Unix()
	default:
		return day.AddDate(0, 0, 1-at.Day()).Unix()
	}
}

// TestMessagesAreCounted compares the counts of every interval, whole and in parts, with the messages themselves.
func TestMessagesAreCounted(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	network := map[int]string{}
	for _, c := range w.Chains {
		network[c.Row.ID] = c.Row.Network
	}
	all := ok[[]store.Message](t)(db.MessagesSince(ctx, 0))
	for _, scope := range []metric.Scope{metric.Total, metric.Mainnet, metric.Testnet} {
		for i := range metric.Interval(len(metric.Intervals)) {
			want := []metric.ICMCount{}
			for _, m := range all {
				if of := ok[metric.Scope](t)(metric.ScopeOf(network[m.ID.Chain()])); scope != metric.Total && scope != of {
					continue
				}
				start := beginning(i, m.Time)
				at := slices.IndexFunc(want, func(c metric.ICMCount) bool {
					return c.Start == start && bytes.Equal(c.Source, m.Source) && bytes.Equal(c.Destination, m.Destination)
				})
				if at < 0 {
					at, want = len(want), append(want, metric.ICMCount{Start: start, Source: m.Source, Destination: m.Destination})
				}
				want[at].Messages++
			}
			slices.SortFunc(want, func(a, b metric.ICMCount) int {
				return cmp.Or(cmp.Compare(b.Start, a.Start), bytes.Compare(b.Source, a.Source), bytes.Compare(b.Destination, a.Destination))
			})
			equal(t, "ICMCounts", ok[[]metric.ICMCount](t)(db.ICMCounts(ctx, scope, i, 0, math.MaxInt64)), want)
			oldest, newest, err := db.ICMCountSpan(ctx, scope, i)
			if len(want) == 0 {
				if !errors.Is(err, store.ErrNotFound) {
					t.Errorf("no messages, %v", err)
				}
				continue
			}
			equal(t, "ICMCountSpan", []int64{oldest, newest}, []int64{want[len(want)-1].Start, want[0].Start})
			from, before := want[len(want)/2].Start, want[len(want)/4].Start
			equal(t, "ICMCounts of a part", ok[[]metric.ICMCount](t)(db.ICMCounts(ctx, scope, i, from, before)),
				where(want, func(c *metric.ICMCount) bool { return from <= c.Start && c.Start < before }))
		}
	}
	if _, _, err := db.ICMCountSpan(ctx, 9, metric.Day); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a network that does not exist: %v", err)
	}
}

// TestStakesAreThoseOfTheStakers compares the stake at the end of each day with the stakers that staked after the day's last block.
func TestStakesAreThoseOfTheStakers(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		stakers := ok[[]store.Staker](t)(db.Stakers(ctx, chain))
		head := ok[*store.PrimaryBlock](t)(db.PrimaryHead(ctx, chain))
		blocks := ok[[]store.PrimaryBlock](t)(db.PrimaryBlocks(ctx, chain, 0, head.ID.Number()))
		primary := make([]byte, 32)
		rows := ok[[]metric.StakeRow](t)(db.StakeRows(ctx, chain, primary, 0, math.MaxInt64))
		if len(rows) < 5 {
			t.Fatalf("the stake changed on %d days", len(rows))
		}
		equal(t, "NewestStake", ok[int64](t)(db.NewestStake(ctx, chain, primary)), rows[0].Day)
		for i, row := range rows {
			var height uint64
			for _, b := range blocks {
				if b.Time < row.Day+metric.SecondsPerDay {
					height = b.ID.Number()
				}
			}
			var want metric.Stake
			for _, s := range stakers {
				switch on := s.Began != nil && *s.Began <= int64(height) && (s.Ended == nil || *s.Ended > int64(height)); {
				case !on || !bytes.Equal(s.Subnet, primary):
				case s.Delegator:
					want.Delegators, want.DelegatorWeight = want.Delegators+1, want.DelegatorWeight+uint64(s.Weight)
				default:
					want.Validators, want.ValidatorWeight = want.Validators+1, want.ValidatorWeight+uint64(s.Weight)
				}
			}
			equal(t, "stake", row.Stake, want)
			equal(t, "StakeRows of a part", ok[[]metric.StakeRow](t)(db.StakeRows(ctx, chain, primary, row.Day, rows[0].Day)), rows[1:min(i+2, len(rows))]) // plus the newest before
		}
	}
}
