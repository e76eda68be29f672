package eth

import (
	"math/big"
	"testing"
)

// TestPriceOptions takes tips beyond the bounds. The values come from coreth's internal/ethapi.calculateFeeSpeeds with its default
// configuration.
func TestPriceOptions(t *testing.T) {
	const gwei = 1_000_000_000
	for _, c := range []struct{ tip, slow, normal, fast int64 }{
		{1, 1, 1, 1}, {2, 1, 2, 2}, {20, 19, 20, 21}, {20 * gwei, 19 * gwei, 20 * gwei, 21 * gwei},
		{20*gwei + 100, 19 * gwei, 20 * gwei, 21*gwei + 105}, {150 * gwei, 19 * gwei, 20 * gwei, 157_500_000_000},
	} {
		all := priceOptionsOf(big.NewInt(7), big.NewInt(c.tip))
		for name, o := range map[string]struct {
			got  priceOption
			want int64
		}{"slow": {all.Slow, c.slow}, "normal": {all.Normal, c.normal}, "fast": {all.Fast, c.fast}} {
			if tip, fee := o.got.MaxPriorityFeePerGas.ToInt().Int64(), o.got.MaxFeePerGas.ToInt().Int64(); tip != o.want || fee != o.want+14 {
				t.Errorf("%s with a tip of %d: %d of %d, want %d of %d", name, c.tip, tip, fee, o.want, o.want+14)
			}
		}
	}
}
