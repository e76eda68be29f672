package primary

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// permissionedSubnet is a subnet whose owner adds and removes validators. It has a chain, and passes from the deployer to the committee.
type permissionedSubnet struct {
	*Network
	l1 *L1 // that it never becomes
}

func (n *permissionedSubnet) schedule() {
	n.l1 = &L1{network: n.Network, name: "Guild", vm: ids.ID{'g', 'u', 'i', 'l', 'd', 'v', 'm'}, genesis: []byte(`{"guild":true}`)}
	n.l1.scheduleCreation(n.span.Start + 400)
	deployer, committee := singleSigner(n.personas.Deployer), committeeSigner(n.personas)
	add := func(at uint64, node int, owner signer) {
		n.Network.schedule(store.PChain, at, func(at uint64) (*txs.Tx, error) { return n.addValidator(node, owner, at) })
	}
	add(n.span.At(30, 7), removed, deployer)
	add(n.span.At(40, 7), popular, deployer)
	n.Network.schedule(store.PChain, n.span.At(450, 7), func(at uint64) (*txs.Tx, error) {
		return n.sign(deployer, &txs.RemoveSubnetValidatorTx{NodeID: n.nodes.all[removed].id, SubnetID: n.l1.subnet, SubnetAuth: deployer.auth()}, at)
	})
	n.Network.schedule(store.PChain, n.span.At(650, 7), func(at uint64) (*txs.Tx, error) {
		return n.sign(deployer, &txs.TransferSubnetOwnershipTx{SubnetID: n.l1.subnet, SubnetAuth: deployer.auth(), Owner: &committee.owners}, at)
	})
	add(n.span.At(800, 7), active, committee)
}

func (n *permissionedSubnet) addValidator(node int, owner signer, at uint64) (*txs.Tx, error) {
	end := max(at+n.shortestDelegation(at), n.span.Until+15*population.Day)
	return n.sign(owner, &txs.AddSubnetValidatorTx{SubnetAuth: owner.auth(), Validator: txs.SubnetValidator{
		Validator: txs.Validator{NodeID: n.nodes.all[node].id, End: end, Weight: 100}, SubnetID: n.l1.subnet}}, at)
}

// sign makes a transaction with the authorization of the subnet's owner.
func (n *permissionedSubnet) sign(owner signer, tx txs.Unsigned, at uint64) (*txs.Tx, error) {
	return n.wallet.sign(txDraft{chain: store.PChain, from: owner, tx: tx, auth: [][]*txs.Key{owner.keys}}, at)
}
