package evm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// ErrTime says that a block would stand before its parent or in the same second.
var ErrTime = errors.New("a block must be at least one second after its parent")

// Builder makes the blocks of one chain, one after the other. It is the only way in: the seed, a client's transaction
// and verify all build blocks with it.
type Builder struct {
	chain       int
	kind        Kind
	chainConfig *params.ChainConfig
	schedule    *precompile.Upgrades
	home        WarpContext
	state       *buildState
	index       *index.Index

	head      *Header
	hash      common.Hash
	hashes    map[uint64]common.Hash // of the last 256 blocks, for BLOCKHASH
	jumpDests JumpDestCache
	allTxs    int64
	digest    []byte
}

func newBuilder(chain int, genesis *Genesis) *Builder {
	return &Builder{
		chain:       chain,
		chainConfig: genesis.ChainConfig(),
		schedule:    &genesis.Precompiles,
		kind:        genesis.Kind,
		state:       newBuildState(genesis.Kind),
		index:       index.New(chain),
		hashes:      map[uint64]common.Hash{},
		jumpDests:   NewJumpDestCache(),
	}
}

// NewBuilder starts a chain: its builder and the block that it begins with.
func NewBuilder(chain int, genesis *Genesis) (*Builder, *store.Delta, error) {
	b := newBuilder(chain, genesis)
	states, err := state.New(types.EmptyRootHash, b.state)
	if err != nil {
		return nil, nil, err
	}
	if err := b.schedule.Apply(states, nil, genesis.Timestamp, 0); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", err)
	}
	for address, account := range genesis.Alloc {
		if account.Balance != nil {
			balance, overflow := uint256.FromBig(account.Balance)
			if overflow {
				return nil, nil, fmt.Errorf("genesis: balance of %s does not fit 256 bits", address)
			}
			states.SetBalance(address, balance, tracing.BalanceIncreaseGenesisBalance)
		}
		if len(account.Code) > 0 {
			states.SetCode(address, account.Code, tracing.CodeChangeGenesis)
		}
		states.SetNonce(address, account.Nonce, tracing.NonceChangeGenesis)
		for key, value := range account.Storage {
			states.SetState(address, key, value)
		}
	}
	header := genesis.header()
	if header.Root, err = states.Commit(b.rulesAt(header), 0); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", err)
	}
	delta, err := b.advance(header, nil, &store.Delta{Activity: metric.NewActivity(int64(header.Time), nil)})
	return b, delta, err
}

// RestoreBuilder makes the builder of a chain that already has blocks, from the rows of the world file.
func RestoreBuilder(ctx context.Context, db *store.DB, chain int, genesis *Genesis, home WarpContext) (*Builder, error) {
	row, err := db.Head(ctx, chain)
	if err != nil {
		return nil, err
	}
	b := newBuilder(chain, genesis)
	b.hash, b.allTxs, b.digest = common.BytesToHash(row.Hash), row.AllTxs, row.Digest
	b.SetWarpContext(home)
	if b.head, err = DecodeHeader(b.kind, row.Header); err != nil {
		return nil, err
	}
	if err := b.index.Restore(ctx, db); err != nil {
		return nil, err
	}
	number := row.ID.Number()
	base := NewFlatState(context.WithoutCancel(ctx), db, chain, number)
	b.state.base = &base
	if b.state.trie, err = base.AccountTrie(b.kind); err != nil {
		return nil, err
	}
	recent, err := db.Blocks(ctx, chain, number-min(number, 255), number)
	for i := range recent {
		b.hashes[recent[i].ID.Number()] = common.BytesToHash(recent[i].Hash)
	}
	return b, err
}

// SetWarpContext gives the builder what the verification of warp messages needs. Call it before the first Open.
func (b *Builder) SetWarpContext(h WarpContext) {
	b.home = h
	b.index.SetNetwork(h.ChainID, h.Network)
}

// Head is the newest header and its hash.
func (b *Builder) Head() (*Header, common.Hash) { return b.head, b.hash }

func (b *Builder) rulesAt(h *Header) params.Rules { return b.chainConfig.Rules(h.Number, true, h.Time) }

