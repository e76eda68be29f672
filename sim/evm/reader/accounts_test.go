package reader_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestHistoryOfAnAddress restates the rule: a page has so many transactions in which an address took part, the newest first, and then the rest of the
// last one's block.
func TestHistoryOfAnAddress(t *testing.T) {
	c := newRandomChain(t, evm.KindL1, 4, 14)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []*reader.Transaction // the oldest first
	for number := uint64(1); number <= head.Number; number++ {
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		of, err := c.Receipts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, of...)
	}
	for _, address := range append([]common.Address{c.from, nobody}, emitters...) {
		var own []*reader.Transaction
		for _, tx := range all {
			if tx.Sender == address || *tx.To() == address {
				own = append(own, tx)
			}
		}
		for _, s := range []reader.Search{{}, {After: true}, {Block: 1}, {Block: 1, After: true}, {Block: 7}, {Block: 7, After: true}, {Block: head.Number}, {Block: head.Number, After: true}, {Block: 1 << 60}, {Block: head.Number - 1, After: true}} {
			for _, s.Size = range []int{1, 2, 3, 7, 100} {
				var matching, want []*reader.Transaction
				for _, tx := range own {
					if number := tx.Block.Number; s.Block == 0 || s.After && number > s.Block || !s.After && number < s.Block {
						matching = append(matching, tx)
					}
				}
				if !s.After {
					slices.Reverse(matching)
				}
				for _, tx := range matching {
					if len(want) < s.Size || want[len(want)-1].Block.Number == tx.Block.Number {
						want = append(want, tx)
					}
				}
				wantMore := len(want) < len(matching)
				if s.After {
					slices.Reverse(want)
				}
				got, more, err := c.SearchTransactions(t.Context(), address, s)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got, want, func(a, b *reader.Transaction) bool {
					return a.Hash() == b.Hash() && slices.EqualFunc(a.Logs, b.Logs, sameLog)
				}) || more != wantMore {
					t.Errorf("%s %+v: %d transactions, more %t; want %d, %t", address, s, len(got), more, len(want), wantMore)
				}
			}
		}
	}
	for nonce, tx := range all {
		if got, err := c.TransactionBySenderAndNonce(t.Context(), c.from, uint64(nonce)); err != nil || got.Hash() != tx.Hash() || got.Nonce() != uint64(nonce) {
			t.Errorf("nonce %d: %v %v", nonce, got, err)
		}
	}
	for address, nonce := range map[common.Address]uint64{c.from: uint64(len(all)), nobody: 0, emitters[0]: 0} {
		if got, err := c.TransactionBySenderAndNonce(t.Context(), address, nonce); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s has a transaction with nonce %d: %v %v", address, nonce, got, err)
		}
	}
}

// creating is code that deploys other code.
func creating(code []byte) []byte {
	return append(common.FromHex(fmt.Sprintf("60%02x600c60003960%02x6000f3", len(code), len(code))), code...)
}

// TestWhoCreatedAContract: an account's transaction, or a contract that it called; nobody created what the world began with.
func TestWhoCreatedAContract(t *testing.T) {
	c := newChosenChain(t, evm.KindL1, false)
	factory := common.FromHex("6460016000f35f526005601b5ff000") // deploys a STOP
	c.with(1_775_000_010, payment{}, payment{create: true, gas: 200_000, data: creating(factory)})
	made := crypto.CreateAddress(c.from, 1)
	c.with(1_775_000_020, payment{}, payment{}, payment{to: &made, gas: 100_000})
	for address, want := range map[common.Address]struct {
		creator common.Address
		block   uint64
		index   int
	}{made: {c.from, 1, 1}, crypto.CreateAddress(made, 1): {made, 2, 2}} {
		tx, creator, err := c.Creation(t.Context(), address)
		if err != nil || creator != want.creator || tx.Block.Number != want.block || tx.Index() != want.index {
			t.Errorf("%s was created by %s in %+v: %v", address, creator, tx, err)
		}
	}
	for _, address := range []common.Address{emitters[0], nobody, c.from} {
		if _, _, err := c.Creation(t.Context(), address); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s was created: %v", address, err)
		}
	}
}

// rootOf hashes leaves by their hashed keys with go-ethereum's trie.
func rootOf(t *testing.T, leaves map[common.Hash][]byte) common.Hash {
	t.Helper()
	made := trie.NewEmpty(triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil))
	for key, leaf := range leaves {
		if err := made.Update(key[:], leaf); err != nil {
			t.Fatal(err)
		}
	}
	return made.Hash()
}

