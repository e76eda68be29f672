package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/ava-labs/avalanchego/database/heightindexdb/memdb"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/logging"
	"github.com/ava-labs/avalanchego/vms/components/gas"
	"github.com/ava-labs/avalanchego/vms/saevm/blocks"
	"github.com/ava-labs/avalanchego/vms/saevm/cchain/dynamic"
	"github.com/ava-labs/avalanchego/vms/saevm/gastime"
	"github.com/ava-labs/avalanchego/vms/saevm/hook"
	saeparams "github.com/ava-labs/avalanchego/vms/saevm/params"
	saetypes "github.com/ava-labs/avalanchego/vms/saevm/types"
	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
	"github.com/ava-labs/libevm/core/rawdb"
	"github.com/ava-labs/libevm/core/state"
	"github.com/ava-labs/libevm/core/types"
	"github.com/ava-labs/libevm/crypto"
	"github.com/ava-labs/libevm/libevm"
	"github.com/ava-labs/libevm/params"
	"github.com/ava-labs/libevm/trie"
	"github.com/holiman/uint256"

	"snowglobe/testdata/saevm/worstcase"
	"snowglobe/testdata/server"
)

// judge follows a C-Chain from the last block before Helicon on.
type judge struct {
	server.Chain
	config   *params.ChainConfig
	hooks    *hooks
	followed []*accepted // since the last block before Helicon
	last     atomic.Pointer[blocks.Block]
	seen     seen
}

// accepted is a block with what the network's packages keep of it.
type accepted struct {
	*body
	hash     common.Hash
	block    *blocks.Block // with a header of its own, whose hash is not the network's
	receipts types.Receipts
}

var errBefore = errors.New("no block since Helicon")

type seen struct{ blocks, txs, atomic, settled, waited, bounded int }

func (s *seen) String() string {
	return fmt.Sprintf("%d blocks and %d transactions accepted by the worst case, %d of blocks with a price below their bound; %d blocks settled, up to %d together; %d with atomic transactions",
		s.blocks, s.txs, s.bounded, s.settled, s.waited, s.atomic)
}

func newJudge(c server.Chain) *judge {
	return &judge{Chain: c, hooks: &hooks{headers: map[uint64]*header{}}}
}

// hooks tells the packages what a header says that libevm's own has no room for.
type hooks struct {
	hook.Points // not asked for anything else
	headers     map[uint64]*header
}

func (h *hooks) GasConfigAfter(of *types.Header) (gas.Gas, gastime.GasPriceConfig) {
	header := h.headers[of.Number.Uint64()]
	return header.target().Target(), gastime.GasPriceConfig{TargetToExcessScaling: gastime.DefaultTargetToExcessScaling, MinPrice: header.price().Price()}
}

func (h *hooks) BlockTime(of *types.Header) time.Time { return h.headers[of.Number.Uint64()].time() }

func (h *hooks) SettledBy(of *types.Header) hook.Settled {
	header := h.headers[of.Number.Uint64()]
	if !header.asynchronous() {
		return hook.Settled{}
	}
	return hook.Settled{Height: *header.SettledHeight, GasUnix: *header.SettledGasUnix, GasNumerator: gas.Gas(*header.SettledGasNumerator), Excess: gas.Gas(*header.SettledExcess)}
}

func (h *hooks) CanExecuteTransaction(common.Address, *common.Address, libevm.StateReader) error {
	return nil
}

// target returns the exponent of the gas target. The last block before Helicon has it in its fee state (ACP-176).
func (h *header) target() dynamic.TargetExponent {
	switch {
	case h.TargetExponent != nil:
		return dynamic.TargetExponent(*h.TargetExponent)
	case h.Number.Sign() == 0:
		return dynamic.InitialTargetExponent
	}
	return dynamic.TargetExponent(binary.BigEndian.Uint64(h.Extra[16:]))
}

func (h *header) price() dynamic.PriceExponent {
	if h.MinPriceExponent == nil {
		return dynamic.InitialPriceExponent
	}
	return dynamic.PriceExponent(*h.MinPriceExponent)
}

