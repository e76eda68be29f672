package evm

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/mpt"
)

// TestBloomIsThatOfGoEthereum makes blooms of random logs.
func TestBloomIsThatOfGoEthereum(t *testing.T) {
	r, hashes := rand.New(rand.NewPCG(1, 6)), mpt.NewKeyHashes()
	for range 300 {
		logs := make([]*types.Log, r.IntN(20))
		for i := range logs {
			logs[i] = &types.Log{Address: common.Address{byte(r.IntN(9)), 19: byte(r.Uint32())}}
			for range r.IntN(5) {
				logs[i].Topics = append(logs[i].Topics, common.Hash{byte(r.IntN(9)), 31: byte(r.Uint32())})
			}
		}
		if got, want := bloomOf(logs, hashes), types.CreateBloom(&types.Receipt{Logs: logs}); got != want {
			t.Fatalf("bloom %x, go-ethereum's is %x", got, want)
		}
	}
}
