package evm

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// reference executes a chain's blocks on go-ethereum's own state, with its tries.
type reference struct {
	*testChain
	kind   Kind
	db     state.Database
	state  *state.StateDB
	config *Genesis
	known  map[common.Address]map[common.Hash]bool // every account that was touched, and its slots
}

// unrefunded is a state without refunds, which these chains do not give.
type unrefunded struct{ vm.StateDB }

func (unrefunded) AddRefund(uint64)  {}
func (unrefunded) SubRefund(uint64)  {}
func (unrefunded) GetRefund() uint64 { return 0 }

// referenceCodes lists the code of genesis contracts; each takes two words of input.
var referenceCodes = []string{
	"6000356020355500",                 // stores the first word under the second
	"600035602035555f5ffd",             // stores and reverts
	"60203560005260206000a000",         // logs without a topic
	"6020356000526000356020600060a15b", // runs out of stack
	"602035600052600035600160206000a200",
	"5f5f5f5f34600035612710f100",                         // passes its value on
	"73000000000000000000000000000000000000beefff",       // destroys itself
	"43406000554160015542600255436003554560045546600555", // stores what it sees of the block
	"4860065544600755600143034060085560ff4303406009555f5ffd",
	"4860065544600755600143034060085560ff430340600955",
	"5f5f5ff0" + "5f52" + "60205fa0" + "00", // creates
	"60006000600060006000600a5af100",        // calls a precompile
}

func newReference(t *testing.T, kind Kind) (*reference, *Builder) {
	c, _ := newTestChain(t, kind)
	for i, code := range referenceCodes {
		c.genesis.Alloc[common.Address{2, 19: byte(i)}] = types.Account{Code: common.FromHex(code), Balance: big.NewInt(int64(i) * 1e9), Nonce: uint64(i % 3), Storage: map[common.Hash]common.Hash{{31: 1}: {31: 7}, {31: byte(i)}: {5}}}
	}
	c.genesis.Alloc[common.Address{3}] = types.Account{Balance: big.NewInt(5e18)}
	r := &reference{testChain: c, kind: kind, db: state.NewDatabaseForTesting(), config: c.genesis, known: map[common.Address]map[common.Hash]bool{}}
	b := c.begin()
	var err error
	if r.state, err = state.New(types.EmptyRootHash, r.db); err != nil {
		t.Fatal(err)
	}
	for address, a := range c.genesis.Alloc {
		r.state.SetBalance(address, uint256.MustFromBig(a.Balance), tracing.BalanceChangeUnspecified)
		r.state.SetNonce(address, a.Nonce, tracing.NonceChangeUnspecified)
		if len(a.Code) > 0 {
			r.state.SetCode(address, a.Code, tracing.CodeChangeUnspecified)
		}
		for key, value := range a.Storage {
			r.state.SetState(address, key, value)
			r.touch(address, &key)
		}
		r.touch(address, nil)
	}
	if root := r.commit(b.head); root != b.head.Root || b.Root() != root {
		t.Fatalf("%s: the genesis has root %s, want %s", kind, b.head.Root, root)
	}
	return r, b
}

func (r *reference) touch(address common.Address, key *common.Hash) {
	if r.known[address] == nil {
		r.known[address] = map[common.Hash]bool{}
	}
	if key != nil {
		r.known[address][*key] = true
	}
}

// commit writes the state and returns the root that a header has.
func (r *reference) commit(h *Header) common.Hash {
	r.Helper()
	rules := r.config.ChainConfig().Rules(h.Number, true, h.Time)
	root, err := r.state.Commit(rules, h.Number.Uint64())
	if err != nil {
		r.Fatal(err)
	}
	if r.state, err = state.New(root, r.db); err != nil {
		r.Fatal(err)
	}
	if r.kind == KindL1 {
		return root
	}
	type leaf struct{ key, value []byte }
	var leaves []leaf
	for address := range r.known {
		if !r.state.Exist(address) {
			continue
		}
		storage := r.state.GetStorageRoot(address)
		if storage == (common.Hash{}) {
			storage = types.EmptyRootHash
		}
		value, err := rlp.EncodeToBytes(&struct {
			Nonce       uint64
			Balance     *uint256.Int
			Root        common.Hash
			CodeHash    []byte
			IsMultiCoin bool
		}{r.state.GetNonce(address), r.state.GetBalance(address), storage, r.state.GetCodeHash(address).Bytes(), false})
		if err != nil {
			r.Fatal(err)
		}
		leaves = append(leaves, leaf{crypto.Keccak256(address[:]), value})
	}
	slices.SortFunc(leaves, func(a, b leaf) int { return bytes.Compare(a.key, b.key) })
	tree := trie.NewStackTrie(nil)
	for _, l := range leaves {
		if err := tree.Update(l.key, l.value); err != nil {
			r.Fatal(err)
		}
	}
	return tree.Hash()
}

