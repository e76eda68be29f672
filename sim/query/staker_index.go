package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// StakerIndexes caches the staker index of each network. A new block or a move of the clock makes it stale.
type StakerIndexes struct {
	mu  sync.Mutex
	now map[string]*StakerIndex
}

func NewStakerIndexes() *StakerIndexes { return &StakerIndexes{now: map[string]*StakerIndex{}} }

// StakerVersion identifies the state of a network at a time. Indexes with the same version are equal.
type StakerVersion struct{ commits, unix, uptimes int64 }

// Version returns the state that the index describes.
func (x *StakerIndex) Version() StakerVersion { return x.version }

// StakerIndex holds a network's past and present stakers as of one block and one second of the clock: validators with their delegators,
// nodes, status, rewards and stake. It is immutable.
type StakerIndex struct {
	version    StakerVersion
	Unix       int64
	Head       *store.PrimaryBlock
	Validators []*ValidatorEntry          // oldest first
	Delegators []*DelegatorEntry          // newest first
	Delegated  Keyset[DelegatorEntry]     // newest first
	Rewards    func() Keyset[RewardEntry] // newest first
	L1         []*store.L1ValidatorView   // newest first
	orders     map[string]func() Keyset[ValidatorEntry]
	uptime     func(ids.NodeID, *store.Node) uint32
	nodes      map[ids.NodeID]*store.Node
	accrued    store.Amount
	Stake      uint64 // of all current validators and delegators of the primary network
}

// ValidatorEntry is one period of a node as a subnet's validator.
type ValidatorEntry struct {
	store.Staker
	StatusNow      int
	NodeInfo       *store.Node // nil for a validator without a known node
	NodeUptime     uint32      // of a million
	NodeID         string
	EndedAt        int64 // of a removed validator
	Delegated      uint64
	DelegatorCount int
	Fees           uint64 // from the counted delegations, if all are rewarded
	SubnetStake    uint64 // weight of the subnet's active validators
}

// DelegatorEntry is a stake added to a validator's.
type DelegatorEntry struct {
	store.Staker
	StatusNow       int
	Validator       *ValidatorEntry // whose period contains it
	ValidatorShares uint32          // of the validator, of a million
}

// NetReward returns the delegator's reward less the validator's fee.
func (d *DelegatorEntry) NetReward() uint64 {
	_, rest := rules.SplitReward(uint64(d.PotentialReward), d.ValidatorShares)
	return rest
}

// Of returns a network's present index.
func (x *StakerIndexes) Of(ctx context.Context, n *sim.Network) (*StakerIndex, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := StakerVersion{n.DB.PrimaryCommits(), n.Clock.Unix(), n.Trouble.UptimeChanges()}
	if index := x.now[n.Name]; index != nil && index.version == now {
		return index, nil
	}
	index, err := newStakerIndex(ctx, n)
	if err != nil {
		return nil, err
	}
	index.version, index.Unix = now, now.unix
	x.now[n.Name] = index
	return index, nil
}

func newStakerIndex(ctx context.Context, n *sim.Network) (*StakerIndex, error) {
	chain := n.Chain(txs.PChain)
	head, err := n.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return nil, err
	}
	x := &StakerIndex{Head: head, accrued: n.Accrued(head), uptime: n.Uptime}
	var l1 []store.L1ValidatorView
	var stakers []store.Staker
	var nodes []store.Node
	reading, within := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		stakers, err = n.DB.Stakers(within, chain)
		return err
	})
	reading.Go(func() (err error) {
		if l1, err = n.DB.L1Validators(within, chain, head.ID.Number()); err == nil {
			nodes, err = n.DB.Nodes(within, n.Rules.NetworkID)
		}
		return err
	})
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	for i := range l1 {
		x.L1 = append(x.L1, &l1[len(l1)-1-i])
	}
	for i := range stakers {
		stakers[i].PotentialReward = n.PotentialReward(&stakers[i], head)
	}
	x.fill(n, stakers, nodes)
	if err := x.addRemovals(ctx, n); err != nil {
		return nil, err
	}
	x.sort(n)
	x.Rewards = sync.OnceValue(func() Keyset[RewardEntry] { return NewKeyset(x.rewardEntries(), rewardCursor) }) // few ask for it
	return x, nil
}

