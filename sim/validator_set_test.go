package sim_test

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// stakeRows holds a P-Chain's stakers and L1 validators with all their states.
type stakeRows struct {
	n       *sim.Network
	stakers []store.Staker
	l1      []store.L1ValidatorView
	states  map[store.UTXONumber][]store.L1ValidatorState
}

func readStakes(t *testing.T, n *sim.Network) *stakeRows {
	t.Helper()
	r := &stakeRows{n: n, states: map[store.UTXONumber][]store.L1ValidatorState{}}
	var err error
	r.stakers, err = n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
	ok(t, err)
	r.l1, err = n.DB.L1Validators(t.Context(), n.Chain(txs.PChain), math.MaxInt32)
	ok(t, err)
	for _, v := range r.l1 {
		r.states[v.L1Validator.ID], err = n.DB.L1ValidatorHistory(t.Context(), v.L1Validator.ID)
		ok(t, err)
	}
	return r
}

// at returns a subnet's validator set at a height, from the stakers active then, and the states of L1 validators.
func (r *stakeRows) at(subnet ids.ID, height uint64) []sim.Validator {
	all := map[ids.NodeID]*sim.Validator{}
	of := func(node ids.NodeID) *sim.Validator {
		if all[node] == nil {
			all[node] = &sim.Validator{Node: node}
		}
		return all[node]
	}
	keys := map[ids.NodeID][]byte{}
	for _, s := range r.stakers {
		if s.Began == nil || uint64(*s.Began) > height || s.Ended != nil && uint64(*s.Ended) <= height {
			continue
		}
		if ids.ID(s.Subnet) == ids.Empty && !s.Delegator {
			keys[ids.NodeID(s.Node)] = s.BLS
		}
		if ids.ID(s.Subnet) == subnet {
			of(ids.NodeID(s.Node)).Weight += uint64(s.Weight)
		}
	}
	for node, v := range all {
		v.Key = keys[node]
	}
	for _, v := range r.l1 {
		var now store.L1ValidatorState
		for _, s := range r.states[v.L1Validator.ID] {
			if s.Height <= height {
				now = s
			}
		}
		switch {
		case ids.ID(v.Subnet) != subnet || now.Weight == 0:
		case now.EndAccumulatedFee == 0:
			of(ids.EmptyNodeID).Weight += uint64(now.Weight)
		default:
			of(ids.NodeID(v.Node)).Weight += uint64(now.Weight)
			of(ids.NodeID(v.Node)).Key = v.BLS
		}
	}
	var set []sim.Validator
	for _, v := range all {
		set = append(set, *v)
	}
	slices.SortFunc(set, func(a, b sim.Validator) int { return a.Node.Compare(b.Node) })
	return set
}

// TestValidatorSetsAtHeights compares the sets of every subnet at many heights with the rows, and the canonical sets with the sum of keys.
func TestValidatorSetsAtHeights(t *testing.T) {
	w := copied(t)
	signing, silent, inactive := 0, 0, 0
	for _, n := range w.Networks {
		r := readStakes(t, n)
		head, err := n.PHeight(t.Context())
		ok(t, err)
		subnets, err := n.DB.Subnets(t.Context(), n.Chain(txs.PChain))
		ok(t, err)
		all := []ids.ID{ids.Empty, ids.GenerateTestID()}
		for _, s := range subnets {
			all = append(all, ids.ID(s.Hash))
		}
		secrets, err := n.DB.NodeSecrets(t.Context(), n.Rules.NetworkID)
		ok(t, err)
		connected := map[ids.NodeID]bool{}
		for _, s := range secrets {
			connected[ids.NodeID(s.Node)] = s.Connected
		}
		keys, err := n.NodeKeys(t.Context())
		ok(t, err)
		for _, subnet := range all {
			for height := head; height > head/2; height -= min(height, 1+head/8) {
				got, err := n.ValidatorsAt(t.Context(), subnet, height)
				ok(t, err)
				slices.SortFunc(got, func(a, b sim.Validator) int { return a.Node.Compare(b.Node) })
				want := r.at(subnet, height)
				if !slices.EqualFunc(got, want, func(a, b sim.Validator) bool {
					return a.Node == b.Node && a.Weight == b.Weight && bytes.Equal(a.Key, b.Key)
				}) {
					t.Fatalf("%s: subnet %s at %d has %v, want %v", n.Name, subnet, height, got, want)
				}
				set, err := n.CanonicalValidatorSet(t.Context(), subnet, height)
				ok(t, err)
				if again, err := n.CanonicalValidatorSet(t.Context(), subnet, height); err != nil || again != set {
					t.Fatalf("the set is read twice: %v", err)
				}
				weights, total := map[string]uint64{}, uint64(0)
				for _, v := range want {
					if total += v.Weight; v.Key != nil {
						weights[string(v.Key)] += v.Weight
					} else if v.Node == ids.EmptyNodeID {
						inactive++
					}
				}
				if set.TotalWeight != total || len(set.Validators) != len(weights) {
					t.Fatalf("the canonical set of %s at %d: weight %d of %d keys, want %d of %d", subnet, height, set.TotalWeight, len(set.Validators), total, len(weights))
				}
				for _, v := range set.Validators {
					key := v.PublicKey.Compressed()
					if weights[string(key[:])] != v.Weight {
						t.Fatalf("key %x has weight %d, want %d", key, v.Weight, weights[string(key[:])])
					}
					one := slices.ContainsFunc(v.NodeIDs, func(node ids.NodeID) bool { return connected[node] })
					secret := keys.Secret(v)
					if (secret != nil) != one || one && secret.PublicKey().Compressed() != key {
						t.Fatalf("key %x signs %t, a node is connected %t", key, secret != nil, one)
					}
					if secret == nil {
						silent++
						continue
					}
					signing++
					n.Trouble.Set(sim.Troubles{NotSigning: v.NodeIDs})
					if keys.Secret(v) != nil {
						t.Fatal("a node in trouble signs")
					}
					n.Trouble.Set(sim.Troubles{})
				}
			}
		}
		stranger := warp.NewSecretKey([32]byte{7}).PublicKey()
		compressed := stranger.Compressed()
		if parsed, err := keys.PublicKey(compressed[:]); err != nil || parsed.Compressed() != compressed || keys.Secret(&warp.CanonicalValidator{PublicKey: parsed}) != nil {
			t.Errorf("a stranger's key: %v", err)
		}
	}
	if signing == 0 || silent == 0 || inactive == 0 {
		t.Errorf("%d keys sign, %d do not, %d times validators were inactive", signing, silent, inactive)
	}
}