// hooks records which accounts and slots a block touches.
func (r *reference) hooks() *tracing.Hooks {
	return &tracing.Hooks{
		OnEnter: func(_ int, _ byte, from, to common.Address, _ []byte, _ uint64, _ *big.Int) {
			r.touch(from, nil)
			r.touch(to, nil)
		},
		OnOpcode: func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
			if stack := scope.StackData(); vm.OpCode(op) == vm.SSTORE && len(stack) > 1 {
				key := common.Hash(stack[len(stack)-1].Bytes32())
				r.touch(scope.Address(), &key)
			}
			if stack := scope.StackData(); vm.OpCode(op) == vm.SELFDESTRUCT && len(stack) > 0 {
				r.touch(common.Address(stack[len(stack)-1].Bytes20()), nil)
			}
		},
	}
}

// apply executes a transaction, and returns its receipt, or nil if it is not valid.
func (r *reference) apply(h *Header, hash vm.GetHashFunc, gas *core.GasPool, tx *types.Transaction, index int) *types.Receipt {
	r.Helper()
	context := NewBlockContext(h, hash)
	machine := vm.NewEVM(context, unrefunded{r.state}, r.config.ChainConfig(), vm.Config{Tracer: r.hooks()})
	message, err := core.TransactionToMessage(tx, types.LatestSignerForChainID(tx.ChainId()), h.BaseFee)
	if err != nil {
		r.Fatal(err)
	}
	r.state.SetTxContext(tx.Hash(), index, 0)
	before := r.state.Snapshot()
	pool := gas.Snapshot()
	result, err := core.ApplyMessage(machine, message, gas)
	if err != nil {
		r.state.RevertToSnapshot(before)
		gas.Set(pool)
		return nil
	}
	burned := new(big.Int).Mul(h.BaseFee, new(big.Int).SetUint64(result.UsedGas))
	r.state.AddBalance(h.Coinbase, uint256.MustFromBig(burned), tracing.BalanceChangeUnspecified)
	r.touch(h.Coinbase, nil)
	r.state.Finalise(r.config.ChainConfig().Rules(h.Number, true, h.Time))
	receipt := &types.Receipt{Type: tx.Type(), CumulativeGasUsed: gas.Used(), GasUsed: result.UsedGas, TxHash: tx.Hash(), Logs: r.state.GetLogs(tx.Hash(), h.Number.Uint64(), common.Hash{}, h.Time)}
	if !result.Failed() {
		receipt.Status = types.ReceiptStatusSuccessful
	}
	receipt.Bloom = types.CreateBloom(receipt)
	return receipt
}

// random makes a transaction: a payment, a call, a creation, and sometimes an invalid one.
func (r *reference) random(random *rand.Rand, nonce uint64) *types.Transaction {
	key, _ := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	to := common.Address{2, 19: byte(random.IntN(len(referenceCodes)))}
	data := common.FromHex(word(byte(random.IntN(4)), byte(random.IntN(5))))
	gas, value := uint64(200_000), new(big.Int)
	recipient := &to
	switch random.IntN(10) {
	case 0:
		to, value = common.Address{4, 19: byte(random.IntN(4))}, big.NewInt(random.Int64N(1e12))
	case 1, 2:
		recipient, data = nil, common.FromHex([]string{"600760015560018060005260016000f3", "60076001555f5ffd", "fe", "6000356020355500"}[random.IntN(4)])
	case 3:
		gas = 21_000 + random.Uint64N(30_000)
	case 4:
		gas = 20_000
	case 5:
		nonce += 1 + random.Uint64N(3)
	case 6:
		value = big.NewInt(random.Int64N(1e6))
	}
	price := big.NewInt(100e9 + random.Int64N(300e9))
	list := types.AccessList{{Address: to, StorageKeys: []common.Hash{{31: 1}}}}
	var inner types.TxData
	switch random.IntN(3) {
	case 0:
		inner = &types.LegacyTx{Nonce: nonce, GasPrice: price, Gas: gas, To: recipient, Value: value, Data: data}
	case 1:
		inner = &types.AccessListTx{ChainID: big.NewInt(43114), Nonce: nonce, GasPrice: price, Gas: gas, To: recipient, Value: value, Data: data, AccessList: list}
	default:
		inner = &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: nonce, GasTipCap: big.NewInt(random.Int64N(100e9)), GasFeeCap: price, Gas: gas, To: recipient, Value: value, Data: data}
	}
	return types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(43114)), inner)
}

