package platform

import (
	"fmt"
	"net/http"

	"snowglobe/handlers/node/primary"
	"snowglobe/sim/txs"
)

// IssueTx includes a transaction in the next block. Errors are wrapped in a node's layers: its service, its mempool, the verification of a
// transaction and its execution.
func (a *Service) IssueTx(r *http.Request, args *primary.FormattedTx, reply *primary.TxIDReply) error {
	raw, err := args.Bytes()
	if err != nil {
		return err
	}
	tx, err := txs.ParseTx(txs.PChain, raw)
	if err != nil {
		return fmt.Errorf("couldn't parse tx: couldn't parse tx: %w", err)
	}
	reply.TxID = tx.ID()
	if err := a.Network.IssueP(r.Context(), tx); err != nil {
		return fmt.Errorf("couldn't issue tx: %w", err)
	}
	return nil
}
