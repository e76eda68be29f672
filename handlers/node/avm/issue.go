package avm

import (
	"errors"
	"fmt"
	"net/http"

	"snowglobe/handlers/node/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// maxTx is the largest transaction that a node accepts from a client, in bytes: avalanchego's vms/txs/mempool.MaxTxSize.
const maxTx = 64 << 10

var errTxTooLarge = errors.New("tx too large")

// IssueTx includes a transaction in the next block.
func (a *Service) IssueTx(r *http.Request, args *primary.FormattedTx, reply *primary.TxIDReply) error {
	tx, err := parseTx(args)
	if err != nil {
		return err
	}
	reply.TxID = tx.ID()
	return a.Network.IssueX(r.Context(), tx)
}

func parseTx(args *primary.FormattedTx) (*txs.Tx, error) {
	raw, err := args.Bytes()
	if err != nil {
		return nil, err
	}
	tx, err := txs.ParseTx(txs.XChain, raw)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxTx {
		return nil, fmt.Errorf("%w: %s size (%d) > max size (%d)", errTxTooLarge, tx.ID(), len(raw), maxTx)
	}
	return tx, nil
}

// WalletService is the older service for issuing, which accepts the same transaction twice: avalanchego's vms/avm.WalletService.
type WalletService struct{ avm *Service }

func NewWallet(avm *Service) *WalletService { return &WalletService{avm} }

// IssueTx includes a transaction in the next block, unless a block already contains it.
func (a *WalletService) IssueTx(r *http.Request, args *primary.FormattedTx, reply *primary.TxIDReply) error {
	tx, err := parseTx(args)
	if err != nil {
		return err
	}
	reply.TxID = tx.ID()
	_, err = a.avm.Network.DB.PrimaryTxByHash(r.Context(), a.avm.StoreChain(), reply.TxID[:])
	if errors.Is(err, store.ErrNotFound) {
		return a.avm.Network.IssueX(r.Context(), tx)
	}
	return err
}
