package platform_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/pchain"
	"snowglobe/sim/primary"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// staking is a staker of the chain with its transaction.
type staking struct {
	store.Staker
	tx *txs.Tx
}

// stakers reads every staker in the order of a node's lists: by end, delegators before validators, then by transaction.
func (n *node) stakers() (all []staking) {
	n.Helper()
	byID := map[ids.ID]*txs.Tx{}
	for _, tx := range n.transactions() {
		byID[tx.ID()] = tx
	}
	head := n.head()
	for _, s := range must[[]store.Staker](n)(n.network.DB.Stakers(n.Context(), n.chain())) {
		if s.Status == store.StakerPending {
			s.PotentialReward = n.network.PotentialReward(&s, head)
		}
		all = append(all, staking{s, byID[ids.ID(s.Tx)]})
	}
	slices.SortFunc(all, func(a, b staking) int { return compareStakers(a.Staker, b.Staker) })
	return all
}

// active reports whether a staker stakes at the clock, and pending whether it will.
func (n *node) active(s staking) bool {
	return (s.Status == store.StakerActive || s.Status == store.StakerPending) && s.Start <= n.now() && n.now() < s.End
}

func (n *node) pending(s staking) bool { return s.Status == store.StakerPending && s.Start > n.now() }

func (s staking) on(subnet ids.ID) bool { return ids.ID(s.Subnet) == subnet }

// contains reports whether a validator's period contains a delegator's.
func (s staking) contains(d staking) bool {
	return !s.Delegator && d.Delegator && bytes.Equal(s.Node, d.Node) && s.Start <= d.Start && d.End <= s.End
}

func (s staking) object() Object {
	return Object{"txID": ids.ID(s.Tx), "startTime": num(s.Start), "endTime": num(s.End), "weight": num(s.Weight), "nodeID": ids.NodeID(s.Node)}
}

// stakeOwner returns the first owner of what a transaction staked.
func (n *node) stakeOwner(tx *txs.Tx) ids.ShortID {
	stake, _ := pchain.StakeOf(tx.Unsigned)
	return (&txs.UTXO{Out: stake[0].Out}).Owners().Addresses[0]
}

// percent is a share of a million as the service writes it.
func percent(share uint32) string { return fmt.Sprintf("%.4f", float32(share)/10_000) }

// signer returns the key of a staking transaction, or nil.
func signer(tx *txs.Tx) any {
	s, err := pchain.NewStaker(tx, pchain.Active)
	if err != nil || s.BLS == nil {
		return nil
	}
	return Object{"publicKey": bytesText(s.BLS.PublicKey[:]), "proofOfPossession": bytesText(s.BLS.ProofOfPossession[:])}
}

// validator is an entry of the primary network's current validators.
func (n *node) validator(s staking, all []staking, alone bool) Object {
	n.Helper()
	_, owners := pchain.StakeOf(s.tx.Unsigned)
	v := s.object()
	v["validationRewardOwner"], v["delegationRewardOwner"] = n.owner(owners[0]), n.owner(owners[1])
	v["potentialReward"], v["accruedDelegateeReward"] = num(s.PotentialReward), num(s.DelegateeReward)
	v["delegationFee"] = percent(s.Shares)
	v["uptime"], v["connected"] = "100.0000", true
	if known, err := n.network.DB.Node(n.Context(), n.network.Rules.NetworkID, s.Node); err == nil {
		v["uptime"], v["connected"] = percent(known.Uptime), known.Connected
	}
	if key := signer(s.tx); key != nil {
		v["signer"] = key
	}
	if renewed, ok := s.tx.Unsigned.(*txs.AddAutoRenewedValidatorTx); ok {
		v["validatorAuthority"] = n.owner(renewed.ValidatorAuthority.Owners())
		v["nextPeriod"], v["autoCompoundRewardShares"] = num(s.NextPeriod), num(s.AutoCompoundRewardShares)
		v["restakedValidationRewards"], v["restakedDelegateeRewards"] = num(s.AccruedValidationRewards), num(s.AccruedDelegateeRewards)
	}
	delegators, weight := []Object{}, uint64(0)
	for _, d := range all {
		if !s.contains(d) || !n.active(d) {
			continue
		}
		_, owners := pchain.StakeOf(d.tx.Unsigned)
		o := d.object()
		o["rewardOwner"], o["potentialReward"] = n.owner(owners[0]), num(d.PotentialReward)
		delegators = append(delegators, o)
		weight += uint64(d.Weight)
	}
	v["delegatorCount"], v["delegatorWeight"] = num(len(delegators)), num(weight)
	if alone {
		v["delegators"] = delegators
	}
	return v
}

