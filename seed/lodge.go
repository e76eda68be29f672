package seed

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// lodge is an L1: a subnet with a chain that became a place of its own.
type l1 struct {
	name    string
	vm      ids.ID
	genesis []byte
	room    int // for validators, where there is a limit

	subnet, chain     ids.ID
	members           []*node
	initialValidators []*node // those that the conversion names, in its order
	changes           []*validatorChange
	validations       map[*node]ids.ID
}

const secondPrice = 512 // nAVAX that an L1 validator pays each second while there are few

// The validators of a network's first L1, each with a role.
const (
	guardian   = iota // outweighs all others, so that it can speak for the L1
	fading            // runs out of balance within the hour after history
	spent             // ran out
	disabled          // was disabled by its owner
	dismissed         // was removed by its L1
	l1Stations        // how many roles there are
)

var l1Roles = [l1Stations]string{"l1-active", "l1-about-to-run-out", "l1-out-of-balance", "l1-disabled", "l1-removed"}

// enlist splits the machines of L1 validators among the lodges. The first has the roles and whom no other has room for; but
// the one that is removed is the last to join an L1 whose chain the world has, where there is one.
func (r *primaryNetwork) assignNodes() {
	first, free := r.l1s[0], r.nodes[r.primaryValidators():]
	for i, m := range free[:l1Stations] {
		if m.row.Role = l1Roles[i]; i != dismissed {
			first.members = append(first.members, m)
		}
	}
	for i, m := range free[l1Stations:] {
		l := r.l1s[(i+1)%len(r.l1s)]
		if l.room > 0 && len(l.members) >= l.room {
			l = first
		}
		l.members = append(l.members, m)
	}
	last := r.l1s[min(1, len(r.l1s)-1)]
	last.members = append(last.members, free[dismissed])
	for i, l := range r.l1s {
		l.validations = map[*node]ids.ID{}
		for n, m := range l.members {
			m.row.Connected = m.row.Connected || i > 0 || n == guardian // so that a chain's messages find enough signatures
		}
	}
}

// found makes a subnet and its chain.
func (r *primaryNetwork) found(l *l1, at uint64) {
	owner := singleSigner(r.people["deployer"])
	r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) {
		tx, err := r.write(txDraft{chain: store.PChain, from: owner, build: func(base primary.BaseTx) primary.Unsigned {
			return &primary.CreateSubnetTx{BaseTx: base, Owner: &owner.owners}
		}}, at)
		if tx != nil {
			l.subnet = tx.ID()
		}
		return tx, err
	}))
	r.add(store.PChain, at+12, singleTx(func(at uint64) (*primary.Tx, error) {
		tx, err := r.write(txDraft{chain: store.PChain, from: owner, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
			return &primary.CreateChainTx{BaseTx: base, SubnetID: l.subnet, ChainName: l.name, VMID: l.vm, FxIDs: []ids.ID{},
				GenesisData: l.genesis, SubnetAuth: &primary.Input{SigIndices: owner.indices}}
		}}, at)
		if tx != nil {
			l.chain = tx.ID()
		}
		return tx, err
	}))
}

// settle puts the life of an L1 into the script. Its first validators come with the conversion, the others register.
func (l *l1) settle(r *primaryNetwork, first bool, g *rand.Rand) {
	initialValidators := max(1, (len(l.members)+1)/3)
	if first {
		initialValidators = 2
	}
	l.initialValidators = slices.SortedFunc(slices.Values(l.members[:initialValidators]), func(a, b *node) int { return bytes.Compare(a.id[:], b.id[:]) })
	converted := r.moment(15, int(between(g, 0, hour)))
	r.add(store.PChain, converted, singleTx(func(at uint64) (*primary.Tx, error) { return l.convert(r, at) }))
	for i := initialValidators; i < len(l.members); i++ {
		m, balance := l.members[i], uint64(0)
		at := r.moment(int(between(g, 40, 300)), int(between(g, 0, hour)))
		if balance = r.balanceFor(at, between(g, 30, 200)*day); first && i == spent {
			balance = (r.until - r.start) / 4 * secondPrice
		}
		p := l.validatorChange(&validatorChange{member: m, joins: true, weight: startingWeight, at: at})
		r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) { return l.register(r, p, balance, at) }))
	}
	l.play(r)
	for range len(l.members) / 2 {
		m := l.members[int(between(g, 0, int64(len(l.members))-1))]
		weight, amount := uint64(between(g, 10, 60)), uint64(between(g, 1, 4_000))*nanoAVAX/1000
		at := r.moment(int(between(g, 450, 980)), int(between(g, 0, hour)))
		if chance(g, 50) {
			r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) { return l.topUp(r, m, amount, at) }))
		} else if m != l.members[guardian] && m.row.Role != l1Roles[dismissed] {
			l.reweigh(r, m, weight, at)
		}
	}
	r.icmPlan.submit(l, converted)
}

// upkeep is what an L1 validator needs from a time to some seconds past history.
func (r *primaryNetwork) balanceFor(at uint64, beyond int64) uint64 {
	return (r.until - at + uint64(beyond)) * secondPrice
}