// chain judges every block since Helicon.
func (j *judge) chain(ctx context.Context) error {
	var head, id hexutil.Uint64
	if err := errors.Join(j.Call(ctx, &head, "eth_blockNumber"), j.Call(ctx, &id, "eth_chainId")); err != nil {
		return err
	}
	zero := uint64(0)
	j.config = &params.ChainConfig{
		ChainID: new(big.Int).SetUint64(uint64(id)), HomesteadBlock: new(big.Int), EIP150Block: new(big.Int), EIP155Block: new(big.Int), EIP158Block: new(big.Int),
		ByzantiumBlock: new(big.Int), ConstantinopleBlock: new(big.Int), PetersburgBlock: new(big.Int), IstanbulBlock: new(big.Int),
		MuirGlacierBlock: new(big.Int), BerlinBlock: new(big.Int), LondonBlock: new(big.Int), ShanghaiTime: &zero, CancunTime: &zero,
	}
	for number := uint64(0); number <= uint64(head); number++ {
		var raw hexutil.Bytes
		err := j.Call(ctx, &raw, "debug_getRawBlock", hexutil.EncodeUint64(number))
		if err == nil {
			err = j.block(ctx, raw)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
	}
	if j.seen.blocks == 0 {
		return errBefore
	}
	return j.tags(ctx)
}

// tags compares the named blocks: the last one settled is safe and finalized.
func (j *judge) tags(ctx context.Context) error {
	settled := *j.followed[len(j.followed)-1].Header.SettledHeight
	for _, tag := range []string{"safe", "finalized"} {
		var named struct{ Number hexutil.Uint64 }
		if err := j.Call(ctx, &named, "eth_getBlockByNumber", tag, false); err != nil {
			return err
		}
		if uint64(named.Number) != settled {
			return fmt.Errorf("the %s block is %d, want %d", tag, named.Number, settled)
		}
	}
	return nil
}

func (j *judge) block(ctx context.Context, raw []byte) error {
	b, hash, err := decode(raw)
	if err != nil {
		return err
	}
	j.hooks.headers[b.Header.Number.Uint64()] = b.Header
	a := &accepted{body: b, hash: hash}
	if !b.Header.asynchronous() {
		if len(j.followed) > 0 && j.followed[0].Header.asynchronous() {
			return errors.New("Helicon ended")
		}
		j.followed = []*accepted{a} // only the last one counts
		return a.synchronous(j)
	}
	parent := j.followed[len(j.followed)-1]
	if b.Header.ParentHash != parent.hash {
		return fmt.Errorf("its parent is %s, want %s", b.Header.ParentHash, parent.hash)
	}
	settled, err := j.header(parent, a)
	if err != nil {
		return err
	}
	if err := j.settles(ctx, parent, a, settled); err != nil {
		return err
	}
	if err := j.worstCase(ctx, a, settled); err != nil {
		return err
	}
	j.followed = append(j.followed, a)
	j.seen.blocks++
	j.seen.txs += len(b.Txs)
	return j.execute(ctx, parent, a)
}

// newBlock makes a block of the network's packages. Its header has only what those read.
func (j *judge) newBlock(a *accepted, parent, settled *blocks.Block) error {
	h := &types.Header{Number: a.Header.Number, Time: a.Header.Time, BaseFee: a.Header.BaseFee, GasLimit: a.Header.GasLimit, Root: a.Header.Root, Difficulty: new(big.Int), ReceiptHash: types.EmptyReceiptsHash}
	if parent != nil {
		h.ParentHash = parent.Hash()
	}
	var err error
	a.block, err = blocks.New(types.NewBlockWithHeader(h).WithBody(types.Body{Transactions: a.Txs}), parent, settled, j.hooks, logging.NoLog{})
	return err
}

// synchronous makes the last block before Helicon, which is executed and settles itself.
func (a *accepted) synchronous(j *judge) error {
	if err := j.newBlock(a, nil, nil); err != nil {
		return err
	}
	return errors.Join(a.block.RestoreExecutionArtefacts(rawdb.NewMemoryDatabase(), saetypes.ExecutionResults{}, j.config), a.block.MarkSettled(&j.last))
}

// header judges what the header says before its transactions, and returns the block that it has to settle.
func (j *judge) header(parent, a *accepted) (*accepted, error) {
	h, before := a.Header, parent.Header
	delay := dynamic.DelayExponent(before.MinDelayExcess)
	if first := before.time().Add(delay.DelayDuration()); h.time().Before(first) {
		return nil, fmt.Errorf("it comes at %s, before %s", h.time(), first)
	}
	wantedDelay, wantedTarget, wantedPrice := dynamic.DelayExponent(h.MinDelayExcess), h.target(), h.price()
	if delay.Toward(&wantedDelay) != wantedDelay || before.target().Toward(&wantedTarget) != wantedTarget || before.price().Toward(&wantedPrice) != wantedPrice {
		return nil, errors.New("its exponents moved further than one block may")
	}
	last, known, err := blocks.LastToSettleAt(h.time().Add(-saeparams.Tau), parent.block)
	if err != nil || !known {
		return nil, fmt.Errorf("the block to settle is unknown: %w", err)
	}
	if last.Height() != *h.SettledHeight {
		return nil, fmt.Errorf("it settles block %d, want %d", *h.SettledHeight, last.Height())
	}
	return j.followed[last.Height()-j.followed[0].Header.Number.Uint64()], nil
}

// settles compares the results in the header with those of the blocks that it settles.
func (j *judge) settles(ctx context.Context, parent, a, settled *accepted) error {
	t := settled.block.ExecutedByGasTime()
	want := hook.Settled{Height: settled.block.Height(), GasUnix: t.Unix(), GasNumerator: t.Fraction().Numerator, Excess: t.Excess()}
	if have := j.hooks.SettledBy(&types.Header{Number: a.Header.Number}); have != want {
		return fmt.Errorf("it says of what it settles %+v, want %+v", have, want)
	}
	again, err := hook.SettledGasTime(j.hooks, &types.Header{Number: settled.Header.Number}, &types.Header{Number: a.Header.Number})
	if err != nil || again.Compare(t.Time) != 0 || again.Excess() != t.Excess() || again.Target() != t.Target() {
		return fmt.Errorf("the settled gas time reads as %v, want %v: %w", again, t, err)
	}
	if err := j.newBlock(a, parent.block, settled.block); err != nil {
		return err
	}
	var receipts types.Receipts
	together := a.block.Settles()
	for _, b := range together {
		receipts = append(receipts, j.followed[b.Height()-j.followed[0].Header.Number.Uint64()].receipts...)
	}
	j.seen.settled += len(together)
	j.seen.waited = max(j.seen.waited, len(together))
	if root := types.DeriveSha(receipts, trie.NewStackTrie(nil)); root != a.Header.ReceiptHash || types.CreateBloom(receipts) != a.Header.Bloom {
		return fmt.Errorf("its receipts hash to %s, want %s of blocks %d", a.Header.ReceiptHash, root, len(together))
	}
	return j.provesAgainst(ctx, settled.Header.Number.Uint64(), a.Header.Root)
}

// provesAgainst compares the root of a proof at a block with a state root.
func (j *judge) provesAgainst(ctx context.Context, number uint64, root common.Hash) error {
	var proof struct{ AccountProof []hexutil.Bytes }
	if err := j.Call(ctx, &proof, "eth_getProof", common.Address{1}, []string{}, hexutil.EncodeUint64(number)); err != nil {
		return err
	}
	if have := crypto.Keccak256Hash(proof.AccountProof[0]); have != root {
		return fmt.Errorf("its state root is %s, a proof at block %d begins with %s", root, number, have)
	}
	return nil
}

// worstCase lets the packages accept the transactions on top of the settled block, as a node that verifies the block does.
func (j *judge) worstCase(ctx context.Context, a, settled *accepted) error {
	first := j.followed[0].Header.Number.Uint64()
	queued := append(append([]*accepted{}, j.followed[settled.Header.Number.Uint64()-first+1:]...), a)
	opener := &accounts{}
	var err error
	if opener.state, err = state.New(types.EmptyRootHash, state.NewDatabase(rawdb.NewMemoryDatabase()), nil); err != nil {
		return err
	}
	for _, b := range queued {
		for _, tx := range b.Txs {
			if err := j.load(ctx, opener.state, tx, settled.Header.Number.Uint64()); err != nil {
				return err
			}
		}
	}
	worst, err := worstcase.NewState(j.hooks, j.config, settled.block, opener)
	if err != nil {
		return err
	}
	for _, b := range queued {
		if err := worst.StartBlock(b.block.Header()); err != nil {
			return err
		}
		sum := uint64(0)
		for i, tx := range b.Txs {
			if err := worst.ApplyTx(tx); err != nil {
				return fmt.Errorf("transaction %d of block %d: %w", i, b.Header.Number, err)
			}
			sum += tx.Gas()
		}
		if b.Header.GasUsed > sum { // by atomic transactions
			if len(b.ExtData) == 0 {
				return fmt.Errorf("%d gas used of limits of %d", b.Header.GasUsed, sum)
			}
			if err := worst.Apply(hook.Op{ID: ids.ID{1}, Gas: gas.Gas(b.Header.GasUsed - sum), GasFeeCap: *uint256.MustFromBig(b.Header.BaseFee)}); err != nil {
				return err
			}
		}
		if b == a {
			if h := a.Header; h.GasLimit != worst.GasLimit() || h.BaseFee.Cmp(worst.BaseFee().ToBig()) != 0 || h.GasUsed != worst.GasUsed() {
				return fmt.Errorf("gas limit %d, base fee %d, gas used %d; want %d, %d, %d", h.GasLimit, h.BaseFee, h.GasUsed, worst.GasLimit(), worst.BaseFee(), worst.GasUsed())
			}
		}
		bounds, err := worst.FinishBlock()
		if err != nil {
			return err
		}
		if b == a {
			a.block.SetWorstCaseBounds(bounds)
		}
	}
	if len(a.ExtData) > 0 {
		j.seen.atomic++
	}
	return nil
}

// accounts is the settled state, as far as it is asked for.
type accounts struct{ state *state.StateDB }

func (a *accounts) StateDB(common.Hash) (*state.StateDB, error) { return a.state, nil }

// load reads a sender as it was settled.
func (j *judge) load(ctx context.Context, states *state.StateDB, tx *types.Transaction, number uint64) error {
	sender, err := types.Sender(types.LatestSigner(j.config), tx)
	if err != nil || states.Exist(sender) {
		return err
	}
	var balance hexutil.Big
	var nonce hexutil.Uint64
	at := hexutil.EncodeUint64(number)
	if err := errors.Join(j.Call(ctx, &balance, "eth_getBalance", sender, at), j.Call(ctx, &nonce, "eth_getTransactionCount", sender, at)); err != nil {
		return err
	}
	amount, _ := uint256.FromBig(balance.ToInt())
	states.SetBalance(sender, amount)
	states.SetNonce(sender, uint64(nonce))
	return nil
}

// execute moves gas time on by what the receipts say, and compares what they paid.
func (j *judge) execute(ctx context.Context, parent, a *accepted) error {
	clock := parent.block.ExecutedByGasTime()
	clock.BeforeBlock(a.Header.time())
	baseFee := clock.BaseFee().ToBig()
	if baseFee.Cmp(a.Header.BaseFee) > 0 {
		return fmt.Errorf("gas costs %d, above the bound of %d", baseFee, a.Header.BaseFee)
	}
	if baseFee.Cmp(a.Header.BaseFee) < 0 {
		j.seen.bounded += len(a.Txs)
	}
	var shown []json.RawMessage
	var raw []hexutil.Bytes
	at := hexutil.EncodeUint64(a.Header.Number.Uint64())
	if err := errors.Join(j.Call(ctx, &shown, "eth_getBlockReceipts", at), j.Call(ctx, &raw, "debug_getRawReceipts", at)); err != nil {
		return err
	}
	if len(shown) != len(a.Txs) || len(raw) != len(a.Txs) {
		return fmt.Errorf("%d and %d receipts of %d transactions", len(shown), len(raw), len(a.Txs))
	}
	charged, limits := uint64(0), uint64(0)
	for i, tx := range a.Txs {
		r := new(types.Receipt)
		if err := json.Unmarshal(shown[i], r); err != nil {
			return err
		}
		price := new(big.Int).Add(baseFee, tx.EffectiveGasTipValue(baseFee))
		switch least := hook.MinimumGasConsumption(tx.Gas()); {
		case r.EffectiveGasPrice.Cmp(price) != 0:
			return fmt.Errorf("transaction %d paid %d, want %d", i, r.EffectiveGasPrice, price)
		case r.GasUsed < least || r.GasUsed > tx.Gas():
			return fmt.Errorf("transaction %d is charged %d gas, of a limit of %d", i, r.GasUsed, tx.Gas())
		}
		charged, limits = charged+r.GasUsed, limits+tx.Gas()
		if r.CumulativeGasUsed != charged {
			return fmt.Errorf("receipt %d adds up to %d gas, want %d", i, r.CumulativeGasUsed, charged)
		}
		encoded, err := r.MarshalBinary()
		if err != nil || !bytes.Equal(encoded, raw[i]) {
			return fmt.Errorf("receipt %d: %x, its bytes are %x: %w", i, encoded, raw[i], err)
		}
		a.receipts = append(a.receipts, r)
	}
	target, config := j.hooks.GasConfigAfter(&types.Header{Number: a.Header.Number})
	if err := clock.AfterBlock(gas.Gas(charged+a.Header.GasUsed-limits), target, config); err != nil {
		return err
	}
	return a.block.MarkExecuted(rawdb.NewMemoryDatabase(), results(), clock, time.Time{}, baseFee, a.receipts, common.Hash{}, &j.last)
}

// results is where the packages keep results, in memory.
func results() saetypes.ExecutionResults {
	return saetypes.ExecutionResults{HeightIndex: &memdb.Database{}}
}
