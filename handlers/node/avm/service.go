package avm

import (
	"errors"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Service implements the X-Chain's methods: avalanchego's vms/avm.Service.
type Service struct{ primary.Service }

func New(network *sim.Network) *Service { return &Service{primary.New(network, txs.XChain)} }

// TxFeeReply lists transaction fees.
type TxFeeReply struct {
	TxFee            jsonrpc.Uint64 `json:"txFee"`
	CreateAssetTxFee jsonrpc.Uint64 `json:"createAssetTxFee"`
}

var errNilTxID = errors.New("nil transaction ID")

// GetTxFee returns transaction fees in nAVAX.
func (a *Service) GetTxFee(_ *http.Request, _ *jsonrpc.NoArgs, reply *TxFeeReply) error {
	reply.TxFee, reply.CreateAssetTxFee = jsonrpc.Uint64(a.Network.Rules.TxFee), jsonrpc.Uint64(a.Network.Rules.CreateAssetFee)
	return nil
}

// GetTx returns a transaction.
func (a *Service) GetTx(r *http.Request, args *primary.TxIDArgs, reply *primary.TxReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	var err error
	*reply, err = a.Tx(r.Context(), args)
	return err
}

// GetTxStatus returns Accepted, or Unknown for a transaction that no block contains: transactions don't wait here.
func (a *Service) GetTxStatus(r *http.Request, args *primary.TxIDArgs, reply *primary.TxStatusReply) error {
	if args.TxID == ids.Empty {
		return errNilTxID
	}
	switch _, err := a.Network.DB.PrimaryTxByHash(r.Context(), a.StoreChain(), args.TxID[:]); {
	case errors.Is(err, store.ErrNotFound):
		reply.Status = "Unknown"
	case err != nil:
		return err
	default:
		reply.Status = "Accepted"
	}
	return nil
}