// TestAccountsHashToTheRoot lists all accounts and slots after each block in pages of several sizes. Go-ethereum's trie of them has the roots that the
// header and the accounts name.
func TestAccountsHashToTheRoot(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newRandomChain(t, kind, 9, 8)
		empty, full := common.HexToAddress("0x11"), common.HexToAddress("0x22")
		change := func(address common.Address, balance int64) {
			t.Helper()
			value := common.BigToHash(big.NewInt(balance))
			c.change(store.StateChange{Kind: store.BalanceChange, Address: address[:], Value: value[:]})
		}
		change(empty, 5)
		change(full, 7)
		c.block(1_775_001_000)
		change(empty, 0)
		c.block(1_775_001_010)
		c.block(1_775_001_020)
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for number := uint64(0); number <= head.Number; number++ {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			whole, next, err := c.Accounts(t.Context(), b, nil, 1000)
			if err != nil || next != nil || len(whole) < 6 {
				t.Fatal(len(whole), next, err)
			}
			leaves := map[common.Hash][]byte{}
			alloc, err := c.Alloc(t.Context(), b, 10_000)
			if err != nil || len(alloc) != len(whole) {
				t.Fatal(len(alloc), err)
			}
			values := 0
			for i, a := range whole {
				if a.Hash != crypto.Keccak256Hash(a.Address[:]) || i > 0 && bytes.Compare(whole[i-1].Hash[:], a.Hash[:]) >= 0 {
					t.Errorf("block %d: %s is out of order", number, a.Address)
				}
				if leaves[a.Hash], err = accountLeaf(kind, &types.StateAccount{Nonce: a.Nonce, Balance: a.Balance, Root: a.Root, CodeHash: a.Code[:]}); err != nil {
					t.Fatal(err)
				}
				slots, err := c.Slots(t.Context(), b, a.Address)
				if err != nil {
					t.Fatal(err)
				}
				stored := map[common.Hash][]byte{}
				for j, s := range slots {
					if stored[s.Hash], err = rlp.EncodeToBytes(common.TrimLeftZeroes(s.Value[:])); err != nil {
						t.Fatal(err)
					}
					if s.Hash != crypto.Keccak256Hash(s.Key[:]) || j > 0 && bytes.Compare(slots[j-1].Hash[:], s.Hash[:]) >= 0 || alloc[a.Address].Storage[s.Key] != s.Value {
						t.Errorf("block %d: %s: slot %s", number, a.Address, s.Key)
					}
				}
				if root := rootOf(t, stored); root != a.Root {
					t.Errorf("block %d: the storage of %s hashes to %s, not %s", number, a.Address, root, a.Root)
				}
				code, err := c.Code(t.Context(), a.Code)
				own := alloc[a.Address]
				if err != nil || crypto.Keccak256Hash(code) != a.Code || !bytes.Equal(own.Code, code) || own.Nonce != a.Nonce || own.Balance.Cmp(a.Balance.ToBig()) != 0 || len(own.Storage) != len(slots) {
					t.Errorf("block %d: %s is %+v: %v", number, a.Address, own, err)
				}
				values += 1 + len(slots)
			}
			if root := rootOf(t, leaves); (number == 8 || number == 9) == (root == b.Results.Root) { // a change without a block is in no root until the next one
				t.Errorf("block %d: the accounts hash to %s, the header says %s", number, root, b.Results.Root)
			}
			if _, err := c.Alloc(t.Context(), b, values-1); !errors.Is(err, reader.ErrLargeState) {
				t.Errorf("block %d: too much: %v", number, err)
			}
			if _, err := c.Alloc(t.Context(), b, values); err != nil {
				t.Errorf("block %d: %v", number, err)
			}
			for size := 1; size <= len(whole)+1; size++ {
				var paged []reader.StateAccount
				var start []byte
				for {
					page, next, err := c.Accounts(t.Context(), b, start, size)
					if err != nil || len(page) > size || next != nil && len(page) != size {
						t.Fatal(len(page), err)
					}
					paged = append(paged, page...)
					if start = next; next == nil {
						break
					}
				}
				if fmt.Sprint(paged) != fmt.Sprint(whole) {
					t.Errorf("block %d in pages of %d:\n%v\nwant\n%v", number, size, paged, whole)
				}
			}
			beyond := slices.Repeat([]byte{0xff}, 32)
			if page, next, err := c.Accounts(t.Context(), b, beyond, 3); err != nil || len(page) != 0 || next != nil {
				t.Errorf("beyond the last: %v %v %v", page, next, err)
			}
			if _, there := alloc[empty]; there != (number == 8) {
				t.Errorf("block %d: the emptied account is there: %t", number, there)
			}
		}
		// What changed between two blocks, as the lists of accounts tell.
		for _, span := range [][2]uint64{{0, 1}, {2, 7}, {7, 10}, {10, 11}, {3, 3}} {
			before, after := map[common.Address]string{}, map[common.Address]string{}
			for i, all := range []map[common.Address]string{before, after} {
				b, err := c.Block(t.Context(), span[i])
				if err != nil {
					t.Fatal(err)
				}
				page, _, err := c.Accounts(t.Context(), b, nil, 1000)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range page {
					all[a.Address] = fmt.Sprint(a)
				}
			}
			want := slices.DeleteFunc(slices.Collect(maps.Keys(after)), func(a common.Address) bool { return after[a] == before[a] })
			slices.SortFunc(want, func(a, b common.Address) int { return crypto.Keccak256Hash(a[:]).Cmp(crypto.Keccak256Hash(b[:])) })
			from, err := c.Block(t.Context(), span[0])
			if err != nil {
				t.Fatal(err)
			}
			to, err := c.Block(t.Context(), span[1])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.ModifiedAccounts(t.Context(), from, to); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d to %d: %v, want %v: %v", span[0], span[1], got, want, err)
			}
		}
	}
}

