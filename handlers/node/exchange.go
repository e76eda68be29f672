package node

import (
	"errors"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// avmAPI has the methods of the X-Chain: avalanchego's vms/avm.Service.
type avmAPI struct{ primaryAPI }

func newAVM(network *sim.Ledger) *avmAPI { return &avmAPI{newPrimary(network, primary.XChain)} }

// TxFeeReply is what transactions cost.
type TxFeeReply struct {
	TxFee            Uint64 `json:"txFee"`
	CreateAssetTxFee Uint64 `json:"createAssetTxFee"`
}

var errNilTxID = errors.New("nil transaction ID")

// GetTxFee answers what transactions cost, in nAVAX.
func (a *avmAPI) GetTxFee(_ *http.Request, _ *NoArgs, reply *TxFeeReply) error {
	reply.TxFee, reply.CreateAssetTxFee = Uint64(a.network.Rules.TxFee), Uint64(a.network.Rules.CreateAssetFee)
	return nil
}

// GetTx answers a transaction.
func (a *avmAPI) GetTx(r *http.Request, args *TxIDArgs, reply *TxReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	var err error
	*reply, err = a.Tx(r.Context(), args)
	return err
}

// GetTxStatus answers Accepted, or Unknown for what is in no block: nothing waits here.
func (a *avmAPI) GetTxStatus(r *http.Request, args *TxIDArgs, reply *TxStatusReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	switch _, err := a.network.DB.PrimaryTxByHash(r.Context(), a.StoreChain(), args.TxID[:]); {
	case errors.Is(err, store.ErrNotFound):
		reply.Status = "Unknown"
	case err != nil:
		return err
	default:
		reply.Status = "Accepted"
	}
	return nil
}
