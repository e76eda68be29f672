package data

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// stakerIndexes keeps the staker index of each network. An index is made anew when a block came or the clock moved.
type stakerIndexes struct {
	mu  sync.Mutex
	now map[string]*stakerIndex
}

func newStakerIndexes() *stakerIndexes { return &stakerIndexes{now: map[string]*stakerIndex{}} }

// stakerIndex is who stakes or staked on a network, as one block and one second of the clock have it: validators with their
// delegators, nodes, status, rewards and stake. It is never changed.
type stakerIndex struct {
	version    int64
	unix       int64
	head       *store.PrimaryBlock
	validators []*validatorEntry                 // oldest first
	delegators []*delegatorEntry                 // newest first
	orders     map[string]keyset[validatorEntry] // by what they are sorted by
	delegated  keyset[delegatorEntry]            // newest first
	rewards    keyset[rewardEntry]               // newest first
	l1         []*l1Entry                        // newest first
	accrued    store.Amount
	stake      uint64                  // of all who validate or delegate on the primary network now
	staking    map[store.Position]bool // the transactions of those
}

// validatorEntry is one stay of a node among the validators of a subnet.
type validatorEntry struct {
	store.Staker
	number         int // in the index
	status         int
	node           *store.Node // nil for a validator without a known node
	nodeID         string
	endedAt        int64 // when it was removed
	delegated      uint64
	delegatorCount int
	fees           uint64 // that the delegations that count bring, if all are rewarded
	subnetStake    uint64 // what the subnet's active validators weigh
}

// delegatorEntry is a stake that somebody adds to a validator's.
type delegatorEntry struct {
	store.Staker
	number int // in the index
	status int
	shares uint32 // of the validator, of a million
}

// l1Entry is an L1 validator.
type l1Entry struct {
	*store.L1
	number int // in the index
}

// netReward is what the validator leaves to the delegator.
func (d *delegatorEntry) netReward() uint64 {
	_, rest := primary.SplitReward(uint64(d.Reward), d.shares)
	return rest
}

// of is the present index of a network.
func (x *stakerIndexes) of(ctx context.Context, l *sim.Ledger) (*stakerIndex, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	version, unix := l.DB.Primaries(), l.Clock.Unix()
	if r := x.now[l.Network]; r != nil && r.version == version && r.unix == unix {
		return r, nil
	}
	r, err := newStakerIndex(ctx, l)
	if err != nil {
		return nil, err
	}
	r.version, r.unix = version, unix
	x.now[l.Network] = r
	return r, nil
}

func newStakerIndex(ctx context.Context, l *sim.Ledger) (*stakerIndex, error) {
	chain := l.Chain(primary.PChain)
	head, err := l.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return nil, err
	}
	x := &stakerIndex{head: head, accrued: l.Accrued(head)}
	l1, err := l.DB.L1Validators(ctx, chain, head.ID.Number())
	if err != nil {
		return nil, err
	}
	for i := range l1 {
		x.l1 = append(x.l1, &l1Entry{&l1[len(l1)-1-i], i})
	}
	stakers, err := l.DB.Stakers(ctx, chain)
	if err != nil {
		return nil, err
	}
	nodes, err := l.DB.Nodes(ctx, l.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	for i := range stakers {
		stakers[i].Reward = l.PotentialReward(&stakers[i], head)
	}
	x.fill(l, stakers, nodes)
	x.staking = x.stakingTxs()
	if err := x.addRemovals(ctx, l); err != nil {
		return nil, err
	}
	x.sort(l)
	x.rewards = newKeyset(x.rewardEntries(), rewardCursor)
	return x, nil
}

// fill splits the stakers and joins them: validators with their nodes, delegators with the validator that they lie within.
func (x *stakerIndex) fill(l *sim.Ledger, stakers []store.Staker, nodes []store.Node) {
	byID := make(map[ids.NodeID]*store.Node, len(nodes))
	for i := range nodes {
		byID[ids.NodeID(nodes[i].Node)] = &nodes[i]
	}
	ofNode := map[ids.NodeID][]*validatorEntry{}
	for _, s := range stakers {
		if !s.Delegator {
			node := ids.NodeID(s.Node)
			v := &validatorEntry{Staker: s, number: len(x.validators), status: l.Standing(&s), node: byID[node], nodeID: node.String()}
			x.validators = append(x.validators, v)
			ofNode[node] = append(ofNode[node], v)
		}
	}
	for _, s := range stakers {
		if s.Delegator {
			x.addDelegator(&delegatorEntry{Staker: s, number: len(x.delegators), status: l.Standing(&s)}, ofNode[ids.NodeID(s.Node)])
		}
	}
	x.sumStake()
}

