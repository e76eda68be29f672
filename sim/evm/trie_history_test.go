package evm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// grownChain is a chain with so many trie leaves that the file has parts of its tries, and with the state root after each block. The contract keeper
// stores the first word of its input in the slot named by the second.
type grownChain struct {
	*testChain
	kind     Kind
	b        *Builder
	keeper   common.Address
	random   *rand.Rand
	accounts []common.Address // including some that never existed
	slots    []common.Hash
	roots    []common.Hash // by block
	marked   bool          // a snapshot precedes each block, to which goBack can go
}

func newGrownChain(t testing.TB, kind Kind, seed uint64) *grownChain {
	base, _ := newTestChain(t, kind)
	c := &grownChain{testChain: base, kind: kind, keeper: common.HexToAddress("0x5e11"), random: rand.New(rand.NewPCG(seed, 0))}
	slots := map[common.Hash]common.Hash{}
	for range partedLeaves - 4 { // the first blocks add the rest
		address := c.newAccount()
		c.genesis.Alloc[address] = types.Account{Balance: big.NewInt(1 + c.random.Int64N(9))}
		slots[c.newSlot()] = common.BigToHash(big.NewInt(1 + c.random.Int64N(1<<40)))
	}
	c.genesis.Alloc[c.keeper] = types.Account{Nonce: 1, Code: common.FromHex("6000356020355500"), Storage: slots, Balance: new(big.Int)}
	c.b = c.begin()
	c.roots = []common.Hash{c.b.root}
	return c
}

func (c *grownChain) newAccount() common.Address {
	c.accounts = append(c.accounts, common.BigToAddress(new(big.Int).SetUint64(1<<40+c.random.Uint64N(1<<50))))
	return c.accounts[len(c.accounts)-1]
}

func (c *grownChain) newSlot() common.Hash {
	key := common.BigToHash(new(big.Int).SetUint64(c.random.Uint64()))
	c.slots = append(c.slots, StateKey(c.kind, key))
	return key
}

func (c *grownChain) someAccount() common.Address {
	if c.random.IntN(2) == 0 {
		return c.newAccount()
	}
	return c.accounts[c.random.IntN(len(c.accounts))]
}

func (c *grownChain) someSlot() common.Hash {
	if c.random.IntN(2) == 0 {
		return c.newSlot()
	}
	return c.slots[c.random.IntN(len(c.slots))]
}