// TestCurrentValidators recomputes the primary network's validators: all of them, each alone with its delegators, and two together.
func TestCurrentValidators(t *testing.T) {
	overTime(t, func(t testing.TB, n *node) {
		all, listed := n.stakers(), []Object{}
		var current []staking
		for _, s := range all {
			if !s.Delegator && s.on(ids.Empty) && n.active(s) {
				current = append(current, s)
				listed = append(listed, n.validator(s, all, false))
			}
		}
		for _, args := range []Object{nil, {}, {"subnetID": nil}, {"subnetID": ids.Empty, "nodeIDs": []any{}}} {
			n.Want(Object{"validators": listed}, "platform.getCurrentValidators", args)
		}
		if len(current) < 2 {
			t.Fatalf("%d validators", len(current))
		}
		for i, s := range current {
			alone, other := []Object{n.validator(s, all, true)}, current[(i+1)%len(current)]
			node := ids.NodeID(s.Node)
			n.Want(Object{"validators": alone}, "platform.getCurrentValidators", Object{"nodeIDs": []any{node}})
			n.Want(Object{"validators": alone}, "platform.getCurrentValidators", Object{"nodeIDs": []any{node, node}})
			both := []Object{listed[min(i, (i+1)%len(current))], listed[max(i, (i+1)%len(current))]}
			n.Want(Object{"validators": both}, "platform.getCurrentValidators", Object{"nodeIDs": []any{node, ids.NodeID(other.Node), node}})
		}
		n.Want(Object{"validators": []any{}}, "platform.getCurrentValidators", Object{"nodeIDs": []any{ids.EmptyNodeID}})
	})
}

// TestTroubledUptime: an uptime that a client set shows at once, and ends with the trouble.
func TestTroubledUptime(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[0])
	var node ids.NodeID
	for _, s := range n.stakers() {
		if !s.Delegator && s.on(ids.Empty) && n.active(s) {
			node = ids.NodeID(s.Node)
		}
	}
	uptime := func() (shown string) {
		for _, v := range rpctest.Get[struct {
			Validators []struct {
				NodeID ids.NodeID
				Uptime string
			}
		}](n.Client, "platform.getCurrentValidators", nil).Validators {
			if v.NodeID == node {
				shown = v.Uptime
			}
		}
		return shown
	}
	before := uptime()
	for _, c := range []struct {
		set  map[ids.NodeID]uint32
		want string
	}{{map[ids.NodeID]uint32{node: 123_456}, "12.3456"}, {map[ids.NodeID]uint32{node: 0}, "0.0000"}, {nil, before}} {
		if n.network.Trouble.Set(sim.Troubles{Uptimes: c.set}); uptime() != c.want {
			t.Errorf("the uptime is %s, want %s", uptime(), c.want)
		}
	}
}

// waiting recomputes the stakers of some nodes, or of all, whose period has not begun.
func (n *node) waiting(all []staking, of ...ids.NodeID) (want Object, validators, delegators int) {
	n.Helper()
	v, d := []Object{}, []Object{}
	for _, s := range all {
		if !s.on(ids.Empty) || !n.pending(s) || len(of) > 0 && !slices.Contains(of, ids.NodeID(s.Node)) {
			continue
		}
		o := s.object()
		if s.Delegator {
			d = append(d, o)
			continue
		}
		o["delegationFee"], o["connected"] = percent(s.Shares), n.validator(s, all, false)["connected"]
		if key := signer(s.tx); key != nil {
			o["signer"] = key
		}
		v = append(v, o)
	}
	return Object{"validators": v, "delegators": d}, len(v), len(d)
}

