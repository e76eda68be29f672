package evm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/mpt"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// ErrTime means that a block would follow its parent sooner than ACP-226 allows.
var ErrTime = errors.New("too soon after the parent block")

// Builder makes the blocks of one chain, one after another; package miner fills them from the pool. The generator, a client's transaction and verify all build blocks with it.
type Builder struct {
	chain          int
	kind           Kind
	chainConfig    *params.ChainConfig
	schedule       *precompile.Upgrades
	networkContext NetworkContext
	state          *stateDatabase
	index          *index.Index

	head      *Header
	hash      common.Hash
	executed  *Header                // the head as it was executed
	queue     queue                  // of a C-Chain: the blocks from the last settled one to the head
	root      common.Hash            // state root of the head, or after the last state change on it
	changes   int                    // state changes after the head, made without a transaction
	hashes    map[uint64]common.Hash // of the last 256 blocks, for BLOCKHASH; nil in a draft
	ancestor  vm.GetHashFunc         // finds them in a draft
	jumpDests JumpDestCache
	active    ActivePrecompiles
	lists     *mpt.List // hashes a block's lists
	allTxs    int64
	digest    []byte
}

func newBuilder(chain int, genesis *Genesis) *Builder {
	return &Builder{
		chain:       chain,
		chainConfig: genesis.ChainConfig(),
		schedule:    &genesis.Precompiles,
		kind:        genesis.Kind,
		state:       newStateDatabase(genesis.Kind),
		index:       index.New(chain),
		hashes:      map[uint64]common.Hash{},
		jumpDests:   NewJumpDestCache(),
		lists:       mpt.NewList(),
	}
}

// NewBuilder starts a chain and returns its builder and block 0.
func NewBuilder(chain int, genesis *Genesis) (*Builder, *store.Delta, error) {
	b := newBuilder(chain, genesis)
	states, err := state.New(types.EmptyRootHash, b.state)
	if err != nil {
		return nil, nil, err
	}
	if err := b.schedule.Apply(states, nil, genesis.Timestamp, 0); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", err)
	}
	alloc, err := genesis.Allocation()
	if err != nil {
		return nil, nil, err
	}
	for address, account := range alloc {
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
			states.SetState(address, StateKey(genesis.Kind, key), value)
		}
	}
	header := genesis.header()
	if header.Root, err = states.Commit(b.rulesAt(header), 0); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", store.Inside(err))
	}
	delta, err := b.advance(header, header, nil, &store.Delta{Activity: metric.NewActivity(int64(header.Time), nil)})
	if b.kind == KindC {
		b.queue = queue{b.synchronousHead()}
	}
	return b, delta, err
}

// RestoreBuilder makes the builder of a chain that already has blocks, from the rows of the world file. After a revert, before is the
// builder used until then: its tries save the new one from reading the whole state. Otherwise it is nil.
func RestoreBuilder(ctx context.Context, db *store.DB, chain int, genesis *Genesis, networkContext NetworkContext, before *Builder) (*Builder, error) {
	row, err := db.Head(ctx, chain)
	if err != nil {
		return nil, err
	}
	b := newBuilder(chain, genesis)
	b.hash, b.allTxs, b.digest = common.BytesToHash(row.Hash), row.AllTxs, row.Digest
	b.SetNetworkContext(networkContext)
	if b.head, err = DecodeHeader(b.kind, row.Header); err != nil {
		return nil, err
	}
	if err := b.index.Restore(ctx, db); err != nil {
		return nil, err
	}
	number := row.ID.Number()
	results, err := DecodeResults(row.Execution, b.head)
	if err != nil {
		return nil, err
	}
	b.executed = results.Executed(b.head)
	b.root = results.Root
	if err := b.restoreQueue(ctx, db); err != nil {
		return nil, err
	}
	last, err := db.LastStateChange(ctx, chain, number)
	if err != nil {
		return nil, err
	}
	if last != nil {
		b.root, b.digest, b.changes = common.BytesToHash(last.Root), last.Digest, last.Sequence+1
	}
	base := NewFlatState(context.WithoutCancel(ctx), db, chain, number)
	b.state.base = &base
	if before == nil || !b.state.inherit(before.state, b.root) {
		if b.state.trie, err = base.PartedAccountTrie(b.kind, b.root); err != nil {
			return nil, err
		}
	}
	recent, err := db.Blocks(ctx, chain, number-min(number, 255), number)
	for i := range recent {
		b.hashes[recent[i].ID.Number()] = common.BytesToHash(recent[i].Hash)
	}
	return b, err
}

