package node

import (
	"context"
	stdjson "encoding/json"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
)

// TxIDArgs name a transaction.
type TxIDArgs struct {
	TxID     ids.ID   `json:"txID"`
	Encoding Encoding `json:"encoding"`
}

// TxReply is a transaction as hex or as an object.
type TxReply struct {
	Tx       stdjson.RawMessage `json:"tx"`
	Encoding Encoding           `json:"encoding"`
}

// TxStatusReply is what became of a transaction.
type TxStatusReply struct {
	Status string `json:"status"`
}

// Tx reads a transaction of the chain; without one the error is store.ErrNotFound.
func (a *primaryAPI) Tx(ctx context.Context, args *TxIDArgs) (TxReply, error) {
	row, err := a.network.DB.PrimaryTxByHash(ctx, a.StoreChain(), args.TxID[:])
	if err != nil {
		return TxReply{}, err
	}
	text, err := encode(args.Encoding, row.Bytes, func() (stdjson.RawMessage, error) {
		tx, err := primary.ReadTx(a.chain, args.TxID, row.Bytes)
		if err != nil {
			return nil, err
		}
		return primary.TxJSON(a.chain, a.network.Rules.HRP, tx)
	})
	return TxReply{text, args.Encoding}, err
}
