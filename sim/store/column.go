package store

import (
	"database/sql/driver"
	"fmt"
)

// Position orders everything on EVM chains: by chain, then block number, then index in the block. It is the primary key
// of blocks (index 0), transactions, logs and calls, and so the cursor of a page.
type Position int64

const (
	indexBits  = 16
	numberBits = 36
	// MaxIndex is the largest index of a transaction, log or call in one block.
	MaxIndex = 1<<indexBits - 1
	// MaxNumber is the largest block number.
	MaxNumber = 1<<numberBits - 1
)

// At is the position of an index in a block of a chain.
func At(chain int, number uint64, index int) Position {
	return Position(int64(chain)<<(numberBits+indexBits) | int64(number)<<indexBits | int64(index))
}

// Chain is the row id of the chain.
func (p Position) Chain() int { return int(p >> (numberBits + indexBits)) }

// Number is the block number.
func (p Position) Number() uint64 { return uint64(p>>indexBits) & MaxNumber }

// Index is the index in the block.
func (p Position) Index() int { return int(p & MaxIndex) }

// Block is the position of the block that holds p.
func (p Position) Block() Position { return p &^ MaxIndex }

// End is the last position in the block that holds p.
func (p Position) End() Position { return p | MaxIndex }

// First is the lowest position on a chain.
func First(chain int) Position { return At(chain, 0, 0) }

// Last is the highest position on a chain.
func Last(chain int) Position { return At(chain, MaxNumber, MaxIndex) }

// Amount is a number of 64 bits without a sign. The file keeps its bits: above 2^63 they read as negative.
type Amount uint64

// Value is how the file keeps an amount.
func (a Amount) Value() (driver.Value, error) { return int64(a), nil }

// Scan reads what Value wrote.
func (a *Amount) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("amount is %T", value)
	}
	*a = Amount(n)
	return nil
}