// fill joins the stakers: validators with their nodes, delegators with the validator whose period contains theirs.
func (x *StakerIndex) fill(n *sim.Network, stakers []store.Staker, nodes []store.Node) {
	x.nodes = make(map[ids.NodeID]*store.Node, len(nodes))
	for i := range nodes {
		x.nodes[ids.NodeID(nodes[i].Node)] = &nodes[i]
	}
	ofNode := map[ids.NodeID][]*ValidatorEntry{}
	for _, s := range stakers {
		if !s.Delegator {
			node := ids.NodeID(s.Node)
			v := &ValidatorEntry{Staker: s, StatusNow: n.StatusAt(&s), NodeInfo: x.nodes[node], NodeID: node.String()}
			v.NodeUptime = n.Uptime(node, v.NodeInfo)
			x.Validators = append(x.Validators, v)
			ofNode[node] = append(ofNode[node], v)
		}
	}
	for _, s := range stakers {
		if s.Delegator {
			x.addDelegator(&DelegatorEntry{Staker: s, StatusNow: n.StatusAt(&s)}, ofNode[ids.NodeID(s.Node)])
		}
	}
	x.sumStake()
}

// addDelegator adds a delegation to the validator whose period contains it. While a validator is active, only active delegations count;
// afterwards all do.
func (x *StakerIndex) addDelegator(d *DelegatorEntry, validators []*ValidatorEntry) {
	x.Delegators = append(x.Delegators, d)
	for _, v := range validators {
		if !OnPrimaryNetwork(v.Subnet) || d.Start < v.Start || d.End > v.End {
			continue
		}
		d.Validator, d.ValidatorShares = v, v.Shares
		fee, _ := rules.SplitReward(uint64(d.PotentialReward), v.Shares)
		if v.StatusNow == store.StakerCompleted || v.StatusNow == store.StakerActive && d.StatusNow == store.StakerActive {
			v.Delegated += uint64(d.Weight)
			v.DelegatorCount++
			v.Fees += fee
		}
	}
}

// OnPrimaryNetwork reports whether a subnet's id is the primary network's.
func OnPrimaryNetwork(subnet []byte) bool { return ids.ID(subnet) == ids.Empty }

// sumStake adds up the weight of each subnet's active validators, delegations included.
func (x *StakerIndex) sumStake() {
	totals := map[ids.ID]uint64{}
	for _, v := range x.Validators {
		if v.StatusNow == store.StakerActive {
			totals[ids.ID(v.Subnet)] += uint64(v.Weight) + v.Delegated
		}
	}
	for _, v := range x.Validators {
		v.SubnetStake = totals[ids.ID(v.Subnet)]
	}
	x.Stake = totals[ids.Empty]
}

// ActiveStakes returns the transactions in a range of a network's that began a stake on the primary network that is active now.
func ActiveStakes(ctx context.Context, n *sim.Network, first, last store.Position) (map[store.Position]bool, error) {
	rows, err := n.DB.StakerTerms(ctx, first, last)
	if err != nil {
		return nil, err
	}
	renewed, err := n.DB.RenewedStakerTerms(ctx, n.Chain(txs.PChain))
	active := map[store.Position]bool{}
	for _, s := range append(rows, renewed...) {
		if s.ID >= first && s.ID <= last && n.StatusAt(&s) == store.StakerActive && OnPrimaryNetwork(s.Subnet) {
			active[s.ID] = true
		}
	}
	return active, err
}

// L1Balance returns an L1 validator's remaining balance for the continuous fee (ACP-77). Without any it is inactive.
func (x *StakerIndex) L1Balance(v *store.L1ValidatorView) uint64 { return v.Balance(x.accrued) }

// addRemovals finds when validators were removed. A removal has no row of its own: its transaction is in the block that ended the period.
func (x *StakerIndex) addRemovals(ctx context.Context, n *sim.Network) (err error) {
	for _, v := range x.Validators {
		if v.StatusNow != store.StakerRemoved || v.Ended == nil {
			continue
		}
		at := store.At(n.Chain(txs.PChain), uint64(*v.Ended), 0)
		if v.EndedAt, err = n.DB.PrimaryTime(ctx, at); err != nil {
			return err
		}
		if v.RewardTx, err = removalTx(ctx, n, at, v); err != nil {
			return err
		}
	}
	return nil
}

// removalTx returns the transaction in a block that removed a validator.
func removalTx(ctx context.Context, n *sim.Network, block store.Position, v *ValidatorEntry) ([]byte, error) {
	transactions, err := n.DB.PrimaryTxs(ctx, block)
	if err != nil {
		return nil, err
	}
	for _, row := range transactions {
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			return nil, err
		}
		u, ok := tx.Unsigned.(*txs.RemoveSubnetValidatorTx)
		if ok && bytes.Equal(u.NodeID[:], v.Node) && bytes.Equal(u.SubnetID[:], v.Subnet) {
			return row.Hash, nil
		}
	}
	return nil, nil
}

