package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Defaults of a simulation (go-ethereum, internal/ethapi/simulate.go).
const (
	maxSimulatedBlocks = 256
	simulatedSeconds   = 12 // from one block to the next
)

// SimulationError explains why a simulation cannot run, with its own code.
type SimulationError struct {
	Message string
	Code    int
}

func (e *SimulationError) Error() string  { return e.Message }
func (e *SimulationError) ErrorCode() int { return e.Code }

// Error codes (internal/ethapi/errors.go).
const (
	codeInvalidParams = -32602
	codeInternal      = -32603
	codeNonceTooLow   = -38010
	codeNonceTooHigh  = -38011
	codeBaseFeeTooLow = -38012
	codeIntrinsicGas  = -38013
	codeFunds         = -38014
	codeBlockGasLimit = -38015
	codeBlockNumber   = -38020
	codeBlockTime     = -38021
	codeSenderNotEOA  = -38024
	codeInitCodeSize  = -38025
	codeLimitExceeded = -38026
)

// refusedCall returns the error for a call that its block cannot contain.
func refusedCall(err error) error {
	for _, c := range []struct {
		is   error
		code int
	}{
		{core.ErrNonceTooHigh, codeNonceTooHigh}, {core.ErrNonceTooLow, codeNonceTooLow}, {core.ErrSenderNoEOA, codeSenderNotEOA},
		{core.ErrFeeCapVeryHigh, codeInvalidParams}, {core.ErrTipVeryHigh, codeInvalidParams}, {core.ErrTipAboveFeeCap, codeInvalidParams},
		{core.ErrFeeCapTooLow, codeBaseFeeTooLow}, {core.ErrInsufficientFunds, codeFunds}, {core.ErrIntrinsicGas, codeIntrinsicGas},
		{core.ErrInsufficientFundsForTransfer, codeFunds}, {vm.ErrMaxInitCodeSizeExceeded, codeInitCodeSize},
	} {
		if errors.Is(err, c.is) {
			return &SimulationError{err.Error(), c.code}
		}
	}
	return &SimulationError{err.Error(), codeInternal}
}

// Simulation is a list of blocks to try on top of another.
type Simulation struct {
	Blocks         []BlockCalls
	TraceTransfers bool // log transfers of native coins as ERC-20 events
	Validate       bool // apply the network's rules for transactions, except for signatures
}

// BlockCalls holds the calls of one block, and its overrides.
type BlockCalls struct {
	Block *BlockOverrides
	State StateOverrides
	Calls []Call
}

// SimulatedBlock is a block that the simulation made. It has no state root: the simulation's state is in no trie.
type SimulatedBlock struct {
	*Block
	Transactions []*Transaction
	Calls        []SimulatedCall
	Size         int // bytes
}

// SimulatedCall is the outcome of a call.
type SimulatedCall struct {
	*core.ExecutionResult
	Logs   []*types.Log
	Capped bool // the chain's limit cut the gas it asked for
}

type simulation struct {
	Simulation
	*execution
	base   *Block
	parent *Block
	hashes map[uint64]common.Hash // of the blocks so far
	gas    uint64                 // left for all calls
}

