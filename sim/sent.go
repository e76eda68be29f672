package sim

import (
	"bytes"
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/warp"
)

// sent tells whether the chain that a message names as its source did send it, by the warp precompile or as the hash of one of
// its blocks. Of a chain that the world does not simulate it knows only what the P-chain took.
func (l *Ledger) sent(ctx context.Context, m *warp.UnsignedMessage) (bool, error) {
	if c := l.world.chainOf(m.SourceChainID); c != nil {
		return l.emitted(ctx, c, m)
	}
	return l.requested(ctx, m)
}

// emitted tells whether an EVM chain has a block with the hash that a message is, or a log that sent it.
func (l *Ledger) emitted(ctx context.Context, c *evm.Chain, m *warp.UnsignedMessage) (bool, error) {
	if block, err := warp.ParseHashPayload(m.Payload); err == nil {
		_, err = l.DB.BlockByHash(ctx, c.Row.ID, block[:])
		return exists(err)
	}
	id, err := m.ID()
	if err != nil {
		return false, err
	}
	return exists(l.DB.SentWarpMessage(ctx, c.Row.ID, id[:]))
}

// chainOf is the EVM chain with a blockchain id, or nil.
func (w *World) chainOf(id ids.ID) *evm.Chain {
	for _, c := range w.Chains {
		if ids.ID(c.Row.BlockchainID) == id {
			return c
		}
	}
	return nil
}

// requested tells whether a transaction of the P-chain carries a message.
func (l *Ledger) requested(ctx context.Context, m *warp.UnsignedMessage) (bool, error) {
	unsigned, err := m.Bytes()
	if err != nil {
		return false, err
	}
	for _, kind := range []string{"RegisterL1ValidatorTx", "SetL1ValidatorWeightTx"} {
		rows, err := l.DB.PrimaryTxsOfType(ctx, l.Chain(primary.PChain), kind)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if bytes.Contains(row.Bytes, unsigned) {
				return true, nil
			}
		}
	}
	return false, nil
}