// NoValue sorts missing values below everything else.
const NoValue = -1

// Order returns the validators in the order of a sort key, descending. Ties go by transaction hash, descending too, and then
// the newest cycle of a validator that renews itself comes first.
func (x *StakerIndex) Order(key string) Keyset[ValidatorEntry] { return x.orders[key]() }

// sort prepares every order that a list may have; each is sorted when it is first asked for.
func (x *StakerIndex) sort(n *sim.Network) {
	validators, delegators := map[uint64]*ValidatorEntry{}, map[uint64]*DelegatorEntry{}
	for _, v := range x.Validators {
		validators[CursorOfTx(v.ID)] = v
	}
	for _, d := range x.Delegators {
		delegators[CursorOfTx(d.ID)] = d
	}
	slices.SortFunc(x.Delegators, compareDelegators)
	x.Delegated = newOrderedKeyset(x.Delegators, func(d *DelegatorEntry) uint64 { return CursorOfTx(d.ID) }, compareDelegators,
		func(cursor uint64) *DelegatorEntry { return delegators[cursor] })
	x.orders = map[string]func() Keyset[ValidatorEntry]{}
	for name, key := range sortKeys {
		compare := func(a, b *ValidatorEntry) int {
			return cmp.Or(cmp.Compare(key(n, b), key(n, a)), bytes.Compare(b.Tx, a.Tx), cmp.Compare(b.ID, a.ID))
		}
		x.orders[name] = sync.OnceValue(func() Keyset[ValidatorEntry] {
			return newOrderedKeyset(slices.SortedFunc(slices.Values(x.Validators), compare), func(v *ValidatorEntry) uint64 { return CursorOfTx(v.ID) },
				compare, func(cursor uint64) *ValidatorEntry { return validators[cursor] })
		})
	}
}

// compareDelegators puts the newest block first, and within a block the highest hash.
func compareDelegators(a, b *DelegatorEntry) int {
	return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), bytes.Compare(b.Tx, a.Tx))
}

// sortKeys lists the sort keys of validators. A later end means more time remaining at any time of the clock.
var sortKeys = map[string]func(*sim.Network, *ValidatorEntry) int64{
	"blockIndex":         func(_ *sim.Network, v *ValidatorEntry) int64 { return int64(v.ID.Number()) },
	"delegationCapacity": func(n *sim.Network, v *ValidatorEntry) int64 { return v.Capacity(n) },
	"timeRemaining":      func(_ *sim.Network, v *ValidatorEntry) int64 { return v.End },
	"delegationFee":      func(_ *sim.Network, v *ValidatorEntry) int64 { return v.Fee() },
	"uptimePerformance":  func(_ *sim.Network, v *ValidatorEntry) int64 { return v.Uptime() },
}

// Capacity returns how much more nAVAX an active validator of the primary network can be delegated.
func (v *ValidatorEntry) Capacity(n *sim.Network) int64 {
	if v.StatusNow != store.StakerActive || !OnPrimaryNetwork(v.Subnet) {
		return NoValue
	}
	most, used := n.Rules.BaseStaking.MaxWeight(uint64(v.Weight)), uint64(v.Weight)+v.Delegated
	return int64(most - min(used, most))
}

// Fee returns a primary network validator's share of its delegators' rewards, of a million.
func (v *ValidatorEntry) Fee() int64 {
	if !OnPrimaryNetwork(v.Subnet) {
		return NoValue
	}
	return int64(v.Shares)
}

// Uptime returns the share of time an active validator's node was up, of a million.
func (v *ValidatorEntry) Uptime() int64 {
	if v.StatusNow != store.StakerActive {
		return NoValue
	}
	return int64(v.NodeUptime)
}

// Remaining returns the seconds left to an active or pending validator.
func (v *ValidatorEntry) Remaining(now int64) int64 {
	if v.StatusNow != store.StakerActive && v.StatusNow != store.StakerPending {
		return NoValue
	}
	return max(v.End-now, 0)
}

// compareEnds sorts stakers by leaving time: by end, delegators before validators, then by transaction, as avalanchego's state.Staker.Less
// does.
func compareEnds(a, b *store.Staker) int {
	delegators := 0
	switch {
	case a.Delegator && !b.Delegator:
		delegators = -1
	case b.Delegator && !a.Delegator:
		delegators = 1
	}
	return cmp.Or(cmp.Compare(a.End, b.End), delegators, bytes.Compare(a.Tx, b.Tx))
}