// checkPending compares the pending stakers of all nodes, and of each.
func (n *node) checkPending() (validators, delegators int) {
	n.Helper()
	all, nodes := n.stakers(), map[ids.NodeID]bool{ids.EmptyNodeID: true}
	for _, s := range all {
		nodes[ids.NodeID(s.Node)] = true
	}
	for node := range nodes {
		want, _, _ := n.waiting(all, node)
		n.Want(want, "platform.getPendingValidators", Object{"nodeIDs": []ids.NodeID{node}})
	}
	want, validators, delegators := n.waiting(all)
	n.Want(want, "platform.getPendingValidators", Object{"nodeIDs": nil})
	n.Want(Object{"validators": []any{}, "delegators": []any{}}, "platform.getPendingValidators", Object{"subnetID": ids.ID{1}})
	return validators, delegators
}

// TestPendingValidators recomputes the stakers whose period has not begun, also in a world where many wait.
func TestPendingValidators(t *testing.T) {
	validators, delegators := 0, 0
	overTime(t, func(t testing.TB, n *node) {
		v, d := n.checkPending()
		validators, delegators = validators+v, delegators+d
	})
	if validators == 0 || delegators == 0 {
		t.Errorf("%d validators and %d delegators waited", validators, delegators)
	}
	w, db := inFile(t)
	n := serve(t, w.Networks[0])
	if _, err := db.Exec("UPDATE staker SET status = ?, start = ?, began = NULL WHERE status = ? AND until > ?", store.StakerPending, n.now()+1, store.StakerActive, n.now()+1); err != nil {
		t.Fatal(err)
	}
	if v, d := n.checkPending(); v < 5 || d < 5 {
		t.Errorf("%d validators and %d delegators wait", v, d)
	}
}

// l1 lists every L1 validator of the chain, oldest first, with the fee that an active one has paid by the clock.
func (n *node) l1() (all []store.L1ValidatorView, accrued uint64) {
	n.Helper()
	head := n.head()
	fees := rules.ValidatorFeeState{Time: uint64(head.Time), Accrued: uint64(head.AccruedFees), Excess: head.L1Excess, Active: head.L1Active}
	fees = fees.At(&n.network.Rules.ValidatorFees, uint64(n.now()))
	return must[[]store.L1ValidatorView](n)(n.network.DB.L1Validators(n.Context(), n.chain(), head.ID.Number())), fees.Accrued
}

