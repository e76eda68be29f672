package query_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func tinyWorld(t *testing.T) *sim.World {
	t.Helper()
	return seedtest.Copy(t, 3)
}

// statusBySpec returns a staker's status at a time: a stake ended by a block stays ended, and all others begin and end by time alone.
func statusBySpec(s *store.Staker, now int64) int {
	switch {
	case s.Ended != nil:
		return s.Status
	case now >= s.End:
		return store.StakerCompleted
	case s.Status == store.StakerPending && now < s.Start:
		return store.StakerPending
	}
	return store.StakerActive
}

// checkActiveStakes compares the active stakes with the index's active stakers, for the whole chain and for a part.
func checkActiveStakes(t *testing.T, n *sim.Network, index *query.StakerIndex) {
	t.Helper()
	var want []store.Position
	for _, v := range index.ValidatorsOf(ids.Empty, store.StakerActive) {
		at, err := n.DB.StakingTx(t.Context(), &v.Staker)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, at)
	}
	for _, d := range index.DelegatorsOf(ids.Empty, store.StakerActive) {
		want = append(want, d.ID)
	}
	slices.Sort(want)
	chain := n.Chain(txs.PChain)
	middle := store.At(chain, index.Head.ID.Number()/2, 0)
	for _, part := range [][2]store.Position{{store.First(chain), store.Last(chain)}, {store.First(chain), middle}, {middle, store.Last(chain)}} {
		active, err := query.ActiveStakes(t.Context(), n, part[0], part[1])
		if err != nil {
			t.Fatal(err)
		}
		some := slices.DeleteFunc(slices.Clone(want), func(at store.Position) bool { return at < part[0] || at > part[1] })
		if have := slices.Sorted(maps.Keys(active)); !slices.Equal(have, some) {
			t.Fatalf("%s at %d: %d stakes are active, want %d", n.Name, index.Unix, len(have), len(some))
		}
	}
}

