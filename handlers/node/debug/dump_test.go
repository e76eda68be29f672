package debug_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm"
)

// dump is a part of a state.
type dump struct {
	Root     string
	Accounts map[common.Address]dumped
	Next     []byte
}

type dumped struct {
	Balance        string
	Nonce          uint64
	Root, CodeHash common.Hash
	Code           hexutil.Bytes
	Storage        map[common.Hash]string
	Address        common.Address
	Key            common.Hash
}

// rootOf computes the root of a trie from its leaves, by their keys.
func rootOf(leaves map[common.Hash][]byte) common.Hash {
	made := trie.NewStackTrie(nil)
	for _, key := range slices.SortedFunc(maps.Keys(leaves), common.Hash.Cmp) {
		if err := made.Update(key[:], leaves[key]); err != nil {
			panic(err)
		}
	}
	return made.Hash()
}

// TestDumpsLeadToRoots: from the accounts, codes and slots of a whole dump, go-ethereum's tries compute the roots of accounts and of the state.
func TestDumpsLeadToRoots(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, chain := range []int{0, len(w.Chains) - 1} {
		c := nodetest.Open(t, w, w.Chains[chain])
		for i := range int64(270) { // more than a page holds
			c.Text("anvil_setBalance", common.BigToAddress(big.NewInt(0x1000_0000+i)), hexutil.EncodeUint64(uint64(i+1)))
		}
		c.Text("anvil_mine", 1)
		c.Text("anvil_mine", 1)
		b := c.Head()
		accounts, codes, slots := map[common.Hash][]byte{}, 0, 0
		for start, pages := []byte{}, 0; ; pages++ {
			var page dump
			c.Call(&page, "debug_accountRange", hexutil.Uint64(b.Number), hexutil.Bytes(start), 0, false, false, false)
			if page.Root != fmt.Sprintf("%x", b.Results.Root) || page.Next != nil && len(page.Accounts) != 256 {
				t.Fatalf("page %d has %d accounts, the root is %s, want %x", pages, len(page.Accounts), page.Root, b.Results.Root)
			}
			for address, a := range page.Accounts {
				if a.Address != address || a.Key != crypto.Keccak256Hash(address[:]) || bytes.Compare(a.Key[:], start) < 0 || page.Next != nil && bytes.Compare(a.Key[:], page.Next) >= 0 {
					t.Errorf("%s has the key %s, between %x and %x", address, a.Key, start, page.Next)
				}
				if a.CodeHash != crypto.Keccak256Hash(a.Code) {
					t.Errorf("%s has another code", address)
				}
				codes += len(a.Code)
				leaves := map[common.Hash][]byte{}
				for key, value := range a.Storage {
					slots++
					leaf, err := rlp.EncodeToBytes(common.FromHex(value))
					if err != nil {
						t.Fatal(err)
					}
					stored := evm.StateKey(c.Chain.Kind, key)
					leaves[crypto.Keccak256Hash(stored[:])] = leaf
				}
				if root := rootOf(leaves); root != a.Root {
					t.Errorf("%s: the slots of %s lead to %s, want %s", c.Chain.Row.Name, address, root, a.Root)
				}
				full := &types.StateAccount{Nonce: a.Nonce, Balance: uint256.MustFromDecimal(a.Balance), Root: a.Root, CodeHash: a.CodeHash[:]}
				accounts[a.Key] = evm.AccountLeaf(c.Chain.Kind, full)
			}
			if start = page.Next; start == nil {
				if pages == 0 {
					t.Error("there is only one page")
				}
				break
			}
		}
		if root := rootOf(accounts); root != b.Results.Root {
			t.Errorf("%s: the accounts lead to %s, want %s", c.Chain.Row.Name, root, b.Results.Root)
		}
		if codes == 0 || slots == 0 {
			t.Errorf("%d bytes of code and %d slots were dumped", codes, slots)
		}
		dumpBounds(c)
	}
}

