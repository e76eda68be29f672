package signing

import (
	"bytes"
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// isSent reports whether the source chain sent a message, through the warp precompile or as the hash of one of its blocks. Of a chain that
// the world does not simulate, only messages in P-Chain transactions are known.
func isSent(ctx context.Context, n *sim.Network, m *warp.UnsignedMessage) (bool, error) {
	if c := n.World.ChainByBlockchainID(m.SourceChainID); c != nil {
		return isSentByChain(ctx, n.DB, c, m)
	}
	return isInPChainTx(ctx, n, m)
}

// isSentByChain reports whether an EVM chain has a block with the hash in a message, or a SendWarpMessage log of it.
func isSentByChain(ctx context.Context, db *store.DB, c *reader.Chain, m *warp.UnsignedMessage) (bool, error) {
	if block, err := warp.ParseHashPayload(m.Payload); err == nil {
		_, err = db.BlockByHash(ctx, c.Row.ID, block[:])
		return store.Found(err)
	}
	id, err := m.ID()
	if err != nil {
		return false, err
	}
	_, err = db.SentWarpMessage(ctx, c.Row.ID, id[:])
	return store.Found(err)
}

// SentMessage returns the message with an id that a chain sent.
func SentMessage(ctx context.Context, n *sim.Network, c *reader.Chain, id ids.ID) (*warp.UnsignedMessage, error) {
	row, err := n.DB.SentWarpMessage(ctx, c.Row.ID, id[:])
	if err != nil {
		return nil, err
	}
	return warp.ParseSent(row.Data)
}

// BlockMessage returns the message that a chain accepted a block, which its validators sign unasked.
func BlockMessage(ctx context.Context, n *sim.Network, c *reader.Chain, block ids.ID) (*warp.UnsignedMessage, error) {
	if _, err := n.DB.BlockByHash(ctx, c.Row.ID, block[:]); err != nil {
		return nil, err
	}
	payload, err := warp.HashPayload(block)
	return &warp.UnsignedMessage{NetworkID: n.Rules.NetworkID, SourceChainID: ids.ID(c.Row.BlockchainID), Payload: payload}, err
}

// isInPChainTx reports whether a P-Chain transaction carries a message.
func isInPChainTx(ctx context.Context, n *sim.Network, m *warp.UnsignedMessage) (bool, error) {
	unsigned, err := m.Bytes()
	if err != nil {
		return false, err
	}
	for _, kind := range []string{"RegisterL1ValidatorTx", "SetL1ValidatorWeightTx"} {
		rows, err := n.DB.PrimaryTxsOfType(ctx, n.Chain(txs.PChain), kind)
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