// advance makes a finished header the head and completes its rows.
func (b *Builder) advance(header *Header, extData []byte, delta *store.Delta) (*store.Delta, error) {
	raw, err := header.Encode(b.kind)
	if err != nil {
		return nil, err
	}
	number := header.Number.Uint64()
	b.head, b.hash = header, crypto.Keccak256Hash(raw)
	b.hashes[number] = b.hash
	delete(b.hashes, number-256)
	b.allTxs += int64(len(delta.Transactions))
	b.state.rows(delta, b.chain, number)
	if err := b.index.Add(delta, number, int64(header.Time), func() (*index.ContractReader, error) { return b.contractReader(header) }); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	delta.Block = store.Block{
		ID: store.At(b.chain, number, 0), Hash: b.hash.Bytes(), Time: int64(header.Time), Txs: len(delta.Transactions),
		AllTxs: b.allTxs, GasUsed: header.GasUsed, Fees: fee32(delta.Block.Fees), Header: raw, ExtData: extData,
	}
	b.digest = digest(b.digest, delta)
	delta.Block.Digest = b.digest
	return delta, nil
}

func fee32(fees []byte) []byte { return common.LeftPadBytes(fees, 32) }

// digest covers what the block's hash does not: the calls inside its transactions.
func digest(parent []byte, delta *store.Delta) []byte {
	h := sha256.New()
	h.Write(parent)
	h.Write(delta.Block.Hash)
	for i := range delta.Calls {
		c := &delta.Calls[i]
		row := binary.BigEndian.AppendUint64(nil, uint64(c.ID))
		row = binary.BigEndian.AppendUint32(row, uint32(c.Tx))
		row = binary.BigEndian.AppendUint32(row, uint32(c.Depth))
		row = binary.BigEndian.AppendUint64(row, c.Gas)
		row = binary.BigEndian.AppendUint64(row, c.GasUsed)
		row = append(row, c.Sender...)
		row = append(row, c.Recipient...)
		row = append(row, c.Value...)
		h.Write(row)
		fmt.Fprintf(h, "%s %t %s\n", c.Type, c.Reverted, c.Error)
	}
	return h.Sum(nil)
}

// Pending is a block under construction on the head of its chain. Dropping it changes nothing.
type Pending struct {
	b        *Builder
	header   *Header
	state    *state.StateDB
	evm      *VM
	gas      *core.GasPool
	feeRules feeRules
	recorder *index.CallRecorder

	txs        types.Transactions
	receipts   types.Receipts
	fees       *big.Int
	extData    []byte // atomic transactions
	predicates predicateResults
	delta      *store.Delta
}

// Open begins the next block, at a time in Unix seconds.
func (b *Builder) Open(time uint64) (*Pending, error) {
	if time <= b.head.Time && b.head.Number.Sign() > 0 || time < b.head.Time {
		return nil, fmt.Errorf("%w: %d after %d", ErrTime, time, b.head.Time)
	}
	header := b.head.nextHeader(b.hash, time)
	rates, err := b.feeRules()
	if err != nil {
		return nil, err
	}
	rates.beforeExecution(b.head, header)
	states, err := b.stateAt(time)
	if err != nil {
		return nil, err
	}
	p := &Pending{
		b: b, header: header, state: states, feeRules: rates, fees: new(big.Int), delta: &store.Delta{},
		gas:      core.NewGasPool(rates.gasCapacity(b.head, header)),
		recorder: index.NewCallRecorder(store.At(b.chain, header.Number.Uint64(), 0)),
	}
	s := b.vmContext(header, states)
	s.Tracer = p.recorder.Hooks()
	p.evm = s.NewVM()
	return p, nil
}

func (b *Builder) blockHash(number uint64) common.Hash { return b.hashes[number] }

