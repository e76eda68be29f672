package primary

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// Service implements the methods and rules that the services of a network's P- and X-Chain share.
type Service struct {
	Network *sim.Network
	chain   txs.Chain
}

// HeightReply is a chain's height.
type HeightReply struct {
	Height jsonrpc.Uint64 `json:"height"`
}

// New makes the shared part of a chain's service.
func New(network *sim.Network, chain txs.Chain) Service {
	return Service{network, chain}
}

var errNoAlias = errors.New("there is no ID with alias")

// ChainByAlias finds a chain of a network by one of its names, with the error of avalanchego's ids.Aliaser.
func ChainByAlias(network *sim.Network, alias string) (ids.ID, error) {
	if id, known := network.Aliases.Lookup(alias); known {
		return id, nil
	}
	return ids.Empty, fmt.Errorf("%w: %s", errNoAlias, alias)
}

// StoreChain returns the file's code for the chain.
func (a *Service) StoreChain() int { return a.Network.Chain(a.chain) }

// Height returns the height of the last block.
func (a *Service) Height(ctx context.Context) (uint64, error) {
	head, err := a.Network.DB.PrimaryHead(ctx, a.StoreChain())
	return head.ID.Number(), err
}

// GetHeight returns the height of the last block.
func (a *Service) GetHeight(r *http.Request, _ *jsonrpc.NoArgs, reply *HeightReply) error {
	height, err := a.Height(r.Context())
	reply.Height = jsonrpc.Uint64(height)
	return err
}
