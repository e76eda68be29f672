// Execution witnesses. With them, go-ethereum's own tries prove what blocks read and compute the root afterwards.

package handlers_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// witness is an execution witness.
type witness struct{ State, Codes, Keys, Headers []hexutil.Bytes }

// database holds a witness's contents, like go-ethereum's core/stateless.Witness.MakeHashDB.
func (w *witness) database(t *testing.T) ethdb.Database {
	t.Helper()
	db := rawdb.NewMemoryDatabase()
	for _, node := range w.State {
		rawdb.WriteLegacyTrieNode(db, crypto.Keccak256Hash(node), node)
	}
	for _, code := range w.Codes {
		rawdb.WriteCode(db, crypto.Keccak256Hash(code), code)
	}
	return db
}

// witnessed checks the witnesses of blocks.
type witnessed struct {
	*testing.T
	h     http.Handler
	chain *reader.Chain

	executed, proven, slots, codes, hashes int
}

func (c *witnessed) ask(into any, method string, params ...any) {
	c.Helper()
	if problem := callEVM(c.T, c.h, rpcPath(c.chain), method, into, params...); problem != "" {
		c.Fatalf("%s %s: %s", c.chain.Row.Name, method, problem)
	}
}

func (c *witnessed) block(number uint64) {
	c.Helper()
	b, err := c.chain.Block(c.Context(), number)
	if err != nil {
		c.Fatal(err)
	}
	parent, err := c.chain.Block(c.Context(), number-1)
	if err != nil {
		c.Fatal(err)
	}
	var w witness
	c.ask(&w, "debug_executionWitness", hexutil.EncodeUint64(number))
	c.headers(&w, number)
	db := w.database(c.T)
	c.proves(&w, db, parent, b)
	c.leadsTo(db, parent, b)
	if c.chain.Kind == evm.KindL1 {
		c.executes(db, parent, b)
	}
}

// headers checks the ancestors' headers up to the parent, without a gap.
func (c *witnessed) headers(w *witness, number uint64) {
	c.Helper()
	for i := range w.Headers {
		var header hexutil.Bytes
		at := number - uint64(len(w.Headers)-i)
		if c.ask(&header, "debug_getRawHeader", hexutil.EncodeUint64(at)); !bytes.Equal(header, w.Headers[i]) {
			c.Errorf("block %d: header %d is not block %d's", number, i, at)
		}
	}
	if len(w.Headers) == 0 {
		c.Fatalf("block %d has no header of its parent", number)
	}
	c.hashes += len(w.Headers) - 1
}

// proves verifies the accounts and slots that the block's transactions read, and that the witness has their code.
func (c *witnessed) proves(w *witness, db ethdb.Database, parent, b *reader.Block) {
	c.Helper()
	var seen []struct {
		Result map[common.Address]struct{ Storage map[common.Hash]common.Hash }
	}
	if b.Row.Txs > 0 {
		c.ask(&seen, "debug_traceBlockByNumber", hexutil.EncodeUint64(b.Number), object{"tracer": "prestateTracer"})
	}
	for _, tx := range seen {
		for address, account := range tx.Result {
			leaf, err := trie.VerifyProof(parent.Results.Root, crypto.Keccak256(address[:]), plainNodes{db})
			if err != nil {
				c.Fatalf("block %d: %s: %v", b.Number, address, err)
			}
			if !slices.ContainsFunc(w.Keys, func(key hexutil.Bytes) bool { return bytes.Equal(key, address[:]) }) {
				c.Errorf("block %d: %s is no key", b.Number, address)
			}
			c.proven++
			var want struct {
				Nonce                 hexutil.Uint64
				Balance               *hexutil.U256
				StorageRoot, CodeHash common.Hash
			}
			c.ask(&want, "eth_getAccount", address, parent.Hash)
			full := &types.StateAccount{Nonce: uint64(want.Nonce), Balance: (*uint256.Int)(want.Balance), Root: want.StorageRoot, CodeHash: want.CodeHash[:]}
			exists := full.Nonce != 0 || !full.Balance.IsZero() || want.CodeHash != types.EmptyCodeHash
			if exists != (leaf != nil) || exists && !bytes.Equal(leaf, evm.AccountLeaf(c.chain.Kind, full)) {
				c.Errorf("block %d: the leaf of %s is %x, want %+v", b.Number, address, leaf, want)
			}
			if exists && want.CodeHash != types.EmptyCodeHash && rawdb.ReadCode(db, want.CodeHash) != nil {
				c.codes++
			}
			for slot := range account.Storage {
				c.provesSlot(db, parent, address, want.StorageRoot, slot)
			}
		}
	}
}

