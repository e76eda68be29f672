package debug_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
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

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

type object = nodetest.Object

var someone = common.HexToAddress("0x50e50e")

// witness is an execution witness.
type witness struct{ State, Codes, Keys, Headers []hexutil.Bytes }

// database holds a witness's contents, like go-ethereum's core/stateless.Witness.MakeHashDB.
func (w *witness) database() ethdb.Database {
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
	*nodetest.Chain

	executed, proven, slots, codes, hashes int
}

func (c *witnessed) check(number uint64) {
	c.Helper()
	b, parent := c.Block(number), c.Block(number-1)
	var w witness
	c.Call(&w, "debug_executionWitness", hexutil.EncodeUint64(number))
	c.headers(&w, number)
	db := w.database()
	c.proves(&w, db, parent, b)
	c.leadsTo(db, parent, b)
	if c.Chain.Chain.Kind == evm.KindL1 {
		c.executes(db, parent, b)
	}
}

// headers checks the ancestors' headers up to the parent, without a gap.
func (c *witnessed) headers(w *witness, number uint64) {
	c.Helper()
	for i := range w.Headers {
		var header hexutil.Bytes
		at := number - uint64(len(w.Headers)-i)
		if c.Call(&header, "debug_getRawHeader", hexutil.EncodeUint64(at)); !bytes.Equal(header, w.Headers[i]) {
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
		c.Call(&seen, "debug_traceBlockByNumber", hexutil.EncodeUint64(b.Number), object{"tracer": "prestateTracer"})
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
			c.Call(&want, "eth_getAccount", address, parent.Hash)
			full := &types.StateAccount{Nonce: uint64(want.Nonce), Balance: (*uint256.Int)(want.Balance), Root: want.StorageRoot, CodeHash: want.CodeHash[:]}
			exists := full.Nonce != 0 || !full.Balance.IsZero() || want.CodeHash != types.EmptyCodeHash
			if exists != (leaf != nil) || exists && !bytes.Equal(leaf, evm.AccountLeaf(c.Chain.Chain.Kind, full)) {
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
	stored := evm.StateKey(c.Chain.Chain.Kind, slot)
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
	if c.Call(&is, "eth_getStorageAt", address, slot, parent.Hash); !bytes.Equal(common.LeftPadBytes(value, 32), is) {
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
	modified, err := c.Chain.Chain.ModifiedAccounts(c.Context(), parent, b)
	if err != nil {
		c.Fatal(err)
	}
	for _, address := range modified {
		after, err := c.Chain.Chain.Account(c.Context(), b, address)
		if err == nil {
			err = accounts.Update(crypto.Keccak256(address[:]), evm.AccountLeaf(c.Chain.Chain.Kind, after))
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
	schedule, config := &c.Chain.Chain.Genesis.Precompiles, c.Chain.Chain.Genesis.ChainConfig()
	rules := config.Rules(b.Header.Number, true, b.Header.Time)
	failed, err := evm.PredicateResults(c.Chain.Chain.Kind, b.Header)
	if err != nil {
		c.Fatal(err)
	}
	if err := schedule.Apply(states, &parent.Header.Time, b.Header.Time, b.Number); err != nil {
		c.Fatal(err)
	}
	transactions, err := c.Chain.Chain.Transactions(c.Context(), b)
	if err != nil {
		c.Fatal(err)
	}
	hashes := func(number uint64) common.Hash { return c.Block(number).Hash }
	for _, tx := range transactions {
		m, err := evm.TransactionToMessage(tx.Transaction, tx.Sender, b.Results.BaseFee)
		if err != nil {
			c.Fatal(err)
		}
		machine := evm.VMContext{Kind: c.Chain.Chain.Kind, ChainConfig: config, Block: evm.NewBlockContext(b.Executed, hashes), State: states, JumpDests: evm.NewJumpDestCache(),
			Precompiles: new(evm.ActivePrecompiles).At(c.Chain.Chain.Kind, rules, schedule, b.Header.Time), Warp: c.Chain.Chain.NetworkContext.PrecompileInput()}.NewVM()
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
	w := seedtest.Shared(t, "tiny", 1)
	total := witnessed{}
	for _, chain := range w.Chains {
		c := &witnessed{Chain: nodetest.Open(t, w, chain)}
		head := c.Head()
		first := uint64(1)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but the first and the last 20")
			c.check(1)
			first = head.Number - min(head.Number-1, 20)
		}
		for number := first; number <= head.Number; number++ {
			c.check(number)
		}
		total.executed, total.proven, total.slots, total.codes = total.executed+c.executed, total.proven+c.proven, total.slots+c.slots, total.codes+c.codes
	}
	if total.executed < 10 || total.proven < 100 || total.slots < 10 || total.codes == 0 {
		t.Errorf("only %d transactions, %d accounts, %d slots and %d codes were checked", total.executed, total.proven, total.slots, total.codes)
	}
}

// TestWitnessesOfSentBlocks checks the witnesses of blocks in which tries shrink, and which read hashes of ancestors.
func TestWitnessesOfSentBlocks(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, chain := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(chain.Row.Name, func(t *testing.T) {
			c := &witnessed{Chain: nodetest.Open(t, w, chain)}
			// The code sets the slot in the first word to the second word, and reads the hash of the block in the third.
			set := c.Deploy(common.FromHex("0x602035600035556040354050"))
			word := func(n uint64) []byte { return common.BigToHash(new(big.Int).SetUint64(n)).Bytes() }
			for round := range uint64(2) {
				for slot := range uint64(12) {
					ago := c.Head().Number - 6*round
					c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &set, Gas: 100_000, Data: slices.Concat(word(slot), word(1-round), word(ago))})
				}
			}
			head := c.Head().Number
			for number := head - 24; number <= head; number++ {
				c.check(number)
			}
			if c.hashes < 12*6 || c.slots == 0 {
				t.Errorf("only %d hashes and %d slots were checked", c.hashes, c.slots)
			}
			for block, want := range map[string]string{"0x0": "the first block has no state before it", "0xffffffff": ""} {
				problem := c.Problem("debug_executionWitness", block)
				if problem == "" || !strings.Contains(problem, want) {
					t.Errorf("block %s: %q", block, problem)
				}
			}
			c.Text("anvil_setBalance", someone, "0x12345") // the next block begins with a root that is in no header
			c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &someone})
			var all witness
			c.Call(&all, "debug_executionWitness", "latest")
			if len(all.State) == 0 || len(all.Headers) != 1 {
				t.Errorf("the witness is %+v", all)
			}
		})
	}
}