// NewDraft makes a builder whose blocks are never sealed, on a head whose state is read from the file. It previews the next block without
// building tries. ancestor finds the hashes of the head and of earlier blocks.
func NewDraft(chain int, genesis *Genesis, networkContext NetworkContext, head *Header, hash common.Hash, results *ExecutionResults, base FlatState, ancestor vm.GetHashFunc) (*Builder, error) {
	b := newBuilder(chain, genesis)
	b.SetNetworkContext(networkContext)
	b.head, b.executed, b.hash, b.root, b.state.base, b.ancestor = head, results.Executed(head), hash, results.Root, &base, ancestor
	return b, b.restoreQueue(base.ctx, base.db)
}

// SetNetworkContext sets the context in which the builder verifies warp messages. Call it before the first Open.
func (b *Builder) SetNetworkContext(h NetworkContext) {
	b.networkContext = h
	b.index.SetNetwork(h.ChainID, h.Network)
}

// Head returns the newest header and its hash.
func (b *Builder) Head() (*Header, common.Hash) { return b.head, b.hash }

// Root returns the state root that the next block begins with.
func (b *Builder) Root() common.Hash { return b.root }

// Account returns an account as of the newest block, nil if it does not exist.
func (b *Builder) Account(address common.Address) (*types.StateAccount, error) {
	return b.state.Account(address)
}

// CheckSender returns why no block after the newest one may have a sender's transactions, nil if one may.
func (b *Builder) CheckSender(sender common.Address) error {
	if !slices.Contains(b.schedule.Active(b.head.Time), precompile.TxAllowList) {
		return nil
	}
	states, err := state.New(b.root, b.state)
	if err != nil {
		return err
	}
	err = precompile.CheckSender(states, sender)
	return cmp.Or(Fault(states), err)
}

// Storage returns the value of a slot as of the newest block, by the key under which the chain stores it.
func (b *Builder) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	return b.state.Storage(address, key)
}

// CodeHash returns the hash of an account's code as of the newest block, that of no code if there is no account.
func (b *Builder) CodeHash(address common.Address) (common.Hash, error) {
	account, err := b.state.Account(address)
	if account == nil || err != nil {
		return types.EmptyCodeHash, err
	}
	return common.BytesToHash(account.CodeHash), nil
}

// LargeTries returns the parts of the chain's large tries, which the builder has kept since block 0, so that the file can be opened without
// making them again.
func (b *Builder) LargeTries() []store.TrieChange { return b.state.largeTries() }

func (b *Builder) rulesAt(h *Header) params.Rules { return b.chainConfig.Rules(h.Number, true, h.Time) }

// advance makes a finished header the head and completes its rows. executed is the header with what its execution gave.
func (b *Builder) advance(header, executed *Header, extData []byte, delta *store.Delta) (*store.Delta, error) {
	raw, err := header.Encode(b.kind)
	if err != nil {
		return nil, err
	}
	number := header.Number.Uint64()
	b.head, b.executed, b.hash, b.root, b.changes = header, executed, crypto.Keccak256Hash(raw), executed.Root, 0
	b.hashes[number] = b.hash
	delete(b.hashes, number-256)
	b.allTxs += int64(len(delta.Transactions))
	b.state.rows(delta, b.chain, number)
	var changed touched
	changed.add(b.state.update)
	if delta.Tries, err = b.state.changedTries(&changed); err != nil {
		return nil, err
	}
	if err := b.index.Add(delta, number, int64(header.Time), func() (*index.ContractReader, error) { return b.contractReader(executed) }); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	delta.Block = store.Block{
		ID: store.At(b.chain, number, 0), Hash: b.hash.Bytes(), Time: int64(header.Time), Txs: len(delta.Transactions),
		AllTxs: b.allTxs, GasUsed: gasOf(delta.Transactions), Fees: common.LeftPadBytes(delta.Block.Fees, 32), Header: raw, ExtData: extData,
		Execution: delta.Block.Execution,
	}
	b.digest = Digest(b.digest, delta)
	delta.Block.Digest = b.digest
	return delta, nil
}

// gasOf returns what transactions were charged for, without a block's atomic transactions.
func gasOf(txs []store.Transaction) uint64 {
	if len(txs) == 0 {
		return 0
	}
	return txs[len(txs)-1].GasTotal
}

