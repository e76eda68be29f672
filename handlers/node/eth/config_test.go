package eth

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/core/forkid"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
)

// TestForkIDs compares fork ids with go-ethereum's, for the four forks that it knows by time.
func TestForkIDs(t *testing.T) {
	times := []uint64{1_763_568_000, 1_770_000_000, 1_785_250_800, 1_790_089_200}
	config := &params.ChainConfig{ChainID: big.NewInt(43114), ShanghaiTime: &times[0], CancunTime: &times[1], PragueTime: &times[2], OsakaTime: &times[3]}
	first := types.NewBlockWithHeader(&types.Header{Number: new(big.Int), Time: 1_763_000_000})
	for n := range len(times) + 1 {
		now := first.Time()
		if n > 0 {
			now = times[n-1]
		}
		want := forkid.NewID(config, first, 0, now).Hash
		if got := forkID(first.Hash(), times[:n]); !slices.Equal(got, want[:]) {
			t.Errorf("after %d forks: %x, want %x", n, got, want)
		}
	}
}
