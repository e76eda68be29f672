package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ava-labs/avalanchego/api"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/vms/platformvm/block"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"

	avajson "github.com/ava-labs/avalanchego/utils/json"
)

// checkPlatform decodes every block of the P-Chain.
func (n *network) checkPlatform(ctx context.Context) error {
	height, err := n.p.GetHeight(ctx)
	if err != nil {
		return err
	}
	parent, now := ids.Empty, uint64(0)
	for h := range height + 1 {
		b, err := n.platformBlock(ctx, h)
		if err != nil {
			return fmt.Errorf("P block %d: %w", h, err)
		}
		if b.Height() != h || h > 0 && b.Parent() != parent {
			return fmt.Errorf("P block %d: height %d, parent %s after %s", h, b.Height(), b.Parent(), parent)
		}
		parent = b.ID()
		if banff, ok := b.(block.BanffBlock); ok {
			now = uint64(banff.Timestamp().Unix())
		}
		n.pTimes, n.pBlocks = append(n.pTimes, now), append(n.pBlocks, b)
		for _, tx := range b.Txs() {
			if err := n.platformTx(ctx, tx, now, h); err != nil {
				return fmt.Errorf("P block %d, transaction %s: %w", h, tx.ID(), err)
			}
		}
	}
	return nil
}

func (n *network) platformBlock(ctx context.Context, height uint64) (block.Block, error) {
	raw, err := n.p.GetBlockByHeight(ctx, height)
	if err != nil {
		return nil, err
	}
	b, err := block.Parse(block.GenesisCodec, raw)
	if err != nil {
		return nil, err
	}
	byID, err := n.p.GetBlock(ctx, b.ID())
	if err != nil || !bytes.Equal(byID, raw) {
		return nil, fmt.Errorf("by its id %s: other bytes (%w)", b.ID(), err)
	}
	var reply api.GetBlockResponse
	args := &api.GetBlockByHeightArgs{Height: avajson.Uint64(height), Encoding: formatting.JSON}
	if err := n.pr.SendRequest(ctx, "platform.getBlockByHeight", args, &reply); err != nil {
		return nil, err
	}
	b.InitCtx(n.context(constants.PlatformChainID))
	n.seen.blocks++
	return b, same("JSON", reply.Block, b)
}

// platformTx lets the real node verify a transaction's form, compares its bytes and JSON, and notes the outputs it spends and creates.
func (n *network) platformTx(ctx context.Context, tx *txs.Tx, now, height uint64) error {
	raw, err := n.p.GetTx(ctx, tx.ID())
	if err != nil || !bytes.Equal(raw, tx.Bytes()) {
		return fmt.Errorf("from getTx other bytes: %w", err)
	}
	if _, reward := tx.Unsigned.(*txs.RewardValidatorTx); !reward {
		if err := tx.SyntacticVerify(n.context(constants.PlatformChainID)); err != nil {
			return err
		}
	}
	if err := n.notePlatform(ctx, tx, now); err != nil {
		return err
	}
	if err := n.checkProofs(ctx, tx, height); err != nil {
		return err
	}
	var reply struct {
		Tx json.RawMessage `json:"tx"`
	}
	if err := n.pr.SendRequest(ctx, "platform.getTx", &api.GetTxArgs{TxID: tx.ID(), Encoding: formatting.JSON}, &reply); err != nil {
		return err
	}
	tx.Unsigned.InitCtx(n.context(constants.PlatformChainID))
	n.pTxs = append(n.pTxs, tx)
	n.seen.txs++
	return same("JSON", reply.Tx, tx)
}
