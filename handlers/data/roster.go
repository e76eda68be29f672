package data

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// rosters keeps what the lists of stakers are made from, for each network. It is made anew when a block came or the
// clock moved.
type rosters struct {
	mu  sync.Mutex
	now map[string]*roster
}

// roster is who stakes or staked on a network, as one block and one second of the clock have it; it is never changed.
type roster struct {
	version     int64
	unix        int64
	head        *store.PrimaryBlock
	validations []*validation // oldest first
	delegations []*delegation
	orders      map[string]shelf[validation] // by what they are sorted by
	delegated   shelf[delegation]            // newest first
	earned      shelf[earning]               // newest first
	l1          []*membership                // newest first
	accrued     store.Amount
	stake       uint64                  // of all who validate or delegate on the primary network now
	staking     map[store.Position]bool // the transactions of those
}

// validation is one stay of a node among the validators of a subnet.
type validation struct {
	store.Staker
	status    int
	node      *store.Node // nil for one whose machine is not known
	nodeID    string
	endedAt   int64 // when it was removed
	delegated uint64
	count     int
	fees      uint64 // that the delegations that count bring, if all are rewarded
	total     uint64 // what the subnet's active validators weigh
	note
}

// delegation is a stake that somebody adds to a validation.
type delegation struct {
	store.Staker
	status int
	shares uint32 // of the validation, of a million
	note
}

// membership is an L1 validator.
type membership struct {
	*store.L1
	note
}

// note is JSON that is written once. Two requests that write it at the same time write the same.
type note struct{ text atomic.Pointer[written] }

func (n *note) once(shape func() any) (written, error) {
	if text := n.text.Load(); text != nil {
		return *text, nil
	}
	raw, err := marshal(shape())
	text := written(raw)
	if err == nil {
		n.text.Store(&text)
	}
	return text, err
}

func (d *delegation) net() uint64 {
	_, rest := primary.SplitReward(uint64(d.Reward), d.shares)
	return rest
}

// roster is the present one of a network.
func (a *api) roster(ctx context.Context, l *sim.Ledger) (*roster, error) {
	a.rosters.mu.Lock()
	defer a.rosters.mu.Unlock()
	version, unix := l.DB.Primaries(), l.Clock.Unix()
	if r := a.rosters.now[l.Network]; r != nil && r.version == version && r.unix == unix {
		return r, nil
	}
	r, err := newRoster(ctx, l)
	if err != nil {
		return nil, err
	}
	r.version, r.unix = version, unix
	a.rosters.now[l.Network] = r
	return r, nil
}

func newRoster(ctx context.Context, l *sim.Ledger) (*roster, error) {
	chain := l.Chain(primary.PChain)
	head, err := l.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return nil, err
	}
	r := &roster{head: head, accrued: l.Accrued(head)}
	l1, err := l.DB.L1Validators(ctx, chain, head.ID.Number())
	if err != nil {
		return nil, err
	}
	for i := range l1 {
		r.l1 = append(r.l1, &membership{L1: &l1[len(l1)-1-i]})
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
	r.fill(l, stakers, nodes)
	r.staking = r.stakes()
	if err := r.date(ctx, l); err != nil {
		return nil, err
	}
	r.sort(l)
	r.earned = placed(r.earnings(), earningPlace)
	return r, nil
}

// fill splits the stakers and joins them: validations with their machines, delegations with the validation that they
// lie within.
func (r *roster) fill(l *sim.Ledger, stakers []store.Staker, nodes []store.Node) {
	machines := make(map[ids.NodeID]*store.Node, len(nodes))
	for i := range nodes {
		machines[ids.NodeID(nodes[i].Node)] = &nodes[i]
	}
	stays := map[ids.NodeID][]*validation{}
	for _, s := range stakers {
		if !s.Delegator {
			node := ids.NodeID(s.Node)
			v := &validation{Staker: s, status: l.Standing(&s), node: machines[node], nodeID: node.String()}
			r.validations = append(r.validations, v)
			stays[node] = append(stays[node], v)
		}
	}
	for _, s := range stakers {
		if s.Delegator {
			r.delegate(&delegation{Staker: s, status: l.Standing(&s)}, stays[ids.NodeID(s.Node)])
		}
	}
	r.weigh()
}

// delegate adds a delegation to the validation that it lies within. While a validation is active only the delegations
// that are active count, afterwards all do.
func (r *roster) delegate(d *delegation, stays []*validation) {
	r.delegations = append(r.delegations, d)
	for _, v := range stays {
		if !primaryNetwork(v.Subnet) || d.Start < v.Start || d.End > v.End {
			continue
		}
		d.shares = v.Shares
		fee, _ := primary.SplitReward(uint64(d.Reward), v.Shares)
		if v.status == store.StakerCompleted || v.status == store.StakerActive && d.status == store.StakerActive {
			v.delegated += uint64(d.Weight)
			v.count++
			v.fees += fee
		}
	}
}

func primaryNetwork(subnet []byte) bool { return ids.ID(subnet) == ids.Empty }

// weigh adds up what the active validators of each subnet weigh, delegations included.
func (r *roster) weigh() {
	totals := map[ids.ID]uint64{}
	for _, v := range r.validations {
		if v.status == store.StakerActive {
			totals[ids.ID(v.Subnet)] += uint64(v.Weight) + v.delegated
		}
	}
	for _, v := range r.validations {
		v.total = totals[ids.ID(v.Subnet)]
	}
	r.stake = totals[ids.Empty]
}

// date finds when validators were removed. A removal has no row of its own: it is the transaction of the block that
// ended the validation.
func (r *roster) date(ctx context.Context, l *sim.Ledger) (err error) {
	for _, v := range r.validations {
		if v.status != store.StakerRemoved || v.Ended == nil {
			continue
		}
		at := store.At(l.Chain(primary.PChain), uint64(*v.Ended), 0)
		if v.endedAt, err = l.DB.PrimaryTime(ctx, at); err != nil {
			return err
		}
		if v.RewardTx, err = remover(ctx, l, at, v); err != nil {
			return err
		}
	}
	return nil
}

// remover is the transaction in a block that removed a validator.
func remover(ctx context.Context, l *sim.Ledger, block store.Position, v *validation) ([]byte, error) {
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
