package node

import (
	stdjson "encoding/json"
	"net/http"

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

func (a *primaryAPI) tx(r *http.Request, args *TxIDArgs, reply *TxReply) error {
	row, err := a.DB.PrimaryTxByHash(r.Context(), a.number(), args.TxID[:])
	if err != nil {
		return err
	}
	reply.Encoding = args.Encoding
	reply.Tx, err = encode(args.Encoding, row.Bytes, func() (stdjson.RawMessage, error) {
		tx, err := primary.ReadTx(a.chain, args.TxID, row.Bytes)
		if err != nil {
			return nil, err
		}
		return primary.TxJSON(a.chain, a.Rules.HRP, tx)
	})
	return err
}
