package store_test

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// TestStakersAreFoundInEveryWay compares every list of stakers with a scan of the whole chain.
func TestStakersAreFoundInEveryWay(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	renewed := 0
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		all := ok[[]store.Staker](t)(db.Stakers(ctx, chain))
		var nodes, subnets, txs [][]byte
		staked := map[string]bool{}
		first := map[string]store.Position{}
		for i := range all {
			s := &all[i]
			nodes, subnets, txs = append(nodes, s.Node), append(subnets, s.Subnet), append(txs, s.Tx)
			if _, seen := first[string(s.Tx)]; !seen {
				first[string(s.Tx)] = s.ID
			}
			if s.Status <= store.StakerActive {
				staked[string(s.Subnet)] = true
			}
			if s.AutoRenewed() {
				renewed++
			}
			equal(t, "StakingTx", ok[store.Position](t)(db.StakingTx(ctx, s)), first[string(s.Tx)])
		}
		for i := range all {
			node, subnet, tx := nodes[i], subnets[i], txs[i]
			ofNode := where(all, func(s *store.Staker) bool { return bytes.Equal(s.Node, node) })
			equal(t, "StakersOfNode", ok[[]store.Staker](t)(db.StakersOfNode(ctx, chain, node)), ofNode)
			equal(t, "FirstTxOfNode", ok[[]byte](t)(db.FirstTxOfNode(ctx, chain, node)), ofNode[0].Tx)
			equal(t, "StakersOfSubnet", ok[[]store.Staker](t)(db.StakersOfSubnet(ctx, chain, subnet)), where(all, func(s *store.Staker) bool { return bytes.Equal(s.Subnet, subnet) }))
			cycles := where(all, func(s *store.Staker) bool { return bytes.Equal(s.Tx, tx) })
			equal(t, "CyclesOfTx", ok[[]store.Staker](t)(db.CyclesOfTx(ctx, tx)), cycles)
			equal(t, "StakerOfTx", ok[*store.Staker](t)(db.StakerOfTx(ctx, tx)), cycles[len(cycles)-1])
			if all[i].RewardTx != nil {
				equal(t, "RewardedBy", ok[*store.Staker](t)(db.RewardedBy(ctx, tx, all[i].RewardTx)), all[i])
			}
		}
		now := w.Clock.Unix()
		for _, unix := range []int64{now, all[len(all)/2].End, all[len(all)/2].End - 1, all[len(all)/3].Start, all[len(all)/3].Start + 1} {
			validates := func(s *store.Staker) bool { return !s.Delegator && s.Start < unix && unix < s.End }
			signs := func(s *store.Staker) bool { return validates(s) && s.BLS != nil && ids.ID(s.Subnet) == ids.Empty }
			equal(t, "ValidatorsAt", ok[[]store.Staker](t)(db.ValidatorsAt(ctx, chain, unix)),
				parts(where(all, signs), func(s *store.Staker) store.Staker { return store.Staker{Node: s.Node, BLS: s.BLS, Proof: s.Proof} }))
			equal(t, "SubnetValidatorsAt", ok[[]store.Staker](t)(db.SubnetValidatorsAt(ctx, chain, unix)), parts(where(all, func(s *store.Staker) bool {
				return signs(s) && slices.ContainsFunc(all, func(o store.Staker) bool {
					return validates(&o) && ids.ID(o.Subnet) != ids.Empty && bytes.Equal(o.Node, s.Node)
				})
			}), func(s *store.Staker) store.Staker {
				return store.Staker{ID: s.ID, Node: s.Node, BLS: s.BLS, Proof: s.Proof}
			}))
			for subnet := range staked {
				due := ok[[]store.Staker](t)(db.DueStakers(ctx, chain, []byte(subnet), unix))
				slices.SortFunc(due, func(a, b store.Staker) int { return cmp.Compare(a.ID, b.ID) })
				equal(t, "DueStakers", due, where(all, func(s *store.Staker) bool {
					return string(s.Subnet) == subnet && (s.Status == store.StakerPending || s.Status == store.StakerActive && s.End <= unix)
				}))
			}
			for _, limit := range []int{1, 3, 1000} {
				var want []store.StakerTimes
				for subnet := range staked {
					active := where(all, func(s *store.Staker) bool {
						return string(s.Subnet) == subnet && s.Status == store.StakerActive && s.End > unix
					})
					slices.SortFunc(active, func(a, b store.Staker) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID)) })
					pending := where(all, func(s *store.Staker) bool { return string(s.Subnet) == subnet && s.Status == store.StakerPending })
					for _, s := range append(pending, active[:min(limit, len(active))]...) {
						want = append(want, store.StakerTimes{ID: s.ID, Tx: s.Tx, Node: s.Node, Delegator: s.Delegator, Start: s.Start, End: s.End, Status: s.Status})
					}
				}
				slices.SortFunc(want, func(a, b store.StakerTimes) int { return cmp.Compare(a.ID, b.ID) })
				equal(t, "NextStakers", ok[[]store.StakerTimes](t)(db.NextStakers(ctx, chain, unix, limit)), want)
			}
		}
		head := ok[*store.PrimaryBlock](t)(db.PrimaryHead(ctx, chain)).ID.Number()
		for height := uint64(0); height <= head; height += 1 + head/9 {
			for subnet := range staked {
				var want []store.Staked
				for _, s := range all {
					if string(s.Subnet) == subnet && s.Began != nil && *s.Began <= int64(height) && (s.Ended == nil || *s.Ended > int64(height)) {
						want = append(want, store.Staked{Node: s.Node, BLS: s.BLS, Weight: s.Weight})
					}
				}
				equal(t, "StakedAt", ok[[]store.Staked](t)(db.StakedAt(ctx, chain, []byte(subnet), height)), want)
			}
		}
		terms := func(s *store.Staker) store.Staker {
			return store.Staker{ID: first[string(s.Tx)], Subnet: s.Subnet, Start: s.Start, End: s.End, Status: s.Status}
		}
		equal(t, "StakerTerms", ok[[]store.Staker](t)(db.StakerTerms(ctx, store.First(chain), store.Last(chain))),
			parts(where(all, func(s *store.Staker) bool { return !s.AutoRenewed() }), terms))
		have := ok[[]store.Staker](t)(db.RenewedStakerTerms(ctx, chain))
		want := parts(where(all, func(s *store.Staker) bool { return s.AutoRenewed() && s.Status <= store.StakerActive }), terms)
		byID := func(a, b store.Staker) int { return cmp.Compare(a.ID, b.ID) }
		slices.SortFunc(have, byID)
		slices.SortFunc(want, byID)
		equal(t, "RenewedStakerTerms", have, want)
	}
	if renewed == 0 {
		t.Error("no validator renews itself")
	}
}