// Simulate executes calls in blocks on top of a block, one after the other.
func (c *Chain) Simulate(ctx context.Context, b *Block, s Simulation) ([]*SimulatedBlock, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	base, err := c.finished(ctx, b)
	if err != nil {
		return nil, err
	}
	if s.Blocks, err = completeBlocks(b.Header, s.Blocks); err != nil {
		return nil, err
	}
	x, err := c.executionOn(ctx, b, Overrides{})
	if err != nil {
		return nil, err
	}
	under := &simulation{Simulation: s, execution: x, base: base, parent: base, hashes: map[uint64]common.Hash{}, gas: c.Limits.Gas}
	made := make([]*SimulatedBlock, len(s.Blocks))
	for i := range s.Blocks {
		if made[i], err = under.block(ctx, &s.Blocks[i]); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// finished returns the block with a header complete enough to compute the next one's fees, which a pending block's is not yet.
func (c *Chain) finished(ctx context.Context, b *Block) (*Block, error) {
	if !b.Pending() || b.Header.Asynchronous() {
		return b, nil
	}
	parent, err := c.Block(ctx, b.Number-1)
	if err != nil {
		return nil, err
	}
	header, copied := *b.Header, *b
	header.FinishFees(c.Kind, parent.Header)
	copied.Header = &header
	return &copied, nil
}

// completeBlocks gives every block a number and a time, and fills gaps between the numbers with empty blocks (simulator.sanitizeChain).
func completeBlocks(base *evm.Header, blocks []BlockCalls) (complete []BlockCalls, err error) {
	number, time := new(big.Int).Set(base.Number), base.Time
	last := new(big.Int).Add(base.Number, big.NewInt(maxSimulatedBlocks))
	for _, b := range blocks {
		o := BlockOverrides{}
		if b.Block != nil {
			o = *b.Block
		}
		next := new(big.Int).Add(number, common.Big1)
		if o.Number == nil {
			o.Number = (*hexutil.Big)(next)
		}
		wanted := o.Number.ToInt()
		if wanted.Cmp(number) <= 0 {
			return nil, &SimulationError{fmt.Sprintf("block numbers must be in order: %d <= %d", wanted, number), codeBlockNumber}
		}
		if wanted.Cmp(last) > 0 {
			return nil, &SimulationError{"too many blocks", codeLimitExceeded}
		}
		for ; next.Cmp(wanted) < 0; next = new(big.Int).Add(next, common.Big1) {
			time += simulatedSeconds
			complete = append(complete, BlockCalls{Block: &BlockOverrides{Number: (*hexutil.Big)(next), Time: new(hexutil.Uint64(time))}})
		}
		if o.Time == nil {
			o.Time = new(hexutil.Uint64(time + simulatedSeconds))
		}
		if at := uint64(*o.Time); at <= time {
			return nil, &SimulationError{fmt.Sprintf("block timestamps must be in order: %d <= %d", at, time), codeBlockTime}
		} else if at > math.MaxInt64/1000-maxSimulatedBlocks*simulatedSeconds {
			return nil, &SimulationError{fmt.Sprintf("block timestamp %d is too far in the future", at), codeBlockTime}
		}
		number, time, b.Block = wanted, uint64(*o.Time), &o
		complete = append(complete, b)
	}
	return complete, nil
}

// header returns the next block's header, as far as it is known before execution.
func (s *simulation) header(ctx context.Context, o *BlockOverrides) (*evm.Header, error) {
	config, _, err := s.chain.FeeConfigAt(ctx, s.base)
	if err != nil {
		return nil, err
	}
	var h *evm.Header
	if timeMS := uint64(*o.Time) * 1000; s.chain.Asynchronous(uint64(*o.Time)) {
		h = s.parent.Results.AsynchronousChild(s.parent.Header, s.parent.Hash, timeMS)
	} else if h, err = evm.ChildHeader(s.chain.Kind, config, s.parent.Header, s.parent.Hash, timeMS, evm.Override{}); err != nil {
		return nil, err
	}
	h.Number, h.Coinbase = o.Number.ToInt(), s.parent.Header.Coinbase
	if !s.Validate {
		h.BaseFee = new(big.Int) // a call that offers no fee can be in the block, and sees a base fee of zero
	}
	s.context = evm.NewBlockContext(h, s.blockHash(ctx))
	o.apply(&s.context)
	h.GasLimit, h.Coinbase, h.BaseFee, h.Difficulty = s.context.GasLimit, s.context.Coinbase, s.context.BaseFee, s.context.Difficulty
	if random := either(o.Random, o.PrevRandao); random != nil {
		h.MixDigest = common.Hash(*random)
	}
	if h.BaseFee.BitLen() > 256 {
		return nil, &SimulationError{"baseFeePerGas does not fit 256 bits", codeInvalidParams}
	}
	return h, nil
}

// blockHash answers BLOCKHASH, for the simulated blocks too.
func (s *simulation) blockHash(ctx context.Context) vm.GetHashFunc {
	before := s.chain.blockHash(ctx, s.base.Number)
	return func(number uint64) common.Hash {
		if hash, made := s.hashes[number]; made {
			return hash
		}
		return before(number)
	}
}

// block makes the next block (simulator.processBlock).
func (s *simulation) block(ctx context.Context, b *BlockCalls) (*SimulatedBlock, error) {
	h, err := s.header(ctx, b.Block)
	if err != nil {
		return nil, err
	}
	number := h.Number.Uint64()
	s.precompiles = nil // undo the moves of the previous block
	if err := s.chain.schedule.Apply(s.states, &s.parent.Header.Time, h.Time, number); err != nil {
		return nil, err
	}
	if err := s.override(b.State, true); err != nil {
		return nil, err
	}
	made := &SimulatedBlock{Block: &Block{Header: h, Executed: h, Results: &evm.ExecutionResults{BaseFee: h.BaseFee}, Number: number}, Transactions: make([]*Transaction, 0, len(b.Calls))}
	pool, receipts := core.NewGasPool(h.GasLimit), make([]*types.Receipt, 0, len(b.Calls))
	logs := &simulatedLogs{transfers: s.TraceTransfers, number: number, time: h.Time}
	for i := range b.Calls {
		tx, result, err := s.call(ctx, made.Block, pool, &b.Calls[i], i, logs)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, s.receipt(tx, pool, result))
		made.Transactions, made.Calls = append(made.Transactions, tx), append(made.Calls, *result)
	}
	return made, s.finish(made, receipts)
}

func (s *simulation) call(ctx context.Context, b *Block, pool *core.GasPool, call *Call, index int, logs *simulatedLogs) (*Transaction, *SimulatedCall, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	limited := call.Gas != nil
	capped, err := s.complete(call, pool)
	if err != nil {
		return nil, nil, err
	}
	m, err := call.message(b.Header.BaseFee, uint64(*call.Gas))
	if err != nil {
		return nil, nil, &SimulationError{err.Error(), codeInvalidParams}
	}
	signed := call.transaction(s.chain.chainConfig.ChainID, m)
	if s.Validate {
		m = checkedMessage(m)
	} else if s.states.GetNonce(m.From) == math.MaxUint64 {
		return nil, nil, refusedCall(fmt.Errorf("%w: address %v, nonce: %d", core.ErrNonceMax, m.From.Hex(), uint64(math.MaxUint64)))
	}
	logs.tx, logs.index, logs.open = signed.Hash(), uint(index), nil
	s.states.SetTxContext(signed.Hash(), index, 0)
	hooks := logs.hooks()
	states := state.NewHookedState(s.states, hooks)
	run := evm.VMContext{
		Kind: s.chain.Kind, ChainConfig: s.chain.chainConfig, Block: s.context, State: states, JumpDests: s.chain.history.jumpDests,
		Precompiles: s.precompilesAt(), Tracer: hooks, NoBaseFee: !s.Validate, Warp: s.chain.NetworkContext.PrecompileInput(),
		MinimumGas: limited && s.chain.Asynchronous(s.context.Time),
	}.NewVM()
	defer run.Release()
	stop := context.AfterFunc(ctx, run.Cancel)
	defer stop()
	result, err := run.Apply(m, pool, nil)
	if run.Cancelled() && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if fault := evm.Fault(s.states); fault != nil {
		return nil, nil, fault
	}
	if err != nil {
		return nil, nil, refusedCall(err)
	}
	spendGas(ctx, result.UsedGas)
	s.gas -= min(s.gas, result.UsedGas)
	if !m.GasPrice.IsZero() {
		evm.BurnBaseFee(states, b.Header, result.UsedGas)
	}
	states.Finalise(run.GetRules())
	row := &store.Transaction{ID: store.At(s.chain.Row.ID, b.Number, index), Hash: logs.tx.Bytes(), GasUsed: result.UsedGas}
	return &Transaction{Transaction: signed, Row: row, Block: b, Sender: m.From}, &SimulatedCall{result, logs.logs(), capped}, evm.Fault(s.states)
}

// complete gives a call its nonce and its gas: the rest of the block's, within the rest of the simulation's (simulator.sanitizeCall).
func (s *simulation) complete(call *Call, pool *core.GasPool) (capped bool, err error) {
	if call.Nonce == nil {
		call.Nonce = new(hexutil.Uint64(s.states.GetNonce(call.sender())))
	}
	left := pool.Available(false)
	gas := left
	if call.Gas != nil {
		gas = uint64(*call.Gas)
	}
	if gas > left {
		return false, &SimulationError{fmt.Sprintf("block gas limit reached: remaining: %d, required: %d", left, gas), codeBlockGasLimit}
	}
	within := hexutil.Uint64(min(gas, s.gas))
	call.Gas = &within
	if err := cmp.Or(call.Check(), call.CheckChain(s.chain.Genesis.ChainID)); err != nil {
		return false, &SimulationError{err.Error(), codeInvalidParams}
	}
	return uint64(within) < gas, nil
}

func checkedMessage(m *core.Message) *core.Message {
	checked := &core.Message{
		To: m.To, From: m.From, Nonce: m.Nonce, Value: m.Value, GasLimit: m.GasLimit, GasPrice: m.GasPrice, GasFeeCap: m.GasFeeCap,
		GasTipCap: m.GasTipCap, Data: m.Data, AccessList: m.AccessList,
	}
	return checked.SkipEOACheck()
}

// transaction converts the call to an unsigned transaction (TransactionArgs.ToTransaction).
func (c *Call) transaction(chainID *big.Int, m *core.Message) *types.Transaction {
	if c.GasPrice != nil {
		return types.NewTx(&types.LegacyTx{Nonce: m.Nonce, GasPrice: m.GasPrice.ToBig(), Gas: m.GasLimit, To: m.To, Value: m.Value.ToBig(), Data: m.Data})
	}
	return types.NewTx(&types.DynamicFeeTx{
		ChainID: chainID, Nonce: m.Nonce, GasTipCap: m.GasTipCap.ToBig(), GasFeeCap: m.GasFeeCap.ToBig(), Gas: m.GasLimit, To: m.To,
		Value: m.Value.ToBig(), Data: m.Data, AccessList: m.AccessList,
	})
}

func (s *simulation) receipt(t *Transaction, pool *core.GasPool, result *SimulatedCall) *types.Receipt {
	r := &types.Receipt{
		Type: t.Type(), Status: types.ReceiptStatusSuccessful, CumulativeGasUsed: pool.Used(),
		Logs: s.states.GetLogs(t.Hash(), t.Block.Number, common.Hash{}, t.Block.Header.Time),
	}
	if result.Failed() {
		r.Status = types.ReceiptStatusFailed
	}
	r.Bloom = types.CreateBloom(r)
	return r
}

// finish completes the header and makes the block the parent of the next one.
func (s *simulation) finish(b *SimulatedBlock, receipts types.Receipts) error {
	transactions := make(types.Transactions, len(b.Transactions))
	for i, t := range b.Transactions {
		transactions[i] = t.Transaction
		raw, err := t.MarshalBinary()
		if err != nil {
			return err
		}
		t.Row.Raw = raw
		b.Size += len(raw)
	}
	h := b.Header
	for i := range receipts {
		h.GasUsed = receipts[i].CumulativeGasUsed
	}
	h.TxHash = types.DeriveSha(transactions, trie.NewStackTrie(nil))
	h.ReceiptHash = types.DeriveSha(receipts, trie.NewStackTrie(nil))
	h.Bloom = types.MergeBloom(receipts)
	if h.Asynchronous() {
		b.Results = s.parent.Results.Finish(s.parent.Header, h)
	} else {
		h.FinishFees(s.chain.Kind, s.parent.Header)
		b.Results = &evm.ExecutionResults{BaseFee: h.BaseFee, GasCharged: h.GasUsed, ReceiptHash: h.ReceiptHash}
	}
	b.Executed = h
	raw, err := h.Encode(s.chain.Kind)
	if err != nil {
		return err
	}
	b.Size += len(raw)
	b.Hash = crypto.Keccak256Hash(raw)
	b.Row = &store.Block{ID: store.At(s.chain.Row.ID, b.Number, 0), Hash: b.Hash[:], Time: int64(h.Time), Txs: len(transactions), GasUsed: h.GasUsed, Header: raw}
	for _, call := range b.Calls {
		for _, log := range call.Logs {
			log.BlockHash = b.Hash
		}
	}
	s.hashes[b.Number], s.parent = b.Hash, b.Block
	return nil
}

var (
	// transferTopic is Keccak-256 of Transfer(address,address,uint256).
	transferTopic = common.HexToHash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
	// nativeToken is the address of the native coin in logs of transfers (ERC-7528).
	nativeToken = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
)

// simulatedLogs records the logs of a simulated block's calls, including coin transfers if requested (go-ethereum,
// internal/ethapi/logtracer.go).
type simulatedLogs struct {
	transfers    bool
	number, time uint64
	tx           common.Hash
	index        uint
	count        uint           // logs in the block so far
	open         [][]*types.Log // logs of the open calls, the outermost first
}

// logs returns the logs of the last call.
func (l *simulatedLogs) logs() []*types.Log {
	if len(l.open) == 0 {
		return nil
	}
	return l.open[0]
}

func (l *simulatedLogs) hooks() *tracing.Hooks {
	return &tracing.Hooks{OnEnter: l.enter, OnExit: l.exit, OnLog: func(log *types.Log) { l.add(log.Address, log.Topics, log.Data) }}
}

func (l *simulatedLogs) enter(_ int, kind byte, from, to common.Address, _ []byte, _ uint64, value *big.Int) {
	l.open = append(l.open, nil)
	if op := vm.OpCode(kind); l.transfers && op != vm.DELEGATECALL && op != vm.CALLCODE && value != nil && value.Sign() > 0 {
		amount := common.BigToHash(value)
		l.add(nativeToken, []common.Hash{transferTopic, common.BytesToHash(from[:]), common.BytesToHash(to[:])}, amount[:])
	}
}

// exit drops the logs of a reverted call: their indices are free again.
func (l *simulatedLogs) exit(depth int, _ []byte, _ uint64, _ error, reverted bool) {
	last := len(l.open) - 1
	if reverted {
		l.count -= uint(len(l.open[last]))
		l.open[last] = nil
	}
	if depth > 0 && last > 0 {
		l.open[last-1] = append(l.open[last-1], l.open[last]...)
		l.open = l.open[:last]
	}
}

func (l *simulatedLogs) add(address common.Address, topics []common.Hash, data []byte) {
	last := len(l.open) - 1
	l.open[last] = append(l.open[last], &types.Log{
		Address: address, Topics: topics, Data: data, BlockNumber: l.number, BlockTimestamp: l.time, TxHash: l.tx, TxIndex: l.index, Index: l.count,
	})
	l.count++
}
