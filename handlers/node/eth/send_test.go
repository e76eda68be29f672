package eth

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
)

// TestFeeCap tries the cap, a wei above it, which is the same number as a float, and the next float, like coreth's internal/ethapi.checkTxFee.
func TestFeeCap(t *testing.T) {
	for _, c := range []struct {
		price int64
		gas   uint64
		want  string
	}{
		{1e15, 100_000, "<nil>"}, {100_000_000_000_000_001, 1_000, "<nil>"},
		{100_000_000_000_000_100, 1_000, "tx fee (100.00 ether) exceeds the configured cap (100.00 ether)"},
		{2e15, 90_000, "tx fee (180.00 ether) exceeds the configured cap (100.00 ether)"},
	} {
		tx := types.NewTx(&types.DynamicFeeTx{GasFeeCap: big.NewInt(c.price), Gas: c.gas})
		if err := checkFee(tx); fmt.Sprint(err) != c.want {
			t.Errorf("%d at %d: %v, want %s", c.gas, c.price, err, c.want)
		}
	}
}