func (c *witnessed) provesSlot(db ethdb.Database, parent *reader.Block, address common.Address, root common.Hash, slot common.Hash) {
	c.Helper()
	if root == types.EmptyRootHash {
		return
	}
	stored := evm.StateKey(c.chain.Kind, slot)
	leaf, err := trie.VerifyProof(root, crypto.Keccak256(stored[:]), plainNodes{db})
	if err != nil {
		c.Fatalf("block %d: slot %s of %s: %v", parent.Number+1, slot, address, err)
	}
	var value, is hexutil.Bytes
	if c.slots++; leaf != nil {
		if err := rlp.DecodeBytes(leaf, (*[]byte)(&value)); err != nil {
			c.Fatal(err)
		}
	}
	if c.ask(&is, "eth_getStorageAt", address, slot, parent.Hash); !bytes.Equal(common.LeftPadBytes(value, 32), is) {
		c.Errorf("block %d: slot %s of %s is proven to be %x, it is %s", parent.Number+1, slot, address, value, is)
	}
}

// leadsTo applies the block's account changes and compares the root.
func (c *witnessed) leadsTo(db ethdb.Database, parent, b *reader.Block) {
	c.Helper()
	accounts, err := trie.New(trie.StateTrieID(parent.Results.Root), triedb.NewDatabase(db, triedb.HashDefaults))
	if err != nil {
		c.Fatal(err)
	}
	modified, err := c.chain.ModifiedAccounts(c.Context(), parent, b)
	if err != nil {
		c.Fatal(err)
	}
	for _, address := range modified {
		after, err := c.chain.Account(c.Context(), b, address)
		if err == nil {
			err = accounts.Update(crypto.Keccak256(address[:]), evm.AccountLeaf(c.chain.Kind, after))
		}
		if err != nil {
			c.Fatalf("block %d: %s: %v", b.Number, address, err)
		}
	}
	if root := accounts.Hash(); root != b.Results.Root {
		c.Errorf("block %d leads to %s, want %s", b.Number, root, b.Results.Root)
	}
}

// executes runs a block on go-ethereum's state, tries and all, with nothing but the witness.
func (c *witnessed) executes(db ethdb.Database, parent, b *reader.Block) {
	c.Helper()
	states, err := state.New(parent.Header.Root, state.NewDatabase(triedb.NewDatabase(db, triedb.HashDefaults), state.NewCodeDB(db)))
	if err != nil {
		c.Fatal(err)
	}
	schedule, config := &c.chain.Genesis.Precompiles, c.chain.Genesis.ChainConfig()
	rules := config.Rules(b.Header.Number, true, b.Header.Time)
	failed, err := evm.PredicateResults(c.chain.Kind, b.Header)
	if err != nil {
		c.Fatal(err)
	}
	if err := schedule.Apply(states, &parent.Header.Time, b.Header.Time, b.Number); err != nil {
		c.Fatal(err)
	}
	transactions, err := c.chain.Transactions(c.Context(), b)
	if err != nil {
		c.Fatal(err)
	}
	hashes := func(number uint64) common.Hash {
		at, err := c.chain.Block(c.Context(), number)
		if err != nil {
			c.Fatal(err)
		}
		return at.Hash
	}
	for _, tx := range transactions {
		m, err := evm.TransactionToMessage(tx.Transaction, tx.Sender, b.Results.BaseFee)
		if err != nil {
			c.Fatal(err)
		}
		machine := evm.VMContext{Kind: c.chain.Kind, ChainConfig: config, Block: evm.NewBlockContext(b.Executed, hashes), State: states, JumpDests: evm.NewJumpDestCache(),
			Precompiles: new(evm.ActivePrecompiles).At(c.chain.Kind, rules, schedule, b.Header.Time), Warp: c.chain.NetworkContext.PrecompileInput()}.NewVM()
		states.SetTxContext(tx.Hash(), tx.Index(), 0)
		result, err := machine.Apply(m, nil, failed[tx.Hash()])
		machine.Release()
		if err = errors.Join(err, states.Error()); err != nil || result.UsedGas != tx.Row.GasUsed {
			c.Fatalf("%s: %v %+v, want gas %d", tx.Hash(), err, result, tx.Row.GasUsed)
		}
		evm.BurnBaseFee(states, b.Executed, result.UsedGas)
		states.Finalise(rules)
		c.executed++
	}
	if root := states.IntermediateRoot(rules); root != b.Header.Root || states.Error() != nil {
		c.Errorf("block %d executes to %s, want %s: %v", b.Number, root, b.Header.Root, states.Error())
	}
}

