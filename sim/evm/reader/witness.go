package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb/database"

	"snowglobe/sim/evm"
	"snowglobe/sim/txs"
)

// Witness holds all that executing a block needs without a state (go-ethereum core/stateless.Witness): the nodes of the tries before the block that
// are read, and those that are needed to work out the root after it.
type Witness struct {
	Nodes   [][]byte // in RLP, sorted
	Codes   [][]byte // sorted
	Keys    [][]byte // addresses and slots, sorted
	Headers [][]byte // in RLP: the parent's, after those of the ancestors whose hashes the block reads
}

var errNoParent = errors.New("the first block has no state before it")

// Witness executes a block again and collects its witness. On these chains the root before a block is in its parent's header; since Helicon on a
// C-Chain, in the header that settles the parent.
func (c *Chain) Witness(ctx context.Context, b *Block) (*Witness, error) {
	if b.Number == 0 {
		return nil, errNoParent
	}
	var w *Witness
	err := c.limited(ctx, nil, func(ctx context.Context) (err error) {
		w, err = c.witness(ctx, b)
		return err
	})
	return w, err
}

func (c *Chain) witness(ctx context.Context, b *Block) (*Witness, error) {
	parent, err := c.Block(ctx, b.Number-1)
	if err != nil {
		return nil, err
	}
	touched := &touchedState{historicalState: c.historicalState(ctx, parent), accounts: map[common.Address]map[common.Hash]bool{}, codes: map[string]bool{}, first: parent.Number}
	states, err := c.executeAgain(ctx, parent, b, touched)
	if err != nil {
		return nil, err
	}
	w, err := c.headersSince(ctx, touched.first, parent.Number)
	if err != nil {
		return nil, err
	}
	w.Codes = sortedBytes(touched.codes)
	w.Keys = touched.keys()
	root, err := c.rootAfter(ctx, parent)
	if err != nil {
		return nil, err
	}
	t := &witnessTries{kind: c.Kind, flat: touched.FlatState, states: states, nodes: map[string]bool{}}
	after, err := t.apply(root, touched.accounts)
	if err != nil {
		return nil, err
	}
	if after != b.Results.Root {
		return nil, fmt.Errorf("block %d: executed again, its state hashes to %s, want %s", b.Number, after, b.Results.Root)
	}
	w.Nodes = sortedBytes(t.nodes)
	return w, nil
}

// executeAgain executes a whole block on a state and returns the state after it.
func (c *Chain) executeAgain(ctx context.Context, parent, b *Block, on *touchedState) (*state.StateDB, error) {
	states, err := state.New(parent.Results.Root, readOnlyState{on})
	if err != nil {
		return nil, err
	}
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	x, err := c.walkOn(ctx, states, on.blockHash(c.blockHash(ctx, parent.Number)), parent, b, transactions, func(ctx context.Context, x *execution, t *Transaction, m *core.Message) error {
		return x.apply(ctx, t, m)
	})
	if err != nil {
		return nil, err
	}
	atomic, err := txs.ParseAtomicBatch(b.Row.ExtData)
	if err != nil {
		return nil, err
	}
	for _, tx := range atomic {
		evm.MoveAtomic(states, tx)
	}
	states.Finalise(x.rules())
	return states, evm.Fault(states)
}

func (c *Chain) headersSince(ctx context.Context, first, last uint64) (*Witness, error) {
	w := &Witness{}
	for number := first; number <= last; number++ {
		b, err := c.Block(ctx, number)
		if err != nil {
			return nil, err
		}
		w.Headers = append(w.Headers, b.Row.Header)
	}
	return w, nil
}

func sortedBytes(set map[string]bool) [][]byte {
	all := make([][]byte, 0, len(set))
	for _, text := range slices.Sorted(maps.Keys(set)) {
		all = append(all, []byte(text))
	}
	return all
}

// touchedState is a state that notes what is read from it.
type touchedState struct {
	historicalState
	accounts map[common.Address]map[common.Hash]bool
	codes    map[string]bool
	first    uint64 // block whose hash was asked for, or the parent
}

var _ state.Reader = (*touchedState)(nil)

func (t *touchedState) Account(address common.Address) (*types.StateAccount, error) {
	if t.accounts[address] == nil {
		t.accounts[address] = map[common.Hash]bool{}
	}
	return t.historicalState.Account(address)
}

func (t *touchedState) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	t.accounts[address][key] = true
	return t.historicalState.Storage(address, key)
}

func (t *touchedState) Code(address common.Address, hash common.Hash) []byte {
	code := t.historicalState.Code(address, hash)
	if len(code) > 0 {
		t.codes[string(code)] = true
	}
	return code
}

func (t *touchedState) CodeSize(address common.Address, hash common.Hash) int {
	return len(t.Code(address, hash))
}

func (t *touchedState) Has(address common.Address, hash common.Hash) bool {
	return t.CodeSize(address, hash) > 0
}

func (t *touchedState) blockHash(of vm.GetHashFunc) vm.GetHashFunc {
	return func(number uint64) common.Hash {
		t.first = min(t.first, number)
		return of(number)
	}
}