// TestBlocksAreThoseOfGoEthereum builds random blocks, some with overridden rules, on builders that are sometimes reopened, and compares each header,
// receipt and row with the results of go-ethereum's state and tries for the same transactions.
func TestBlocksAreThoseOfGoEthereum(t *testing.T) {
	for _, kind := range []Kind{KindC, KindL1} {
		for seed := range uint64(2) {
			random := rand.New(rand.NewPCG(seed, 9))
			r, b := newReference(t, kind)
			hashes, at := []common.Hash{b.hash}, b.head.TimeMilliseconds
			var total int64
			for number := 1; number < 24; number++ {
				at += 2_000 + random.Uint64N(9_000)
				var o Override
				switch random.IntN(6) {
				case 0:
					o.Early, at = true, b.head.TimeMilliseconds+1+random.Uint64N(900)
				case 1:
					limit := 400_000 + random.Uint64N(1e6)
					o.GasLimit = &limit
				case 2:
					o.BaseFee = big.NewInt(1 + random.Int64N(50e9))
				case 3:
					o.Coinbase = &common.Address{5, byte(random.IntN(3))}
				}
				if _, err := b.OpenWith(b.head.EarliestChild()-1, Override{}); !errors.Is(err, ErrTime) {
					t.Fatalf("a block may come too early: %v", err)
				}
				if _, err := b.OpenWith(b.head.TimeMilliseconds, Override{Early: true}); !errors.Is(err, ErrTime) {
					t.Fatalf("a block may come with its parent: %v", err)
				}
				p, err := b.OpenWith(at, o)
				if err != nil {
					t.Fatal(err)
				}
				d, next := r.block(random, b, p, o, hashes)
				total += int64(len(d.Transactions))
				if d.Block.AllTxs != total || d.Block.ID != store.At(1, uint64(number), 0) {
					t.Fatalf("block %d: %d transactions in all, want %d", number, d.Block.AllTxs, total)
				}
				hashes = append(hashes, next)
				r.write(d)
				if random.IntN(5) == 0 {
					r.change(random, b)
				}
				if random.IntN(4) == 0 {
					b = r.restore(nil)
				}
				if number%4 == 0 {
					r.checkRows(b)
				}
			}
		}
	}
}

