package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/precompile"
)

// TestSlotsOfACChainShareAKey writes two slots whose keys differ only in the bit that a C-Chain clears: there they are one slot, on an L1 two.
func TestSlotsOfACChainShareAKey(t *testing.T) {
	key, _ := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	from := crypto.PubkeyToAddress(key.PublicKey)
	for kind, want := range map[Kind][]string{KindC: {"0002=8"}, KindL1: {"0002=7", "0102=1"}} {
		g := &Genesis{Kind: kind, ChainID: 43114, Timestamp: 1_700_000_000, Extra: []byte{0},
			Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(20_000_000, 25e9, 1_000_000)},
			Alloc:       types.GenesisAlloc{from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}}
		b, _, err := NewBuilder(1, g)
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Open(1_700_000_100_000)
		if err != nil {
			t.Fatal(err)
		}
		// Two slots 0x00…02 and 0x01…02: the first is set to 7, the second to one more than it is.
		second := "7f01" + common.Bytes2Hex(make([]byte, 30)) + "02"
		tx := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{
			ChainID: big.NewInt(43114), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(500e9), Gas: 200_000,
			Data: common.FromHex("6007600255" + second + "54600101" + second + "5500")})
		if r, err := p.Apply(tx, from); err != nil || r.Status != types.ReceiptStatusSuccessful {
			t.Fatal(err, r)
		}
		d, err := p.Seal()
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for i := range d.Slots {
			s := &d.Slots[i]
			have = append(have, common.Bytes2Hex([]byte{s.Key[0], s.Key[31]})+"="+new(big.Int).SetBytes(s.Value).String())
		}
		if len(have) != len(want) || have[0] != want[0] || have[len(have)-1] != want[len(want)-1] {
			t.Errorf("%s: slots are %v, want %v", kind, have, want)
		}
	}
}