// TestSubnetValidators recomputes the validators of every other subnet, and finds each L1 validator by its id.
func TestSubnetValidators(t *testing.T) {
	l1, inactive, removed, permissioned := 0, 0, 0, 0
	overTime(t, func(t testing.TB, n *node) {
		all := n.stakers()
		views, accrued := n.l1()
		for _, subnet := range must[[]store.SubnetView](t)(n.network.DB.Subnets(t.Context(), n.chain())) {
			id, listed, weight := ids.ID(subnet.Hash), []Object{}, uint64(0)
			add := func(node []byte, o Object, w uint64) {
				listed, weight = append(listed, o), weight+w
				n.Want(Object{"validators": []Object{o}}, "platform.getCurrentValidators", Object{"subnetID": id, "nodeIDs": []any{ids.NodeID(node), ids.NodeID(node)}})
			}
			for _, s := range all {
				if s.on(id) && n.active(s) {
					permissioned++
					add(s.Node, s.object(), uint64(s.Weight))
				}
			}
			for _, v := range views {
				validation := ids.ID(v.Validation)
				switch {
				case ids.ID(v.Subnet) != id:
					continue
				case v.Weight == 0:
					removed++
					n.Refuses(fmt.Sprintf("fetching L1 validator %q failed: not found", validation), "platform.getL1Validator", Object{"validationID": validation})
					continue
				}
				var shown *pchain.L1Validator
				n.state(func(s *primary.Network) { shown, _ = s.P.L1Validator(validation) })
				left := shown.EndAccumulatedFee - min(accrued, shown.EndAccumulatedFee)
				if l1++; left == 0 {
					inactive++
				}
				o := Object{
					"nodeID": shown.NodeID, "weight": num(shown.Weight), "startTime": num(shown.Start), "validationID": validation, "publicKey": bytesText(shown.PublicKey[:]),
					"minNonce": num(shown.MinNonce), "balance": num(left),
				}
				for name, owner := range map[string]warp.PChainOwner{"remainingBalanceOwner": shown.RemainingBalanceOwner, "deactivationOwner": shown.DeactivationOwner} {
					converted := txs.FromWarpOwner(owner)
					o[name] = n.owner(&converted)
				}
				add(v.Node, o, shown.Weight)
				o = cloned(o)
				o["subnetID"], o["height"] = id, num(n.height())
				n.Want(o, "platform.getL1Validator", Object{"validationID": validation})
			}
			n.Want(Object{"validators": listed}, "platform.getCurrentValidators", Object{"subnetID": id})
			n.Want(Object{"stake": num(weight), "weight": num(weight)}, "platform.getTotalStake", Object{"subnetID": id})
		}
		for _, args := range []Object{{}, {"validationID": ids.Empty}} {
			n.Refuses(fmt.Sprintf("fetching L1 validator %q failed: not found", ids.Empty), "platform.getL1Validator", args)
		}
		var weight uint64
		for _, s := range all {
			if s.on(ids.Empty) && n.active(s) {
				weight += uint64(s.Weight)
			}
		}
		n.Want(Object{"stake": num(weight), "weight": num(weight)}, "platform.getTotalStake", nil)
		n.Want(Object{"validators": []any{}}, "platform.getCurrentValidators", Object{"subnetID": ids.ID{1}})
		n.Want(Object{"stake": "0", "weight": "0"}, "platform.getTotalStake", Object{"subnetID": ids.ID{1}})
	})
	if l1 == inactive || inactive == 0 || removed == 0 || permissioned == 0 {
		t.Errorf("%d L1 validators, %d of them inactive, %d removed; %d on permissioned subnets", l1, inactive, removed, permissioned)
	}
}

func cloned(o Object) Object {
	c := Object{}
	for name, value := range o {
		c[name] = value
	}
	return c
}

type member struct {
	PublicKey any    `json:"publicKey"`
	Weight    string `json:"weight"`
}

// at recomputes a subnet's validators at a height from the heights at which stakers begin and end.
func (n *node) at(all []staking, subnet ids.ID, height uint64) map[ids.NodeID]*sim.Validator {
	n.Helper()
	set, keys := map[ids.NodeID]*sim.Validator{}, map[ids.NodeID][]byte{}
	add := func(node ids.NodeID, key []byte, weight uint64) {
		if set[node] == nil {
			set[node] = &sim.Validator{Node: node, Key: key}
		}
		set[node].Weight += weight
	}
	began := func(s staking) bool {
		return s.Began != nil && uint64(*s.Began) <= height && (s.Ended == nil || uint64(*s.Ended) > height)
	}
	for _, s := range all {
		if s.on(ids.Empty) && !s.Delegator && began(s) {
			keys[ids.NodeID(s.Node)] = s.BLS
		}
	}
	for _, s := range all {
		if s.on(subnet) && began(s) {
			add(ids.NodeID(s.Node), keys[ids.NodeID(s.Node)], uint64(s.Weight))
		}
	}
	for _, v := range must[[]store.L1ValidatorView](n)(n.network.DB.L1Validators(n.Context(), n.chain(), height)) {
		switch {
		case ids.ID(v.Subnet) != subnet || v.Weight == 0:
		case v.EndAccumulatedFee == 0:
			add(ids.EmptyNodeID, nil, uint64(v.Weight))
		default:
			add(ids.NodeID(v.Node), v.BLS, uint64(v.Weight))
		}
	}
	return set
}

