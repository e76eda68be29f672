package seed

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// lodge is an L1: a subnet with a chain that became a place of its own.
type lodge struct {
	name    string
	vm      ids.ID
	genesis []byte

	subnet, chain ids.ID
	members       []*machine
	validations   map[*machine]ids.ID
	nonces        map[*machine]uint64
}

// manager is the contract that manages an L1's validators.
var manager = common.HexToAddress("0x0Feedc0de0000000000000000000000000000000").Bytes()

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

// enlist splits the machines of L1 validators among the lodges: the first has all the roles.
func (r *realm) enlist() {
	free := r.machines[r.primaryValidators():]
	for i, m := range free {
		l := r.lodges[0]
		if i >= l1Stations {
			l = r.lodges[(i-l1Stations+1)%len(r.lodges)]
		} else {
			m.row.Role = l1Roles[i]
		}
		l.members = append(l.members, m)
	}
	for i, l := range r.lodges {
		l.validations, l.nonces = map[*machine]ids.ID{}, map[*machine]uint64{}
		for n, m := range l.members {
			m.row.Connected = m.row.Connected || i > 0 || n == guardian // so that a chain's messages find enough signatures
		}
	}
}

// found makes a subnet and its chain.
func (r *realm) found(l *lodge, at uint64) {
	owner := alone(r.people["deployer"])
	r.add(store.PChain, at, one(func(at uint64) (*primary.Tx, error) {
		tx, err := r.write(draft{chain: store.PChain, from: owner, build: func(base primary.BaseTx) primary.Unsigned {
			return &primary.CreateSubnetTx{BaseTx: base, Owner: &owner.owners}
		}}, at)
		if tx != nil {
			l.subnet = tx.ID()
		}
		return tx, err
	}))
	r.add(store.PChain, at+12, one(func(at uint64) (*primary.Tx, error) {
		tx, err := r.write(draft{chain: store.PChain, from: owner, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
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
func (l *lodge) settle(r *realm, first bool, g *rand.Rand) {
	pioneers := max(1, (len(l.members)+1)/3)
	if first {
		pioneers = 2
	}
	at := r.moment(15, int(between(g, 0, hour)))
	r.add(store.PChain, at, one(func(at uint64) (*primary.Tx, error) { return l.convert(r, pioneers, at) }))
	for i := pioneers; i < len(l.members); i++ {
		m, balance := l.members[i], uint64(0)
		at := r.moment(int(between(g, 40, 300)), int(between(g, 0, hour)))
		if balance = r.upkeep(at, between(g, 30, 200)*day); first && i == spent {
			balance = (r.until - r.start) / 4 * secondPrice
		}
		r.add(store.PChain, at, one(func(at uint64) (*primary.Tx, error) { return l.register(r, m, balance, at) }))
	}
	if first {
		l.play(r)
	}
	for range len(l.members) / 2 {
		m := l.members[int(between(g, 0, int64(len(l.members))-1))]
		weight, amount := uint64(between(g, 10, 60)), uint64(between(g, 1, 4_000))*nanoAVAX/1000
		at := r.moment(int(between(g, 450, 980)), int(between(g, 0, hour)))
		if chance(g, 50) {
			r.add(store.PChain, at, one(func(at uint64) (*primary.Tx, error) { return l.topUp(r, m, amount, at) }))
		} else if m != l.members[guardian] {
			r.add(store.PChain, at, one(func(at uint64) (*primary.Tx, error) { return l.weigh(r, m, weight, at) }))
		}
	}
}

// upkeep is what an L1 validator needs from a time to some seconds past history.
func (r *realm) upkeep(at uint64, beyond int64) uint64 {
	return (r.until - at + uint64(beyond)) * secondPrice
}

// play gives the validators of the first L1 their fates.
func (l *lodge) play(r *realm) {
	m := l.members
	r.add(store.PChain, r.moment(400, 5), one(func(at uint64) (*primary.Tx, error) { return l.weigh(r, m[guardian], 1100, at) }))
	r.add(store.PChain, r.moment(500, 5), one(func(at uint64) (*primary.Tx, error) { return l.topUp(r, m[guardian], 2*nanoAVAX, at) }))
	r.add(store.PChain, r.moment(600, 5), one(func(at uint64) (*primary.Tx, error) { return l.disable(r, m[disabled], at) }))
	r.add(store.PChain, r.moment(700, 5), one(func(at uint64) (*primary.Tx, error) { return l.weigh(r, m[dismissed], 0, at) }))
}

func control(a *actor) warp.Owner {
	return warp.Owner{Threshold: 1, Addresses: []ids.ShortID{a.primary.Address()}}
}

func (l *lodge) convert(r *realm, pioneers int, at uint64) (*primary.Tx, error) {
	owner := alone(r.people["deployer"])
	var validators []*primary.ConversionValidator
	total := uint64(0)
	for i, m := range l.members[:pioneers] {
		v := &primary.ConversionValidator{NodeID: m.id[:], Weight: 40, Balance: r.upkeep(at, 100*day), Signer: *m.proof,
			RemainingBalanceOwner: control(m.owner), DeactivationOwner: control(m.owner)}
		if i == guardian {
			v.Weight = 1000 * uint64(1+len(l.members)/10)
		}
		if m.row.Role == l1Roles[fading] {
			v.Balance = r.upkeep(at, 40*60)
		}
		total += v.Balance
		validators = append(validators, v)
	}
	slices.SortFunc(validators, func(a, b *primary.ConversionValidator) int { return bytes.Compare(a.NodeID, b.NodeID) })
	for i, v := range validators {
		l.validations[r.byNode[ids.NodeID(v.NodeID)]] = warp.ConversionValidationID(l.subnet, uint32(i))
	}
	return r.write(draft{chain: store.PChain, from: owner, more: total, auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.ConvertSubnetToL1Tx{BaseTx: base, SubnetID: l.subnet, ChainID: l.chain, Address: manager, Validators: validators,
			SubnetAuth: &primary.Input{SigIndices: owner.indices}}
	}}, at)
}

// speak signs what the manager says with the keys of all validators that can sign.
func (l *lodge) speak(r *realm, e warp.Event) ([]byte, error) {
	unsigned, err := warp.NewEventMessage(r.rules.NetworkID, l.chain, manager, e)
	if err != nil {
		return nil, err
	}
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
	m, err := warp.Aggregate(unsigned, set, indices, func(m *warp.Member) (*warp.SecretKey, error) { return r.byNode[m.NodeIDs[0]].bls, nil })
	if err != nil {
		return nil, err
	}
	return m.Bytes()
}

func (l *lodge) register(r *realm, m *machine, balance, at uint64) (*primary.Tx, error) {
	request := &warp.RegisterL1Validator{SubnetID: l.subnet, NodeID: m.id[:], PublicKey: m.proof.PublicKey, Expiry: at + 12*hour,
		RemainingBalanceOwner: control(m.owner), DisableOwner: control(m.owner), Weight: 20}
	id, err := request.ValidationID()
	if err != nil {
		return nil, err
	}
	message, err := l.speak(r, request)
	if err != nil {
		return nil, err
	}
	l.validations[m] = id
	return r.write(draft{chain: store.PChain, from: alone(r.people["deployer"]), more: balance, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.RegisterL1ValidatorTx{BaseTx: base, Balance: balance, ProofOfPossession: m.proof.ProofOfPossession, Message: message}
	}}, at)
}

func (l *lodge) weigh(r *realm, m *machine, weight, at uint64) (*primary.Tx, error) {
	if _, there := r.net.P.L1Validator(l.validations[m]); !there {
		return nil, nil
	}
	message, err := l.speak(r, &warp.L1ValidatorWeight{ValidationID: l.validations[m], Nonce: l.nonces[m], Weight: weight})
	if err != nil {
		return nil, err
	}
	l.nonces[m]++
	return r.write(draft{chain: store.PChain, from: alone(r.people["deployer"]), build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.SetL1ValidatorWeightTx{BaseTx: base, Message: message}
	}}, at)
}

// topUp adds to a balance, unless that would spoil a role.
func (l *lodge) topUp(r *realm, m *machine, amount, at uint64) (*primary.Tx, error) {
	if _, there := r.net.P.L1Validator(l.validations[m]); !there || m.row.Role != "" && m.row.Role != l1Roles[guardian] {
		return nil, nil
	}
	return r.write(draft{chain: store.PChain, from: alone(r.people["ewoq"]), more: amount, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.IncreaseL1ValidatorBalanceTx{BaseTx: base, ValidationID: l.validations[m], Balance: amount}
	}}, at)
}

func (l *lodge) disable(r *realm, m *machine, at uint64) (*primary.Tx, error) {
	owner := alone(m.owner)
	return r.write(draft{chain: store.PChain, from: alone(r.people["deployer"]), auth: [][]*primary.Key{owner.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.DisableL1ValidatorTx{BaseTx: base, ValidationID: l.validations[m], DisableAuth: &primary.Input{SigIndices: owner.indices}}
	}}, at)
}
