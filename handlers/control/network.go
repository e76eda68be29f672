package control

import (
	"github.com/ava-labs/avalanchego/ids"
)

// describe fills in what is on the network's P- and X-Chain.
func (n *Network) describe(d *NetworkDescription) {
	n.PHeight, n.XHeight, n.PTransactions, n.XTransactions = d.PHeight, d.XHeight, d.PTransactions, d.XTransactions
	n.Validators, n.Delegators, n.L1Validators = d.Validators, d.Delegators, d.L1Validators
	n.Nodes, n.Subnets, n.Samples = []Node{}, []Subnet{}, map[string]string{}
	for _, node := range d.Nodes {
		n.Nodes = append(n.Nodes, Node{Role: node.Role, NodeID: ids.NodeID(node.Node).String(), TxID: idText(node.Tx), ValidationID: idText(node.Validation)})
	}
	for _, s := range d.Subnets {
		subnet := Subnet{SubnetID: idText(s.Hash), IsL1: s.State.Conversion != nil, Blockchains: []Blockchain{}}
		for _, b := range s.Blockchains {
			subnet.Blockchains = append(subnet.Blockchains, Blockchain{BlockchainID: idText(b.Hash), Name: b.Name, VMID: idText(b.VM)})
		}
		n.Subnets = append(n.Subnets, subnet)
	}
	for what, id := range d.Samples {
		n.Samples[what] = idText(id)
	}
}

// idText is an id in cb58; nothing for no id.
func idText(raw []byte) string {
	if raw == nil {
		return ""
	}
	return ids.ID(raw).String()
}
