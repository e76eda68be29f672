package seed

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// permissionedSubnet is a subnet whose owner adds and removes validators. It has a chain, and passes from the deployer to the
// committee.
type permissionedSubnet struct {
	*Network
	l1 *L1 // that it never becomes
}

// schedule plans the subnet's transactions.
func (n *permissionedSubnet) schedule() {
	n.l1 = &L1{network: n.Network, name: "Guild", vm: ids.ID{'g', 'u', 'i', 'l', 'd', 'v', 'm'}, genesis: []byte(`{"guild":true}`)}
	n.l1.scheduleCreation(n.span.Start + 400)
	deployer, committee := singleSigner(n.personas.Deployer), committeeSigner(n.personas)
	add := func(at uint64, node int, owner signer) {
		n.Network.schedule(store.PChain, at, func(at uint64) (*primary.Tx, error) { return n.addValidator(node, owner, at) })
	}
	add(n.span.At(30, 7), removed, deployer)
	add(n.span.At(40, 7), popular, deployer)
	n.Network.schedule(store.PChain, n.span.At(450, 7), func(at uint64) (*primary.Tx, error) {
		return n.sign(deployer, &primary.RemoveSubnetValidatorTx{NodeID: n.nodes.all[removed].id, SubnetID: n.l1.subnet, SubnetAuth: deployer.auth()}, at)
	})
	n.Network.schedule(store.PChain, n.span.At(650, 7), func(at uint64) (*primary.Tx, error) {
		return n.sign(deployer, &primary.TransferSubnetOwnershipTx{SubnetID: n.l1.subnet, SubnetAuth: deployer.auth(), Owner: &committee.owners}, at)
	})
	add(n.span.At(800, 7), active, committee)
}

func (n *permissionedSubnet) addValidator(node int, owner signer, at uint64) (*primary.Tx, error) {
	end := max(at+n.rules.Staking.MinStakeDuration, n.span.Until+15*Day)
	return n.sign(owner, &primary.AddSubnetValidatorTx{SubnetAuth: owner.auth(), Validator: primary.SubnetValidator{
		Validator: primary.Validator{NodeID: n.nodes.all[node].id, End: end, Weight: 100}, SubnetID: n.l1.subnet}}, at)
}

// sign makes a transaction that the subnet's owner authorizes.
func (n *permissionedSubnet) sign(owner signer, tx primary.Unsigned, at uint64) (*primary.Tx, error) {
	return n.wallet.sign(txDraft{chain: store.PChain, from: owner, tx: tx, auth: [][]*primary.Key{owner.keys}}, at)
}
