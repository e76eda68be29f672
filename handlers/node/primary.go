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
	chain primary.Chain
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
	n.self[l.Network] = l.Self.ID().String()
	p := newPlatform(l)
	if err := errors.Join(n.serveInfo(l, p), n.serveHealth(l), n.serveAdmin(l)); err != nil {
		return err
	}
	platform, err := newServices(n.options.MaxBody, Service{"platform", p})
	if err != nil {
		return err
	}
	x := &avmAPI{primaryAPI{l, primary.XChain}}
	exchange, err := newServices(n.options.MaxBody, Service{"avm", x}, Service{"xvm", x})
	if err != nil {
		return err
	}
	wallet, err := newServices(n.options.MaxBody, Service{"wallet", &walletAPI{x}})
	if err != nil {
		return err
	}
	for _, alias := range []string{"X", "avm", "bc/X", "bc/avm", "bc/" + l.Rules.XChainID.String()} {
		n.Handle(l.Network, alias, exchange)
		n.Handle(l.Network, alias+"/wallet", wallet)
	}
	for _, alias := range []string{"P", "platform", "bc/P", "bc/platform", "bc/" + ids.Empty.String()} {
		n.Handle(l.Network, alias, platform)
	}
	return nil
}

// lookup finds a chain by one of its names.
func (a *primaryAPI) lookup(alias string) (ids.ID, error) {
	if id, known := a.Aliases.Lookup(alias); known {
		return id, nil
	}
	return ids.Empty, withText(errNoAlias, alias)
}

// withText adds what a client wrote to what is wrong with it.
func withText(err error, text string) error { return fmt.Errorf("%w: %s", err, text) }

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