// dumpBounds compares pages of other sizes and without some parts.
func dumpBounds(c *nodetest.Chain) {
	c.Helper()
	page := func(limit int, noCode, noStorage bool) (d dump) {
		c.Helper()
		c.Call(&d, "debug_accountRange", "latest", "0x", limit, noCode, noStorage, false)
		return d
	}
	whole := c.Text("debug_dumpBlock", hexutil.Uint64(c.Head().Number))
	for _, limit := range []int{0, -1, 256, 257, 1 << 30} {
		if have := c.Text("debug_accountRange", "latest", "0x", limit, false, false, false); have != whole {
			c.Errorf("with the limit %d the page is another", limit)
		}
	}
	for _, limit := range []int{1, 2, 255} {
		if d := page(limit, true, true); len(d.Accounts) != limit || d.Next == nil {
			c.Errorf("with the limit %d there are %d accounts", limit, len(d.Accounts))
		}
	}
	full, noCode, noStorage := page(0, false, false), page(0, true, false), page(0, false, true)
	for address, a := range full.Accounts {
		without, bare := noCode.Accounts[address], noStorage.Accounts[address]
		if without.Code != nil || !maps.Equal(without.Storage, a.Storage) || bare.Storage != nil || !bytes.Equal(bare.Code, a.Code) || without.CodeHash != a.CodeHash || bare.Root != a.Root {
			c.Errorf("%s is %+v, without code %+v, without storage %+v", address, a, without, bare)
		}
	}
}

// TestStorageRanges reads a contract's slots in pages, as they were before each transaction of a block.
func TestStorageRanges(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, chain := range []int{0, len(w.Chains) - 1} {
		c := nodetest.Open(t, w, w.Chains[chain])
		set := c.Deploy(common.FromHex("0x6020355f355500")) // sets the slot in the first word to the second
		send := func(nonce, slot, value uint64) {
			c.Send(&types.DynamicFeeTx{Nonce: nonce, To: &set, Gas: 100_000, Data: common.FromHex(word(slot) + word(value)[2:])})
		}
		slots := map[common.Hash]common.Hash{}
		for slot := range uint64(4) {
			send(c.Nonce(), slot, 0x100+slot)
			slots[common.HexToHash(word(slot))] = common.HexToHash(word(0x100 + slot))
		}
		c.Text("evm_setAutomine", false)
		nonce := c.Nonce()
		changes := [][2]uint64{{1, 0x201}, {2, 0}, {7, 0x207}}
		for i, change := range changes {
			send(nonce+uint64(i), change[0], change[1])
		}
		c.Text("evm_mine")
		for index, change := range changes {
			checkSlots(c, set, index, slots)
			if slots[common.HexToHash(word(change[0]))] = common.HexToHash(word(change[1])); change[1] == 0 {
				delete(slots, common.HexToHash(word(change[0])))
			}
		}
		var empty map[string]any
		if c.Call(&empty, "debug_storageRangeAt", "latest", 0, someone, "0x", 5); len(empty) != 2 || empty["storage"] != nil || empty["nextKey"] != nil {
			t.Errorf("an account without slots has %v", empty)
		}
		if problem := c.Problem("debug_storageRangeAt", "latest", 3, set, "0x", 5); problem != fmt.Sprintf("-32000 transaction index 3 out of range for block %s", c.Head().Hash) {
			t.Error(problem)
		}
	}
}

// checkSlots reads pages of every size from every slot on.
func checkSlots(c *nodetest.Chain, contract common.Address, index int, slots map[common.Hash]common.Hash) {
	c.Helper()
	keys := map[common.Hash]common.Hash{} // by their hashes
	for key := range slots {
		stored := evm.StateKey(c.Chain.Kind, key)
		keys[crypto.Keccak256Hash(stored[:])] = key
	}
	hashes := slices.SortedFunc(maps.Keys(keys), common.Hash.Cmp)
	starts := append([]common.Hash{{}, common.MaxHash}, hashes...)
	for _, start := range starts {
		at, _ := slices.BinarySearchFunc(hashes, start, common.Hash.Cmp)
		for limit := 0; limit <= len(hashes)+1; limit++ {
			page, next := object{}, any(nil)
			for i, hash := range hashes[at:] {
				if i == limit {
					next = hash
					break
				}
				page[hash.Hex()] = object{"key": keys[hash], "value": slots[keys[hash]]}
			}
			c.Want(object{"storage": page, "nextKey": next}, "debug_storageRangeAt", []any{"latest", index, contract, start, limit})
		}
	}
}

