package evm

import (
	"encoding/hex"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/precompile"
)

// TestTokenThatAsksAPrecompile indexes a token whose answers need a stateful precompile, and therefore call frames, which other tokens don't need.
func TestTokenThatAsksAPrecompile(t *testing.T) {
	// The code calls getBlockchainID of the warp precompile and returns the number of bytes of the answer, whatever the input.
	code := "63" + hex.EncodeToString(precompile.PackInput("getBlockchainID()")) + "60e01b600052" +
		"6020600060046000" + "73" + hex.EncodeToString(precompile.WarpAddress[:]) + "5afa" + "503d" + "60005260206000f3"
	begin, quorum := uint64(1_700_000_000), uint64(67)
	b, delta, err := NewBuilder(1, &Genesis{Kind: KindC, ChainID: 43114, Timestamp: begin,
		Precompiles: precompile.Upgrades{Genesis: precompile.Configs{precompile.Warp.Key: {BlockTimestamp: &begin, Quorum: &quorum}}},
		Alloc:       types.GenesisAlloc{{1, 19: 7}: {Code: common.FromHex(code)}}})
	if err != nil {
		t.Fatal(err)
	}
	if !b.active.At(KindC, b.rulesAt(b.head), b.schedule, b.head.Time).HasWarp() {
		t.Fatal("the chain has no warp precompile")
	}
	if len(delta.Tokens) != 1 || delta.Tokens[0].Decimals != 32 {
		t.Errorf("tokens %+v", delta.Tokens)
	}
}
