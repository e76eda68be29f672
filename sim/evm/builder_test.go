package evm

import (
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// TestRestoredBuilderGoesOn builds two blocks, opens the rows again and finds the same state root for a third block.
func TestRestoredBuilderGoesOn(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		key, _ := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
		from := crypto.PubkeyToAddress(key.PublicKey)
		g := &Genesis{Kind: kind, ChainID: 43114, Timestamp: 1_700_000_000,
			Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(20_000_000, 25e9, 1_000_000)},
			Alloc:       types.GenesisAlloc{from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}}
		raw, upgrades, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		db, err := store.Create(store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		b, delta, err := NewBuilder(1, g)
		if err != nil {
			t.Fatal(err)
		}
		commit := func(add func(*store.Batch) error) {
			batch, err := db.Begin()
			if err == nil {
				err = batch.End(add(batch))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		write := func(d *store.Delta) { commit(func(b *store.Batch) error { return b.AddBlock(d) }) }
		id := common.Hash{1}
		row := store.Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: id[:], SubnetID: id[:], VMID: id[:], Kind: string(kind), Genesis: raw, Upgrades: upgrades}
		commit(func(b *store.Batch) error { return b.AddChain(row) })
		write(delta)
		// Init code that stores 7 in slot 1 and returns no code, then one that stores in slot 2.
		block := func(b *Builder, code string, time uint64) *store.Delta {
			p, err := b.Open(1000 * time)
			if err != nil {
				t.Fatal(err)
			}
			tx := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{
				ChainID: big.NewInt(43114), Nonce: p.Nonce(from), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(500e9),
				Gas: 200_000, Data: common.FromHex(code)})
			r, err := p.Apply(tx, from)
			if err != nil || r.Status != 1 {
				t.Fatal(err, r)
			}
			d, err := p.Seal()
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		write(block(b, "600760015560018060005260016000f3", 1_700_000_100))
		write(block(b, "600960025560018060005260016000f3", 1_700_000_102))
		again, err := RestoreBuilder(context.Background(), db, row.ID, g, WarpContext{})
		if err != nil {
			t.Fatal(err)
		}
		one, two := block(b, "600b60035500", 1_700_000_105), block(again, "600b60035500", 1_700_000_105)
		if h1, h2 := common.BytesToHash(one.Block.Hash), common.BytesToHash(two.Block.Hash); h1 != h2 {
			t.Errorf("%s: restored builder made %s, the other %s", kind, h2, h1)
		}
		if string(one.Block.Digest) != string(two.Block.Digest) {
			t.Errorf("%s: digests differ", kind)
		}
		db.Close()
	}
}