// TestSlotsBeforeATransaction follows what the emitters store, one transaction after the other. A slot that only some transactions of a block know is
// left out, as documented.
func TestSlotsBeforeATransaction(t *testing.T) {
	c := newRandomChain(t, evm.KindL1, 12, 10)
	stored := map[common.Address]map[common.Hash]common.Hash{}
	for _, address := range emitters {
		stored[address] = map[common.Hash]common.Hash{}
	}
	check := func(b *reader.Block, index int) {
		t.Helper()
		for _, address := range emitters {
			want := map[common.Hash]common.Hash{}
			for _, number := range []uint64{b.Number - 1, b.Number} {
				at, err := c.Block(t.Context(), number)
				if err != nil {
					t.Fatal(err)
				}
				for key, value := range stored[address] {
					if now, err := c.Slot(t.Context(), at, address, key); err != nil {
						t.Fatal(err)
					} else if now != (common.Hash{}) {
						want[key] = value
					}
				}
			}
			got, err := c.SlotsBefore(t.Context(), b, index, address)
			if err != nil {
				t.Fatal(err)
			}
			found := map[common.Hash]common.Hash{}
			for i, s := range got {
				if found[s.Key] = s.Value; s.Hash != crypto.Keccak256Hash(s.Key[:]) || i > 0 && got[i-1].Hash.Cmp(s.Hash) >= 0 {
					t.Errorf("slot %+v", s)
				}
			}
			if !maps.Equal(found, want) {
				t.Errorf("block %d before %d: %s has %v, want %v", b.Number, index, address, found, want)
			}
		}
	}
	for number := uint64(1); number <= 10; number++ {
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Transactions(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for i, tx := range all {
			check(b, i)
			if value, key := common.BytesToHash(tx.Data()[:32]), common.BytesToHash(tx.Data()[32:64]); value == (common.Hash{}) {
				delete(stored[*tx.To()], key)
			} else {
				stored[*tx.To()][key] = value
			}
		}
		if len(all) == 0 {
			check(b, 0)
		}
		for _, index := range []int{-1, max(len(all), 1)} {
			if _, err := c.SlotsBefore(t.Context(), b, index, emitters[0]); err == nil || err.Error() != fmt.Sprintf("transaction index %d out of range for block %#x", index, b.Hash) {
				t.Errorf("index %d: %v", index, err)
			}
		}
	}
	first, err := c.Block(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SlotsBefore(t.Context(), first, 0, emitters[0]); err == nil {
		t.Error("the first block has slots before it")
	}
}

// TestWitnessesAreEnough executes nothing again: a witness names the accounts, slots, codes and headers that a block reads, in order, and go-ethereum's
// trie finds every account and slot in its nodes alone, changes them, and hashes to the block's root.
func TestWitnessesAreEnough(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newChosenChain(t, kind, false)
		data := func(words ...int64) (all []byte) {
			for _, n := range words {
				word := common.BigToHash(big.NewInt(n))
				all = append(all, word[:]...)
			}
			return all
		}
		slots := []common.Hash{slotNumber(2), slotNumber(4), slotNumber(6)}
		var payments []payment
		for i := range slots {
			payments = append(payments, payment{to: &emitters[1], gas: 100_000, data: data(int64(i+5), int64(2*(i+1)), 0, 0, 0)})
		}
		c.with(1_775_000_010, payments...)
		asking := common.FromHex("5f354050" + "00") // BLOCKHASH of the number in the data
		c.with(1_775_000_020, payment{create: true, gas: 200_000, data: creating(asking)})
		asker := crypto.CreateAddress(c.from, 3)
		c.with(1_775_000_030, payment{value: 5})
		c.with(1_775_000_040, payment{to: &emitters[1], gas: 100_000, data: data(0, 2, 0, 0, 0)}, payment{to: &asker, gas: 100_000, data: data(2)}, payment{to: &emitters[1], gas: 100_000, data: data(9, 4, 0, 0, 0)})
		b, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parent, err := c.Block(t.Context(), b.Number-1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.Witness(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		wantKeys := [][]byte{c.from[:], emitters[1][:], asker[:], b.Header.Coinbase[:], slots[0][:], slots[1][:]}
		slices.SortFunc(wantKeys, bytes.Compare)
		if fmt.Sprintf("%x", w.Keys) != fmt.Sprintf("%x", wantKeys) {
			t.Errorf("%s: keys %x, want %x", kind, w.Keys, wantKeys)
		}
		wantCodes := [][]byte{emitterCode(1), asking}
		slices.SortFunc(wantCodes, bytes.Compare)
		if fmt.Sprintf("%x", w.Codes) != fmt.Sprintf("%x", wantCodes) {
			t.Errorf("%s: codes %x, want %x", kind, w.Codes, wantCodes)
		}
		if len(w.Headers) != 2 { // of blocks 2 and 3
			t.Fatalf("%s: %d headers", kind, len(w.Headers))
		}
		for i, raw := range w.Headers {
			if of, err := c.Block(t.Context(), uint64(2+i)); err != nil || crypto.Keccak256Hash(raw) != of.Hash {
				t.Errorf("%s: header %d: %v", kind, i, err)
			}
		}
		if !slices.IsSortedFunc(w.Nodes, bytes.Compare) {
			t.Errorf("%s: the nodes are not sorted", kind)
		}
		db := rawdb.NewMemoryDatabase()
		for _, node := range w.Nodes {
			rawdb.WriteLegacyTrieNode(db, crypto.Keccak256Hash(node), node)
		}
		tries := triedb.NewDatabase(db, triedb.HashDefaults)
		accounts, err := trie.New(trie.StateTrieID(parent.Results.Root), tries)
		if err != nil {
			t.Fatal(err)
		}
		states, err := c.State(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []common.Address{c.from, emitters[1], asker, b.Header.Coinbase} {
			key := crypto.Keccak256(address[:])
			if _, err := accounts.Get(key); err != nil {
				t.Errorf("%s: %s cannot be read: %v", kind, address, err)
			}
			after := &types.StateAccount{Nonce: states.GetNonce(address), Balance: states.GetBalance(address), Root: types.EmptyRootHash, CodeHash: states.GetCodeHash(address).Bytes()}
			if address == emitters[1] {
				page, _, err := c.Accounts(t.Context(), parent, crypto.Keccak256(address[:]), 1)
				if err != nil {
					t.Fatal(err)
				}
				storage, err := trie.New(trie.StorageTrieID(parent.Results.Root, crypto.Keccak256Hash(address[:]), page[0].Root), tries)
				if err != nil {
					t.Fatal(err)
				}
				nine, err := rlp.EncodeToBytes([]byte{9})
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(storage.Update(crypto.Keccak256(slots[1][:]), nine), storage.Delete(crypto.Keccak256(slots[0][:]))); err != nil {
					t.Errorf("%s: the storage cannot be changed: %v", kind, err)
				}
				after.Root = storage.Hash()
			}
			leaf, err := accountLeaf(kind, after)
			if err != nil {
				t.Fatal(err)
			}
			if err := accounts.Update(key, leaf); err != nil {
				t.Errorf("%s: %s cannot be changed: %v", kind, address, err)
			}
		}
		if root := accounts.Hash(); root != b.Results.Root {
			t.Errorf("%s: the root after the block is %s, not %s", kind, root, b.Results.Root)
		}
		first, err := c.Block(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Witness(t.Context(), first); err == nil || err.Error() != "the first block has no state before it" {
			t.Error(err)
		}
		for number := uint64(1); number < b.Number; number++ {
			of, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			if w, err := c.Witness(t.Context(), of); err != nil || len(w.Headers) != 1 || len(w.Nodes) == 0 {
				t.Errorf("%s: block %d: %v", kind, number, err)
			}
		}
	}
}

// TestBlocksAreRead: a block has the bytes that its hash and its size say; what is not there yet, or never was, is called so.
func TestBlocksAreRead(t *testing.T) {
	for _, kind := range []evm.Kind{evm.KindC, evm.KindL1} {
		c := newRandomChain(t, kind, 2, 6)
		for number := range uint64(7) {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := c.RawBlock(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			all, err := c.Transactions(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			parts, _, err := rlp.SplitList(raw)
			if err != nil {
				t.Fatal(err)
			}
			_, body, rest, err := rlp.Split(parts)
			if err != nil {
				t.Fatal(err)
			}
			header := parts[:len(parts)-len(rest)]
			if crypto.Keccak256Hash(header) != b.Hash || uint64(len(raw)) != c.Size(b, all) || len(body) == 0 {
				t.Errorf("%s %d: %d bytes, want %d", kind, number, c.Size(b, all), len(raw))
			}
			if of, err := c.BlockByHash(t.Context(), b.Hash); err != nil || of.Number != number {
				t.Errorf("%s %d by hash: %v %v", kind, number, of, err)
			}
			for i, tx := range all {
				if at, err := c.TransactionAt(t.Context(), b, uint64(i)); err != nil || at.Hash() != tx.Hash() || at.Index() != i {
					t.Errorf("%s %d: transaction %d: %v", kind, number, i, err)
				}
			}
			withLogs, err := c.Receipts(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			receipts := make(types.Receipts, len(withLogs))
			for i, tx := range withLogs {
				receipts[i] = tx.Receipt()
			}
			if root := types.DeriveSha(receipts, trie.NewStackTrie(nil)); root != b.Header.ReceiptHash || types.MergeBloom(receipts) != b.Header.Bloom {
				t.Errorf("%s %d: the receipts hash to %s, not %s", kind, number, root, b.Header.ReceiptHash)
			}
			if _, err := c.TransactionAt(t.Context(), b, uint64(len(all))); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s %d: a transaction too many: %v", kind, number, err)
			}
		}
		if _, err := c.Block(t.Context(), 7); !errors.Is(err, reader.ErrUnfinalized) {
			t.Error(err)
		}
		for _, err := range []error{second(c.BlockByHash(t.Context(), common.Hash{1})), second(c.Transaction(t.Context(), common.Hash{1})), second(c.Receipt(t.Context(), common.Hash{1}))} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		}
		logs, err := c.RemovedLogs(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		var want []*types.Log
		for _, log := range receiptLogs(c) {
			if log.BlockNumber > 2 {
				want = append(want, log)
			}
		}
		if len(want) == 0 || !slices.EqualFunc(logs, want, func(a, b *types.Log) bool {
			return a.Removed && a.TxHash == b.TxHash && a.Index == b.Index && a.BlockNumber == b.BlockNumber
		}) {
			t.Errorf("%s: %d removed logs, want %d", kind, len(logs), len(want))
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFiltersThatRepeatThemselves find each log once, in the order of what they name first.
func TestFiltersThatRepeatThemselves(t *testing.T) {
	c := newRandomChain(t, evm.KindL1, 6, 12)
	search := func(f reader.LogFilter) (found []string) {
		if err := c.EachLog(t.Context(), &f, 0, 12, func(at store.Position, _ *types.Log) { found = append(found, fmt.Sprint(at)) }); err != nil {
			t.Fatal(err)
		}
		return found
	}
	one, two := emitters[1], emitters[2]
	if got, want := search(reader.LogFilter{Addresses: []common.Address{one, one, two, one}}), search(reader.LogFilter{Addresses: []common.Address{one, two}}); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d logs of addresses, want %d", len(got), len(want))
	}
	first, other := slotNumber(1), slotNumber(2)
	if got, want := search(reader.LogFilter{Topics: [][]common.Hash{{first, first, other}}}), search(reader.LogFilter{Topics: [][]common.Hash{{first, other}}}); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d logs of topics, want %d", len(got), len(want))
	}
}
