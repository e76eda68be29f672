package evm

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// versionedChain is a chain whose tries get so many leaves that the file has versions of them, with what everything hashed to after each
// block. The contract keeper stores the first word of its input in the slot which the second one names.
type versionedChain struct {
	*testChain
	kind     Kind
	b        *Builder
	keeper   common.Address
	random   *rand.Rand
	accounts []common.Address // also such as never were
	slots    []common.Hash
	roots    []common.Hash // by block
}

func newVersionedChain(t testing.TB, kind Kind, seed uint64) *versionedChain {
	base, _ := newTestChain(t, kind)
	c := &versionedChain{testChain: base, kind: kind, keeper: common.HexToAddress("0x5e11"), random: rand.New(rand.NewPCG(seed, 0))}
	slots := map[common.Hash]common.Hash{}
	for range versionedLeaves - 4 { // it gets those that are wanting soon
		address := c.newAccount()
		c.genesis.Alloc[address] = types.Account{Balance: big.NewInt(1 + c.random.Int64N(9))}
		slots[c.newSlot()] = common.BigToHash(big.NewInt(1 + c.random.Int64N(1<<40)))
	}
	c.genesis.Alloc[c.keeper] = types.Account{Nonce: 1, Code: common.FromHex("6000356020355500"), Storage: slots, Balance: new(big.Int)}
	c.b = c.begin()
	c.roots = []common.Hash{c.b.root}
	return c
}

func (c *versionedChain) newAccount() common.Address {
	c.accounts = append(c.accounts, common.BigToAddress(new(big.Int).SetUint64(1<<40+c.random.Uint64N(1<<50))))
	return c.accounts[len(c.accounts)-1]
}

func (c *versionedChain) newSlot() common.Hash {
	key := common.BigToHash(new(big.Int).SetUint64(c.random.Uint64()))
	c.slots = append(c.slots, StateKey(c.kind, key))
	return key
}

func (c *versionedChain) someAccount() common.Address {
	if c.random.IntN(2) == 0 {
		return c.newAccount()
	}
	return c.accounts[c.random.IntN(len(c.accounts))]
}

func (c *versionedChain) someSlot() common.Hash {
	if c.random.IntN(2) == 0 {
		return c.newSlot()
	}
	return c.slots[c.random.IntN(len(c.slots))]
}

// grow makes blocks, after some of which clients change the state: accounts and slots come, change and go.
func (c *versionedChain) grow(blocks int) {
	c.Helper()
	for range blocks {
		to, input := c.someAccount(), ""
		if c.random.IntN(3) > 0 {
			to, input = c.keeper, common.BigToHash(big.NewInt(c.random.Int64N(5))).Hex()[2:]+c.someSlot().Hex()[2:]
		}
		c.write(c.block(c.b, 1_700_000_100+2*uint64(len(c.roots)), &to, input))
		for c.random.IntN(3) == 0 {
			value := common.BigToHash(big.NewInt(c.random.Int64N(6))).Bytes() // without a balance an account is gone
			change := store.StateChange{Kind: store.BalanceChange, Address: c.someAccount().Bytes(), Value: value}
			if c.random.IntN(2) == 0 {
				change = store.StateChange{Kind: store.StorageChange, Address: c.keeper.Bytes(), Key: c.someSlot().Bytes(), Value: value}
			}
			c.change(change)
		}
		c.roots = append(c.roots, c.b.root)
	}
}

func (c *versionedChain) change(change store.StateChange) {
	c.Helper()
	d, err := c.b.Change(change, nothingHeld{})
	if err != nil {
		c.Fatal(err)
	}
	c.commit(func(b *store.Batch) error { return b.AddStateChange(d) })
}

// nothingHeld knows no tokens.
type nothingHeld struct{}

func (nothingHeld) Token(store.TokenID) (*store.Token, error)                 { return nil, store.ErrNotFound }
func (nothingHeld) TokenBalances(store.TokenID) ([]store.TokenBalance, error) { return nil, nil }
func (nothingHeld) NFTStates(store.TokenID) ([]store.NFTState, error)         { return nil, nil }

// checkProofs proves accounts and slots after each block by the parts in the file, and compares the proofs with those of the whole tries.
// parted says that the file has all that is needed for it.
func (c *versionedChain) checkProofs(parted bool) {
	c.Helper()
	for number, root := range c.roots {
		if number%3 != 0 || testing.Short() && number%9 != 0 {
			continue
		}
		state := NewFlatState(c.Context(), c.db, 1, uint64(number))
		account, err := state.Account(c.keeper)
		if err != nil {
			c.Fatal(err)
		}
		accounts, err := state.PartedAccountTrie(c.kind, root)
		if err != nil {
			c.Fatal(err)
		}
		slots, err := state.PartedStorageTrie(c.kind, c.keeper, account.Root)
		if err != nil {
			c.Fatal(err)
		}
		wholeAccounts, err := state.AccountTrie(c.kind)
		if err != nil {
			c.Fatal(err)
		}
		wholeSlots, err := state.StorageTrie(c.kind, c.keeper)
		if err != nil {
			c.Fatal(err)
		}
		for range 25 {
			address, slot := c.accounts[c.random.IntN(len(c.accounts))], c.slots[c.random.IntN(len(c.slots))]
			c.sameProof(fmt.Sprintf("%s, block %d: account %s", c.kind, number, address), accounts, wholeAccounts, address[:], parted)
			c.sameProof(fmt.Sprintf("%s, block %d: slot %s", c.kind, number, slot), slots, wholeSlots, slot[:], parted)
		}
		for _, owner := range [][]byte{AllAccounts, c.keeper[:]} {
			want := root
			if len(owner) > 0 {
				want = account.Root
			}
			if tree, err := state.partedTrie(c.kind, owner, want); parted && c.versioned(owner) && (tree == nil || err != nil) {
				c.Errorf("%s, block %d: all of the trie of 0x%x has to be read: %v", c.kind, number, owner, err)
			}
		}
	}
}