func (t *touchedState) keys() [][]byte {
	all := map[string]bool{}
	for address, slots := range t.accounts {
		all[string(address[:])] = true
		for slot := range slots {
			all[string(slot[:])] = true
		}
	}
	return sortedBytes(all)
}

// witnessTries reads and changes tries as a client without a state does, with go-ethereum's own trie, and notes the nodes that it takes.
type witnessTries struct {
	kind   evm.Kind
	flat   evm.FlatState  // before
	states *state.StateDB // after
	nodes  map[string]bool
}

// apply reads accounts and slots, applies what they are afterwards, and returns the root.
func (w *witnessTries) apply(root common.Hash, touched map[common.Address]map[common.Hash]bool) (common.Hash, error) {
	whole, err := w.flat.PartedAccountTrie(w.kind, root)
	if err != nil {
		return common.Hash{}, err
	}
	accounts, err := trie.New(trie.StateTrieID(root), &provenNodes{whole, func() (*evm.Trie, error) { return w.flat.AccountTrie(w.kind) }})
	if err != nil {
		return common.Hash{}, err
	}
	changes := map[string][]byte{}
	for address, slots := range touched {
		before, err := accounts.Get(crypto.Keccak256(address[:]))
		if err != nil {
			return common.Hash{}, err
		}
		after, err := w.account(root, address, slots)
		if err != nil {
			return common.Hash{}, err
		}
		if !bytes.Equal(before, after) {
			changes[string(crypto.Keccak256(address[:]))] = after
		}
	}
	return w.change(accounts, changes)
}

// change changes the leaves of a trie. As in go-ethereum (core/state.StateDB.IntermediateRoot), what is deleted goes last, which needs the fewest
// nodes.
func (w *witnessTries) change(t *trie.Trie, changes map[string][]byte) (common.Hash, error) {
	for _, deleted := range []bool{false, true} {
		for _, key := range slices.Sorted(maps.Keys(changes)) {
			if leaf := changes[key]; (len(leaf) == 0) == deleted {
				if err := t.Update([]byte(key), leaf); err != nil { // an empty leaf deletes
					return common.Hash{}, err
				}
			}
		}
	}
	root := t.Hash()
	for _, node := range t.Witness() {
		w.nodes[string(node)] = true
	}
	return root, nil
}

// account returns the leaf of an account afterwards, nil if there is none.
func (w *witnessTries) account(root common.Hash, address common.Address, slots map[common.Hash]bool) ([]byte, error) {
	before, err := w.flat.Account(address)
	if err != nil {
		return nil, err
	}
	after := &types.StateAccount{Nonce: w.states.GetNonce(address), Balance: w.states.GetBalance(address), Root: types.EmptyRootHash, CodeHash: w.states.GetCodeHash(address).Bytes()}
	if before != nil {
		after.Root = before.Root
	}
	exists := w.states.Exist(address)
	if len(slots) > 0 {
		if after.Root, err = w.storage(root, address, after.Root, slots, exists); err != nil {
			return nil, err
		}
	}
	if !exists {
		return nil, evm.Fault(w.states)
	}
	return evm.AccountLeaf(w.kind, after), evm.Fault(w.states)
}

// storage returns the root of an account's storage afterwards.
func (w *witnessTries) storage(stateRoot common.Hash, address common.Address, root common.Hash, slots map[common.Hash]bool, exists bool) (common.Hash, error) {
	nodes := &provenNodes{whole: func() (*evm.Trie, error) { return w.flat.StorageTrie(w.kind, address) }}
	if root != types.EmptyRootHash {
		var err error
		if nodes.tree, err = w.flat.PartedStorageTrie(w.kind, address, root); err != nil {
			return root, err
		}
	}
	storage, err := trie.New(trie.StorageTrieID(stateRoot, crypto.Keccak256Hash(address[:]), root), nodes)
	if err != nil {
		return root, err
	}
	changes := map[string][]byte{}
	for slot := range slots {
		key := crypto.Keccak256(slot[:])
		before, err := storage.Get(key)
		if err != nil {
			return root, err
		}
		if after := evm.SlotLeaf(w.states.GetState(address, slot)); exists && !bytes.Equal(before, after) {
			changes[string(key)] = after
		}
	}
	return w.change(storage, changes)
}

// provenNodes finds the nodes of a trie by their paths: they are on the proof of any key that begins with the path.
type provenNodes struct {
	tree  *evm.Trie
	whole func() (*evm.Trie, error)
}

var (
	_ database.NodeDatabase = (*provenNodes)(nil)
	_ database.NodeReader   = (*provenNodes)(nil)
)

// NodeReader returns the nodes of the one state.
func (p *provenNodes) NodeReader(common.Hash) (database.NodeReader, error) { return p, nil }

// Node returns a node by its path in nibbles, and by its hash.
func (p *provenNodes) Node(_ common.Hash, path []byte, hash common.Hash) ([]byte, error) {
	var key common.Hash
	for i, nibble := range path {
		key[i/2] |= nibble << (4 * (1 - i%2))
	}
	nodes, err := prove(&p.tree, key[:], p.whole)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if crypto.Keccak256Hash(node) == hash {
			return node, nil
		}
	}
	return nil, fmt.Errorf("the trie has no node %s at %x", hash, path)
}