func (n *node) subnets() []ids.ID {
	n.Helper()
	all := []ids.ID{ids.Empty}
	for _, s := range must[[]store.SubnetView](n)(n.network.DB.Subnets(n.Context(), n.chain())) {
		all = append(all, ids.ID(s.Hash))
	}
	return all
}

// TestValidatorsAt recomputes the validators of every subnet at every height, by node and by key.
func TestValidatorsAt(t *testing.T) {
	onEach(t, func(t testing.TB, n *node) {
		all, last := n.stakers(), n.height()
		for height := range last + 1 {
			canonical := Object{}
			for _, subnet := range append(n.subnets(), ids.ID{1}) {
				want, set := map[ids.NodeID]member{}, n.at(all, subnet, height)
				var validators []warp.Validator
				var total uint64
				for _, v := range set {
					m := member{nil, num(v.Weight)}
					w := warp.Validator{NodeID: v.Node, Weight: v.Weight}
					if v.Key != nil {
						m.PublicKey, w.PublicKey = bytesText(v.Key), must[*warp.PublicKey](t)(warp.ParsePublicKey(v.Key))
					}
					want[v.Node], validators, total = m, append(validators, w), total+v.Weight
				}
				n.Want(want, "platform.getValidatorsAt", Object{"height": num(height), "subnetID": subnet})
				if total > 0 {
					canonical[subnet.String()] = byKey(validators, total)
				}
				if height == last {
					n.Want(want, "platform.getValidatorsAt", Object{"height": "proposed", "subnetID": subnet})
				}
			}
			n.Want(Object{"validatorSets": canonical}, "platform.getAllValidatorsAt", Object{"height": height})
			if height == last {
				n.Want(Object{"validatorSets": canonical}, "platform.getAllValidatorsAt", Object{"height": "proposed"})
			}
		}
		for _, height := range []uint64{last + 1, 1<<64 - 2} {
			why := fmt.Sprintf("current P-chain height (%d) < requested P-Chain height (%d)", last, height)
			n.Refuses(fmt.Sprintf("failed to get validator set at %d: failed to fetch validator set at unfinalized height with SubnetID = %s: %s", height, ids.ID{1}, why), "platform.getValidatorsAt", Object{"height": num(height), "subnetID": ids.ID{1}})
			n.Refuses(fmt.Sprintf("failed to get validator sets at %d: failed to fetch validator set at unfinalized height: %s", height, why), "platform.getAllValidatorsAt", Object{"height": height})
		}
		for _, height := range []any{-1, "x", "latest", 1.5, uint64(1<<64 - 1), num(uint64(1<<64 - 1))} {
			n.Refuses(rpctest.Malformed, "platform.getValidatorsAt", Object{"height": height})
			n.Refuses(rpctest.Malformed, "platform.getAllValidatorsAt", Object{"height": height})
		}
		n.Want(rpctest.Get[any](n.Client, "platform.getValidatorsAt", Object{"height": 0}), "platform.getValidatorsAt", nil)
	})
}

// byKey is a validator set in the order of warp signatures' bits: ascending by uncompressed key.
func byKey(validators []warp.Validator, total uint64) Object {
	validators = slices.DeleteFunc(validators, func(v warp.Validator) bool { return v.PublicKey == nil })
	slices.SortFunc(validators, func(a, b warp.Validator) int {
		x, y := a.PublicKey.Uncompressed(), b.PublicKey.Uncompressed()
		return bytes.Compare(x[:], y[:])
	})
	members := []Object{}
	for _, v := range validators { // no two nodes of these worlds share a key
		key := v.PublicKey.Compressed()
		members = append(members, Object{"publicKey": bytesText(key[:]), "weight": num(v.Weight), "nodeIDs": []ids.NodeID{v.NodeID}})
	}
	return Object{"validators": members, "totalWeight": num(total)}
}

