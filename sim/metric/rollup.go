package metric

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// cached bounds the rows that a roll-up holds before it writes them: enough for a large world, so that generating it reads none back.
const cached = 1 << 19

// MonthKey returns the key of an address's presence in the month that begins at a time.
type MonthKey struct {
	Month   int64
	Address common.Address
}

// Rollup folds the activity of blocks into tallies. The blocks of one chain must come in order.
type Rollup struct {
	Tallies   *Cache[Key, Tally]
	Hours     *Cache[int, OpenHour] // by chain
	Presences *Cache[MonthKey, Presence]
	Lifetimes *Cache[common.Address, Lifetime]
	Network   func(chain int) (Scope, error)

	// Fresh skips all lookups, since the tables are empty.
	Fresh bool

	networks map[int]Scope
}

// Add counts a chain's block.
func (r *Rollup) Add(chain int, a *Activity) error {
	if r.Tallies.size()+r.Hours.size()+r.Presences.size()+r.Lifetimes.size() > cached {
		if err := r.Flush(); err != nil {
			return err
		}
	}
	scopes, err := r.scopes(chain)
	if err != nil {
		return err
	}
	if err := r.sum(chain, scopes, a.sums()); err != nil {
		return err
	}
	now := newBlockIntervals(chain, scopes, a.Time)
	for _, m := range a.Participants {
		if err := r.addParticipant(now, m); err != nil {
			return err
		}
	}
	return nil
}

// sum adds a block to the chain's open hour. The first block of an hour closes the one before.
func (r *Rollup) sum(chain int, scopes [3]Scope, block *Sums) error {
	open, err := r.Hours.row(chain, r.Fresh)
	if err != nil {
		return err
	}
	r.Hours.change(open)
	start := Hour.Start(block.First)
	if open.known && open.value.Start == start {
		open.value.add(block)
		return nil
	}
	if open.known {
		if err := r.extend(scopes, &open.value.Sums); err != nil {
			return err
		}
	}
	open.value, open.known = OpenHour{scopes[1], start, *block}, true
	return r.extend(scopes, &Sums{First: block.First, Last: block.First})
}

// extend adds sums within one hour to the tallies around it, and makes those that are missing.
func (r *Rollup) extend(scopes [3]Scope, by *Sums) error {
	for i := range Interval(intervals) {
		for _, scope := range scopes {
			t, err := r.tally(Key{scope, i, i.Start(by.First)})
			switch {
			case err != nil:
				return err
			case t.known:
				t.value.add(by)
			default:
				t.value.Sums, t.known = *by, true
			}
		}
	}
	return nil
}

// blockIntervals holds the time of a chain's block, with the scopes and intervals in which it counts.
type blockIntervals struct {
	chain      int
	scopes     [3]Scope
	unix       int64
	start, end [intervals]int64 // of the intervals around it
}

func newBlockIntervals(chain int, scopes [3]Scope, unix int64) *blockIntervals {
	now := &blockIntervals{chain: chain, scopes: scopes, unix: unix}
	for i := range intervals {
		now.start[i] = Interval(i).Start(unix)
		now.end[i] = Interval(i).Next(now.start[i])
	}
	return now
}

// Flush writes every change.
func (r *Rollup) Flush() error {
	r.Fresh = false
	for _, flush := range []func() error{r.Tallies.flush, r.Hours.flush, r.Presences.flush, r.Lifetimes.flush} {
		if err := flush(); err != nil {
			return fmt.Errorf("roll-up: %w", err)
		}
	}
	return nil
}

// scopes returns the scopes that hold a chain, smallest first.
func (r *Rollup) scopes(chain int) ([3]Scope, error) {
	network, known := r.networks[chain]
	if !known {
		var err error
		if network, err = r.Network(chain); err != nil {
			return [3]Scope{}, fmt.Errorf("network of chain %d: %w", chain, err)
		}
		if r.networks == nil {
			r.networks = map[int]Scope{}
		}
		r.networks[chain] = network
	}
	return [3]Scope{Scope(chain), network, Total}, nil
}

// within returns a test for a scope's chains. A chain whose network was never looked up has no rows.
func (r *Rollup) within(s Scope) func(chain int) bool {
	switch {
	case s > 0:
		return func(chain int) bool { return chain == int(s) }
	case s == Total:
		return func(int) bool { return true }
	}
	return func(chain int) bool {
		scopes, err := r.scopes(chain)
		return err == nil && scopes[1] == s
	}
}