// block fills a block and compares it.
func (r *reference) block(random *rand.Rand, b *Builder, p *BlockExecution, o Override, hashes []common.Hash) (*store.Delta, common.Hash) {
	r.Helper()
	h := *p.header
	if o.BaseFee != nil && h.BaseFee.Cmp(o.BaseFee) != 0 || o.GasLimit != nil && h.GasLimit != *o.GasLimit || o.Coinbase != nil && h.Coinbase != *o.Coinbase {
		r.Fatalf("block %d does not depart from the rules as %+v", h.Number, o)
	}
	if restored := OverrideOf(p.delta.Override); restored.Early != o.Early || (restored.BaseFee == nil) != (o.BaseFee == nil) || o.BaseFee != nil && restored.BaseFee.Cmp(o.BaseFee) != 0 ||
		(restored.GasLimit == nil) != (o.GasLimit == nil) || o.GasLimit != nil && *restored.GasLimit != *o.GasLimit || (restored.Coinbase == nil) != (o.Coinbase == nil) || o.Coinbase != nil && *restored.Coinbase != *o.Coinbase {
		r.Fatalf("the override %+v comes back as %+v", o, restored)
	}
	hash := func(n uint64) common.Hash {
		if n >= uint64(len(hashes)) || n+256 < uint64(len(hashes)) {
			return common.Hash{}
		}
		return hashes[n]
	}
	gas := core.NewGasPool(p.GasLeft())
	var all types.Transactions
	var receipts types.Receipts
	fees, size := new(big.Int), uint64(0)
	for range random.IntN(8) {
		nonce := r.state.GetNonce(r.from)
		if p.Nonce(r.from) != nonce || p.Balance(r.from).Cmp(r.state.GetBalance(r.from)) != 0 || p.GasLeft() != gas.Available(false) {
			r.Fatalf("block %d: nonce %d, want %d; %d gas is left, want %d", h.Number, p.Nonce(r.from), nonce, p.GasLeft(), gas.Available(false))
		}
		tx := r.random(random, nonce)
		got, err := p.Apply(tx, r.from)
		want := r.apply(&h, hash, gas, tx, len(all))
		if (err != nil) != (want == nil) {
			r.Fatalf("block %d: %v, want a receipt %t", h.Number, err, want != nil)
		}
		if want == nil {
			continue
		}
		price := EffectiveGasPrice(tx, h.BaseFee)
		if tip, err := tx.EffectiveGasTip(h.BaseFee); err != nil || new(big.Int).Add(tip, h.BaseFee).Cmp(price) != 0 || got.EffectiveGasPrice.Cmp(price) != 0 {
			r.Fatalf("a transaction pays %s, want %s more than the base fee of %s: %v", price, tip, h.BaseFee, err)
		}
		if tx.To() == nil && got.ContractAddress != crypto.CreateAddress(r.from, tx.Nonce()) || tx.To() != nil && got.ContractAddress != (common.Address{}) {
			r.Fatalf("contract %s", got.ContractAddress)
		}
		fees.Add(fees, new(big.Int).Mul(price, new(big.Int).SetUint64(want.GasUsed)))
		all, receipts, size = append(all, tx), append(receipts, want), size+tx.Size()
	}
	if p.Size() != size {
		r.Fatalf("block %d has %d bytes of transactions, want %d", h.Number, p.Size(), size)
	}
	atomicGas := uint64(0)
	if r.kind == KindC && o.GasLimit == nil && random.IntN(3) == 0 {
		atomicGas = r.atomic(random, p)
	}
	h.Root = r.commit(&h)
	d, err := p.Seal()
	if err != nil {
		r.Fatal(err)
	}
	got := b.head
	hasher := trie.NewStackTrie(nil)
	if got.Root != h.Root || got.TxHash != types.DeriveSha(all, hasher) || got.ReceiptHash != types.DeriveSha(receipts, hasher) || got.Bloom != types.MergeBloom(receipts) || got.GasUsed != gas.Used() || got.ExtDataGasUsed.Uint64() != atomicGas || got.ParentHash != hashes[len(hashes)-1] || got.Number.Int64() != int64(len(hashes)) {
		r.Fatalf("%s block %d: root %s, want %s; gas %d, want %d", r.kind, h.Number, got.Root, h.Root, got.GasUsed, gas.Used())
	}
	raw, err := got.Encode(r.kind)
	if err != nil || !bytes.Equal(raw, d.Block.Header) || crypto.Keccak256Hash(raw) != b.hash || new(big.Int).SetBytes(d.Block.Fees).Cmp(fees) != 0 || len(d.Block.Fees) != 32 || uint64(d.Block.GasUsed) != got.GasUsed || d.Block.Txs != len(all) || d.Block.Time != int64(got.Time) {
		r.Fatalf("block %d: fees %x, want %s: %v", h.Number, d.Block.Fees, fees, err)
	}
	r.checkTransactions(d, all, receipts)
	if again, err := ActivityOf(r.kind, d, int64(p.b.head.Time)); err != nil || again.Txs != int64(len(all)) || again.Gas != int64(got.GasUsed) || d.Activity.Txs != again.Txs || d.Activity.Contracts != again.Contracts || d.Activity.Fees != again.Fees || d.Activity.TopPrice != again.TopPrice || len(d.Activity.Participants) != len(again.Participants) || again.Fees.ToBig().Cmp(fees) != 0 {
		r.Fatalf("block %d: activity %+v, again %+v: %v", h.Number, d.Activity, again, err)
	}
	return d, b.hash
}