// NewBlockContext is what contracts see of a block. PREVRANDAO is the difficulty, always one, as on the network.
func NewBlockContext(h *Header, hash vm.GetHashFunc) vm.BlockContext {
	random := common.BigToHash(h.Difficulty)
	return vm.BlockContext{
		CanTransfer: core.CanTransfer,
		Transfer:    core.Transfer,
		GetHash:     hash,
		Coinbase:    h.Coinbase,
		GasLimit:    h.GasLimit,
		BlockNumber: new(big.Int).Set(h.Number),
		Time:        h.Time,
		Difficulty:  new(big.Int).Set(h.Difficulty),
		BaseFee:     new(big.Int).Set(h.BaseFee),
		BlobBaseFee: big.NewInt(1),
		Random:      &random,
	}
}

// Header is the header as far as it is known: number, time, base fee and gas limit.
func (p *Pending) Header() *Header { return p.header }

// Nonce is the next nonce of an account.
func (p *Pending) Nonce(address common.Address) uint64 { return p.state.GetNonce(address) }

// Balance is what an account holds, in wei.
func (p *Pending) Balance(address common.Address) *uint256.Int { return p.state.GetBalance(address) }

// GasLeft is the gas that the block has left.
func (p *Pending) GasLeft() uint64 { return p.gas.Available(false) }

// Apply executes a signed transaction. The error says why it is not valid in this block; a transaction that fails in
// the EVM is valid, and its receipt says so.
func (p *Pending) Apply(tx *types.Transaction, sender common.Address) (*types.Receipt, error) {
	if len(p.txs) > store.MaxIndex {
		return nil, core.ErrGasLimitReached
	}
	message, err := TransactionToMessage(tx, sender, p.header.BaseFee)
	if err != nil {
		return nil, err
	}
	calls, snapshot, pool := p.recorder.Begin(len(p.txs)), p.state.Snapshot(), p.gas.Snapshot()
	p.state.SetTxContext(tx.Hash(), len(p.txs), 0)
	failed, carries := p.b.checkPredicates(tx, p.header.Time)
	result, err := p.evm.Apply(message, p.gas, failed)
	if err != nil {
		p.state.RevertToSnapshot(snapshot)
		p.gas.Set(pool)
		p.recorder.Truncate(calls)
		return nil, err
	}
	if carries {
		p.predicates = append(p.predicates, predicateResult{tx.Hash(), failed})
	}
	p.burn(result.UsedGas, message)
	p.state.Finalise(p.b.rulesAt(p.header))
	return p.receipt(tx, sender, message, result), p.state.Error()
}

// burn sends the base fee where the tip already went: these chains burn all fees by crediting the coinbase.
func (p *Pending) burn(gas uint64, m *core.Message) {
	BurnBaseFee(p.state, p.header, gas)
	p.fees.Add(p.fees, new(uint256.Int).Mul(uint256.NewInt(gas), m.GasPrice).ToBig())
}

func BurnBaseFee(states vm.StateDB, h *Header, gas uint64) {
	base := new(uint256.Int).Mul(uint256.NewInt(gas), uint256.MustFromBig(h.BaseFee))
	states.AddBalance(h.Coinbase, base, tracing.BalanceIncreaseRewardTransactionFee)
}

func TransactionToMessage(tx *types.Transaction, sender common.Address, baseFee *big.Int) (*core.Message, error) {
	m := &core.Message{
		From: sender, To: tx.To(), Nonce: tx.Nonce(), GasLimit: tx.Gas(), Data: tx.Data(), AccessList: tx.AccessList(),
	}
	for _, amount := range []struct {
		to   **uint256.Int
		from *big.Int
	}{{&m.Value, tx.Value()}, {&m.GasFeeCap, tx.GasFeeCap()}, {&m.GasTipCap, tx.GasTipCap()}, {&m.GasPrice, EffectiveGasPrice(tx, baseFee)}} {
		value, overflow := uint256.FromBig(amount.from)
		if overflow {
			return nil, fmt.Errorf("%w: address %v, bit length %d", core.ErrFeeCapVeryHigh, sender, amount.from.BitLen())
		}
		*amount.to = value
	}
	return m, nil
}