func (c *versionedChain) sameProof(what string, have, want *Trie, key []byte, parted bool) {
	c.Helper()
	got, whole := memorydb.New(), memorydb.New()
	err := have.Prove(crypto.Keccak256(key), got)
	if err != nil && !parted { // it is made of all that there is then
		return
	}
	if err := want.Prove(crypto.Keccak256(key), whole); err != nil {
		c.Fatal(err)
	}
	same := err == nil && got.Len() == whole.Len()
	for it := whole.NewIterator(nil, nil); it.Next(); {
		node, err := got.Get(it.Key())
		same = same && err == nil && bytes.Equal(node, it.Value())
	}
	if !same {
		c.Errorf("%s has another proof: %v", what, err)
	}
}

func (c *versionedChain) versioned(owner []byte) bool {
	c.Helper()
	versioned, err := NewFlatState(c.Context(), c.db, 1, 0).versionedFrom(owner, 0)
	if err != nil {
		c.Fatal(err)
	}
	return versioned
}

// checkFile compares the parts, versions and past keys in the file with what there is.
func (c *versionedChain) checkFile() (err error) {
	state := NewFlatState(c.Context(), c.db, 1, uint64(len(c.roots)-1))
	for _, owner := range [][]byte{AllAccounts, c.keeper[:]} {
		if !c.versioned(owner) {
			return fmt.Errorf("the trie of 0x%x has no versions", owner)
		}
		tree, treeErr := state.AccountTrie(c.kind)
		if len(owner) > 0 {
			tree, treeErr = state.StorageTrie(c.kind, c.keeper)
		}
		if treeErr != nil {
			c.Fatal(treeErr)
		}
		if err == nil {
			err = state.CompareParts(owner, tree)
		}
		if err == nil {
			var accounts []store.Account
			if accounts, err = c.db.AccountsAt(c.Context(), 1, uint64(len(c.roots)-1)); err == nil {
				err = state.CompareBalances(accounts)
			}
		}
		if err == nil {
			err = state.CheckPastKeys(owner)
		}
	}
	return err
}