// tally returns a row to change.
func (r *Rollup) tally(k Key) (*row[Key, Tally], error) {
	t, err := r.Tallies.row(k, r.Fresh)
	if err != nil {
		return nil, err
	}
	r.Tallies.change(t)
	return t, nil
}

// addParticipant counts an address in the roles that are new for it on this chain in this hour.
func (r *Rollup) addParticipant(now *blockIntervals, m Participant) error {
	presence, err := r.Presences.row(MonthKey{now.start[Month], m.Address}, r.Fresh)
	if err != nil {
		return err
	}
	at := int(now.unix-now.start[Month]) / SecondsPerHour
	fresh := m.Roles &^ presence.value.roles(at, now.chain)
	if fresh == 0 {
		return nil
	}
	lifetime, err := r.Lifetimes.row(m.Address, r.Fresh)
	if err != nil {
		return err
	}
	for role := Present; role < roles; role++ {
		if fresh&role.set() == 0 {
			continue
		}
		if err := r.addDistinct(now, presence, role); err != nil {
			return err
		}
		if err := r.updateLifetime(now, lifetime, role); err != nil {
			return err
		}
	}
	presence.value = presence.value.with(at, now.chain, fresh)
	r.Presences.change(presence)
	return nil
}

// addDistinct counts an address in each interval in which its role is new. An interval in which it already took part lies within longer
// intervals and larger scopes in which it did, too.
func (r *Rollup) addDistinct(now *blockIntervals, presence *row[MonthKey, Presence], role Role) error {
	for _, scope := range now.scopes {
		in := r.within(scope)
		for i := range Interval(intervals) {
			seen, err := r.seen(now, i, presence, role, in)
			if err != nil {
				return err
			}
			if seen && i < Week { // a week does not lie within a month
				break
			}
			if seen {
				continue
			}
			if err := r.count(distinct, Key{scope, i, now.start[i]}, role, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// seen looks for an address in the interval around a time, which may span two months.
func (r *Rollup) seen(now *blockIntervals, i Interval, presence *row[MonthKey, Presence], role Role, in func(int) bool) (bool, error) {
	start, end := now.start[i], now.end[i]
	month := now.start[Month]
	if start < month {
		month = Month.Start(start)
	}
	for ; month < end; month = Month.Next(month) {
		p := presence
		if month != presence.key.Month {
			var err error
			if p, err = r.Presences.row(MonthKey{month, presence.key.Address}, r.Fresh); err != nil {
				return false, err
			}
		}
		if p.value.any(int(max(start-month, 0))/SecondsPerHour, int(end-month)/SecondsPerHour, role, in) {
			return true, nil
		}
	}
	return false, nil
}

// updateLifetime moves an address's first and latest appearance in each scope in which they change.
func (r *Rollup) updateLifetime(now *blockIntervals, lifetime *row[common.Address, Lifetime], role Role) error {
	at := now.start[Hour]
	for _, scope := range now.scopes {
		first, last, known := lifetime.value.span(role, r.within(scope))
		if !known || at < first {
			if err := r.move(firstSeen, now, scope, role, known, first); err != nil {
				return err
			}
		}
		if !known || at > last {
			if err := r.move(lastSeen, now, scope, role, known, last); err != nil {
				return err
			}
		}
	}
	lifetime.value = lifetime.value.with(now.chain, role, now.unix)
	r.Lifetimes.change(lifetime)
	return nil
}

// counts are the numbers of addresses in a tally.
type counts func(t *Tally) *[roles]int64

func distinct(t *Tally) *[roles]int64  { return &t.Distinct }
func firstSeen(t *Tally) *[roles]int64 { return &t.FirstSeen }
func lastSeen(t *Tally) *[roles]int64  { return &t.LastSeen }

func (r *Rollup) count(in counts, k Key, role Role, by int64) error {
	t, err := r.tally(k)
	if err == nil {
		in(&t.value)[role] += by
	}
	return err
}

// move removes an address from the hour and day of an earlier time, if it was there, and adds it to the present ones.
func (r *Rollup) move(in counts, now *blockIntervals, scope Scope, role Role, known bool, from int64) error {
	for _, i := range []Interval{Hour, Day} {
		start := i.Start(from)
		if known && start == now.start[i] {
			continue
		}
		if known {
			if err := r.count(in, Key{scope, i, start}, role, -1); err != nil {
				return err
			}
		}
		if err := r.count(in, Key{scope, i, now.start[i]}, role, 1); err != nil {
			return err
		}
	}
	return nil
}
