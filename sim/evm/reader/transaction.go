package reader

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Transaction is an executed transaction with its outcome.
type Transaction struct {
	*types.Transaction
	Row    *store.Transaction
	Block  *Block
	Sender common.Address
	Logs   []*types.Log // filled by Receipts and Receipt only
}

// Hash returns the transaction's hash, which is in its row.
func (t *Transaction) Hash() common.Hash { return common.BytesToHash(t.Row.Hash) }

// Index returns the transaction's index in its block.
func (t *Transaction) Index() int { return t.Row.ID.Index() }

// Price returns the price per unit of gas that the transaction paid, in wei.
func (t *Transaction) Price() *big.Int {
	return evm.EffectiveGasPrice(t.Transaction, t.Block.Results.BaseFee)
}

// Bound returns the most that the transaction could pay per unit of gas when it was accepted: since Helicon on a C-Chain, the price at the base
// fee of the header. A node shows it as the gas price of the transaction.
func (t *Transaction) Bound() *big.Int {
	return evm.EffectiveGasPrice(t.Transaction, t.Block.Header.BaseFee)
}

func (b *Block) transaction(row *store.Transaction) (*Transaction, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(row.Raw); err != nil {
		return nil, fmt.Errorf("transaction %x: %w", row.Hash, err)
	}
	return &Transaction{Transaction: tx, Row: row, Block: b, Sender: common.BytesToAddress(row.Sender)}, nil
}

// Transactions returns the transactions of a block in order.
func (l *Ledger) Transactions(ctx context.Context, b *Block) ([]*Transaction, error) {
	rows, err := l.transactionRows(ctx, b)
	if err != nil {
		return nil, err
	}
	transactions := make([]*Transaction, len(rows))
	for i := range rows {
		if transactions[i], err = b.transaction(&rows[i]); err != nil {
			return nil, err
		}
	}
	return transactions, nil
}

// Transaction returns the transaction with this hash, or store.ErrNotFound.
func (l *Ledger) Transaction(ctx context.Context, hash common.Hash) (*Transaction, error) {
	row, err := l.db.TransactionByHash(ctx, l.Row.ID, hash[:])
	if err != nil {
		return nil, err
	}
	b, err := l.Block(ctx, row.ID.Number())
	if err != nil {
		return nil, err
	}
	return b.transaction(row)
}

// TransactionAt returns a block's transaction at an index, or store.ErrNotFound.
func (l *Ledger) TransactionAt(ctx context.Context, b *Block, index uint64) (*Transaction, error) {
	if index >= uint64(b.Row.Txs) {
		return nil, store.ErrNotFound
	}
	if b.draft != nil {
		return b.transaction(&b.draft.rows.Transactions[index])
	}
	row, err := l.db.Transaction(ctx, b.position()+store.Position(index))
	if err != nil {
		return nil, err
	}
	return b.transaction(row)
}

// Recover decodes a signed transaction from outside and recovers its sender. It returns an error for an invalid transaction.
func (c *Chain) Recover(raw []byte) (*types.Transaction, common.Address, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, common.Address{}, err
	}
	sender, err := types.Sender(c.signer, tx)
	return tx, sender, err
}