// TestModifiedAccounts names the accounts that a payment touches, in one block and in several.
func TestModifiedAccounts(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[len(w.Chains)-1])
	before := c.Head()
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone, Value: big.NewInt(1)})
	first := c.Head()
	other := common.Address{0xee, 1}
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &other, Value: big.NewInt(1)})
	second := c.Head()
	for _, m := range []struct {
		by   string
		refs []any
		want []common.Address
	}{
		{"Number", []any{first.Number}, []common.Address{c.From, someone}},
		{"Number", []any{first.Number, nil}, []common.Address{c.From, someone}},
		{"Number", []any{before.Number, first.Number}, []common.Address{c.From, someone}},
		{"Number", []any{first.Number, second.Number}, []common.Address{c.From, other}},
		{"Number", []any{before.Number, second.Number}, []common.Address{c.From, someone, other}},
		{"Hash", []any{first.Hash}, []common.Address{c.From, someone}},
		{"Hash", []any{first.Hash, nil}, []common.Address{c.From, someone}},
		{"Hash", []any{before.Hash, first.Hash}, []common.Address{c.From, someone}},
		{"Hash", []any{before.Hash, second.Hash}, []common.Address{c.From, someone, other}},
	} {
		var have []common.Address
		c.Call(&have, "debug_getModifiedAccountsBy"+m.by, m.refs...)
		m.want = append(m.want, first.Header.Coinbase)
		slices.SortFunc(have, common.Address.Cmp)
		slices.SortFunc(m.want, common.Address.Cmp)
		if !slices.Equal(have, slices.Compact(m.want)) {
			t.Errorf("%s %v: %v, want %v", m.by, m.refs, have, m.want)
		}
	}
	none := common.Hash{31: 1}
	order := fmt.Sprintf("-32000 start block height (%d) must be less than end block height (%d)", second.Number, first.Number)
	same := fmt.Sprintf("-32000 start block height (%d) must be less than end block height (%d)", first.Number, first.Number)
	for _, m := range []struct {
		by   string
		refs []any
		want string
	}{
		{"Number", []any{0}, "-32000 block 0 has no parent"}, {"Hash", []any{c.Block(0).Hash}, "-32000 block 0 has no parent"},
		{"Number", []any{second.Number, first.Number}, order}, {"Hash", []any{second.Hash, first.Hash}, order},
		{"Number", []any{first.Number, first.Number}, same}, {"Hash", []any{first.Hash, first.Hash}, same},
		{"Number", []any{0xffff}, "-32000 start block ffff not found"}, {"Number", []any{0xffff, 1}, "-32000 start block ffff not found"},
		{"Number", []any{1, 0xffff}, "-32000 end block 65535 not found"},
		{"Hash", []any{none}, fmt.Sprintf("-32000 start block %x not found", none)}, {"Hash", []any{first.Hash, none}, fmt.Sprintf("-32000 end block %x not found", none)},
	} {
		if have := c.Problem("debug_getModifiedAccountsBy"+m.by, m.refs...); have != m.want {
			t.Errorf("%s %v: %s, want %s", m.by, m.refs, have, m.want)
		}
	}
}

// TestAccessibleStates: every block has a state.
func TestAccessibleStates(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	c := nodetest.Open(t, w, w.Chains[0])
	head := c.Head().Number
	const same = "-32000 from and to needs to be different"
	for _, r := range []struct {
		from, to any
		want     string
	}{
		{"0x1", "latest", "1"}, {"latest", "0x1", fmt.Sprint(head)}, {"earliest", "0x5", "0"}, {"0x5", "earliest", "5"}, {"latest", "latest", same}, {"pending", "latest", same},
		{hexutil.Uint64(head), "latest", same}, {"latest", hexutil.Uint64(head), same}, {hexutil.Uint64(head), "0x0", fmt.Sprint(head)}, {hexutil.Uint64(head + 1), "0x0", fmt.Sprintf("-32000 missing header %d", head+1)},
		{"0x3", "0x3", same}, {"0x3", hexutil.Uint64(head + 5), "3"},
	} {
		have := c.Problem("debug_getAccessibleState", r.from, r.to)
		if have == "" {
			have = c.Text("debug_getAccessibleState", r.from, r.to)
		}
		if have != r.want {
			t.Errorf("from %v to %v: %s, want %s", r.from, r.to, have, r.want)
		}
	}
}
