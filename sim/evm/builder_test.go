package evm

import (
	"bytes"
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// testChain is a chain in its own file, on which one account sends.
type testChain struct {
	testing.TB
	db      *store.DB
	genesis *Genesis
	from    common.Address
	sign    func(*types.DynamicFeeTx) *types.Transaction
}

func newTestChain(t testing.TB, kind Kind) (*testChain, *Builder) {
	t.Helper()
	key, _ := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	c := &testChain{TB: t, from: crypto.PubkeyToAddress(key.PublicKey)}
	c.genesis = &Genesis{Kind: kind, ChainID: 43114, Timestamp: 1_700_000_000,
		Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(20_000_000, 25e9, 1_000_000)},
		Alloc:       types.GenesisAlloc{c.from: {Balance: new(big.Int).Lsh(big.NewInt(1), 96)}}}
	c.sign = func(tx *types.DynamicFeeTx) *types.Transaction {
		tx.ChainID, tx.GasTipCap, tx.GasFeeCap = big.NewInt(43114), big.NewInt(1e9), big.NewInt(500e9)
		if tx.Gas == 0 {
			tx.Gas = 300_000
		}
		return types.MustSignNewTx(key, types.LatestSignerForChainID(tx.ChainID), tx)
	}
	return c, c.begin()
}

// begin makes the file, and the builder that begins the chain.
func (c *testChain) begin() *Builder {
	c.Helper()
	raw, upgrades, err := c.genesis.Encode()
	if err != nil {
		c.Fatal(err)
	}
	if c.db, err = store.Create(store.Memory); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { c.db.Close() })
	b, delta, err := NewBuilder(1, c.genesis)
	if err != nil {
		c.Fatal(err)
	}
	id := common.Hash{1}
	row := store.Chain{ID: 1, Network: "mainnet", EVMID: 43114, BlockchainID: id[:], SubnetID: id[:], VMID: id[:], Kind: string(c.genesis.Kind), Genesis: raw, Upgrades: upgrades}
	c.commit(func(b *store.Batch) error { return b.AddChain(row) })
	c.write(delta)
	return b
}

func (c *testChain) commit(add func(*store.Batch) error) {
	c.Helper()
	batch, err := c.db.Begin()
	if err == nil {
		err = batch.End(add(batch))
	}
	if err != nil {
		c.Fatal(err)
	}
}

func (c *testChain) write(d *store.Delta) {
	c.Helper()
	c.commit(func(b *store.Batch) error { return b.AddBlock(d) })
}

// block lets a builder make a block with one transaction; without a recipient it creates a contract.
func (c *testChain) block(b *Builder, time uint64, to *common.Address, data string) *store.Delta {
	c.Helper()
	p, err := b.Open(1000 * time)
	if err != nil {
		c.Fatal(err)
	}
	r, err := p.Apply(c.sign(&types.DynamicFeeTx{Nonce: p.Nonce(c.from), To: to, Data: common.FromHex(data)}), c.from)
	if err != nil || r.Status != 1 {
		c.Fatal(err, r)
	}
	d, err := p.Seal()
	if err != nil {
		c.Fatal(err)
	}
	return d
}

func (c *testChain) restore(before *Builder) *Builder {
	c.Helper()
	b, err := RestoreBuilder(context.Background(), c.db, 1, c.genesis, NetworkContext{}, before)
	if err != nil {
		c.Fatal(err)
	}
	return b
}

// same compares the blocks that two builders made.
func (c *testChain) same(what string, one, two *store.Delta) {
	c.Helper()
	if !bytes.Equal(one.Block.Hash, two.Block.Hash) || !bytes.Equal(one.Block.Digest, two.Block.Digest) {
		c.Errorf("%s made %x, want %x", what, two.Block.Hash, one.Block.Hash)
	}
}

// TestRestoredBuilderGoesOn builds two blocks, opens the rows again and finds the same state root for a third block.
func TestRestoredBuilderGoesOn(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		c, b := newTestChain(t, kind)
		// Init code that stores 7 in slot 1 and returns no code, then init code that stores in slot 2.
		c.write(c.block(b, 1_700_000_100, nil, "600760015560018060005260016000f3"))
		c.write(c.block(b, 1_700_000_102, nil, "600960025560018060005260016000f3"))
		again := c.restore(nil)
		c.same(string(kind)+": restored builder", c.block(b, 1_700_000_105, nil, "600b60035500"), c.block(again, 1_700_000_105, nil, "600b60035500"))
	}
}

// TestBuilderGoesBack makes blocks that are never written, as if they were undone, and lets the tries of their builder serve the next one.
func TestBuilderGoesBack(t *testing.T) {
	// The init code stores 7 in slot 1 and creates a contract that stores the first word of its input in the slot named by the second.
	const keeper = "6007600155" + "67" + "6000356020355500" + "600052" + "60086018f3"
	for _, kind := range []Kind{KindC, KindL1} {
		c, b := newTestChain(t, kind)
		first := crypto.CreateAddress(c.from, 0)
		c.write(c.block(b, 1_700_000_100, nil, keeper))
		c.write(c.block(b, 1_700_000_102, &first, word(9, 2)))

		undone := c.restore(nil)
		for i, input := range []string{word(1, 1), word(0, 2), word(5, 3), word(0, 3), word(6, 4)} { // changed, cleared, both, new
			c.block(undone, uint64(1_700_000_105+2*i), &first, input)
		}
		c.block(undone, 1_700_000_120, nil, keeper) // an account that does not exist before
		tree, storage := undone.state.trie, undone.state.tries[first]

		back := c.restore(undone)
		if back.state.trie != tree || back.state.tries[first] != storage || storage == nil {
			t.Errorf("%s: the tries were made anew", kind)
		}
		if len(back.state.accounts.all) > 0 || len(back.state.tries) > 1 {
			t.Errorf("%s: %d accounts and %d tries are left of what was undone", kind, len(back.state.accounts.all), len(back.state.tries))
		}
		for i, input := range []string{word(3, 2), word(0, 1)} {
			at := uint64(1_700_000_130 + 2*i)
			c.same(string(kind)+": builder that went back", c.block(b, at, &first, input), c.block(back, at, &first, input))
		}
		c.same(string(kind)+": builder that went back", c.block(b, 1_700_000_140, nil, keeper), c.block(back, 1_700_000_140, nil, keeper))

		spoilt := c.restore(nil) // a wrong trie is not used
		if err := spoilt.state.trie.DeleteAccount(first); err != nil {
			t.Fatal(err)
		}
		if fresh := c.restore(spoilt); fresh.state.trie == spoilt.state.trie {
			t.Errorf("%s: a wrong trie is used", kind)
		}
	}
}
