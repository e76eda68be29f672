package store

import (
	"database/sql/driver"
	"fmt"
)

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