// TestWhoIsWhere looks up subnets, blockchains and nodes on both networks.
func TestWhoIsWhere(t *testing.T) {
	w := copied(t)
	for i, n := range w.Networks {
		other := w.Networks[1-i]
		for _, chain := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			if subnet, err := n.SubnetOf(t.Context(), n.Rules.BlockchainID(chain)); err != nil || subnet != ids.Empty {
				t.Errorf("the %s-Chain is of subnet %s: %v", chain, subnet, err)
			}
		}
		chains, err := n.DB.Blockchains(t.Context(), n.Chain(txs.PChain))
		ok(t, err)
		for _, c := range chains {
			subnet, err := n.SubnetOf(t.Context(), ids.ID(c.Hash))
			if err != nil || !bytes.Equal(subnet[:], c.Subnet) {
				t.Errorf("blockchain %x is of subnet %s: %v", c.Hash, subnet, err)
			}
			if _, err := other.SubnetOf(t.Context(), ids.ID(c.Hash)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("blockchain %x is on %s, too: %v", c.Hash, other.Name, err)
			}
			for network, want := range map[*sim.Network]bool{n: true, other: false} {
				if has, err := network.HasSubnet(t.Context(), subnet); err != nil || has != want {
					t.Errorf("%s has subnet %s: %t, %v", network.Name, subnet, has, err)
				}
			}
		}
		if _, err := n.SubnetOf(t.Context(), ids.GenerateTestID()); !errors.Is(err, store.ErrNotFound) || len(chains) == 0 {
			t.Errorf("a blockchain that does not exist: %v", err)
		}
		if has, err := n.HasSubnet(t.Context(), ids.Empty); err != nil || !has {
			t.Errorf("%s has no primary network: %v", n.Name, err)
		}
		r := readStakes(t, n)
		nodes := map[string]bool{"12345678901234567890": false}
		for _, s := range r.stakers {
			nodes[string(s.Node)] = true
		}
		for _, v := range r.l1 {
			nodes[string(v.Node)] = true
		}
		for node, want := range nodes {
			if has, err := n.HasNode(t.Context(), []byte(node)); err != nil || has != want {
				t.Errorf("%s has node %x: %t, %v", n.Name, node, has, err)
			}
		}
		id := n.Rules.XChainID
		n.Trouble.Set(sim.Troubles{NotBootstrapped: []ids.ID{id}})
		if n.Trouble.Bootstrapped(id) || !n.Trouble.Bootstrapped(n.Rules.CChainID) {
			t.Error("another chain is not bootstrapped")
		}
	}
}