// ValidatorsOf returns a subnet's validators with a status, by leaving time.
func (x *StakerIndex) ValidatorsOf(subnet ids.ID, status int) []*ValidatorEntry {
	var some []*ValidatorEntry
	for _, v := range x.Validators {
		if v.StatusNow == status && ids.ID(v.Subnet) == subnet {
			some = append(some, v)
		}
	}
	slices.SortFunc(some, func(a, b *ValidatorEntry) int { return compareEnds(&a.Staker, &b.Staker) })
	return some
}

// DelegatorsOf returns a subnet's delegators with a status, by leaving time.
func (x *StakerIndex) DelegatorsOf(subnet ids.ID, status int) []*DelegatorEntry {
	var some []*DelegatorEntry
	for _, d := range x.Delegators {
		if d.StatusNow == status && ids.ID(d.Subnet) == subnet {
			some = append(some, d)
		}
	}
	slices.SortFunc(some, func(a, b *DelegatorEntry) int { return compareEnds(&a.Staker, &b.Staker) })
	return some
}

// Staked returns the primary network's stakers whose stake has begun and not been returned, and the pending ones, each by leaving time.
// Returning a stake takes a block, which may come after the stake's end.
func (x *StakerIndex) Staked() (locked, pending []*store.Staker) {
	add := func(s *store.Staker, status int) {
		switch {
		case !OnPrimaryNetwork(s.Subnet):
		case status == store.StakerPending:
			pending = append(pending, s)
		case s.Ended == nil:
			locked = append(locked, s)
		}
	}
	for _, v := range x.Validators {
		add(&v.Staker, v.StatusNow)
	}
	for _, d := range x.Delegators {
		add(&d.Staker, d.StatusNow)
	}
	slices.SortFunc(locked, compareEnds)
	slices.SortFunc(pending, compareEnds)
	return locked, pending
}

// L1ValidatorsOf returns an L1's validators that were not removed, inactive ones included, oldest first.
func (x *StakerIndex) L1ValidatorsOf(subnet ids.ID) []*store.L1ValidatorView {
	var some []*store.L1ValidatorView
	for _, v := range slices.Backward(x.L1) {
		if v.Weight > 0 && ids.ID(v.Subnet) == subnet {
			some = append(some, v)
		}
	}
	return some
}

// L1ValidatorByID returns the L1 validator with a validation id, even a removed one, or nil.
func (x *StakerIndex) L1ValidatorByID(validation ids.ID) *store.L1ValidatorView {
	if i := slices.IndexFunc(x.L1, func(v *store.L1ValidatorView) bool { return ids.ID(v.Validation) == validation }); i >= 0 {
		return x.L1[i]
	}
	return nil
}

// Node returns a validator's node with its uptime now. One that a client made up is connected and has nothing else.
func (x *StakerIndex) Node(id ids.NodeID) store.Node {
	node := store.Node{Connected: true}
	if known := x.nodes[id]; known != nil {
		node = *known
	}
	node.Uptime = x.uptime(id, x.nodes[id])
	return node
}

// ValidatorSet returns a subnet's validators at the world's clock: time alone begins and ends staking, and uses up balances.
// sim.Network.ValidatorsAt does the same for a height. Validators of a permissioned subnet sign with their key on the primary network. Like
// avalanchego's GetValidatorSet, it merges inactive L1 validators under the empty node id, without a key.
func (x *StakerIndex) ValidatorSet(subnet ids.ID) []sim.Validator {
	keys := map[ids.NodeID][]byte{}
	for _, v := range x.ValidatorsOf(ids.Empty, store.StakerActive) {
		keys[ids.NodeID(v.Node)] = v.BLS
	}
	set := sim.NewValidatorSet()
	for _, v := range x.ValidatorsOf(subnet, store.StakerActive) {
		node := ids.NodeID(v.Node)
		set.Add(node, keys[node], uint64(v.Weight)+v.Delegated)
	}
	for _, v := range x.L1ValidatorsOf(subnet) {
		if x.L1Balance(v) == 0 {
			set.Add(ids.EmptyNodeID, nil, uint64(v.Weight))
		} else {
			set.Add(ids.NodeID(v.Node), v.BLS, uint64(v.Weight))
		}
	}
	return set.All
}
