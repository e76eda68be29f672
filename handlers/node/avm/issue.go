package avm

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// IssueArgs are a signed transaction.
type IssueArgs struct {
	Tx       string           `json:"tx"`
	Encoding jsonrpc.Encoding `json:"encoding"`
}

// TxIDReply is the id of a transaction.
type TxIDReply struct {
	TxID ids.ID `json:"txID"`
}

// maxTx is the largest transaction that a node takes from a client, in bytes.
const maxTx = 64 << 10

var errTxTooLarge = errors.New("tx too large")

// IssueTx puts a transaction into the next block.
func (a *Service) IssueTx(r *http.Request, args *IssueArgs, reply *TxIDReply) error {
	tx, err := args.parse()
	if err != nil {
		return err
	}
	reply.TxID = tx.ID()
	return a.Network.IssueX(r.Context(), tx)
}

func (args *IssueArgs) parse() (*txs.Tx, error) {
	raw, err := formatting.Decode(args.Encoding, args.Tx)
	if err != nil {
		return nil, fmt.Errorf("problem decoding transaction: %w", err)
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

// WalletService is the older way to issue, by which a transaction may come twice: avalanchego's vms/avm.WalletService.
type WalletService struct{ avm *Service }

func NewWallet(avm *Service) *WalletService { return &WalletService{avm} }

// IssueTx puts a transaction into the next block, unless it is in one already.
func (a *WalletService) IssueTx(r *http.Request, args *IssueArgs, reply *TxIDReply) error {
	tx, err := args.parse()
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
