package primary

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// L1 is a subnet with a chain that is converted to an L1 (ACP-77).
type L1 struct {
	network *Network
	name    string
	vm      ids.ID
	genesis []byte
	room    int // for validators, where there is a limit

	subnet, chain     ids.ID
	validators        []*node
	initialValidators []*node // of the conversion, in its order
	changes           []*validatorChange
	validationIDs     map[*node]ids.ID
	declared          map[*node]OwnValidator // all validators of an L1 whose file lists them
}

// txsPerValidator is the number of an L1's transactions per validator, so that its manager's do not crowd out the others.
const txsPerValidator = 50

// AddL1 makes the L1 of a chain with a genesis and so many transactions.
func (n *Network) AddL1(name string, vm ids.ID, genesis []byte, size int) *L1 {
	l := &L1{network: n, name: name, vm: vm, genesis: genesis, room: max(size/txsPerValidator, 2)}
	n.l1s = append(n.l1s, l)
	return l
}

// Created is closed once every L1 of the network has its ids.
func (n *Network) Created() <-chan struct{} { return n.l1sReady }

// IDs returns the ids of the transactions that created the subnet and the chain.
func (l *L1) IDs() (subnet, chain ids.ID) { return l.subnet, l.chain }

// SecondPrice is an L1 validator's fee per second in nAVAX while there are few of them (ACP-77).
const SecondPrice = 512

// Validators with a role of a network's first L1.
const (
	dominant  = iota // outweighs all others, so that it can sign for the L1
	expiresL1        // runs out of balance within the hour after history
	inactive         // ran out of balance
	disabled         // disabled by its owner
	removedL1        // removed by its L1
	L1RoleCount
)

var l1Roles = func() (all [L1RoleCount]string) {
	for i := range all {
		all[i] = fixtures.L1Roles[i].Name
	}
	return all
}()

// assignNodes splits the nodes of L1 validators among the L1s. The first L1 gets those with a role, and the surplus of the others. The
// exception is the removed one, which joins an L1 with a chain in the world last, if there is one.
func (n *Network) assignNodes() {
	first, free := n.l1s[0], n.nodes.ofL1
	taking := slices.DeleteFunc(slices.Clone(n.l1s), func(l *L1) bool { return len(l.declared) > 0 })
	for i, node := range free[:L1RoleCount] {
		node.row.Role = l1Roles[i]
		node.row.Connected = node.row.Connected && i != disabled
		if i != removedL1 {
			first.validators = append(first.validators, node)
		}
	}
	for i, node := range free[L1RoleCount:] {
		l := taking[(i+1)%len(taking)]
		if l.room > 0 && len(l.validators) >= l.room {
			l = first
		}
		l.validators = append(l.validators, node)
	}
	last := taking[min(1, len(taking)-1)]
	last.validators = append(last.validators, free[removedL1])
	for i, l := range n.l1s {
		l.validationIDs = map[*node]ids.ID{}
		for k, node := range l.validators {
			node.row.Connected = node.row.Connected || i > 0 || k == dominant // so that a chain's messages find enough signatures
		}
	}
}

// owner returns the subnet's owner.
func (l *L1) owner() signer { return singleSigner(l.network.personas.Deployer) }

func (l *L1) scheduleCreation(at uint64) {
	l.network.schedule(store.PChain, at, l.createSubnet)
	l.network.schedule(store.PChain, at+12, l.createChain)
}

func (l *L1) createSubnet(at uint64) (*txs.Tx, error) {
	owner := l.owner()
	tx, err := l.network.wallet.sign(txDraft{chain: store.PChain, from: owner, tx: &txs.CreateSubnetTx{Owner: &owner.owners}}, at)
	if tx != nil {
		l.subnet = tx.ID()
	}
	return tx, err
}

func (l *L1) createChain(at uint64) (*txs.Tx, error) {
	owner := l.owner()
	tx, err := l.network.wallet.sign(txDraft{chain: store.PChain, from: owner, auth: [][]*txs.Key{owner.keys}, tx: &txs.CreateChainTx{
		SubnetID: l.subnet, ChainName: l.name, VMID: l.vm, FxIDs: []ids.ID{}, GenesisData: l.genesis, SubnetAuth: owner.auth()}}, at)
	if tx != nil {
		l.chain = tx.ID()
	}
	return tx, err
}

// schedule plans the conversion and the validators' later changes. The first validators come with the conversion, the others register.
func (l *L1) schedule(first bool, r *rand.Rand) {
	initial := max(1, (len(l.validators)+1)/3)
	if first {
		initial = 2
	}
	if len(l.declared) > 0 {
		initial = len(l.validators)
	}
	l.initialValidators = slices.SortedFunc(slices.Values(l.validators[:initial]), func(a, b *node) int { return bytes.Compare(a.id[:], b.id[:]) })
	span := l.network.span
	converted := span.At(15, int(population.Between(r, 0, population.Hour)))
	l.network.schedule(store.PChain, converted, l.convert)
	for i := initial; i < len(l.validators); i++ {
		at := span.At(int(population.Between(r, 40, 300)), int(population.Between(r, 0, population.Hour)))
		balance := l.balanceFor(at, uint64(population.Between(r, 30, 200)*population.Day))
		if first && i == inactive {
			balance = (span.Until - span.Start) / 4 * SecondPrice
		}
		l.scheduleRegistration(l.validators[i], balance, at)
	}
	if len(l.declared) == 0 {
		l.scheduleRoles()
		l.scheduleChanges(r)
	}
	l.network.ICM.scheduleManager(l, converted)
}