// plainNodes finds nodes by their hashes.
type plainNodes struct{ ethdb.Database }

func (p plainNodes) Get(hash []byte) ([]byte, error) {
	node := rawdb.ReadLegacyTrieNode(p.Database, common.BytesToHash(hash))
	if node == nil {
		return nil, fmt.Errorf("no node %x", hash)
	}
	return node, nil
}

// TestWitnesses checks the witnesses of blocks of every chain.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, total := surfaceOf(t, w), witnessed{}
	for _, chain := range w.Chains {
		c := &witnessed{T: t, h: h, chain: chain}
		head, err := chain.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := uint64(1)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but the first and the last 20")
			c.block(1)
			first = head.Number - min(head.Number-1, 20)
		}
		for number := first; number <= head.Number; number++ {
			c.block(number)
		}
		total.executed, total.proven, total.slots, total.codes = total.executed+c.executed, total.proven+c.proven, total.slots+c.slots, total.codes+c.codes
	}
	if total.executed < 10 || total.proven < 100 || total.slots < 10 || total.codes == 0 {
		t.Errorf("only %+v were checked", total)
	}
}

// TestWitnessesOfSentBlocks checks the witnesses of blocks in which tries shrink, and which read hashes of ancestors.
func TestWitnessesOfSentBlocks(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, chain := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(chain.Row.Name, func(t *testing.T) {
			d := newDevnet(t, w, chain)
			c := &witnessed{T: t, h: surfaceOf(t, w), chain: chain}
			// The code sets the slot in the first word to the second word, and reads the hash of the block in the third.
			set := d.deployed(common.FromHex("0x602035600035556040354050"))
			word := func(n uint64) []byte { return common.BigToHash(new(big.Int).SetUint64(n)).Bytes() }
			for round := range uint64(2) {
				for slot := range uint64(12) {
					ago := d.head().Number.Uint64() - 6*round
					d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &set, Gas: 100_000, Data: slices.Concat(word(slot), word(1-round), word(ago))})
				}
			}
			head := d.head().Number.Uint64()
			for number := head - 24; number <= head; number++ {
				c.block(number)
			}
			if c.hashes < 12*6 || c.slots == 0 {
				t.Errorf("only %+v were checked", c)
			}
			for block, want := range map[string]string{"0x0": "the first block has no state before it", "0xffffffff": ""} {
				problem := callEVM(t, c.h, rpcPath(chain), "debug_executionWitness", new(any), block)
				if problem == "" || !strings.Contains(problem, want) {
					t.Errorf("block %s: %q", block, problem)
				}
			}
			d.text("anvil_setBalance", someone, "0x12345") // the next block begins with a root that is in no header
			d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone})
			var all witness
			d.call(&all, "debug_executionWitness", "latest")
			if len(all.State) == 0 || len(all.Headers) != 1 {
				t.Errorf("the witness is %+v", all)
			}
		})
	}
}
