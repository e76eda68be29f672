package consensus

import (
	"context"
	"net/http"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/txs"
)

// ProposerVM has the methods of a chain's ProposerVM: avalanchego's vms/proposervm.jsonrpcService.
type ProposerVM struct {
	network *sim.Network
	epoch   func(context.Context) (txs.Epoch, error)
}

// HeightReply is a height of the P-Chain.
type HeightReply struct {
	Height jsonrpc.Uint64 `json:"height"`
}

// EpochReply is the epoch of the next block (ACP-181).
type EpochReply struct {
	Number       jsonrpc.Uint64 `json:"number"`
	StartTime    jsonrpc.Uint64 `json:"startTime"`
	PChainHeight jsonrpc.Uint64 `json:"pChainHeight"`
}

// NewProposerVM is that of a network's P- or X-Chain. Their blocks keep the epoch.
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

// NewEVMProposerVM is that of a network's C-Chain or L1. The blocks of these keep no epoch: theirs follow from the time, and a
// block verifies the messages in it with the validators of its epoch's height.
func NewEVMProposerVM(n *sim.Network, c *reader.Chain) *ProposerVM {
	return &ProposerVM{n, func(ctx context.Context) (txs.Epoch, error) {
		head, err := c.Head(ctx)
		if err != nil {
			return txs.Epoch{}, err
		}
		return n.EpochAt(ctx, max(uint64(n.Clock.Unix()), head.Header.Time))
	}}
}

// GetProposedHeight answers the height of the P-Chain that the next block would name.
func (p *ProposerVM) GetProposedHeight(r *http.Request, _ *jsonrpc.NoArgs, reply *HeightReply) error {
	height, err := p.network.PHeight(r.Context())
	reply.Height = jsonrpc.Uint64(height)
	return err
}

// GetCurrentEpoch answers the epoch that the next block would be in.
func (p *ProposerVM) GetCurrentEpoch(r *http.Request, _ *jsonrpc.NoArgs, reply *EpochReply) error {
	e, err := p.epoch(r.Context())
	*reply = EpochReply{jsonrpc.Uint64(e.Number), jsonrpc.Uint64(e.Start), jsonrpc.Uint64(e.PHeight)}
	return err
}
