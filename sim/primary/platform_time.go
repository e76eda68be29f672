package primary

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// The reasons why a block of the P-chain is refused, in the node's words.
var (
	errSkipsChange    = errors.New("proposed timestamp later than next staker change time")
	errNoChanges      = errors.New("BanffStandardBlock performs no state changes")
	errOptionTime     = errors.New("option block proposed timestamp not matching parent block one")
	errUndecided      = errors.New("the proposal before is not decided")
	errNothingToElect = errors.New("no proposal to decide")
)

// advance lets time pass up to a block's time.
func (p *Platform) advance(to uint64) (*Diff, error) {
	if next := p.NextChange(); to > next {
		return nil, fmt.Errorf("%w, proposed timestamp (%d), next staker change time (%d)", errSkipsChange, to, next)
	}
	diff := p.start(ids.Empty)
	p.promote(to)
	p.retire(to)
	p.expireRegistrations(to)
	seconds := to - p.time
	set(&p.journal, &p.fees, p.fees.Advance(&p.Network.Fees, seconds))
	p.charge(seconds)
	set(&p.journal, &p.time, to)
	return diff, nil
}

// promote makes those who waited active: validators first, so that delegators find theirs.
func (p *Platform) promote(to uint64) {
	var due []*Staker
	for _, s := range p.pending.queue {
		if s.Start > to {
			break
		}
		due = append(due, s)
	}
	slices.SortStableFunc(due, func(a, b *Staker) int { return -cmp.Compare(a.rank(), b.rank()) })
	for _, s := range due {
		p.pending.drop(&p.journal, s)
		p.stake(s)
	}
}

// retire ends validators of permissioned subnets, which time alone removes.
func (p *Platform) retire(to uint64) {
	for len(p.current.queue) > 0 {
		s := p.current.queue[0]
		if s.End > to || !s.permissioned() {
			return
		}
		p.end(s, Completed, false)
	}
}

// expireRegistrations forgets registration messages that could not be used again anyway.
func (p *Platform) expireRegistrations(to uint64) {
	for _, validationID := range slices.SortedFunc(maps.Keys(p.registered), ids.ID.Compare) {
		if p.registered[validationID] <= to {
			remove(&p.journal, p.registered, validationID)
		}
	}
}

// stake makes a staker active; the reward it may earn counts as supply from now on.
func (p *Platform) stake(s *Staker) {
	started := *s
	started.Status = Active
	if !s.permissioned() {
		started.PotentialReward = p.Network.Staking.Reward(s.End-s.Start, s.Weight, p.supply)
		set(&p.journal, &p.supply, p.supply+started.PotentialReward)
	}
	p.current.put(&p.journal, &started)
	p.diff.Stakers = append(p.diff.Stakers, &started)
}

// end takes a staker out of the set.
func (p *Platform) end(s *Staker, status StakerStatus, rewarded bool) {
	p.current.drop(&p.journal, s)
	ended := *s
	ended.Status, ended.Rewarded = status, rewarded
	p.diff.Stakers = append(p.diff.Stakers, &ended)
}

// replace gives a current staker a new value.
func (p *Platform) replace(old, updated *Staker) {
	p.current.drop(&p.journal, old)
	p.current.put(&p.journal, updated)
	p.diff.Stakers = append(p.diff.Stakers, updated)
}