// TestStakersFollowTheClock sets the clock to the second before and the second in which a staker begins or ends. The lists by status then have
// exactly the right stakers, in the order in which they leave, and the right stake.
func TestStakersFollowTheClock(t *testing.T) {
	w := tinyWorld(t)
	indexes := query.NewStakerIndexes()
	for _, n := range w.Networks {
		rows, err := n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		now := w.Meta.Until
		moments := []int64{now}
		for _, s := range rows {
			for _, unix := range []int64{s.Start, s.End} {
				if unix > now {
					moments = append(moments, unix-1, unix)
				}
			}
		}
		slices.Sort(moments)
		statuses := map[int]int{}
		for _, unix := range slices.Compact(moments) {
			w.Clock.Set(time.Unix(unix, 0))
			index, err := indexes.Of(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			checkActiveStakes(t, n, index)
			for _, status := range []int{store.StakerPending, store.StakerActive} {
				statuses[status] += checkStatus(t, index, rows, status, unix)
			}
		}
		if statuses[store.StakerPending] == 0 || statuses[store.StakerActive] == 0 {
			t.Errorf("%s: stakers by status %v", n.Name, statuses)
		}
		w.Clock.Set(time.Unix(now, 0))
	}
}

// checkStatus compares an index with the rows that have a status at a time, and counts them.
func checkStatus(t *testing.T, index *query.StakerIndex, rows []store.Staker, status int, unix int64) int {
	t.Helper()
	want, got := map[store.Position]bool{}, 0
	var stake uint64
	subnets := map[ids.ID]bool{}
	for i := range rows {
		subnets[ids.ID(rows[i].Subnet)] = true
		if statusBySpec(&rows[i], unix) == status {
			want[rows[i].ID] = true
			if query.OnPrimaryNetwork(rows[i].Subnet) {
				stake += uint64(rows[i].Weight)
			}
		}
	}
	for subnet := range subnets {
		last := int64(0)
		for _, v := range index.ValidatorsOf(subnet, status) {
			if !want[v.ID] || v.End < last {
				t.Errorf("at %d: validator %s, status %d", unix, v.NodeID, status)
			}
			last = v.End
			got++
		}
		for _, d := range index.DelegatorsOf(subnet, status) {
			if !want[d.ID] {
				t.Errorf("at %d: delegator %x, status %d", unix, d.Tx, status)
			}
			got++
		}
	}
	if got != len(want) {
		t.Errorf("at %d: %d stakers of status %d, want %d", unix, got, status, len(want))
	}
	if status != store.StakerActive {
		return got
	}
	var weight uint64
	for _, v := range index.ValidatorSet(ids.Empty) {
		weight += v.Weight
	}
	if index.Stake != stake || weight != stake {
		t.Errorf("at %d: stake %d, weight of the validators %d, want %d", unix, index.Stake, weight, stake)
	}
	return got
}

// TestStakedUntilReturned: a stake remains locked after its end until a block returns it.
func TestStakedUntilReturned(t *testing.T) {
	w := tinyWorld(t)
	n := w.Networks[0]
	indexes := query.NewStakerIndexes()
	before, err := indexes.Of(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	locked, pending := before.Staked()
	var last int64
	for _, s := range slices.Concat(locked, pending) {
		last = max(last, s.End)
	}
	w.Clock.Set(time.Unix(last, 0))
	after, err := indexes.Of(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if active := after.ValidatorsOf(ids.Empty, store.StakerActive); len(active) > 0 || after.Stake != 0 {
		t.Errorf("%d validators with %d nAVAX at the end", len(active), after.Stake)
	}
	if all, waiting := after.Staked(); len(all) != len(locked)+len(pending) || len(all) == 0 || len(waiting) != 0 {
		t.Errorf("%d locked and %d pending, before %d and %d", len(all), len(waiting), len(locked), len(pending))
	}
}

// TestAnIndexIsMadeOnceASecond: within a second and without a new block, the index stays the same.
func TestAnIndexIsMadeOnceASecond(t *testing.T) {
	w := tinyWorld(t)
	n := w.Networks[1]
	indexes := query.NewStakerIndexes()
	of := func() *query.StakerIndex {
		index, err := indexes.Of(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return index
	}
	first := of()
	if of() != first {
		t.Error("made twice in one second")
	}
	w.Clock.Set(w.Clock.Now().Add(time.Second))
	if next := of(); next == first || next.Unix != first.Unix+1 {
		t.Errorf("at %d after %d", next.Unix, first.Unix)
	}
}

// TestValidatorSetAgreesWithTheChain: with the clock at the last block, the validators by the clock equal those at the block's height, with the same
// keys and weights. L1 validators are found by their validation ids.
func TestValidatorSetAgreesWithTheChain(t *testing.T) {
	w := tinyWorld(t)
	byNode := func(a, b sim.Validator) int { return a.Node.Compare(b.Node) }
	l1 := 0
	for _, n := range w.Networks {
		head, err := n.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		w.Clock.Set(time.Unix(head.Time, 0))
		index, err := query.NewStakerIndexes().Of(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		subnets, err := n.DB.Subnets(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		all := []ids.ID{ids.Empty}
		for i := range subnets {
			all = append(all, ids.ID(subnets[i].Hash))
		}
		for _, subnet := range all {
			want, err := n.ValidatorsAt(t.Context(), subnet, head.ID.Number())
			if err != nil {
				t.Fatal(err)
			}
			got := index.ValidatorSet(subnet)
			slices.SortFunc(want, byNode)
			slices.SortFunc(got, byNode)
			if !slices.EqualFunc(got, want, func(a, b sim.Validator) bool {
				return a.Node == b.Node && a.Weight == b.Weight && bytes.Equal(a.Key, b.Key)
			}) {
				t.Errorf("subnet %s of %s: %v, want %v", subnet, n.Name, got, want)
			}
			for _, v := range index.L1ValidatorsOf(subnet) {
				if l1++; index.L1ValidatorByID(ids.ID(v.Validation)) != v {
					t.Errorf("L1 validator %x is not found", v.Validation)
				}
			}
		}
	}
	if l1 == 0 {
		t.Error("no L1 validators")
	}
}
