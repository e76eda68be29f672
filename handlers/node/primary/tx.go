package primary

import (
	"context"
	stdjson "encoding/json"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/txs"
)

// TxIDArgs names a transaction.
type TxIDArgs struct {
	TxID     ids.ID           `json:"txID"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// TxReply is a transaction as hex or as an object.
type TxReply struct {
	Tx       stdjson.RawMessage `json:"tx"`
	Encoding jsonrpc.Encoding   `json:"encoding"`
}

// TxStatusReply is a transaction's status.
type TxStatusReply struct {
	Status string `json:"status"`
}

// Tx reads a transaction of the chain; the error is store.ErrNotFound if there is none.
func (a *Service) Tx(ctx context.Context, args *TxIDArgs) (TxReply, error) {
	row, err := a.Network.DB.PrimaryTxByHash(ctx, a.StoreChain(), args.TxID[:])
	if err != nil {
		return TxReply{}, err
	}
	text, err := encode(args.Encoding, row.Bytes, func() (stdjson.RawMessage, error) {
		tx, err := txs.ReadTx(a.chain, args.TxID, row.Bytes)
		if err != nil {
			return nil, err
		}
		return txs.TxJSON(a.chain, a.Network.Rules.HRP, tx)
	})
	return TxReply{text, args.Encoding}, err
}
