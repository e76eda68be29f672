package query_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// stakersByRow recomputes the contents of an index from the rows.
type stakersByRow struct {
	n          *sim.Network
	now        int64
	validators map[store.Position]*store.Staker
	delegators map[store.Position]*store.Staker
	of         map[store.Position]*store.Staker // validators by their delegators
}

func stakerRows(t *testing.T, n *sim.Network) *stakersByRow {
	t.Helper()
	chain := n.Chain(txs.PChain)
	rows, err := n.DB.Stakers(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	head, err := n.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	r := &stakersByRow{n, n.Clock.Unix(), map[store.Position]*store.Staker{}, map[store.Position]*store.Staker{}, map[store.Position]*store.Staker{}}
	for i := range rows {
		s := &rows[i]
		if s.Status == store.StakerPending && query.OnPrimaryNetwork(s.Subnet) {
			s.PotentialReward = store.Amount(n.Rules.StakingAt(uint64(s.Start)).Reward(uint64(s.End-s.Start), uint64(s.Weight), uint64(head.Supply)))
		}
		if s.Delegator {
			r.delegators[s.ID] = s
		} else {
			r.validators[s.ID] = s
		}
	}
	for _, d := range r.delegators {
		for _, v := range r.validators {
			if query.OnPrimaryNetwork(v.Subnet) && bytes.Equal(v.Node, d.Node) && v.Start <= d.Start && d.End <= v.End {
				r.of[d.ID] = v
			}
		}
	}
	return r
}

// status returns a staker's status; see statusBySpec.
func (r *stakersByRow) status(s *store.Staker) int { return statusBySpec(s, r.now) }

// fee returns a validator's share of a delegator's reward, rounded up.
func (r *stakersByRow) fee(d *store.Staker) uint64 {
	v := r.of[d.ID]
	if v == nil {
		return 0
	}
	reward, keep := uint64(d.PotentialReward), uint64(1_000_000-v.Shares)
	return reward - (reward/1_000_000*keep + reward%1_000_000*keep/1_000_000)
}

// TestIndexOfStakers compares validators and delegators with the rows at many times, and pages through every list.
func TestIndexOfStakers(t *testing.T) {
	w := tinyWorld(t)
	indexes := query.NewStakerIndexes()
	days := int64(24 * 60 * 60)
	kinds := map[string]int{}
	for _, n := range w.Networks {
		nodes, err := n.DB.Nodes(t.Context(), n.Rules.NetworkID)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []int64{0, 3 * days, 20 * days, 100 * days} {
			w.Clock.Set(time.Unix(w.Meta.Until+after, 0))
			r := stakerRows(t, n)
			x, err := indexes.Of(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			r.checkValidators(t, x, nodes)
			r.checkDelegators(t, x)
			r.checkOrders(t, x)
			r.checkRewards(t, x, kinds)
		}
		w.Clock.Set(time.Unix(w.Meta.Until, 0))
	}
	for _, kind := range []string{"VALIDATOR", "VALIDATOR_FEE", "DELEGATOR"} {
		if kinds[fmt.Sprint(kind, store.StakerActive)] == 0 || kinds[fmt.Sprint(kind, store.StakerCompleted)] == 0 {
			t.Errorf("rewards of kinds %v", kinds)
		}
	}
}

func (r *stakersByRow) checkValidators(t *testing.T, x *query.StakerIndex, nodes []store.Node) {
	t.Helper()
	if len(x.Validators) != len(r.validators) {
		t.Fatalf("%d validators, want %d", len(x.Validators), len(r.validators))
	}
	totals := map[ids.ID]uint64{}
	for _, v := range x.Validators {
		row := r.validators[v.ID]
		var delegated, fees uint64
		count := 0
		for _, d := range r.delegators {
			active := r.status(row) == store.StakerActive && r.status(d) == store.StakerActive
			if r.of[d.ID] == row && (active || r.status(row) == store.StakerCompleted) {
				delegated, fees, count = delegated+uint64(d.Weight), fees+r.fee(d), count+1
			}
		}
		if v.StatusNow != r.status(row) || v.Delegated != delegated || v.Fees != fees || v.DelegatorCount != count || v.NodeID != ids.NodeID(row.Node).String() || v.PotentialReward != row.PotentialReward {
			t.Fatalf("validator %x at %d: %+v, want %d delegated by %d with fees of %d", row.Tx, r.now, v, delegated, count, fees)
		}
		if r.status(row) == store.StakerActive {
			totals[ids.ID(row.Subnet)] += uint64(row.Weight) + delegated
		}
		i := slices.IndexFunc(nodes, func(o store.Node) bool { return bytes.Equal(o.Node, row.Node) })
		var node store.Node
		if i >= 0 {
			node = nodes[i]
		}
		if (v.NodeInfo != nil) != (i >= 0) || v.NodeInfo != nil && !bytes.Equal(v.NodeInfo.Node, row.Node) || !bytes.Equal(x.Node(ids.NodeID(row.Node)).Node, node.Node) {
			t.Fatalf("validator %x: node %v", row.Tx, v.NodeInfo)
		}
		capacity, fee, uptime, remaining := int64(-1), int64(-1), int64(-1), int64(-1)
		primary := query.OnPrimaryNetwork(row.Subnet)
		if primary {
			fee = int64(row.Shares)
		}
		switch v.StatusNow {
		case store.StakerActive:
			if primary {
				most := min(5*uint64(row.Weight), uint64(r.n.Rules.BaseStaking.MaxValidatorStake))
				capacity = max(int64(most)-int64(row.Weight)-int64(delegated), 0)
			}
			if i >= 0 {
				uptime = int64(node.Uptime)
			}
			remaining = row.End - r.now
		case store.StakerPending:
			remaining = row.End - r.now
		}
		if v.Capacity(r.n) != capacity || v.Fee() != fee || v.Uptime() != uptime || v.Remaining(r.now) != remaining {
			t.Fatalf("validator %x at %d: capacity %d, fee %d, uptime %d, remaining %d; want %d, %d, %d, %d", row.Tx, r.now, v.Capacity(r.n), v.Fee(), v.Uptime(), v.Remaining(r.now), capacity, fee, uptime, remaining)
		}
		r.checkRemoval(t, v)
	}
	if node := x.Node(ids.GenerateTestNodeID()); node.Uptime != sim.AlwaysUp || !node.Connected {
		t.Errorf("a node that a client made up is %+v", node)
	}
	for _, v := range x.Validators {
		if v.SubnetStake != totals[ids.ID(v.Subnet)] {
			t.Fatalf("subnet %x has %d at stake, want %d", v.Subnet, v.SubnetStake, totals[ids.ID(v.Subnet)])
		}
	}
	if x.Stake != totals[ids.Empty] {
		t.Fatalf("%d at stake, want %d", x.Stake, totals[ids.Empty])
	}
}

// checkRemoval finds the transaction that removed a subnet's validator.
func (r *stakersByRow) checkRemoval(t *testing.T, v *query.ValidatorEntry) {
	t.Helper()
	row := r.validators[v.ID]
	if v.StatusNow != store.StakerRemoved {
		if v.EndedAt != 0 || !bytes.Equal(v.RewardTx, row.RewardTx) {
			t.Fatalf("validator %x of status %d ended at %d", row.Tx, v.StatusNow, v.EndedAt)
		}
		return
	}
	chain := r.n.Chain(txs.PChain)
	block, err := r.n.DB.PrimaryBlock(t.Context(), chain, uint64(*row.Ended))
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.n.DB.PrimaryTxs(t.Context(), block.ID)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, one := range all {
		tx, err := txs.ParseTx(txs.PChain, one.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := tx.Unsigned.(*txs.RemoveSubnetValidatorTx); ok && u.NodeID == ids.NodeID(row.Node) && u.SubnetID == ids.ID(row.Subnet) {
			want = one.Hash
		}
	}
	if v.EndedAt != block.Time || !bytes.Equal(v.RewardTx, want) {
		t.Fatalf("validator %x was removed at %d by %x, want %d by %x", row.Tx, v.EndedAt, v.RewardTx, block.Time, want)
	}
}

func (r *stakersByRow) checkDelegators(t *testing.T, x *query.StakerIndex) {
	t.Helper()
	if len(x.Delegators) != len(r.delegators) {
		t.Fatalf("%d delegators, want %d", len(x.Delegators), len(r.delegators))
	}
	seen := map[*query.DelegatorEntry]bool{}
	for _, d := range x.Delegators {
		row, v := r.delegators[d.ID], r.of[d.ID]
		if d.StatusNow != r.status(row) || (d.Validator != nil) != (v != nil) || v != nil && (d.Validator.ID != v.ID || d.ValidatorShares != v.Shares) || d.NetReward() != uint64(row.PotentialReward)-r.fee(row) || seen[d] {
			t.Fatalf("delegator %x at %d: %+v", row.Tx, r.now, d)
		}
		seen[d] = true
	}
	for _, subnet := range []ids.ID{ids.Empty, ids.GenerateTestID()} {
		for status := range 5 {
			var want []store.Position
			for _, d := range r.delegators {
				if r.status(d) == status && ids.ID(d.Subnet) == subnet {
					want = append(want, d.ID)
				}
			}
			slices.SortFunc(want, func(a, b store.Position) int { return r.leaving(r.delegators[a], r.delegators[b]) })
			var got []store.Position
			for _, d := range x.DelegatorsOf(subnet, status) {
				got = append(got, d.ID)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("delegators of %s with status %d: %d, want %d", subnet, status, len(got), len(want))
			}
		}
	}
	var locked, pending []store.Position
	all := map[store.Position]*store.Staker{}
	for _, rows := range []map[store.Position]*store.Staker{r.validators, r.delegators} {
		for id, s := range rows {
			if all[id] = s; !query.OnPrimaryNetwork(s.Subnet) {
				continue
			}
			if r.status(s) == store.StakerPending {
				pending = append(pending, id)
			} else if s.Ended == nil {
				locked = append(locked, id)
			}
		}
	}
	haveLocked, havePending := x.Staked()
	for i, want := range [][]store.Position{locked, pending} {
		slices.SortFunc(want, func(a, b store.Position) int { return r.leaving(all[a], all[b]) })
		var got []store.Position
		for _, s := range [][]*store.Staker{haveLocked, havePending}[i] {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d stakes, want %d, or in another order", len(got), len(want))
		}
	}
}

// leaving compares stakers like avalanchego's state.Staker.Less.
func (r *stakersByRow) leaving(a, b *store.Staker) int {
	priority := func(s *store.Staker) int {
		if s.Delegator {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(priority(a), priority(b)), bytes.Compare(a.Tx, b.Tx))
}

// checkOrders pages through the lists of validators and delegators.
func (r *stakersByRow) checkOrders(t *testing.T, x *query.StakerIndex) {
	t.Helper()
	keys := map[string]func(v *query.ValidatorEntry) int64{
		"blockIndex":         func(v *query.ValidatorEntry) int64 { return int64(v.ID.Number()) },
		"delegationCapacity": func(v *query.ValidatorEntry) int64 { return v.Capacity(r.n) },
		"timeRemaining":      func(v *query.ValidatorEntry) int64 { return v.End },
		"delegationFee":      func(v *query.ValidatorEntry) int64 { return v.Fee() },
		"uptimePerformance":  func(v *query.ValidatorEntry) int64 { return v.Uptime() },
	}
	for name, key := range keys {
		checkPages(t, x.Order(name), x.Validators, func(a, b *query.ValidatorEntry) int {
			return cmp.Or(cmp.Compare(key(b), key(a)), bytes.Compare(b.Tx, a.Tx), cmp.Compare(b.ID, a.ID))
		})
	}
	checkPages(t, x.Delegated, x.Delegators, func(a, b *query.DelegatorEntry) int {
		return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), bytes.Compare(b.Tx, a.Tx))
	})
	for _, ascending := range []bool{false, true} { // after a delegator that never existed there is nobody, and before it are all
		q := query.KeysetQuery{Resumed: true, After: math.MaxUint64, Size: math.MaxInt, Ascending: ascending}
		page, _ := x.Delegated.Page(q, func(*query.DelegatorEntry) bool { return true })
		if ascending && len(page) != len(x.Delegators) || !ascending && len(page) != 0 {
			t.Fatalf("%d delegators", len(page))
		}
	}
}

// paidOfCycle returns what the end of a cycle paid: the share that is not restaked, or everything if it was the last.
func (r *stakersByRow) paidOfCycle(v *store.Staker) (validation, fees uint64) {
	fees = uint64(v.DelegateeReward)
	if v.Rewarded {
		validation = uint64(v.PotentialReward)
	}
	for _, other := range r.validators {
		if bytes.Equal(other.Tx, v.Tx) && other.ID > v.ID {
			keep := 1_000_000 - uint64(v.AutoCompoundRewardShares)
			return validation * keep / 1_000_000, fees * keep / 1_000_000
		}
	}
	return validation + uint64(v.AccruedValidationRewards), fees + uint64(v.AccruedDelegateeRewards)
}

// checkPages reads a list in pages, both ways.
func checkPages[T any](t *testing.T, k query.Keyset[T], items []*T, order func(a, b *T) int) {
	t.Helper()
	for _, ascending := range []bool{false, true} {
		for _, size := range []int{1, 7, math.MaxInt} {
			want := slices.SortedFunc(slices.Values(items), order)
			if ascending {
				slices.Reverse(want)
			}
			q := query.KeysetQuery{Size: size, Ascending: ascending}
			for more := len(want) > 0; more; q.Resumed = true {
				var page []*T
				page, more = k.Page(q, func(*T) bool { return true })
				if len(page) == 0 || len(page) > len(want) || !slices.Equal(page, want[:len(page)]) || more != (len(page) < len(want)) {
					t.Fatalf("%d items in another order than they should, more %t", len(page), more)
				}
				q.After, want = k.Cursor(page[len(page)-1]), want[len(page):]
			}
		}
	}
}

// checkRewards recomputes paid and expected rewards.
func (r *stakersByRow) checkRewards(t *testing.T, x *query.StakerIndex, kinds map[string]int) {
	t.Helper()
	type reward struct {
		staker store.Position
		kind   string
		part   int
		amount uint64
		owner  string
	}
	var want []reward
	var paid uint64
	for _, v := range r.validators {
		status := r.status(v)
		if !query.OnPrimaryNetwork(v.Subnet) || status == store.StakerCompleted && v.RewardTx == nil {
			continue
		}
		if v.AutoRenewed() && status == store.StakerCompleted {
			validation, fees := r.paidOfCycle(v)
			for _, one := range []reward{{v.ID, "VALIDATOR", 0, validation, string(v.Owner)}, {v.ID, "VALIDATOR_FEE", min(1, int(validation)), fees, string(v.FeeOwner)}} {
				if one.amount > 0 {
					want = append(want, one)
				}
			}
			if v.Rewarded {
				paid += uint64(v.PotentialReward)
			}
			paid += uint64(v.DelegateeReward)
			continue
		}
		earns := v.PotentialReward > 0 && (status != store.StakerCompleted || v.Rewarded)
		if earns {
			want = append(want, reward{v.ID, "VALIDATOR", 0, uint64(v.PotentialReward), string(v.Owner)})
			if status == store.StakerCompleted {
				paid += uint64(v.PotentialReward)
			}
		}
		if status == store.StakerCompleted && v.DelegateeReward > 0 {
			part := 0
			if earns {
				part = 1
			}
			want = append(want, reward{v.ID, "VALIDATOR_FEE", part, uint64(v.DelegateeReward), string(v.FeeOwner)})
			paid += uint64(v.DelegateeReward)
		}
	}
	for _, d := range r.delegators {
		status, fee := r.status(d), r.fee(d)
		if rest := uint64(d.PotentialReward) - fee; rest > 0 && (status != store.StakerCompleted || d.Rewarded) {
			want = append(want, reward{d.ID, "DELEGATOR", 0, rest, string(d.Owner)})
			if status == store.StakerCompleted {
				paid += rest
			}
		}
		if v := r.of[d.ID]; v != nil && status == store.StakerActive && fee > 0 {
			want = append(want, reward{d.ID, "VALIDATOR_FEE", 1, fee, string(v.FeeOwner)})
		}
	}
	slices.SortFunc(want, func(a, b reward) int { return cmp.Or(cmp.Compare(b.staker, a.staker), cmp.Compare(a.part, b.part)) })
	var entries []*query.RewardEntry
	k := x.Rewards()
	entries, _ = k.Page(query.KeysetQuery{Size: math.MaxInt}, func(*query.RewardEntry) bool { return true })
	var got []reward
	for _, e := range entries {
		got = append(got, reward{e.Staker.ID, e.Kind, e.Part, e.Amount, string(e.Owner)})
		kinds[fmt.Sprint(e.Kind, e.Status)]++
	}
	if !slices.Equal(got, want) || x.Granted() != paid {
		t.Fatalf("%s at %d: %d rewards, want %d, or others; paid %d, want %d", r.n.Name, r.now, len(got), len(want), x.Granted(), paid)
	}
	checkPages(t, k, entries, func(a, b *query.RewardEntry) int {
		return cmp.Or(cmp.Compare(b.Staker.ID, a.Staker.ID), cmp.Compare(a.Part, b.Part))
	})
}