// grow makes blocks, with clients' state changes after some of them: accounts and slots appear, change and disappear.
func (c *grownChain) grow(blocks int) {
	c.Helper()
	for range blocks {
		if c.marked {
			c.commit(func(b *store.Batch) error {
				return b.AddSnapshot(&store.Snapshot{Digest: make([]byte, 32), Memory: []byte("{}")})
			})
		}
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

func (c *grownChain) change(change store.StateChange) {
	c.Helper()
	made, err := c.b.Changes([]store.StateChange{change}, noHoldings())
	if err != nil {
		c.Fatal(err)
	}
	c.commit(func(b *store.Batch) error { return b.AddStateChange(made[0]) })
}

// checkProofs proves accounts and slots after each block, for the newest with the parts in the file, and compares the proofs with the whole
// tries'.
func (c *grownChain) checkProofs() {
	c.Helper()
	for number, root := range c.roots {
		newest := number == len(c.roots)-1
		if !newest && (number%3 != 0 || testing.Short() && number%9 != 0) {
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
		for _, pair := range [][2]*Trie{{accounts, wholeAccounts}, {slots, wholeSlots}} {
			if newest && pair[0].depth == 0 && pair[1].leaves >= partedLeaves {
				c.Errorf("%s, block %d: a trie of %d leaves was made of all of them", c.kind, number, pair[1].leaves)
			}
		}
		for range 25 {
			address, slot := c.accounts[c.random.IntN(len(c.accounts))], c.slots[c.random.IntN(len(c.slots))]
			c.sameProof(fmt.Sprintf("%s, block %d: account %s", c.kind, number, address), accounts, wholeAccounts, address[:])
			c.sameProof(fmt.Sprintf("%s, block %d: slot %s", c.kind, number, slot), slots, wholeSlots, slot[:])
		}
	}
	if err := c.checkFile(); err != nil {
		c.Error(err)
	}
}

func (c *grownChain) sameProof(what string, have, want *Trie, key []byte) {
	c.Helper()
	got, whole := memorydb.New(), memorydb.New()
	if err := have.Prove(crypto.Keccak256(key), got); err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	if err := want.Prove(crypto.Keccak256(key), whole); err != nil {
		c.Fatal(err)
	}
	same := got.Len() == whole.Len()
	for it := whole.NewIterator(nil, nil); it.Next(); {
		node, err := got.Get(it.Key())
		same = same && err == nil && bytes.Equal(node, it.Value())
	}
	if !same {
		c.Errorf("%s has another proof", what)
	}
}

// checkFile compares the parts and balances in the file with the newest state.
func (c *grownChain) checkFile() error {
	head := uint64(len(c.roots) - 1)
	state := NewFlatState(c.Context(), c.db, 1, head)
	accounts, err := c.db.AccountsAt(c.Context(), 1, head)
	if err != nil {
		return err
	}
	all, err := state.AccountTrie(c.kind)
	if err != nil {
		return err
	}
	slots, err := state.StorageTrie(c.kind, c.keeper)
	if err != nil {
		return err
	}
	return errors.Join(state.CompareBalances(accounts), state.CompareParts(AllAccounts, all), state.CompareParts(c.keeper[:], slots))
}

// TestProofsOfOldStates lets a chain's tries grow too large to be read whole: while the chain is made, in a process that continues it, and in one
// that reverts and continues.
func TestProofsOfOldStates(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		t.Run(string(kind), func(t *testing.T) {
			c := newGrownChain(t, kind, 1)
			c.grow(60)
			c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
			c.checkProofs()
			c.open()

			c.b, c.marked = c.restore(nil), true
			c.grow(30)
			c.checkProofs()
			c.goBack(20)
			if c.b.state.trie.depth == 0 {
				t.Error("the tries were made anew")
			}
			c.grow(20)
			c.checkProofs()
		})
	}
}

// TestTriesOutgrowWhileServed does the same with a chain whose tries grow large after it was made.
func TestTriesOutgrowWhileServed(t *testing.T) {
	c := newGrownChain(t, KindL1, 2)
	c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
	c.open()
	c.marked = true
	for range 3 {
		c.b = c.restore(nil)
		c.grow(30)
		c.checkProofs()
	}
	c.goBack(85) // before the first parts
	c.grow(90)
	c.checkProofs()
}

// open puts the file into the state of a served one: rows are written at once, and undo steps are recorded.
func (c *grownChain) open() {
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

// goBack undoes the last blocks, each of which has a snapshot before it.
func (c *grownChain) goBack(blocks int) {
	c.Helper()
	head := len(c.roots) - 1 - blocks
	for sequence := c.db.LastCommit().Sequence; ; sequence-- {
		if heads, err := c.db.HeadsBefore(c.Context(), sequence); err != nil || len(heads) > 0 && heads[1] == uint64(head) {
			c.commit(func(b *store.Batch) error { return b.Rewind(store.RewindOptions{To: sequence}) })
			break
		}
	}
	c.roots = c.roots[:head+1]
	c.b = c.restore(c.b)
	if c.b.root != c.roots[head] {
		c.Fatalf("block %d: the root is %s, it was %s", head, c.b.root, c.roots[head])
	}
}

// TestPartsOfDestroyedContracts disables a precompile with a large storage and activates it again.
func TestPartsOfDestroyedContracts(t *testing.T) {
	const off, on = 1_700_000_120, 1_700_000_130
	minter := precompile.NativeMinter
	c := newGrownChain(t, KindL1, 4)
	active, disabled := uint64(0), uint64(off)
	again := uint64(on)
	c.genesis.Precompiles.Genesis = precompile.Configs{minter.Key: {BlockTimestamp: &active}}
	c.genesis.Precompiles.Upgrades = []precompile.PrecompileUpgrade{
		{minter.Key: {BlockTimestamp: &disabled, Disable: true}}, {minter.Key: {BlockTimestamp: &again}},
	}
	slots := map[common.Hash]common.Hash{}
	for i := range int64(partedLeaves) {
		slots[common.BigToHash(big.NewInt(1<<32+i))] = common.BigToHash(big.NewInt(1 + i))
	}
	c.genesis.Alloc[minter.Address] = types.Account{Storage: slots, Balance: new(big.Int)}
	c.b = c.begin()
	c.roots = []common.Hash{c.b.root}
	c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
	c.open()
	c.b = c.restore(nil)
	depths := map[bool]int{} // of its trie, by whether it exists
	for range 25 {
		c.grow(1)
		state := NewFlatState(t.Context(), c.db, 1, uint64(len(c.roots)-1))
		account, err := state.Account(minter.Address)
		if err != nil {
			t.Fatal(err)
		}
		depth, err := c.db.TrieDepth(t.Context(), 1, minter.Address[:])
		if err != nil {
			t.Fatal(err)
		}
		exists := account != nil && account.Root != types.EmptyRootHash
		if exists != (depth > 0) {
			t.Errorf("block %d: it exists: %t, its parts have %d nibbles", len(c.roots)-1, exists, depth)
		}
		depths[exists]++
	}
	if depths[true] == 0 || depths[false] == 0 {
		t.Errorf("the contract exists after %d blocks, and not after %d", depths[true], depths[false])
	}
	c.checkProofs()
}

// TestPartsAfterAReorg removes the last blocks from the chain and makes others. The parts in the file follow the state.
func TestPartsAfterAReorg(t *testing.T) {
	c := newGrownChain(t, KindC, 5)
	c.grow(20)
	c.commit(func(b *store.Batch) error { return b.AddTrieChanges(1, c.b.LargeTries()) })
	c.open()
	c.b = c.restore(nil)
	c.grow(40)
	for range 2 {
		head := len(c.roots) - 1
		plan, err := c.db.PlanRewind(t.Context(), 1, uint64(head-10))
		if err != nil {
			t.Fatal(err)
		}
		root := c.roots[head-10]
		parts, err := NewFlatState(t.Context(), c.db, 1, uint64(head)).PartsBefore(c.b.kind, c.roots[head], root, plan)
		if err != nil || len(parts) < 2 || len(parts[0].Parts) == 0 {
			t.Fatalf("changes of the parts: %+v, %v", parts, err)
		}
		c.roots = c.roots[:head-9]
		c.commit(func(b *store.Batch) error {
			return errors.Join(b.Rewind(plan.RewindOptions), b.AddTrieChanges(1, parts))
		})
		owners, err := c.db.TrieOwners(t.Context(), 1)
		if err != nil || len(owners) < 2 {
			t.Fatalf("%d tries have parts: %v", len(owners), err)
		}
		state := NewFlatState(t.Context(), c.db, 1, uint64(head-10))
		for _, owner := range owners {
			want := root
			whole, err := state.AccountTrie(c.b.kind)
			if len(owner) > 0 {
				account, accountErr := state.Account(common.BytesToAddress(owner))
				if accountErr != nil || account == nil {
					t.Fatalf("the contract of parts: %+v, %v", account, accountErr)
				}
				want = account.Root
				whole, err = state.StorageTrie(c.b.kind, common.BytesToAddress(owner))
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := state.CompareParts(owner, whole); err != nil {
				t.Error(err)
			}
			if tree, err := state.PartsOf(c.b.kind, owner, want); tree == nil || err != nil {
				t.Errorf("the parts of %x are not those of the root %s: %v", owner, want, err)
			}
		}
		rows, err := c.db.AccountsAt(t.Context(), 1, uint64(head-10))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(rows, func(a, b store.Account) int { return bytes.Compare(a.Address, b.Address) })
		if err := state.CompareBalances(rows); err != nil {
			t.Error(err)
		}
		c.b = c.restore(c.b)
		c.grow(15)
	}
	c.checkProofs()
}
