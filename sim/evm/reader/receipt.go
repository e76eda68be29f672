package reader

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/store"
)

// Receipts returns the transactions of a block with their logs.
func (l *Ledger) Receipts(ctx context.Context, b *Block) ([]*Transaction, error) {
	transactions, err := l.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	if b.draft != nil {
		for _, log := range logsOf(b.draft.rows) {
			transactions[log.TxIndex].Logs = append(transactions[log.TxIndex].Logs, log)
		}
		return transactions, nil
	}
	events, err := l.db.LogViewsBetween(ctx, b.position(), b.position().End(), store.MaxIndex+1)
	if err != nil {
		return nil, err
	}
	for i := range events {
		transactions[events[i].Tx].Logs = append(transactions[events[i].Tx].Logs, logOf(&events[i]))
	}
	return transactions, nil
}

// Receipt returns a transaction with its logs.
func (l *Ledger) Receipt(ctx context.Context, hash common.Hash) (*Transaction, error) {
	t, err := l.Transaction(ctx, hash)
	if err != nil || t.Row.Logs == 0 {
		return t, err
	}
	before, err := l.logsBefore(ctx, t)
	if err != nil {
		return nil, err
	}
	first := t.Block.position() + store.Position(before)
	events, err := l.db.LogViewsBetween(ctx, first, first+store.Position(t.Row.Logs-1), t.Row.Logs)
	if err != nil {
		return nil, err
	}
	for i := range events {
		t.Logs = append(t.Logs, logOf(&events[i]))
	}
	return t, nil
}

// logsBefore counts the logs of the earlier transactions of the block: the index of t's first log.
func (l *Ledger) logsBefore(ctx context.Context, t *Transaction) (int, error) {
	if t.Index() == 0 {
		return 0, nil
	}
	rows, err := l.db.TransactionsBetween(ctx, t.Block.position(), t.Row.ID-1)
	count := 0
	for i := range rows {
		count += rows[i].Logs
	}
	return count, err
}

// Receipt returns the transaction's receipt in consensus form, with its bloom.
func (t *Transaction) Receipt() *types.Receipt {
	r := &types.Receipt{
		Type: t.Type(), Status: t.Row.Status, CumulativeGasUsed: t.Row.GasTotal, GasUsed: t.Row.GasUsed, Logs: t.Logs,
		TxHash: t.Hash(), BlockHash: t.Block.Hash, BlockNumber: t.Block.Header.Number, TransactionIndex: uint(t.Index()),
		ContractAddress: common.BytesToAddress(t.Row.Created), EffectiveGasPrice: t.Price(),
	}
	r.Bloom = types.CreateBloom(r)
	return r
}