// parts reduces stakers to the columns that a list reads.
func parts(all []store.Staker, part func(*store.Staker) store.Staker) (some []store.Staker) {
	for i := range all {
		some = append(some, part(&all[i]))
	}
	return some
}

// TestL1ValidatorsAreFoundInEveryWay compares L1 validators at every height with their histories.
func TestL1ValidatorsAreFoundInEveryWay(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		every := ok[[]store.L1ValidatorView](t)(db.L1Validators(ctx, chain, store.MaxNumber))
		if len(every) < 4 {
			t.Fatalf("only %d L1 validators", len(every))
		}
		equal(t, "L1ValidatorCount", ok[int](t)(db.L1ValidatorCount(ctx, chain)), len(every))
		states := map[store.UTXONumber][]store.L1ValidatorState{}
		heights := map[uint64]bool{}
		var ends []store.Amount
		for _, v := range every {
			states[v.ID] = ok[[]store.L1ValidatorState](t)(db.L1ValidatorHistory(ctx, v.ID))
			for _, s := range states[v.ID] {
				heights[s.Height], heights[max(s.Height, 1)-1] = true, true
			}
			ends = append(ends, v.EndAccumulatedFee)
		}
		for height := range heights {
			var want []store.L1ValidatorView
			for _, v := range every {
				known := where(states[v.ID], func(s *store.L1ValidatorState) bool { return s.Height <= height })
				if len(known) > 0 {
					want = append(want, store.L1ValidatorView{L1Validator: v.L1Validator, L1ValidatorState: known[len(known)-1]})
				}
			}
			equal(t, "L1Validators", ok[[]store.L1ValidatorView](t)(db.L1Validators(ctx, chain, height)), want)
			for _, v := range every {
				equal(t, "L1ValidatorsOfSubnet", ok[[]store.L1ValidatorView](t)(db.L1ValidatorsOfSubnet(ctx, v.Subnet, height)),
					where(want, func(o *store.L1ValidatorView) bool { return bytes.Equal(o.Subnet, v.Subnet) }))
				equal(t, "L1ValidatorsOfNode", ok[[]store.L1ValidatorView](t)(db.L1ValidatorsOfNode(ctx, v.Node, height)),
					where(want, func(o *store.L1ValidatorView) bool { return bytes.Equal(o.Node, v.Node) }))
				one := where(want, func(o *store.L1ValidatorView) bool { return bytes.Equal(o.Validation, v.Validation) })
				have, err := db.L1Validator(ctx, v.Validation, height)
				if len(one) == 1 {
					equal(t, "L1Validator", have, one[0])
				} else if err != store.ErrNotFound {
					t.Errorf("height %d: %v", height, err)
				}
			}
		}
		slices.Sort(ends)
		for _, from := range []store.Amount{0, ends[len(ends)/2], ends[len(ends)-1] - 1} {
			for _, to := range []store.Amount{from, from + 1, ends[len(ends)-1] - 1, ends[len(ends)-1]} {
				have := ok[[]store.L1ValidatorView](t)(db.L1ValidatorsOutOfBalance(ctx, chain, from, to))
				slices.SortFunc(have, func(a, b store.L1ValidatorView) int { return cmp.Compare(a.ID, b.ID) })
				equal(t, "L1ValidatorsOutOfBalance", have, where(every, func(v *store.L1ValidatorView) bool { return from < v.EndAccumulatedFee && v.EndAccumulatedFee <= to }))
			}
		}
	}
}