// play gives the validators with a role their fates.
func (l *l1) play(r *primaryNetwork) {
	for _, m := range l.members {
		switch m.row.Role {
		case l1Roles[guardian]:
			l.reweigh(r, m, 1100, r.moment(400, 5))
			r.add(store.PChain, r.moment(500, 5), singleTx(func(at uint64) (*primary.Tx, error) { return l.topUp(r, m, 2*nanoAVAX, at) }))
		case l1Roles[disabled]:
			r.add(store.PChain, r.moment(600, 5), singleTx(func(at uint64) (*primary.Tx, error) { return l.disable(r, m, at) }))
		case l1Roles[dismissed]:
			l.reweigh(r, m, 0, r.moment(700, 5))
		}
	}
}

func (l *l1) convert(r *primaryNetwork, at uint64) (*primary.Tx, error) {
	owner := singleSigner(r.people["deployer"])
	var validators []*primary.ConversionValidator
	total := uint64(0)
	for _, m := range l.initialValidators {
		v := &primary.ConversionValidator{NodeID: m.id[:], Weight: 2 * startingWeight, Balance: r.balanceFor(at, 100*day), Signer: *m.proof,
			RemainingBalanceOwner: control(m.owner), DeactivationOwner: control(m.owner)}
		if m == l.members[guardian] {
			v.Weight = 1000 * uint64(1+len(l.members)/10)
		}
		if m.row.Role == l1Roles[fading] {
			v.Balance = r.balanceFor(at, 40*60)
		}
		total += v.Balance
		validators = append(validators, v)
	}
	return r.write(txDraft{chain: store.PChain, from: owner, more: total, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.ConvertSubnetToL1Tx{BaseTx: base, SubnetID: l.subnet, ChainID: l.chain, Address: manager[:], Validators: validators,
			SubnetAuth: &primary.Input{SigIndices: owner.indices}}
	}}, at)
}

// sign signs what the manager says with the keys of all validators of the L1.
func (l *l1) sign(r *primaryNetwork, p *validatorChange) ([]byte, error) {
	validators, err := r.net.P.Validators(l.subnet)
	if err != nil {
		return nil, err
	}
	set, err := warp.NewCanonicalSet(validators)
	if err != nil {
		return nil, err
	}
	indices := make([]int, len(set.Members))
	for i := range indices {
		indices[i] = i
	}
	m, err := warp.Aggregate(p.message, set, indices, func(m *warp.Member) (*warp.SecretKey, error) { return r.byNode[m.NodeIDs[0]].bls, nil })
	if err != nil {
		return nil, err
	}
	return m.Bytes()
}

func (l *l1) register(r *primaryNetwork, p *validatorChange, balance, at uint64) (*primary.Tx, error) {
	message, err := l.sign(r, p)
	if err != nil {
		return nil, err
	}
	return r.write(txDraft{chain: store.PChain, from: singleSigner(r.people["deployer"]), more: balance, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.RegisterL1ValidatorTx{BaseTx: base, Balance: balance, ProofOfPossession: p.member.proof.ProofOfPossession, Message: message}
	}}, at)
}

// reweigh plans to give a validator another weight.
func (l *l1) reweigh(r *primaryNetwork, m *node, weight, at uint64) {
	p := l.validatorChange(&validatorChange{member: m, weight: weight, at: at})
	r.add(store.PChain, at, singleTx(func(at uint64) (*primary.Tx, error) { return l.weigh(r, p, at) }))
}

func (l *l1) weigh(r *primaryNetwork, p *validatorChange, at uint64) (*primary.Tx, error) {
	if _, there := r.net.P.L1Validator(l.validations[p.member]); !there {
		return nil, nil
	}
	message, err := l.sign(r, p)
	if err != nil {
		return nil, err
	}
	return r.write(txDraft{chain: store.PChain, from: singleSigner(r.people["deployer"]), build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.SetL1ValidatorWeightTx{BaseTx: base, Message: message}
	}}, at)
}

// topUp adds to a balance, unless that would spoil a role.
func (l *l1) topUp(r *primaryNetwork, m *node, amount, at uint64) (*primary.Tx, error) {
	if _, there := r.net.P.L1Validator(l.validations[m]); !there || m.row.Role != "" && m.row.Role != l1Roles[guardian] {
		return nil, nil
	}
	return r.write(txDraft{chain: store.PChain, from: singleSigner(r.people["ewoq"]), more: amount, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: l.validations[m], Balance: amount}
	}}, at)
}

func (l *l1) disable(r *primaryNetwork, m *node, at uint64) (*primary.Tx, error) {
	owner := singleSigner(m.owner)
	return r.write(txDraft{chain: store.PChain, from: singleSigner(r.people["deployer"]), auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.DisableL1ValidatorTx{BaseTx: base, ValidationID: l.validations[m], DisableAuth: &primary.Input{SigIndices: owner.indices}}
	}}, at)
}
