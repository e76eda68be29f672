package avax

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Service implements the methods for the C-Chain's atomic transactions.
type Service struct{ chain primary.Service }

func New(network *sim.Network) *Service { return &Service{primary.New(network, txs.CChain)} }

// TxReply is an atomic transaction with the block that contains it.
type TxReply struct {
	Tx          string           `json:"tx"`
	Encoding    jsonrpc.Encoding `json:"encoding"`
	BlockHeight *jsonrpc.Uint64  `json:"blockHeight,omitempty"`
}

// TxStatusReply is an atomic transaction's status.
type TxStatusReply struct {
	Status      string          `json:"status"`
	BlockHeight *jsonrpc.Uint64 `json:"blockHeight,omitempty"`
}

// TxIDArgs names a transaction.
type TxIDArgs struct {
	TxID ids.ID `json:"txID"`
}

var (
	errNoSourceChain = errors.New("no source chain provided")
	errNilTxID       = errors.New("nil transaction ID")
	errNotFound      = errors.New("fetching tx: reading tx: not found")
)

// GetUTXOs returns a page of the outputs that another chain exported to addresses of the C-Chain.
func (a *Service) GetUTXOs(r *http.Request, args *primary.UTXOArgs, reply *primary.UTXOReply) error {
	if err := primary.CheckCount(args.Addresses); err != nil {
		return err
	}
	if args.SourceChain == "" {
		return errNoSourceChain
	}
	return a.chain.GetUTXOs(r, args, reply)
}

// IssueTx includes an atomic transaction in the next block.
func (a *Service) IssueTx(r *http.Request, args *primary.FormattedTx, reply *primary.TxIDReply) error {
	raw, err := args.Bytes()
	if err != nil {
		return err
	}
	tx, err := txs.ParseTx(txs.CChain, raw)
	if err != nil {
		return fmt.Errorf("problem parsing transaction: %w", err)
	}
	reply.TxID = tx.ID()
	return a.chain.Network.IssueC(r.Context(), tx)
}

// GetAtomicTx returns an accepted transaction.
func (a *Service) GetAtomicTx(r *http.Request, args *primary.TxIDArgs, reply *TxReply) error {
	row, err := a.accepted(r.Context(), args.TxID)
	switch {
	case err != nil:
		return err
	case row == nil && a.helicon():
		return errNotFound
	case row == nil:
		return fmt.Errorf("could not find tx %s", args.TxID)
	}
	reply.Encoding, reply.BlockHeight = args.Encoding, height(row)
	reply.Tx, err = formatting.Encode(args.Encoding, row.Bytes)
	return err
}

// GetAtomicTxStatus returns Accepted, or Unknown for a transaction that no block contains: transactions don't wait here. Helicon deprecates the
// method, and nodes since v1.15.2 lack it: GetAtomicTx returns the height, too.
func (a *Service) GetAtomicTxStatus(r *http.Request, args *TxIDArgs, reply *TxStatusReply) error {
	row, err := a.accepted(r.Context(), args.TxID)
	if err != nil {
		return err
	}
	if reply.Status = "Unknown"; row != nil {
		reply.Status, reply.BlockHeight = "Accepted", height(row)
	}
	return nil
}

// accepted returns an accepted transaction, nil if no block contains one with that id.
func (a *Service) accepted(ctx context.Context, id ids.ID) (*store.PrimaryTx, error) {
	if id == ids.Empty && !a.helicon() {
		return nil, errNilTxID
	}
	row, err := a.chain.Network.DB.PrimaryTxByHash(ctx, a.chain.StoreChain(), id[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return row, err
}

// helicon reports whether the C-Chain has the virtual machine of Helicon, which looks up every id alike (avalanchego
// vms/saevm/cchain.service.GetAtomicTx).
func (a *Service) helicon() bool {
	n := a.chain.Network
	return n.Rules.Active(rules.Helicon, uint64(n.Clock.Unix()))
}

func height(row *store.PrimaryTx) *jsonrpc.Uint64 {
	return new(jsonrpc.Uint64(row.ID.Number()))
}
