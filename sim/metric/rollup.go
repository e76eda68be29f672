package metric

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// cached is how many rows a roll-up holds before it writes them: all those of a large world, so that none has to be read again while it
// is made.
const cached = 1 << 19

// MonthKey is the key of the presence of an address in the month that begins at a moment.
type MonthKey struct {
	Month   int64
	Address common.Address
}

// Rollup folds the activity of blocks into tallies. The blocks of one chain must come in order.
type Rollup struct {
	Tallies   *Cache[Key, Tally]
	Presences *Cache[MonthKey, Presence]
	Lifetimes *Cache[common.Address, Lifetime]
	Network   func(chain int) (Scope, error)

	// Fresh says that nothing is in the tables yet, so that nothing has to be looked for.
	Fresh bool

	networks map[int]Scope
}

// Add counts a block of a chain.
func (r *Rollup) Add(chain int, a *Activity) error {
	if r.Tallies.size()+r.Presences.size()+r.Lifetimes.size() > cached {
		if err := r.Flush(); err != nil {
			return err
		}
	}
	scopes, err := r.scopes(chain)
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		for i := range Intervals {
			t, err := r.tally(scope, Interval(i), a.Time)
			if err != nil {
				return err
			}
			t.value.add(a, t.known)
			t.known = true
		}
	}
	for _, m := range a.Participants {
		if err := r.addParticipant(chain, scopes, a.Time, m); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes everything that changed.
func (r *Rollup) Flush() error {
	r.Fresh = false
	for _, flush := range []func() error{r.Tallies.flush, r.Presences.flush, r.Lifetimes.flush} {
		if err := flush(); err != nil {
			return fmt.Errorf("roll-up: %w", err)
		}
	}
	return nil
}

// scopes are those that hold a chain, the smallest first.
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

// within tells which chains a scope holds. A chain whose network was never looked up has no rows.
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

// tally is the row to change for the interval that holds a moment.
func (r *Rollup) tally(s Scope, i Interval, moment int64) (*row[Key, Tally], error) {
	key := Key{s, i, i.Start(moment)}
	t, err := r.Tallies.row(key, r.Fresh)
	if err != nil {
		return nil, err
	}
	r.Tallies.change(t)
	return t, nil
}

// addParticipant counts an address in the roles in which it has not taken part on this chain in this hour.
func (r *Rollup) addParticipant(chain int, scopes [3]Scope, moment int64, m Participant) error {
	month := Month.Start(moment)
	key := MonthKey{month, m.Address}
	presence, err := r.Presences.row(key, r.Fresh)
	if err != nil {
		return err
	}
	at := int(moment-month) / SecondsPerHour
	fresh := m.Roles &^ presence.value.roles(at, chain)
	for role := Present; role < roles; role++ {
		if fresh&role.set() == 0 {
			continue
		}
		if err := r.distinct(scopes, moment, m.Address, role); err != nil {
			return err
		}
		if err := r.updateLifetime(chain, scopes, moment, m.Address, role); err != nil {
			return err
		}
	}
	if fresh != 0 {
		presence.value = presence.value.with(at, chain, fresh)
		r.Presences.change(presence)
	}
	return nil
}

// distinct counts an address in each interval in which it has not taken part in this role. Where it took part in an interval,
// it did so in the longer intervals and larger scopes that hold it, too.
func (r *Rollup) distinct(scopes [3]Scope, moment int64, address common.Address, role Role) error {
	for _, scope := range scopes {
		in := r.within(scope)
		for i := range Intervals {
			seen, err := r.seen(Interval(i), moment, address, role, in)
			if err != nil {
				return err
			}
			if seen && Interval(i) < Week { // a week does not lie within a month
				break
			}
			if seen {
				continue
			}
			t, err := r.tally(scope, Interval(i), moment)
			if err != nil {
				return err
			}
			t.value.Distinct[role]++
		}
	}
	return nil
}

// seen looks for an address in the interval around a moment, which may lie in two months.
func (r *Rollup) seen(i Interval, moment int64, address common.Address, role Role, in func(int) bool) (bool, error) {
	start := i.Start(moment)
	end := i.Next(start)
	for month := Month.Start(start); month < end; month = Month.Next(month) {
		presence, err := r.Presences.row(MonthKey{month, address}, r.Fresh)
		if err != nil {
			return false, err
		}
		if presence.value.any(int(max(start-month, 0))/SecondsPerHour, int(end-month)/SecondsPerHour, role, in) {
			return true, nil
		}
	}
	return false, nil
}

// updateLifetime moves the first and the latest appearance of an address, in each scope in which they change.
func (r *Rollup) updateLifetime(chain int, scopes [3]Scope, moment int64, address common.Address, role Role) error {
	lifetimes, err := r.Lifetimes.row(address, r.Fresh)
	if err != nil {
		return err
	}
	at := Hour.Start(moment)
	for _, scope := range scopes {
		first, last, known := lifetimes.value.span(role, r.within(scope))
		if !known || at < first {
			if err := r.move(scope, role, known, first, at, firstSeen); err != nil {
				return err
			}
		}
		if !known || at > last {
			if err := r.move(scope, role, known, last, at, lastSeen); err != nil {
				return err
			}
		}
	}
	lifetimes.value = lifetimes.value.with(chain, role, moment)
	r.Lifetimes.change(lifetimes)
	return nil
}

func firstSeen(t *Tally) *[roles]int64 { return &t.FirstSeen }
func lastSeen(t *Tally) *[roles]int64  { return &t.LastSeen }

// move takes an address out of the hour and the day of one moment, if it was there, and puts it into those of another.
func (r *Rollup) move(s Scope, role Role, known bool, from, to int64, count func(*Tally) *[roles]int64) error {
	for _, i := range []Interval{Hour, Day} {
		if known && i.Start(from) == i.Start(to) {
			continue
		}
		if known {
			t, err := r.tally(s, i, from)
			if err != nil {
				return err
			}
			count(&t.value)[role]--
		}
		t, err := r.tally(s, i, to)
		if err != nil {
			return err
		}
		count(&t.value)[role]++
	}
	return nil
}