// checkTransactions compares the rows of transactions and logs with the receipts.
func (r *reference) checkTransactions(d *store.Delta, all types.Transactions, receipts types.Receipts) {
	r.Helper()
	logs, contracts := 0, int64(0)
	for i, row := range d.Transactions {
		tx, receipt := all[i], receipts[i]
		raw, err := tx.MarshalBinary()
		if err != nil || row.ID.Index() != i || !bytes.Equal(row.Raw, raw) || !bytes.Equal(row.Hash, tx.Hash().Bytes()) || row.Status != receipt.Status || row.GasUsed != receipt.GasUsed || row.GasTotal != receipt.CumulativeGasUsed || row.Logs != len(receipt.Logs) ||
			(row.Created != nil) != (tx.To() == nil) || tx.To() != nil && !bytes.Equal(row.Recipient, tx.To().Bytes()) || !bytes.Equal(row.Sender, r.from[:]) {
			r.Fatalf("transaction %d is %+v", i, row)
		}
		if tx.To() == nil && receipt.Status == 1 {
			contracts++
		}
		for _, l := range receipt.Logs {
			row := d.Logs[logs]
			topics := slices.Concat([]byte(row.Topic), []byte(row.Topics))
			var want []byte
			for _, topic := range l.Topics {
				want = append(want, topic[:]...)
			}
			if row.ID.Index() != logs || row.Tx != i || !bytes.Equal(row.Address, l.Address[:]) || !bytes.Equal(topics, want) || len(l.Topics) > 0 && len(row.Topic) != 32 || !bytes.Equal(row.Data, l.Data) {
				r.Fatalf("log %d is %+v", logs, row)
			}
			logs++
		}
	}
	for _, c := range d.Calls {
		if c.Type == "CREATE" && !c.Reverted {
			contracts++
		}
	}
	if len(d.Transactions) != len(all) || len(d.Logs) != logs || d.Activity.Contracts != contracts {
		r.Fatalf("%d transactions and %d logs, want %d and %d; %d contracts, want %d", len(d.Transactions), len(d.Logs), len(all), logs, d.Activity.Contracts, contracts)
	}
}

// atomic imports to and exports from accounts, and tries unaffordable exports.
func (r *reference) atomic(random *rand.Rand, p *BlockExecution) (gas uint64) {
	r.Helper()
	other := common.Address{6, byte(random.IntN(2))}
	in := &txs.TransferableInput{UTXOID: txs.UTXOID{TxID: ids.ID{1, byte(random.IntN(9))}}, In: &txs.TransferInput{Amount: 9}}
	out := txs.NewTransferableOutput(ids.ID{2}, 5, txs.OutputOwners{Threshold: 1, Addresses: []ids.ShortID{{7}}})
	amount := 1 + random.Uint64N(1e6)
	nonce := r.state.GetNonce(r.from)
	export := func(amount, nonce uint64) *txs.AtomicExportTx {
		return &txs.AtomicExportTx{Ins: []txs.EVMInput{{Address: r.from, Amount: amount, Nonce: nonce}}, ExportedOutputs: []*txs.TransferableOutput{out}}
	}
	make := func(u txs.Unsigned) *txs.Tx {
		tx, err := txs.NewTx(txs.CChain, u)
		if err != nil {
			r.Fatal(err)
		}
		return tx
	}
	if err := p.Atomic([]*txs.Tx{make(export(amount, nonce+1))}, nil); !errors.Is(err, ErrAtomicNonce) {
		r.Fatalf("a nonce that is not next: %v", err)
	}
	all, want := new(uint256.Int).Div(r.state.GetBalance(r.from), weiPerNano), utxo.ErrInsufficientFunds
	if all.IsUint64() {
		r.Fatal("the account is too poor for this test")
	}
	poor := &txs.AtomicExportTx{Ins: []txs.EVMInput{{Address: common.Address{8}, Amount: 1}}, ExportedOutputs: []*txs.TransferableOutput{out}}
	if err := p.Atomic([]*txs.Tx{make(poor)}, nil); !errors.Is(err, want) {
		r.Fatalf("an account without anything pays: %v", err)
	}
	list := []*txs.Tx{make(&txs.AtomicImportTx{ImportedInputs: []*txs.TransferableInput{in}, Outs: []txs.EVMOutput{{Address: other, Amount: amount}}}), make(export(amount, nonce))}
	rows := &store.PrimaryDelta{}
	if err := p.Atomic(list, rows); err != nil {
		r.Fatal(err)
	}
	raw, err := txs.AtomicBatch(list)
	if err != nil {
		r.Fatal(err)
	}
	encoded, err := rlp.EncodeToBytes(raw)
	if err != nil || p.header.ExtDataHash != crypto.Keccak256Hash(encoded) || p.delta.Atomic != rows {
		r.Fatalf("hash of the atomic transactions: %s, %v", p.header.ExtDataHash, err)
	}
	wei := new(uint256.Int).Mul(uint256.NewInt(amount), uint256.NewInt(1e9))
	r.state.AddBalance(other, wei, tracing.BalanceChangeUnspecified)
	r.state.SubBalance(r.from, wei, tracing.BalanceChangeUnspecified)
	r.state.SetNonce(r.from, nonce+1, tracing.NonceChangeUnspecified)
	r.touch(other, nil)
	return utxo.AtomicGas(list[0]) + utxo.AtomicGas(list[1])
}

