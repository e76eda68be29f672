package control

import (
	"net"
	"net/url"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/control/describe"
)

// describe fills in what is on the network's P- and X-Chain.
func (n *Network) describe(d *describe.Network) {
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

// Origins tell at which port each network is served by itself, by its name. A network without a port is told from the others by
// the host's name alone.
type Origins map[string]int

// URL is the origin that speaks for one network, as seen by a client that reached the server by a base URL: its own port, or a
// name below localhost, which browsers resolve to this machine.
func (o Origins) URL(base, network string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	host, port := u.Hostname(), u.Port()
	if n := o[network]; n != 0 {
		port = strconv.Itoa(n)
	} else {
		host = network + ".localhost"
	}
	if port != "" {
		host = net.JoinHostPort(host, port)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host}).String()
}