// addDelegator adds a delegation to the validator that it lies within. While a validator is active only the delegations
// that are active count, afterwards all do.
func (x *stakerIndex) addDelegator(d *delegatorEntry, validators []*validatorEntry) {
	x.delegators = append(x.delegators, d)
	for _, v := range validators {
		if !onPrimaryNetwork(v.Subnet) || d.Start < v.Start || d.End > v.End {
			continue
		}
		d.shares = v.Shares
		fee, _ := primary.SplitReward(uint64(d.Reward), v.Shares)
		if v.status == store.StakerCompleted || v.status == store.StakerActive && d.status == store.StakerActive {
			v.delegated += uint64(d.Weight)
			v.delegatorCount++
			v.fees += fee
		}
	}
}

// onPrimaryNetwork tells whether a subnet's id is that of the primary network.
func onPrimaryNetwork(subnet []byte) bool { return ids.ID(subnet) == ids.Empty }

// sumStake adds up what the active validators of each subnet weigh, delegations included.
func (x *stakerIndex) sumStake() {
	totals := map[ids.ID]uint64{}
	for _, v := range x.validators {
		if v.status == store.StakerActive {
			totals[ids.ID(v.Subnet)] += uint64(v.Weight) + v.delegated
		}
	}
	for _, v := range x.validators {
		v.subnetStake = totals[ids.ID(v.Subnet)]
	}
	x.stake = totals[ids.Empty]
}

// stakingTxs are the transactions that the active stakes on the primary network come from.
func (x *stakerIndex) stakingTxs() map[store.Position]bool {
	active := map[store.Position]bool{}
	for _, v := range x.validators {
		if v.status == store.StakerActive && onPrimaryNetwork(v.Subnet) {
			active[v.ID] = true
		}
	}
	for _, d := range x.delegators {
		if d.status == store.StakerActive {
			active[d.ID] = true
		}
	}
	return active
}

// active are the stakers of a subnet that are active by the world's clock, with their rewards, in the order in which they
// leave: by end, delegators before validators. This is the order of avalanchego's current stakers.
func (x *stakerIndex) active(subnet ids.ID) []*store.Staker {
	var all []*store.Staker
	for _, v := range x.validators {
		if v.status == store.StakerActive && ids.ID(v.Subnet) == subnet {
			all = append(all, &v.Staker)
		}
	}
	for _, d := range x.delegators {
		if d.status == store.StakerActive && ids.ID(d.Subnet) == subnet {
			all = append(all, &d.Staker)
		}
	}
	slices.SortFunc(all, func(a, b *store.Staker) int {
		delegators := 0
		switch {
		case a.Delegator && !b.Delegator:
			delegators = -1
		case b.Delegator && !a.Delegator:
			delegators = 1
		}
		return cmp.Or(cmp.Compare(a.End, b.End), delegators, bytes.Compare(a.Tx, b.Tx))
	})
	return all
}

// l1Balance is what an L1 validator has left for the continuous fee (ACP-77). Without any it is inactive.
func (x *stakerIndex) l1Balance(v *store.L1) uint64 { return v.Balance(x.accrued) }

// addRemovals finds when validators were removed. A removal has no row of its own: it is the transaction of the block that
// ended the stay.
func (x *stakerIndex) addRemovals(ctx context.Context, l *sim.Ledger) (err error) {
	for _, v := range x.validators {
		if v.status != store.StakerRemoved || v.Ended == nil {
			continue
		}
		at := store.At(l.Chain(primary.PChain), uint64(*v.Ended), 0)
		if v.endedAt, err = l.DB.PrimaryTime(ctx, at); err != nil {
			return err
		}
		if v.RewardTx, err = removalTx(ctx, l, at, v); err != nil {
			return err
		}
	}
	return nil
}

// removalTx is the transaction in a block that removed a validator.
func removalTx(ctx context.Context, l *sim.Ledger, block store.Position, v *validatorEntry) ([]byte, error) {
	txs, err := l.DB.PrimaryTxs(ctx, block)
	if err != nil {
		return nil, err
	}
	for _, row := range txs {
		tx, err := primary.ParseTx(primary.PChain, row.Bytes)
		if err != nil {
			return nil, err
		}
		u, ok := tx.Unsigned.(*primary.RemoveSubnetValidatorTx)
		if ok && bytes.Equal(u.NodeID[:], v.Node) && bytes.Equal(u.SubnetID[:], v.Subnet) {
			return row.Hash, nil
		}
	}
	return nil, nil
}