// noHoldings has no tokens.
func noHoldings() *index.LaterHoldings {
	return &index.LaterHoldings{Tokens: map[store.TokenID]store.Token{}}
}

// change changes the state without a transaction.
func (r *reference) change(random *rand.Rand, b *Builder) {
	r.Helper()
	address, value := common.Address{7, byte(random.IntN(3))}, random.Uint64N(3)
	word := common.BigToHash(new(big.Int).SetUint64(value))
	key := common.Hash{31: byte(random.IntN(3))}
	c := store.StateChange{Address: address[:]}
	switch random.IntN(4) {
	case 0:
		c.Kind, c.Value = store.BalanceChange, word[:]
		r.state.SetBalance(address, uint256.NewInt(value), tracing.BalanceChangeUnspecified)
	case 1:
		c.Kind, c.Value = store.NonceChange, word[24:]
		r.state.SetNonce(address, value, tracing.NonceChangeUnspecified)
	case 2:
		c.Kind, c.Value = store.CodeChange, []byte{0x60, byte(value)}
		r.state.SetCode(address, c.Value, tracing.CodeChangeUnspecified)
	case 3:
		c.Kind, c.Key, c.Value = store.StorageChange, key[:], word[:]
		r.state.SetState(address, key, word)
		r.touch(address, &key)
	}
	r.touch(address, nil)
	storage := r.state.GetStorageRoot(address)
	if full := value > 0 && c.Kind == store.StorageChange || storage != types.EmptyRootHash && storage != (common.Hash{}); full && r.state.Empty(address) {
		r.state.SetNonce(address, 1, tracing.NonceChangeUnspecified)
	}
	short := c
	if short.Value = c.Value[1:]; c.Kind != store.CodeChange {
		if _, err := b.Changes([]store.StateChange{short}, noHoldings()); err == nil {
			r.Fatalf("a %s change of %d bytes", c.Kind, len(short.Value))
		}
	}
	digest, sequence := b.digest, b.changes
	made, err := b.Changes([]store.StateChange{c}, noHoldings())
	if err != nil {
		r.Fatal(err)
	}
	d := made[0]
	if root := r.commit(b.head); b.Root() != root || !bytes.Equal(d.Change.Root, root[:]) || d.Change.Sequence != sequence || d.Change.Block != b.head.Number.Uint64() || !bytes.Equal(d.Change.Digest, ChangeDigest(digest, &d.Change)) || bytes.Equal(digest, d.Change.Digest) {
		r.Fatalf("after a change the root is %x, want %s", d.Change.Root, root)
	}
	r.testChain.commit(func(b *store.Batch) error { return b.AddStateChange(d) })
}