// EffectiveGasPrice is what a transaction pays for each unit of gas in a block with this base fee.
func EffectiveGasPrice(tx *types.Transaction, baseFee *big.Int) *big.Int {
	price := new(big.Int).Add(baseFee, tx.GasTipCap())
	if limit := tx.GasFeeCap(); price.Cmp(limit) > 0 {
		return limit
	}
	return price
}

func (p *Pending) receipt(tx *types.Transaction, sender common.Address, m *core.Message, result *core.ExecutionResult) *types.Receipt {
	index := len(p.txs)
	number := p.header.Number.Uint64()
	r := &types.Receipt{
		Type: tx.Type(), Status: types.ReceiptStatusSuccessful, CumulativeGasUsed: p.gas.Used(), GasUsed: result.UsedGas,
		TxHash: tx.Hash(), TransactionIndex: uint(index), BlockNumber: p.header.Number, EffectiveGasPrice: m.GasPrice.ToBig(),
		Logs: p.state.GetLogs(tx.Hash(), number, common.Hash{}, p.header.Time),
	}
	if result.Failed() {
		r.Status = types.ReceiptStatusFailed
	}
	if tx.To() == nil {
		r.ContractAddress = crypto.CreateAddress(sender, tx.Nonce())
	}
	r.Bloom = types.CreateBloom(r)
	p.txs, p.receipts = append(p.txs, tx), append(p.receipts, r)
	p.rows(tx, sender, r)
	return r
}

func (p *Pending) rows(tx *types.Transaction, sender common.Address, r *types.Receipt) {
	number := p.header.Number.Uint64()
	row := store.Transaction{
		ID: store.At(p.b.chain, number, int(r.TransactionIndex)), Hash: r.TxHash.Bytes(), Sender: sender.Bytes(),
		Status: r.Status, GasUsed: r.GasUsed, GasTotal: r.CumulativeGasUsed, Logs: len(r.Logs),
	}
	if to := tx.To(); to != nil {
		row.Recipient = to.Bytes()
	} else {
		row.Created = r.ContractAddress.Bytes()
	}
	p.delta.Transactions = append(p.delta.Transactions, row)
	for _, log := range r.Logs {
		entry := store.Log{
			ID: store.At(p.b.chain, number, len(p.delta.Logs)), Tx: int(r.TransactionIndex), Address: log.Address.Bytes(),
			Topic: []byte{}, Topics: []byte{}, Data: append([]byte{}, log.Data...),
		}
		for i, topic := range log.Topics {
			if i == 0 {
				entry.Topic = topic.Bytes()
			} else {
				entry.Topics = append(entry.Topics, topic[:]...)
			}
		}
		p.delta.Logs = append(p.delta.Logs, entry)
	}
}

// Seal finishes the block, makes it the head and answers the rows that it adds to the world.
func (p *Pending) Seal() (*store.Delta, error) {
	h := p.header
	for i, tx := range p.txs {
		raw, err := tx.MarshalBinary()
		if err != nil {
			return nil, err
		}
		p.delta.Transactions[i].Raw = raw
	}
	for address := range p.b.schedule.Disabled(p.b.head.Time, h.Time) {
		if err := p.b.state.deleteAccount(address); err != nil {
			return nil, fmt.Errorf("block %d: %w", h.Number, err)
		}
	}
	root, err := p.state.Commit(p.b.rulesAt(h), h.Number.Uint64())
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", h.Number, err)
	}
	h.Root = root
	h.GasUsed = p.gas.Used()
	h.TxHash = types.DeriveSha(p.txs, trie.NewStackTrie(nil))
	h.ReceiptHash = types.DeriveSha(p.receipts, trie.NewStackTrie(nil))
	h.Bloom = types.MergeBloom(p.receipts)
	p.feeRules.afterExecution(p.b.head, h)
	h.Extra = append(h.Extra, p.predicates.encode()...)
	p.delta.Calls = p.recorder.Calls()
	p.delta.Block.Fees = p.fees.Bytes()
	if p.delta.Activity, err = p.blockMetrics(); err != nil {
		return nil, fmt.Errorf("block %d: %w", h.Number, err)
	}
	return p.b.advance(h, p.extData, p.delta)
}