// TestBalanceOfAnL1Validator: its deposit lies between the fee accrued so far and the fee at which it runs out.
func TestBalanceOfAnL1Validator(t *testing.T) {
	for _, c := range []struct{ weight, end, accrued, want uint64 }{{1, 100, 40, 60}, {1, 100, 100, 0}, {1, 100, 101, 0}, {0, 100, 40, 0}, {1, math.MaxUint64, 1, math.MaxUint64 - 1}} {
		v := store.L1ValidatorView{L1ValidatorState: store.L1ValidatorState{Weight: store.Amount(c.weight), EndAccumulatedFee: store.Amount(c.end)}}
		if got := v.Balance(store.Amount(c.accrued)); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestSubnetsAreThoseOfTheirHistories compares subnets and blockchains by id with the lists, and each subnet with its newest state.
func TestSubnetsAreThoseOfTheirHistories(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	converted := 0
	for network := range w.Networks {
		chain := store.PrimaryChain(network, store.PChain)
		chains := ok[[]store.Blockchain](t)(db.Blockchains(ctx, chain))
		for _, s := range ok[[]store.SubnetView](t)(db.Subnets(ctx, chain)) {
			history := ok[[]store.SubnetState](t)(db.SubnetHistory(ctx, s.ID))
			equal(t, "state", s.State, history[len(history)-1])
			if s.State.Conversion != nil && history[0].Conversion == nil {
				converted++
			}
			equal(t, "Subnet", ok[*store.SubnetView](t)(db.Subnet(ctx, chain, s.Hash)), s)
			if _, err := db.Subnet(ctx, chain+1, s.Hash); err != store.ErrNotFound {
				t.Errorf("a subnet of another chain: %v", err)
			}
			equal(t, "BlockchainsOfSubnet", ok[[]store.Blockchain](t)(db.BlockchainsOfSubnet(ctx, s.Hash)), where(chains, func(c *store.Blockchain) bool { return bytes.Equal(c.Subnet, s.Hash) }))
		}
		for _, c := range chains {
			equal(t, "Blockchain", ok[*store.Blockchain](t)(db.Blockchain(ctx, c.Hash)), c)
		}
	}
	if converted == 0 {
		t.Error("no subnet was converted")
	}
}

// TestNodesAreListed compares nodes by id and by role with the list.
func TestNodesAreListed(t *testing.T) {
	w := generated(t)
	ctx, db := t.Context(), w.DB
	for _, n := range w.Networks {
		id := n.Rules.NetworkID
		all := ok[[]store.Node](t)(db.Nodes(ctx, id))
		var secrets, roles []store.Node
		for _, node := range all {
			equal(t, "Node", ok[*store.Node](t)(db.Node(ctx, id, node.Node)), node)
			secrets = append(secrets, store.Node{Node: node.Node, Secret: node.Secret, Connected: node.Connected})
			if node.Role != "" {
				roles = append(roles, store.Node{Node: node.Node, Role: node.Role})
			}
		}
		equal(t, "NodeSecrets", ok[[]store.Node](t)(db.NodeSecrets(ctx, id)), secrets)
		equal(t, "NodeRoles", ok[[]store.Node](t)(db.NodeRoles(ctx, id)), roles)
		if len(roles) == 0 || !slices.ContainsFunc(all, func(n store.Node) bool { return n.Connected }) {
			t.Errorf("%d nodes with a role, of %d", len(roles), len(all))
		}
	}
}
