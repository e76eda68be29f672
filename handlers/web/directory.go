package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"snowglobe/handlers/control"
	"snowglobe/handlers/rest"
)

type endpoint = rest.Endpoint

// directory knows the names of everything that has been in the world from the beginning: chains, personas, contracts, nodes.
type directory struct {
	World    control.World
	Chains   []*chainInfo
	byChain  map[string]*chainInfo
	personas map[string]*control.Persona // by each of their addresses, in lower case
	nodes    map[string]nodeInfo
}

// chainInfo is an EVM chain.
type chainInfo struct {
	ID, Name, Network, Symbol, BlockchainID, SubnetID string
	RPC                                               string // path of its JSON-RPC
	contracts                                         map[string]*control.Contract
}

// nodeInfo is a node that exists to show a situation.
type nodeInfo struct{ Role, Network string }

// directory reads the world's description once, because names never change.
func (s *Site) directory(p *page) (*directory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names != nil {
		return s.names, nil
	}
	c := get("world", "/sim/world").query("expected", "false").query("abis", "false")
	status, body := s.ask(p.r.Context(), p.r, c)
	if status != 200 {
		return nil, fmt.Errorf("%s: status %d", c.Path, status)
	}
	d := &directory{byChain: map[string]*chainInfo{}, personas: map[string]*control.Persona{}, nodes: map[string]nodeInfo{}}
	if err := json.Unmarshal(body, &d.World); err != nil {
		return nil, err
	}
	const most = 120 // letters in a name
	for i := range d.World.Chains {
		row := &d.World.Chains[i]
		row.Name = clip(row.Name, most)
		chain := &chainInfo{ID: row.ChainID, Name: row.Name, Network: row.Network, Symbol: row.NativeToken, BlockchainID: row.BlockchainID, SubnetID: row.SubnetID,
			RPC: "/ext/bc/" + row.BlockchainID + "/rpc", contracts: map[string]*control.Contract{}}
		for j := range row.Contracts {
			chain.contracts[strings.ToLower(row.Contracts[j].Address)] = &row.Contracts[j]
		}
		d.Chains = append(d.Chains, chain)
		d.byChain[chain.ID], d.byChain[chain.BlockchainID] = chain, chain
	}
	for i := range d.World.Personas {
		persona := &d.World.Personas[i]
		persona.Name, persona.Purpose = clip(persona.Name, most), clip(persona.Purpose, 2*most)
		if persona.Address != "" {
			d.personas[strings.ToLower(persona.Address)] = persona
		}
		for _, address := range persona.Addresses {
			d.personas[address] = persona
		}
	}
	for _, network := range d.World.Networks {
		for _, node := range network.Nodes {
			d.nodes[node.NodeID] = nodeInfo{clip(node.Role, most), network.Name}
		}
	}
	s.names = d
	return d, nil
}

// Label returns the full name of a chain, because both networks have a C-Chain.
func (c *chainInfo) Label() string {
	if c.SubnetID == primarySubnet {
		return "C-Chain " + c.Network
	}
	return c.Name
}

const primarySubnet = "11111111111111111111111111111111LpoYY"

// label returns an address's name and the class of its link.
func (d *directory) label(c *chainInfo, address string) (label, class string) {
	key := strings.ToLower(address)
	if persona := d.personas[key]; persona != nil {
		return persona.Name, "persona"
	}
	if c == nil {
		return "", ""
	}
	if contract := c.contracts[key]; contract != nil {
		if contract.Token != nil {
			return clip(contract.Token.Symbol, 32), "contract"
		}
		return contract.Role, "contract"
	}
	return "", ""
}

// ChainLabel returns the name of the chain with an id.
func (d *directory) ChainLabel(id any) string {
	if c := d.byChain[text(id)]; c != nil {
		return c.Label()
	}
	return clip(text(id), 60)
}

// Persona returns the persona with an address, in any form.
func (d *directory) Persona(address string) *control.Persona {
	key := strings.ToLower(address)
	if _, rest, ok := strings.Cut(key, "-"); ok {
		key = rest
	}
	return d.personas[key]
}

// Contract returns the named contract at an address.
func (d *directory) Contract(c *chainInfo, address string) *control.Contract {
	return c.contracts[strings.ToLower(address)]
}

// Node returns the situation that a node shows.
func (d *directory) Node(id string) string { return d.nodes[id].Role }

// onChain finds the EVM chain that a page's path names by its EVM chain id or its blockchain id, before the page is shown.
func onChain(show func(*page) error) func(*page) error {
	return func(p *page) error {
		if p.Chain = p.names.byChain[p.arg("chain")]; p.Chain == nil {
			return notFound("there is no EVM chain %s in this world", clip(p.arg("chain"), 64))
		}
		return show(p)
	}
}