// TestValidatorsNow: at the last block the validators are those by which the chain verifies warp messages.
func TestValidatorsNow(t *testing.T) {
	overTime(t, func(t testing.TB, n *node) {
		for _, subnet := range n.subnets() {
			var validators []warp.Validator
			n.state(func(s *primary.Network) { validators = must[[]warp.Validator](t)(s.P.Validators(subnet)) })
			want, weights := map[ids.NodeID]member{}, map[ids.NodeID]uint64{}
			for _, v := range validators {
				weights[v.NodeID] += v.Weight
				m := member{nil, num(weights[v.NodeID])}
				if v.PublicKey != nil {
					key := v.PublicKey.Compressed()
					m.PublicKey = bytesText(key[:])
				}
				want[v.NodeID] = m
			}
			n.Want(want, "platform.getValidatorsAt", Object{"height": "proposed", "subnetID": subnet})
		}
	})
}

// TestSamples draws units of weight without replacement, as often as there are any.
func TestSamples(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0])
	all, head := n.stakers(), n.head()
	for _, subnet := range n.subnets() {
		set := n.at(all, subnet, head.ID.Number())
		var nodes []ids.NodeID
		var total uint64
		for node, v := range set {
			nodes, total = append(nodes, node), total+v.Weight
		}
		slices.SortFunc(nodes, ids.NodeID.Compare)
		for _, size := range []int{1, 2, 17, 200, int(min(total, 1<<16-1))} {
			if uint64(size) > total {
				continue
			}
			raw := binary.BigEndian.AppendUint16(slices.Concat(head.Digest, subnet[:]), uint16(size))
			random := rand.New(rand.NewChaCha8(sha256.Sum256(raw)))
			want, left, rest := []ids.NodeID{}, map[ids.NodeID]uint64{}, total
			for node, v := range set {
				left[node] = v.Weight
			}
			for range size {
				unit := random.Uint64N(rest)
				for _, node := range nodes {
					if unit < left[node] {
						want = append(want, node)
						left[node]--
						break
					}
					unit -= left[node]
				}
				rest--
			}
			slices.SortFunc(want, ids.NodeID.Compare)
			n.Want(Object{"validators": want}, "platform.sampleValidators", Object{"size": size, "subnetID": subnet})
			if uint64(size) == total {
				for node, v := range set {
					if drawn := count(want, node); drawn != v.Weight {
						t.Errorf("%s was drawn %d times of %d", node, drawn, v.Weight)
					}
				}
				n.Refuses(fmt.Sprintf("sampling %s errored with insufficient weight", subnet), "platform.sampleValidators", Object{"size": num(size + 1), "subnetID": subnet})
			}
		}
		n.Want(Object{"validators": []any{}}, "platform.sampleValidators", Object{"size": 0, "subnetID": subnet})
	}
	unknown := ids.ID{1}
	n.Refuses(fmt.Sprintf("sampling %s errored with missing validators", unknown), "platform.sampleValidators", Object{"size": 1, "subnetID": unknown})
	n.Want(Object{"validators": []any{}}, "platform.sampleValidators", Object{"subnetID": unknown})
	for _, size := range []any{-1, "many", 1 << 16} {
		n.Refuses(rpctest.Malformed, "platform.sampleValidators", Object{"size": size})
	}
}

func count(all []ids.NodeID, node ids.NodeID) (times uint64) {
	for _, n := range all {
		if n == node {
			times++
		}
	}
	return times
}

// TestMalformedValidators refuses arguments of other types.
func TestMalformedValidators(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0])
	for _, method := range []string{"platform.getCurrentValidators", "platform.getPendingValidators"} {
		for _, args := range []string{`{"subnetID":"x"}`, `{"subnetID":7}`, `{"nodeIDs":["x"]}`, `{"nodeIDs":"x"}`} {
			n.Refuses(rpctest.Malformed, method, json.RawMessage(args))
		}
	}
}
