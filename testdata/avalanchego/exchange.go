package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ava-labs/avalanchego/api"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/vms/avm/block"
	"github.com/ava-labs/avalanchego/vms/avm/fxs"
	"github.com/ava-labs/avalanchego/vms/avm/txs"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/nftfx"
	"github.com/ava-labs/avalanchego/vms/propertyfx"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	avajson "github.com/ava-labs/avalanchego/utils/json"
)

// parser knows the types of the X-Chain.
func parser() (block.Parser, error) {
	return block.NewParser([]fxs.Fx{&secp256k1fx.Fx{}, &nftfx.Fx{}, &propertyfx.Fx{}})
}

// checkExchange decodes every block of the X-Chain.
func (n *network) checkExchange(ctx context.Context) error {
	if err := n.learn(); err != nil {
		return err
	}
	p, err := parser()
	if err != nil {
		return err
	}
	height, err := n.x.GetHeight(ctx)
	if err != nil {
		return err
	}
	parent := ids.Empty
	for h := range height + 1 {
		b, err := n.exchangeBlock(ctx, p, h)
		if err != nil {
			return fmt.Errorf("X block %d: %w", h, err)
		}
		if b.Height() != h || h > 0 && b.Parent() != parent {
			return fmt.Errorf("X block %d: height %d, parent %s after %s", h, b.Height(), b.Parent(), parent)
		}
		parent = b.ID()
	}
	return nil
}

func (n *network) exchangeBlock(ctx context.Context, p block.Parser, height uint64) (block.Block, error) {
	raw, err := n.x.GetBlockByHeight(ctx, height)
	if err != nil {
		return nil, err
	}
	b, err := p.ParseBlock(raw)
	if err != nil {
		return nil, err
	}
	byID, err := n.x.GetBlock(ctx, b.ID())
	if err != nil || !bytes.Equal(byID, raw) {
		return nil, fmt.Errorf("by its id %s: other bytes (%w)", b.ID(), err)
	}
	for _, tx := range b.Txs() {
		if err := n.exchangeTx(ctx, p, tx, uint64(b.Timestamp().Unix())); err != nil {
			return nil, fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
	}
	var reply api.GetBlockResponse
	args := &api.GetBlockByHeightArgs{Height: avajson.Uint64(height), Encoding: formatting.JSON}
	if err := n.xr.SendRequest(ctx, "avm.getBlockByHeight", args, &reply); err != nil {
		return nil, err
	}
	b.InitCtx(n.context(n.xID))
	n.seen.blocks++
	return b, same("JSON", reply.Block, b)
}

// exchangeTx compares a transaction's bytes and JSON and notes the outputs it spends and creates.
func (n *network) exchangeTx(ctx context.Context, p block.Parser, tx *txs.Tx, time uint64) error {
	raw, err := n.x.GetTx(ctx, tx.ID())
	if err != nil {
		return err
	}
	alone, err := p.ParseTx(raw)
	if err != nil || alone.ID() != tx.ID() {
		return fmt.Errorf("from getTx another one: %w", err)
	}
	if err := n.noteExchange(tx, time); err != nil {
		return err
	}
	var reply struct {
		Tx json.RawMessage `json:"tx"`
	}
	if err := n.xr.SendRequest(ctx, "avm.getTx", &api.GetTxArgs{TxID: tx.ID(), Encoding: formatting.JSON}, &reply); err != nil {
		return err
	}
	if err := nameExtensions(tx); err != nil {
		return err
	}
	tx.Unsigned.InitCtx(n.context(n.xID))
	n.xTxs = append(n.xTxs, tx)
	n.seen.txs++
	return same("JSON", reply.Tx, tx)
}

func (n *network) noteExchange(tx *txs.Tx, time uint64) error {
	for _, u := range tx.UTXOs() {
		n.note(u)
	}
	for i, in := range inputsOf(tx.Unsigned) {
		n.spends = append(n.spends, spend{tx.Unsigned, in, tx.Creds[i].Credential, time})
	}
	if export, ok := tx.Unsigned.(*txs.ExportTx); ok {
		n.noteExport(tx.ID(), len(export.Outs), export.ExportedOuts)
	}
	return nil
}

func inputsOf(unsigned txs.UnsignedTx) []*avax.TransferableInput {
	switch u := unsigned.(type) {
	case *txs.BaseTx:
		return u.Ins
	case *txs.CreateAssetTx:
		return u.Ins
	case *txs.OperationTx:
		return u.Ins
	case *txs.ExportTx:
		return u.Ins
	case *txs.ImportTx:
		return append(u.Ins[:len(u.Ins):len(u.Ins)], u.ImportedIns...)
	}
	return nil
}