// TestStatusByTheClock checks stakers' status a second before, at, and after their start and end.
func TestStatusByTheClock(t *testing.T) {
	w := copied(t)
	n, now := w.Networks[0], w.Clock.Unix()
	head, err := n.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
	ok(t, err)
	for _, c := range []struct {
		status     int
		start, end int64
		want       int
	}{
		{store.StakerPending, now + 1, now + 9, store.StakerPending}, {store.StakerPending, now, now + 9, store.StakerActive}, {store.StakerActive, now - 9, now + 1, store.StakerActive},
		{store.StakerActive, now - 9, now, store.StakerCompleted}, {store.StakerPending, now - 9, now - 1, store.StakerCompleted},
		{store.StakerRemoved, now - 9, now + 9, store.StakerRemoved}, {store.StakerCompleted, now - 9, now + 9, store.StakerCompleted}, {store.StakerRemoved, now - 9, now, store.StakerRemoved},
	} {
		s := &store.Staker{Status: c.status, Start: c.start, End: c.end, Subnet: make([]byte, 32), Weight: 2000e9, PotentialReward: 5}
		if got := n.StatusAt(s); got != c.want {
			t.Errorf("%+v is %d, want %d", c, got, c.want)
		}
		want := store.Amount(5)
		if c.status == store.StakerPending {
			want = store.Amount(n.Rules.StakingAt(uint64(c.start)).Reward(uint64(c.end-c.start), 2000e9, uint64(head.Supply)))
		}
		if got := n.PotentialReward(s, head); got != want {
			t.Errorf("%+v may earn %d, want %d", c, got, want)
		}
		s.Subnet[3] = 1
		if got := n.PotentialReward(s, head); got != 5 {
			t.Errorf("on a subnet one may earn %d", got)
		}
	}
}

// dueByRows returns the next second in which a P-Chain makes a block by itself: a staker begins or ends, or a balance runs out.
func (r *stakeRows) dueByRows(t *testing.T) int64 {
	t.Helper()
	next := int64(math.MaxInt64)
	for _, s := range r.stakers {
		switch s.Status {
		case store.StakerPending:
			next = min(next, s.Start)
		case store.StakerActive:
			next = min(next, s.End)
		}
	}
	head, err := r.n.DB.PrimaryHead(t.Context(), r.n.Chain(txs.PChain))
	ok(t, err)
	least := store.Amount(math.MaxUint64)
	for _, v := range r.l1 {
		if states := r.states[v.L1Validator.ID]; states[len(states)-1].EndAccumulatedFee > 0 && states[len(states)-1].Weight > 0 {
			least = min(least, states[len(states)-1].EndAccumulatedFee)
		}
	}
	// By bisection, the first second that the balance no longer pays for.
	low, high := head.Time, next
	for low < high {
		if middle := low + (high-low)/2; r.n.AccruedAt(head, middle+1) > least {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// TestWhatFallsDue moves the clock from one due block to the next, and to a second before each: blocks come exactly then, and in the end no staker is
// left whose time is over.
func TestWhatFallsDue(t *testing.T) {
	w := copied(t)
	for step := range 25 {
		var by []int64
		for _, n := range w.Networks {
			by = append(by, readStakes(t, n).dueByRows(t))
		}
		want := slices.Min(by)
		if step%3 == 0 { // a copy has no state in memory
			c, err := w.Copy(t.Context())
			ok(t, err)
			if due, err := c.NextDue(t.Context()); err != nil || due.Unix() != want {
				t.Fatalf("by the rows the next block is due at %d, want %d: %v", due.Unix(), want, err)
			}
			ok(t, c.Close())
		}
		if due, err := w.NextDue(t.Context()); err != nil || due.Unix() != want {
			t.Fatalf("the next block is due at %d, want %d: %v", due.Unix(), want, err)
		}
		heights := func() (all []uint64) {
			for _, n := range w.Networks {
				h, err := n.PHeight(t.Context())
				ok(t, err)
				all = append(all, h)
			}
			return all
		}
		before := heights()
		ok(t, w.Advance(t.Context(), time.Unix(want, 0).Add(-time.Millisecond)))
		if !slices.Equal(heights(), before) {
			t.Fatalf("a block comes before it is due at %d", want)
		}
		ok(t, w.Advance(t.Context(), time.Unix(want, 0)))
		for i, after := range heights() {
			if (after > before[i]) != (by[i] == want) {
				t.Fatalf("%s went from %d to %d, its block is due at %d and it is %d", w.Networks[i].Name, before[i], after, by[i], want)
			}
		}
		if w.Clock.Unix() != want {
			t.Fatalf("the clock shows %d, want %d", w.Clock.Unix(), want)
		}
	}
}

// TestBoundsOfTheClock moves it to the last allowed millisecond and beyond.
func TestBoundsOfTheClock(t *testing.T) {
	w := copied(t)
	end := time.Unix(w.Meta.Until, 0).Add(sim.Furthest)
	ok(t, w.CanAdvance(end))
	ok(t, w.CanAdvance(w.Clock.Now()))
	if err := w.CanAdvance(end.Add(time.Millisecond)); !errors.Is(err, sim.ErrFar) {
		t.Errorf("past the end: %v", err)
	}
	if err := w.CanAdvance(w.Clock.Now().Add(-time.Millisecond)); !errors.Is(err, sim.ErrBackwards) {
		t.Errorf("back: %v", err)
	}
	w.Clock.Set(end.Add(time.Hour))
	if err := cmp.Or(w.CanStand(end.Add(time.Hour)), w.CanStand(end)); err != nil {
		t.Errorf("where it stands already: %v", err)
	}
	if err := w.CanStand(end.Add(time.Hour + time.Millisecond)); !errors.Is(err, sim.ErrFar) {
		t.Errorf("further past the end: %v", err)
	}
}