// Digest covers the parent's digest, the block's hash and what the hash leaves out: the results of an asynchronous execution, overrides of the
// rules, impersonated senders, and the calls inside transactions.
func Digest(parent []byte, delta *store.Delta) []byte {
	h := sha256.New()
	h.Write(parent)
	h.Write(delta.Block.Hash)
	if len(delta.Block.Execution) > 0 {
		fmt.Fprintf(h, "execution %x\n", delta.Block.Execution)
	}
	if o := delta.Override; o != nil {
		fmt.Fprintf(h, "override %t %x %t %d %x\n", o.Early, o.BaseFee, o.GasLimit != nil, valueOf(o.GasLimit), o.Coinbase)
		if o.SettlesAfter != nil {
			fmt.Fprintf(h, "settles after %d\n", *o.SettlesAfter)
		}
	}
	for i := range delta.Impersonated {
		tx := delta.Impersonated[i].ID
		fmt.Fprintf(h, "impersonated %d %x\n", tx, delta.Transactions[tx.Index()].Sender)
	}
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

// Open begins the next block, at a time in Unix milliseconds no earlier than Header.EarliestChild.
func (b *Builder) Open(timeMS uint64) (*BlockExecution, error) { return b.OpenWith(timeMS, Override{}) }

// OpenWith is Open with overrides of the rules.
func (b *Builder) OpenWith(timeMS uint64, o Override) (*BlockExecution, error) {
	first := b.head.EarliestChild()
	if o.Early {
		first = min(first, b.head.TimeMilliseconds+1)
	}
	if timeMS < first {
		return nil, fmt.Errorf("%w: %d ms, the first that is allowed is %d ms", ErrTime, timeMS, first)
	}
	next, err := b.nextBlock(timeMS, o)
	if err == nil && next.worst != nil {
		err = next.worst.full()
	}
	if err != nil {
		return nil, err
	}
	states, err := b.stateAt(next.header.Time)
	if err != nil {
		return nil, err
	}
	block := store.At(b.chain, next.header.Number.Uint64(), 0)
	p := &BlockExecution{
		b: b, nextBlock: next, state: states, fees: new(big.Int),
		delta: &store.Delta{Override: o.row(block)}, gas: core.NewGasPool(next.capacity), recorder: index.NewCallRecorder(block),
	}
	p.context = b.vmContext(next.executed, states)
	p.context.Tracer = p.recorder.Hooks()
	return p, nil
}

// MinFeeCap returns the lowest fee cap, in wei, that a node's pool accepts after the newest block (plugin/evm.VM.initializeChain of coreth and
// subnet-evm, and subnet-evm core/txpool/legacypool.LegacyPool.reset).
func (b *Builder) MinFeeCap() (*big.Int, error) {
	if b.kind == KindC {
		return big.NewInt(minGasPrice), nil
	}
	rates, err := b.feeRules()
	return rates.config.MinBaseFee, err
}

// Accepts reports whether the chain has settled enough to accept a block at a time in Unix milliseconds: ErrQueueFull if not.
func (b *Builder) Accepts(timeMS uint64) error {
	next, err := b.nextBlock(timeMS, Override{})
	if err == nil && next.worst != nil {
		err = next.worst.full()
	}
	return err
}

// AcceptsFrom returns the first time at which the chain has settled enough to accept a block: a given one, in Unix milliseconds, or a number
// of steps later.
func (b *Builder) AcceptsFrom(timeMS, step uint64, o Override) (uint64, error) {
	for {
		next, err := b.nextBlock(timeMS, o)
		if err != nil || next.worst == nil || next.worst.full() == nil {
			return timeMS, err
		}
		waiting := b.queue[b.queue.settledAt(timeMS, o.SettlesAfter)+1]
		settles := waiting.results.SettlesAt(waiting.header, o.SettlesAfter)
		timeMS = saturatingAdd(timeMS, saturatingMul(max(1, saturatingSub(settles, timeMS)/step), step))
	}
}

// NextHeader returns the header of the next block at a time in Unix milliseconds, as far as it is known before execution.
func (b *Builder) NextHeader(timeMS uint64, o Override) (*Header, error) {
	next, err := b.nextBlock(timeMS, o)
	if err != nil {
		return nil, err
	}
	return next.header, nil
}

// nextBlock holds what is known of a block before its execution.
type nextBlock struct {
	header   *Header
	executed *Header // with the base fee that is paid; the header itself before Helicon and on an L1
	feeRules feeRules
	capacity uint64     // of gas
	worst    *worstCase // nil before Helicon and on an L1
	gasTime  gasTime    // at the beginning, with worst
}

func (b *Builder) nextBlock(timeMS uint64, o Override) (n nextBlock, err error) {
	if b.kind == KindC && b.networkContext.HeliconAt(timeMS/millisPerSecond) {
		return b.nextAsynchronous(timeMS, o)
	}
	if n.feeRules, err = b.feeRules(); err != nil {
		return n, err
	}
	if n.header, err = ChildHeader(b.kind, n.feeRules.config, b.head, b.hash, timeMS, o); err != nil {
		return n, err
	}
	n.executed, n.capacity = n.header, GasCapacity(b.kind, n.feeRules.config, b.head, timeMS)
	if o.GasLimit != nil {
		n.capacity = *o.GasLimit
	}
	return n, nil
}

// nextAsynchronous returns what is known of a block since Helicon: its bounds from the worst case, and what gas will cost in it.
func (b *Builder) nextAsynchronous(timeMS uint64, o Override) (n nextBlock, err error) {
	if n.worst, err = b.worstCaseAt(timeMS, o); err != nil {
		return n, err
	}
	n.gasTime = b.queue.head().gasTime
	n.gasTime.beforeBlock(timeMS)
	n.header = b.head.nextHeader(b.hash, timeMS)
	n.header.GasLimit, n.header.BaseFee = n.worst.limit, n.worst.baseFee.ToBig()
	executed := *n.header
	executed.BaseFee = bigOf(n.gasTime.price())
	n.executed = &executed
	if err := errors.Join(o.apply(n.header), o.apply(n.executed)); err != nil {
		return n, err
	}
	n.worst.limit, n.worst.baseFee, n.capacity = n.header.GasLimit, uint256.MustFromBig(n.header.BaseFee), math.MaxUint64
	return n, nil
}

func (b *Builder) blockHash(number uint64) common.Hash {
	if b.ancestor != nil {
		return b.ancestor(number)
	}
	return b.hashes[number]
}

// stateAt returns the state on which a block at a time begins: the head's, with due precompiles activated or disabled.
func (b *Builder) stateAt(time uint64) (*state.StateDB, error) {
	var base state.Database = b.state
	if off := b.schedule.Disabled(b.head.Time, time); len(off) > 0 {
		base = withoutAccounts{b.state, off}
	}
	states, err := state.New(b.root, base)
	if err != nil {
		return nil, err
	}
	return states, b.schedule.Apply(states, &b.head.Time, time, b.head.Number.Uint64()+1)
}

// feeRules returns the fee rules in force after the head, from the fee manager if the chain has one.
func (b *Builder) feeRules() (feeRules, error) {
	f := feeRules{b.kind, b.schedule.FeeConfig}
	if !b.schedule.HasFeeManager(b.head.Time) {
		return f, nil
	}
	var failed error
	f.config, _ = precompile.StoredFeeConfig(func(contract common.Address, slot common.Hash) common.Hash {
		value, err := b.state.Storage(contract, slot)
		failed = errors.Join(failed, err)
		return value
	})
	return f, failed
}

// Remember keeps the chain's index from asking contracts for documents it already knows.
func (b *Builder) Remember(d *index.Documents) { b.index.Remember(d) }

// contractReader calls contracts on the state after the head, whose header is h.
func (b *Builder) contractReader(h *Header) (*index.ContractReader, error) {
	states, err := state.New(b.root, b.state)
	if err != nil {
		return nil, err
	}
	s := b.vmContext(h, states)
	s.NoBaseFee, s.MinimumGas = true, false
	return index.NewContractReader(s.NewFrameless(), func() index.EVM { return s.NewVM() }, states), nil
}

func (b *Builder) vmContext(h *Header, states vm.StateDB) VMContext {
	return VMContext{
		Kind:        b.kind,
		ChainConfig: b.chainConfig, Block: NewBlockContext(h, b.blockHash), State: states, JumpDests: b.jumpDests,
		Precompiles: b.active.At(b.kind, b.rulesAt(h), b.schedule, h.Time), Warp: b.networkContext.PrecompileInput(), MinimumGas: b.kind == KindC && b.networkContext.HeliconAt(h.Time),
	}
}