// balanceFor returns an L1 validator's balance to last from a time to some seconds past history.
func (l *L1) balanceFor(at, beyond uint64) uint64 {
	return (l.network.span.Until - at + beyond) * SecondPrice
}

func (l *L1) scheduleRoles() {
	span := l.network.span
	for _, node := range l.validators {
		switch node.row.Role {
		case l1Roles[dominant]:
			l.scheduleWeight(node, 1100, span.At(400, 5))
			l.network.schedule(store.PChain, span.At(500, 5), l.increaseBalance(node, 2*nanoAVAX))
		case l1Roles[disabled]:
			l.network.schedule(store.PChain, span.At(600, 5), l.disable(node))
		case l1Roles[removedL1]:
			l.scheduleWeight(node, 0, span.At(700, 5))
		}
	}
}

// scheduleChanges plans changes of weights and top-ups of balances.
func (l *L1) scheduleChanges(r *rand.Rand) {
	for range len(l.validators) / 2 {
		node := l.validators[int(population.Between(r, 0, int64(len(l.validators))-1))]
		weight, amount := uint64(population.Between(r, 10, 60)), uint64(population.Between(r, 1, 4_000))*nanoAVAX/1000
		at := l.network.span.At(int(population.Between(r, 450, 980)), int(population.Between(r, 0, population.Hour)))
		if population.Chance(r, 50) {
			l.network.schedule(store.PChain, at, l.increaseBalance(node, amount))
		} else if node != l.validators[dominant] && node.row.Role != l1Roles[removedL1] {
			l.scheduleWeight(node, weight, at)
		}
	}
}

func (l *L1) convert(at uint64) (*txs.Tx, error) {
	owner := l.owner()
	var validators []*txs.ConversionValidator
	total := uint64(0)
	for _, node := range l.initialValidators {
		v := &txs.ConversionValidator{NodeID: node.id[:], Weight: 2 * startingWeight, Balance: l.balanceFor(at, 100*population.Day), Signer: *node.proof,
			RemainingBalanceOwner: warpOwner(node.owner), DeactivationOwner: warpOwner(node.owner)}
		if node == l.validators[dominant] {
			v.Weight = 1000 * uint64(1+len(l.validators)/10)
		}
		if node.row.Role == l1Roles[expiresL1] {
			v.Balance = l.balanceFor(at, 40*60)
		}
		if d, is := l.declared[node]; is {
			v.Weight, v.Balance = d.Weight, d.Balance+l.balanceFor(at, 0)
		}
		total += v.Balance
		validators = append(validators, v)
	}
	tx, err := l.network.wallet.sign(txDraft{chain: store.PChain, from: owner, more: total, auth: [][]*txs.Key{owner.keys}, tx: &txs.ConvertSubnetToL1Tx{
		SubnetID: l.subnet, ChainID: l.chain, Address: evm.ValidatorManager[:], Validators: validators, SubnetAuth: owner.auth()}}, at)
	if tx == nil && err == nil && len(l.declared) > 0 {
		err = fmt.Errorf("L1 %s: nobody can pay its validators' balances, %d nAVAX", l.name, total)
	}
	return tx, err
}

// sign signs the manager's message with the keys of all validators of the L1.
func (l *L1) sign(m *warp.UnsignedMessage) ([]byte, error) {
	set, err := l.network.net.P.WarpSet(l.subnet)
	if err != nil {
		return nil, err
	}
	indices := make([]int, len(set.Validators))
	for i := range indices {
		indices[i] = i
	}
	signed, err := warp.Aggregate(m, set, indices, l.network.nodes.key)
	if err != nil {
		return nil, err
	}
	return signed.Bytes()
}

func (l *L1) isValidator(node *node) bool {
	_, there := l.network.net.P.L1Validator(l.validationIDs[node])
	return there
}

// increaseBalance adds to a balance, unless that would spoil a role.
func (l *L1) increaseBalance(node *node, amount uint64) txBuilder {
	return func(at uint64) (*txs.Tx, error) {
		if !l.isValidator(node) || node.row.Role != "" && node.row.Role != l1Roles[dominant] {
			return nil, nil
		}
		return l.network.wallet.sign(txDraft{chain: store.PChain, from: singleSigner(l.network.personas.Ewoq), more: amount,
			tx: &txs.IncreaseL1ValidatorBalanceTx{ValidationID: l.validationIDs[node], Balance: amount}}, at)
	}
}

func (l *L1) disable(node *node) txBuilder {
	return func(at uint64) (*txs.Tx, error) {
		owner := singleSigner(node.owner)
		return l.network.wallet.sign(txDraft{chain: store.PChain, from: l.owner(), auth: [][]*txs.Key{owner.keys},
			tx: &txs.DisableL1ValidatorTx{ValidationID: l.validationIDs[node], DisableAuth: owner.auth()}}, at)
	}
}
