package node

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
)

// primaryAPI is what the services of a network's P- and X-chain share.
type primaryAPI struct {
	*sim.Ledger
	chain   primary.Chain
	aliases map[string]ids.ID // of the chains that the node knows
}

// Answers of several services.
type (
	// HeightReply is a height of a chain.
	HeightReply struct {
		Height Uint64 `json:"height"`
	}
	// NoArgs is for methods that take nothing.
	NoArgs struct{}
)

var errNoAlias = errors.New("there is no ID with alias")

// servePrimary makes a network's P- and X-chain reachable.
func (n *Node) servePrimary(l *sim.Ledger) error {
	aliases := n.chainAliases(l)
	p := &platformAPI{primaryAPI{l, primary.PChain, aliases}}
	platform, err := newServices(n.options.MaxBody, Service{"platform", p})
	if err != nil {
		return err
	}
	x := &exchangeAPI{primaryAPI{l, primary.XChain, aliases}}
	exchange, err := newServices(n.options.MaxBody, Service{"avm", x}, Service{"xvm", x})
	if err != nil {
		return err
	}
	wallet, err := newServices(n.options.MaxBody, Service{"wallet", &walletAPI{x}})
	if err != nil {
		return err
	}
	xID := l.Rules.XChainID.String()
	for _, alias := range []string{"X", "avm", "bc/X", "bc/avm"} {
		n.Handle(l.Network, alias, exchange)
		n.Handle(l.Network, alias+"/wallet", wallet)
	}
	for _, network := range networks {
		n.Handle(network, "bc/"+xID, exchange)
		n.Handle(network, "bc/"+xID+"/wallet", wallet)
	}
	for _, alias := range []string{"P", "platform", "bc/P", "bc/platform", "bc/" + ids.Empty.String()} {
		n.Handle(l.Network, alias, platform)
	}
	return nil
}

// chainAliases are the names of the chains of a network.
func (n *Node) chainAliases(l *sim.Ledger) map[string]ids.ID {
	aliases := map[string]ids.ID{
		"P": ids.Empty, "platform": ids.Empty, "X": l.Rules.XChainID, "avm": l.Rules.XChainID, "C": l.Rules.CChainID, "evm": l.Rules.CChainID,
	}
	for _, id := range []ids.ID{ids.Empty, l.Rules.XChainID, l.Rules.CChainID} {
		aliases[id.String()] = id
	}
	for _, c := range n.options.Chains {
		if id := ids.ID(c.Row.BlockchainID); c.Row.Network == l.Network {
			aliases[id.String()] = id
		}
	}
	return aliases
}

// lookup finds a chain by one of its names.
func (a *primaryAPI) lookup(alias string) (ids.ID, error) {
	if id, known := a.aliases[alias]; known {
		return id, nil
	}
	return ids.Empty, fmt.Errorf("%w: %s", errNoAlias, alias)
}

// number is what the file calls the chain.
func (a *primaryAPI) number() int { return a.Chain(a.chain) }

// height is that of the last block.
func (a *primaryAPI) height(r *http.Request) (uint64, error) {
	head, err := a.DB.PrimaryHead(r.Context(), a.number())
	if err != nil {
		return 0, err
	}
	return head.ID.Number(), nil
}

// GetHeight answers the height of the last block.
func (a *primaryAPI) GetHeight(r *http.Request, _ *NoArgs, reply *HeightReply) error {
	height, err := a.height(r)
	reply.Height = Uint64(height)
	return err
}
