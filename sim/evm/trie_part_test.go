package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/store"
)

// newLargeChain returns a chain with so many accounts, and so many slots of one contract, that the file has the parts of their tries. The contract
// stores the first word of its input in the slot named by the second.
func newLargeChain(t testing.TB, kind Kind) (c *testChain, b *Builder, keeper common.Address) {
	c, _ = newTestChain(t, kind)
	keeper = common.HexToAddress("0x5e11")
	slots := map[common.Hash]common.Hash{}
	leaves := int64(40 * partedLeaves) // parts of two nibbles
	if testing.Short() {
		t.Log("left out of a short run: larger tries")
		leaves = 3 * partedLeaves
	}
	for i := range leaves {
		address := common.BigToAddress(big.NewInt(1<<32 + i))
		c.genesis.Alloc[address] = types.Account{Balance: big.NewInt(1 + i)}
		slots[common.BigToHash(big.NewInt(i))] = common.BigToHash(big.NewInt(1 + i))
	}
	c.genesis.Alloc[keeper] = types.Account{Nonce: 1, Code: common.FromHex("6000356020355500"), Storage: slots, Balance: new(big.Int)}
	return c, c.begin(), keeper
}

// TestPartsOfTriesFollowBlocks makes the same blocks with a builder that has all tries in memory and with one made from the parts in the file. The
// parts follow: accounts and slots appear, change and disappear.
func TestPartsOfTriesFollowBlocks(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		c, whole, keeper := newLargeChain(t, kind)
		c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, whole.LargeTries()) })
		c.checkParts(whole, keeper)
		parted := c.restore(nil)
		if parted.state.trie.depth == 0 {
			t.Fatalf("%s: the restored builder has read all accounts", kind)
		}
		for i, do := range []struct {
			to    common.Address
			input string
		}{
			{common.HexToAddress("0xbeef"), ""}, // a new account
			{keeper, word(9, 2)},                // an existing slot
			{keeper, word(0, 3)},                // a slot that disappears
			{keeper, word(7, 0xff)},
			{common.BigToAddress(big.NewInt(1<<32 + 7)), ""},
		} {
			time := uint64(1_700_000_100 + 2*i)
			want, got := c.block(whole, time, &do.to, do.input), c.block(parted, time, &do.to, do.input)
			c.same(string(kind)+": a builder of parts", want, got)
			if changedParts(want) > 0 || changedParts(got) == 0 {
				t.Errorf("%s, block %d: %d parts change, and %d for the builder that is not of the file", kind, i+1, changedParts(got), changedParts(want))
			}
			c.write(got)
			c.checkParts(parted, keeper)
			if i == 2 { // continues in another process
				parted = c.restore(nil)
			}
		}
		if tree := parted.state.tries[keeper]; tree == nil || tree.depth == 0 {
			t.Errorf("%s: all slots were read for the next block", kind)
		}
	}
}

func changedParts(d *store.Delta) (n int) {
	for _, c := range d.Tries {
		n += len(c.Parts)
	}
	return n
}

// TestPartsOfTriesAreMadeAnew opens a file without parts, or with parts of another state: the next block that changes a trie writes them.
func TestPartsOfTriesAreMadeAnew(t *testing.T) {
	for name, before := range map[string]func(*testChain, []store.TrieChange) []store.TrieChange{
		"none": func(*testChain, []store.TrieChange) []store.TrieChange { return nil },
		"others": func(c *testChain, tries []store.TrieChange) []store.TrieChange {
			for i := range tries {
				tries[i].Parts[3].Hash = common.Hash{1}.Bytes()
			}
			return tries
		},
	} {
		c, whole, keeper := newLargeChain(t, KindL1)
		tries := before(c, whole.LargeTries())
		c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, tries) })
		again := c.restore(nil)
		want, got := c.block(whole, 1_700_000_100, &keeper, word(9, 2)), c.block(again, 1_700_000_100, &keeper, word(9, 2))
		c.same(name, want, got)
		c.write(got)
		c.checkParts(again, keeper)
	}
}

// checkParts compares the parts in the file with the head of a builder.
func (c *testChain) checkParts(b *Builder, keeper common.Address) {
	c.Helper()
	state := NewFlatState(c.Context(), c.db, 1, b.head.Number.Uint64())
	account, err := state.Account(keeper)
	if err != nil {
		c.Fatal(err)
	}
	for owner, root := range map[string]common.Hash{"": b.root, string(keeper[:]): account.Root} {
		tree, err := state.PartsOf(b.kind, []byte(owner), root)
		if err == nil && tree != nil {
			err = tree.LoadAll()
		}
		if err != nil || tree == nil {
			c.Fatalf("block %d: the parts of the trie of %x are not those of the state: %v", b.head.Number, owner, err)
		}
	}
}

func word(value, slot byte) string {
	return common.Hash{31: value}.Hex()[2:] + common.Hash{31: slot}.Hex()[2:]
}
