package control

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/control/describe"
	"snowglobe/handlers/rest"
)

// describe fills in the contents of the network's P- and X-Chain.
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
	n.Assets = []Asset{}
	for i := range d.Assets {
		a := &d.Assets[i]
		n.Assets = append(n.Assets, Asset{AssetID: idText(a.Hash), Name: a.Name, Symbol: a.Symbol, Denomination: int(a.Denomination), Fungible: a.Fungible()})
	}
	for what, id := range d.Samples {
		n.Samples[what] = idText(id)
	}
}

// idText formats an id in cb58, or returns "" if there is none.
func idText(raw []byte) string {
	if raw == nil {
		return ""
	}
	return ids.ID(raw).String()
}

// Origins maps networks that have a port of their own to it, by name. Only the host name selects a network without one.
type Origins map[string]int

// URL returns the origin that serves one network, as seen by a client that reached the server through a base URL: the network's own port,
// or a name below localhost, which browsers resolve to this machine.
func (o Origins) URL(base, network string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	host, port := u.Hostname(), u.Port()
	n := o[network]
	if n != 0 {
		port = strconv.Itoa(n)
	}
	if n == 0 || strings.HasSuffix(host, ".localhost") { // the host name would take precedence over the port
		host = network + ".localhost"
	}
	if port != "" {
		host = net.JoinHostPort(host, port)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host}).String()
}

// of returns a network's base URL, below which /ext is found, as the client sees it. A client that came through a proxy or a forwarded port
// cannot reach this process's other ports, so its URL has the network in the path.
func (o Origins) of(r *http.Request, network string) string {
	root, mount := rest.RootURL(r), rest.MountPath(r)
	if rest.Forwarded(r) || !o.listensAt(root) {
		return root + mount + "/" + network
	}
	return o.URL(root, network) + mount
}

// listensAt reports whether a URL's port is one of ours.
func (o Origins) listensAt(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	for _, port := range o {
		if u.Port() == strconv.Itoa(port) || u.Port() == "" && port == 80 {
			return true
		}
	}
	return false
}
