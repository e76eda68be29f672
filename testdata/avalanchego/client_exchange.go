package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow/choices"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/vms/avm/txs"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
)

// ewoq is the well-known development key.
const ewoq = "PrivateKey-ewoqjP7PxY4yr3iLTpLisriqt94hdyDFNgchSxGGztUrTXtNN"

// useExchange calls every method of the X-Chain through the real node's client.
func (n clients) useExchange(ctx context.Context) error {
	var key secp256k1.PrivateKey
	if err := key.UnmarshalText([]byte(ewoq)); err != nil {
		return err
	}
	tx := n.xTxs[len(n.xTxs)-1]
	status, err := n.x.GetTxStatus(ctx, tx.ID())
	if err != nil || status != choices.Accepted {
		return fmt.Errorf("getTxStatus: %s, %w", status, err)
	}
	if err := n.useBalances(ctx, key.Address()); err != nil {
		return err
	}
	asset, err := n.x.GetAssetDescription(ctx, "AVAX")
	if err != nil || asset.AssetID != n.avax || asset.Denomination != 9 {
		return fmt.Errorf("getAssetDescription: %+v, %w", asset, err)
	}
	if _, _, _, err := n.x.GetAtomicUTXOs(ctx, []ids.ShortID{key.Address()}, "P", 10, ids.ShortEmpty, ids.Empty); err != nil {
		return fmt.Errorf("getUTXOs from P: %w", err)
	}
	n.seen.calls += 4
	return n.issue(ctx, &key)
}

func (n clients) useBalances(ctx context.Context, address ids.ShortID) error {
	one, err := n.x.GetBalance(ctx, address, "AVAX", false)
	if err != nil || one.Balance == 0 || len(one.UTXOIDs) == 0 {
		return fmt.Errorf("getBalance: %+v, %w", one, err)
	}
	all, err := n.x.GetAllBalances(ctx, address, false)
	if err != nil {
		return fmt.Errorf("getAllBalances: %w", err)
	}
	for _, b := range all {
		if b.AssetID == "AVAX" && b.Balance == one.Balance {
			n.seen.calls += 2
			return nil
		}
	}
	return fmt.Errorf("getAllBalances: %+v has not the balance of getBalance, %d", all, one.Balance)
}

// issue sends a payment that the real node's code built and signed, and finds it in the next block.
func (n clients) issue(ctx context.Context, key *secp256k1.PrivateKey) error {
	tx, err := n.payment(ctx, key)
	if err != nil {
		return err
	}
	before, err := n.x.GetHeight(ctx)
	if err != nil {
		return err
	}
	id, err := n.x.IssueTx(ctx, tx.Bytes())
	if err != nil || id != tx.ID() {
		return fmt.Errorf("issueTx: %s, %w", id, err)
	}
	height, err := n.x.GetHeight(ctx)
	if err != nil || height != before+1 {
		return fmt.Errorf("getHeight: %d after %d, %w", height, before, err)
	}
	raw, err := n.x.GetTx(ctx, id)
	if err != nil || !bytes.Equal(raw, tx.Bytes()) {
		return fmt.Errorf("getTx: other bytes, %w", err)
	}
	if _, err := n.x.IssueTx(ctx, tx.Bytes()); err == nil {
		return errors.New("issueTx: took the same transaction twice")
	}
	n.seen.calls += 5
	return nil
}

func (n clients) payment(ctx context.Context, key *secp256k1.PrivateKey) (*txs.Tx, error) {
	fee, _, err := n.x.GetTxFee(ctx)
	if err != nil {
		return nil, err
	}
	p, err := parser()
	if err != nil {
		return nil, err
	}
	all, _, _, err := n.x.GetUTXOs(ctx, []ids.ShortID{key.Address()}, 0, ids.ShortEmpty, ids.Empty)
	if err != nil {
		return nil, err
	}
	for _, raw := range all {
		u := &avax.UTXO{}
		if _, err := p.Codec().Unmarshal(raw, u); err != nil {
			return nil, err
		}
		out, ok := u.Out.(*secp256k1fx.TransferOutput)
		if !ok || u.AssetID() != n.avax || out.Amt <= fee || len(out.Addrs) != 1 || out.Locktime > uint64(time.Now().Unix()) {
			continue
		}
		tx := &txs.Tx{Unsigned: &txs.BaseTx{BaseTx: avax.BaseTx{
			NetworkID: n.id, BlockchainID: n.xID,
			Outs: []*avax.TransferableOutput{{Asset: u.Asset, Out: &secp256k1fx.TransferOutput{Amt: out.Amt - fee, OutputOwners: out.OutputOwners}}},
			Ins:  []*avax.TransferableInput{{UTXOID: u.UTXOID, Asset: u.Asset, In: &secp256k1fx.TransferInput{Amt: out.Amt, Input: secp256k1fx.Input{SigIndices: []uint32{0}}}}},
		}}}
		return tx, tx.SignSECP256K1Fx(p.Codec(), [][]*secp256k1.PrivateKey{{key}})
	}
	return nil, fmt.Errorf("%s has nothing on X", key.Address())
}