// checkRows compares every account and slot in the file, and in the builder, with go-ethereum's state.
func (r *reference) checkRows(b *Builder) {
	r.Helper()
	flat := NewFlatState(r.Context(), r.testChain.db, 1, b.head.Number.Uint64())
	count := 0
	for address, keys := range r.known {
		for _, reader := range []interface {
			Account(common.Address) (*types.StateAccount, error)
			Storage(common.Address, common.Hash) (common.Hash, error)
			Code(common.Address, common.Hash) []byte
			Has(common.Address, common.Hash) bool
			CodeSize(common.Address, common.Hash) int
		}{flat, b.state} {
			a, err := reader.Account(address)
			if err != nil || (a != nil) != r.state.Exist(address) {
				r.Fatalf("account %s is there %t: %v", address, a != nil, err)
			}
			if a == nil {
				continue
			}
			hash, code := r.state.GetCodeHash(address), r.state.GetCode(address)
			if a.Nonce != r.state.GetNonce(address) || a.Balance.Cmp(r.state.GetBalance(address)) != 0 || common.BytesToHash(a.CodeHash) != hash || !bytes.Equal(reader.Code(address, hash), code) || reader.CodeSize(address, hash) != len(code) || reader.Has(address, hash) != (len(code) > 0) {
				r.Fatalf("account %s: %+v", address, a)
			}
			for key := range keys {
				if got, err := reader.Storage(address, key); err != nil || got != r.state.GetState(address, key) {
					r.Fatalf("slot %s of %s: %s, want %s: %v", key, address, got, r.state.GetState(address, key), err)
				}
			}
		}
		if r.state.Exist(address) {
			count++
		}
	}
	all, err := r.testChain.db.AccountsAt(r.Context(), 1, b.head.Number.Uint64())
	all = slices.DeleteFunc(all, func(a store.Account) bool { return a.Gone })
	if err != nil || len(all) != count {
		r.Fatalf("%d accounts, want %d: %v", len(all), count, err)
	}
}

// TestDigestCoversWhatTheHashLeavesOut changes each thing that a block's hash does not cover.
func TestDigestCoversWhatTheHashLeavesOut(t *testing.T) {
	limit, other := store.Amount(5), store.Amount(6)
	at := store.At(1, 3, 0)
	call := store.Call{ID: at, Tx: 1, Depth: 2, Gas: 3, GasUsed: 4, Sender: []byte{1}, Recipient: []byte{2}, Value: []byte{3}, Type: "CALL", Error: "x"}
	calls := func(change func(c *store.Call)) store.Delta {
		c := call
		change(&c)
		return store.Delta{Calls: []store.Call{c}}
	}
	deltas := []store.Delta{
		{}, {Block: store.Block{Hash: []byte{1}}},
		{Override: &store.BlockOverride{}}, {Override: &store.BlockOverride{Early: true}}, {Override: &store.BlockOverride{BaseFee: []byte{1}}},
		{Override: &store.BlockOverride{GasLimit: &limit}}, {Override: &store.BlockOverride{GasLimit: &other}}, {Override: &store.BlockOverride{Coinbase: []byte{9}}},
		{Transactions: []store.Transaction{{Sender: []byte{1}}}, Impersonated: []store.ImpersonatedTx{{ID: at}}},
		{Transactions: []store.Transaction{{Sender: []byte{2}}}, Impersonated: []store.ImpersonatedTx{{ID: at}}},
		calls(func(*store.Call) {}), calls(func(c *store.Call) { c.ID++ }), calls(func(c *store.Call) { c.Tx++ }), calls(func(c *store.Call) { c.Depth++ }), calls(func(c *store.Call) { c.Gas++ }),
		calls(func(c *store.Call) { c.GasUsed++ }), calls(func(c *store.Call) { c.Sender = []byte{5} }), calls(func(c *store.Call) { c.Recipient = []byte{5} }), calls(func(c *store.Call) { c.Value = []byte{5} }),
		calls(func(c *store.Call) { c.Type = "CREATE" }), calls(func(c *store.Call) { c.Reverted = true }), calls(func(c *store.Call) { c.Error = "y" }),
	}
	seen := map[string]int{}
	for i := range deltas {
		for _, parent := range []string{"", "p"} {
			digest := string(Digest([]byte(parent), &deltas[i]))
			if before, twice := seen[digest]; twice {
				t.Errorf("deltas %d and %d have one digest", before, i)
			}
			seen[digest] = i
		}
	}
	changes := []store.StateChange{{}, {Sequence: 1}, {Kind: store.NonceChange}, {Address: []byte{1}}, {Key: []byte{1}}, {Value: []byte{1}}, {Owner: []byte{1}}, {Root: []byte{1}}}
	for i := range changes {
		for _, parent := range []string{"", "p"} {
			digest := string(ChangeDigest([]byte(parent), &changes[i]))
			if before, twice := seen[digest]; twice {
				t.Errorf("changes %d and %d have one digest", before, i)
			}
			seen[digest] = i
		}
	}
}
