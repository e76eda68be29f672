package snowglobetest

import (
	"fmt"
	"strings"

	"snowglobe/fixtures"
	"snowglobe/handlers/control"
)

// Network is one of a world's two networks.
type Network string

// The networks of every world.
const (
	Mainnet Network = fixtures.MainnetName
	Fuji    Network = fixtures.FujiName
)

// Chain names a chain: one of the constants, or an EVM chain by its name, its chain id or its blockchain id, optionally after the name of
// its network and a slash.
type Chain string

// The chains of the primary networks.
const (
	C     Chain = "C"
	P     Chain = "P"
	X     Chain = "X"
	FujiC Chain = "fuji/C"
	FujiP Chain = "fuji/P"
	FujiX Chain = "fuji/X"
)

// primaryChains maps the chains that every network has to the paths of their JSON-RPC.
var primaryChains = map[string]string{"C": "/ext/bc/C/rpc", "P": "/ext/bc/P", "X": "/ext/bc/X"}

// rpcURL returns the JSON-RPC URL of a chain in the world at url.
func (c Chain) rpcURL(w *control.World, url string) (string, error) {
	prefix, name := "", string(c)
	network, rest, named := strings.Cut(name, "/")
	if named {
		id, err := fixtures.NetworkNamed(network)
		if err != nil {
			return "", fmt.Errorf("chain %q: %w", string(c), err)
		}
		prefix, name, network = "/"+id.Name, rest, id.Name
	}
	if path := primaryChains[strings.ToUpper(name)]; path != "" {
		return url + prefix + path, nil
	}
	if !named {
		network = ""
	}
	chain, err := Chain(name).find(w, Network(network))
	return chain.RPCURL, err
}

// find looks up an EVM chain on a network, or on both if network is empty.
func (c Chain) find(w *control.World, network Network) (control.Chain, error) {
	var known []string
	for _, one := range w.Chains {
		if network != "" && one.Network != string(network) {
			continue
		}
		if strings.EqualFold(one.Name, string(c)) || one.ChainID == string(c) || one.BlockchainID == string(c) {
			return one, nil
		}
		known = append(known, one.Name+" ("+one.ChainID+")")
	}
	return control.Chain{}, fmt.Errorf("there is no EVM chain %q%s, but %s", string(c), of(network), strings.Join(known, ", "))
}

func of(network Network) string {
	if network == "" {
		return ""
	}
	return " of " + string(network)
}
