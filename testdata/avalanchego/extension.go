package main

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/vms/avm/txs"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/nftfx"
	"github.com/ava-labs/avalanchego/vms/propertyfx"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
)

var extensions = []ids.ID{secp256k1fx.ID, nftfx.ID, propertyfx.ID}

// nameExtensions fills in the ids of feature extensions, which a node adds to a transaction before it shows it.
func nameExtensions(tx *txs.Tx) error {
	for _, credential := range tx.Creds {
		switch credential.Credential.(type) {
		case *secp256k1fx.Credential:
			credential.FxID = secp256k1fx.ID
		case *nftfx.Credential:
			credential.FxID = nftfx.ID
		case *propertyfx.Credential:
			credential.FxID = propertyfx.ID
		default:
			return fmt.Errorf("credential is %T", credential.Credential)
		}
	}
	switch u := tx.Unsigned.(type) {
	case *txs.BaseTx:
		nameTransfers(u.Outs, u.Ins)
	case *txs.CreateAssetTx:
		nameTransfers(u.Outs, u.Ins)
		for _, state := range u.States {
			state.FxID = extensions[state.FxIndex]
		}
	case *txs.OperationTx:
		nameTransfers(u.Outs, u.Ins)
		return nameOperations(u.Ops)
	case *txs.ImportTx:
		nameTransfers(u.Outs, u.Ins)
		nameTransfers(nil, u.ImportedIns)
	case *txs.ExportTx:
		nameTransfers(u.Outs, u.Ins)
		nameTransfers(u.ExportedOuts, nil)
	}
	return nil
}

func nameTransfers(outs []*avax.TransferableOutput, ins []*avax.TransferableInput) {
	for _, out := range outs {
		out.FxID = secp256k1fx.ID
	}
	for _, in := range ins {
		in.FxID = secp256k1fx.ID
	}
}

func nameOperations(operations []*txs.Operation) error {
	for _, o := range operations {
		switch o.Op.(type) {
		case *secp256k1fx.MintOperation:
			o.FxID = secp256k1fx.ID
		case *nftfx.MintOperation, *nftfx.TransferOperation:
			o.FxID = nftfx.ID
		case *propertyfx.MintOperation, *propertyfx.BurnOperation:
			o.FxID = propertyfx.ID
		default:
			return fmt.Errorf("operation is %T", o.Op)
		}
	}
	return nil
}