// TestProofsOfOldStates makes the tries of a chain outgrow what is read whole: while it is made, in a process that goes on with it, and in
// one that goes back and on.
func TestProofsOfOldStates(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		t.Run(string(kind), func(t *testing.T) {
			c := newVersionedChain(t, kind, 1)
			if c.versioned(AllAccounts) {
				t.Error("there are versions before the trie is large")
			}
			c.grow(60)
			c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
			c.checkProofs(true)
			c.open()

			c.b = c.restore(nil)
			c.grow(30)
			c.checkProofs(true)
			c.goBack(20)
			if c.b.state.trie.depth == 0 {
				t.Error("the tries were made anew")
			}
			c.grow(20)
			c.checkProofs(true)
			if err := c.checkFile(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTriesOutgrowWhileServed is the same of a chain whose tries become large after it was made.
func TestTriesOutgrowWhileServed(t *testing.T) {
	c := newVersionedChain(t, KindL1, 2)
	c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
	c.open()
	for range 3 {
		c.b = c.restore(nil)
		c.grow(30)
		c.checkProofs(true)
	}
	c.goBack(85) // before the first version
	c.grow(90)
	c.checkProofs(true)
	if err := c.checkFile(); err != nil {
		t.Error(err)
	}
}

// open has the file be as one that is served: rows are written at once, and what undoes changes is recorded.
func (c *versionedChain) open() {
	c.Helper()
	c.commit(func(b *store.Batch) error {
		return b.SetMeta(store.Meta{Base: make([]byte, 32), Digest: make([]byte, 32)})
	})
	if err := c.db.Index(); err != nil {
		c.Fatal(err)
	}
	if err := c.db.RecordUndo(); err != nil {
		c.Fatal(err)
	}
}

// goBack undoes the last blocks.
func (c *versionedChain) goBack(blocks int) {
	c.Helper()
	head := len(c.roots) - 1 - blocks
	for sequence := c.db.Moment().Sequence; ; sequence-- {
		if heads, err := c.db.HeadsBefore(c.Context(), sequence); err != nil || len(heads) > 0 && heads[1] == uint64(head) {
			c.commit(func(b *store.Batch) error { return b.Rewind(sequence) })
			break
		}
	}
	c.roots = c.roots[:head+1]
	c.b = c.restore(c.b)
	if c.b.root != c.roots[head] {
		c.Fatalf("block %d: the root is %s, it was %s", head, c.b.root, c.roots[head])
	}
}

// TestProofsOfDestroyedContracts disables a precompile with a large storage, while the chain is made or later, and activates it again.
func TestProofsOfDestroyedContracts(t *testing.T) {
	const off, on = 1_700_000_120, 1_700_000_130
	for _, served := range []bool{false, true} {
		minter := precompile.NativeMinter
		c := newVersionedChain(t, KindL1, 4)
		active, disabled := uint64(0), uint64(off)
		again := uint64(on)
		c.genesis.Precompiles.Genesis = precompile.Configs{minter.Key: {BlockTimestamp: &active}}
		c.genesis.Precompiles.Upgrades = []precompile.PrecompileUpgrade{
			{minter.Key: {BlockTimestamp: &disabled, Disable: true}}, {minter.Key: {BlockTimestamp: &again}},
		}
		slots := map[common.Hash]common.Hash{}
		for i := range int64(versionedLeaves) {
			slots[common.BigToHash(big.NewInt(1<<32+i))] = common.BigToHash(big.NewInt(1 + i))
		}
		c.genesis.Alloc[minter.Address] = types.Account{Storage: slots, Balance: new(big.Int)}
		c.b = c.begin()
		c.roots = []common.Hash{c.b.root}
		parts := func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) }
		if served {
			c.commit(parts)
			c.open()
			c.b = c.restore(nil)
		}
		c.grow(25)
		c.change(store.StateChange{Kind: store.StorageChange, Address: minter.Address[:], Key: common.Hash{7}.Bytes(), Value: common.Hash{8}.Bytes()})
		c.roots[len(c.roots)-1] = c.b.root
		c.grow(1)
		c.change(store.StateChange{Kind: store.StorageChange, Address: minter.Address[:], Key: common.Hash{9}.Bytes(), Value: common.Hash{8}.Bytes()})
		if !served {
			c.commit(parts)
		}
		before, after := 0, 0
		for number := range c.roots {
			state := NewFlatState(t.Context(), c.db, 1, uint64(number))
			account, err := state.Account(minter.Address)
			if err != nil {
				t.Fatal(err)
			}
			if account == nil || account.Root == types.EmptyRootHash {
				after++
				continue
			}
			before++
			tree, err := state.partedTrie(KindL1, minter.Address[:], account.Root)
			if err == nil && tree != nil {
				err = tree.LoadAll()
			}
			if tree == nil || err != nil {
				t.Fatalf("served %t, block %d: all slots have to be read: %v", served, number, err)
			}
		}
		if before == 0 || after == 0 {
			t.Errorf("the contract is there after %d blocks, and gone after %d", before, after)
		}
	}
}

// TestProofsAfterAReorg takes the last blocks out of the chain and makes others.
func TestProofsAfterAReorg(t *testing.T) {
	c := newVersionedChain(t, KindC, 5)
	c.grow(20)
	c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
	c.open()
	c.b = c.restore(nil)
	c.grow(40)
	for range 2 {
		before, err := c.db.MomentBefore(t.Context(), 1, uint64(len(c.roots)-10))
		if err != nil {
			t.Fatal(err)
		}
		c.roots = c.roots[:len(c.roots)-10]
		c.commit(func(b *store.Batch) error { return b.RemoveBlocks(1, uint64(len(c.roots)-1), before) })
		c.b = c.restore(c.b)
		c.grow(15)
	}
	c.checkProofs(true)
	if err := c.checkFile(); err != nil {
		t.Error(err)
	}
}

// TestWrongVersionsDoNoHarm damages what the file has for proofs of old states: they are right all the same, and the check finds it.
func TestWrongVersionsDoNoHarm(t *testing.T) {
	for _, damage := range []string{
		"DELETE FROM trie_version WHERE block % 3 = 0",
		"DELETE FROM trie_version WHERE whole = 1",
		"DELETE FROM trie_version WHERE block > 40",
		"UPDATE trie_version SET hashes = CAST(substr(hashes, 1, 1) || zeroblob(32) || substr(hashes, 34) AS BLOB) WHERE whole = 0",
		"DELETE FROM past_key",
		"UPDATE past_key SET keys = CAST(substr(keys, 1, length(keys) - iif(length(owner) = 0, 20, 32)) AS BLOB) WHERE length(keys) > 32",
	} {
		c := newVersionedChain(t, KindL1, 3)
		c.grow(50)
		c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
		if err := c.checkFile(); err != nil {
			t.Fatal(err)
		}
		c.commit(func(b *store.Batch) error { return store.Exec(b, damage) })
		if err := c.checkFile(); err == nil {
			t.Errorf("nobody notices: %s", damage)
		}
		c.checkProofs(false)
	}
}
