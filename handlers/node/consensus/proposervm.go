package consensus

import (
	"context"
	"net/http"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/txs"
)

// ProposerVM implements the methods of a chain's ProposerVM: avalanchego's vms/proposervm.jsonrpcService.
type ProposerVM struct {
	network *sim.Network
	epoch   func(context.Context) (txs.Epoch, error)
}

// HeightReply is a P-Chain height.
type HeightReply struct {
	Height jsonrpc.Uint64 `json:"height"`
}

// EpochReply is the epoch of the next block (ACP-181).
type EpochReply struct {
	Number       jsonrpc.Uint64 `json:"number"`
	StartTime    jsonrpc.Uint64 `json:"startTime"`
	PChainHeight jsonrpc.Uint64 `json:"pChainHeight"`
}

// NewProposerVM makes the service of a network's P- or X-Chain, whose blocks carry the epoch.
func NewProposerVM(n *sim.Network, chain txs.Chain) *ProposerVM {
	return &ProposerVM{n, func(ctx context.Context) (txs.Epoch, error) {
		head, err := n.DB.PrimaryHead(ctx, n.Chain(chain))
		if err != nil {
			return txs.Epoch{}, err
		}
		last := txs.Epoch{PHeight: head.EpochHeight, Number: head.Epoch, Start: head.EpochStart}
		return last.Next(head.PHeight, uint64(head.Time)), nil
	}}
}

// NewEVMProposerVM makes the service of a network's C-Chain or L1. Their blocks carry no epoch: it follows from the time, and a block
// verifies its messages with the validators at its epoch's height.
func NewEVMProposerVM(n *sim.Network, c *reader.Chain) *ProposerVM {
	return &ProposerVM{n, func(ctx context.Context) (txs.Epoch, error) {
		head, err := c.Head(ctx)
		if err != nil {
			return txs.Epoch{}, err
		}
		return n.EpochAt(ctx, max(uint64(n.Clock.Unix()), head.Header.Time))
	}}
}

// GetProposedHeight returns the P-Chain height that the next block would name.
func (p *ProposerVM) GetProposedHeight(r *http.Request, _ *jsonrpc.NoArgs, reply *HeightReply) error {
	height, err := p.network.PHeight(r.Context())
	reply.Height = jsonrpc.Uint64(height)
	return err
}

// GetCurrentEpoch returns the epoch of the next block.
func (p *ProposerVM) GetCurrentEpoch(r *http.Request, _ *jsonrpc.NoArgs, reply *EpochReply) error {
	e, err := p.epoch(r.Context())
	*reply = EpochReply{jsonrpc.Uint64(e.Number), jsonrpc.Uint64(e.Start), jsonrpc.Uint64(e.PHeight)}
	return err
}
