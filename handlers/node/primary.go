package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
)

// primaryAPI has the methods and rules that the services of a network's P- and X-Chain share.
type primaryAPI struct {
	network *sim.Ledger
	chain   primary.Chain
}

// HeightReply is a height of a chain.
type HeightReply struct {
	Height Uint64 `json:"height"`
}

// newPrimary makes what the service of a chain is built on.
func newPrimary(network *sim.Ledger, chain primary.Chain) primaryAPI {
	return primaryAPI{network, chain}
}

var errNoAlias = errors.New("there is no ID with alias")

// ChainByAlias finds a chain of a network by one of its names, with the error of avalanchego's ids.Aliaser.
func ChainByAlias(network *sim.Ledger, alias string) (ids.ID, error) {
	if id, known := network.Aliases.Lookup(alias); known {
		return id, nil
	}
	return ids.Empty, fmt.Errorf("%w: %s", errNoAlias, alias)
}

// StoreChain is what the file calls the chain.
func (a *primaryAPI) StoreChain() int { return a.network.Chain(a.chain) }

// Height is that of the last block.
func (a *primaryAPI) Height(ctx context.Context) (uint64, error) {
	head, err := a.network.DB.PrimaryHead(ctx, a.StoreChain())
	if err != nil {
		return 0, err
	}
	return head.ID.Number(), nil
}

// GetHeight answers the height of the last block.
func (a *primaryAPI) GetHeight(r *http.Request, _ *NoArgs, reply *HeightReply) error {
	height, err := a.Height(r.Context())
	reply.Height = Uint64(height)
	return err
}
