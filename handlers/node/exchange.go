package node

import (
	"errors"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// avmAPI has the methods of the X-chain.
type avmAPI struct{ primaryAPI }

// TxFeeReply is what transactions cost.
type TxFeeReply struct {
	TxFee            Uint64 `json:"txFee"`
	CreateAssetTxFee Uint64 `json:"createAssetTxFee"`
}

var errNilTxID = errors.New("nil transaction ID")

// GetTxFee answers what transactions cost, in nAVAX.
func (a *avmAPI) GetTxFee(_ *http.Request, _ *NoArgs, reply *TxFeeReply) error {
	reply.TxFee, reply.CreateAssetTxFee = Uint64(a.Rules.TxFee), Uint64(a.Rules.CreateAssetFee)
	return nil
}

// GetTx answers a transaction.
func (a *avmAPI) GetTx(r *http.Request, args *TxIDArgs, reply *TxReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	return a.tx(r, args, reply)
}

// GetTxStatus answers Accepted, or Unknown for what is in no block: nothing waits here.
func (a *avmAPI) GetTxStatus(r *http.Request, args *TxIDArgs, reply *TxStatusReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	switch _, err := a.DB.PrimaryTxByHash(r.Context(), a.number(), args.TxID[:]); {
	case errors.Is(err, store.ErrNotFound):
		reply.Status = "Unknown"
	case err != nil:
		return err
	default:
		reply.Status = "Accepted"
	}
	return nil
}
