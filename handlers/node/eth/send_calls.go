package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/secp256k1"
)

// sendCallsAPI implements EIP-5792 for the accounts that the node sends for. A batch that must be atomic becomes consecutive transactions in a
// block of their own, all of which succeed; any other becomes a transaction for each call, as eth_sendTransaction would send it.
type sendCallsAPI struct {
	node *walletAPI // not embedded, because its methods are not in this namespace

	mu      sync.Mutex
	batches map[string]*batch
	order   []string // of the ids, oldest first
}

// batch is a batch that was sent.
type batch struct {
	hashes []common.Hash
	atomic bool
	short  bool // the last calls were not sent
}

// Limits of one batch, and the number of batches that are remembered.
const (
	maxBatchCalls = 100
	maxBatchID    = 4096 // bytes, as EIP-5792 demands
	batchesKept   = 1_000
)

// providerError is an error with a code of EIP-1193 or EIP-5792.
type providerError struct {
	code    int
	message string
}

func (e *providerError) Error() string  { return e.message }
func (e *providerError) ErrorCode() int { return e.code }

const (
	codeParams       = -32602
	codeUnauthorized = 4100
	codeDisconnected = 4901
	codeUnknownChain = 4902
	codeCapability   = 5700
	codeBatchChain   = 5710
	codeDuplicateID  = 5720
	codeUnknownBatch = 5730
	codeTooLarge     = 5740
	codeNotAtomic    = 5760
)

func provider(code int, format string, args ...any) error {
	return &providerError{code, fmt.Sprintf(format, args...)}
}

// capability is a capability that an app asks for.
type capability struct {
	Optional bool `json:"optional"`
}

// sendCallsRequest is the parameter of wallet_sendCalls, of version 2.0.0 or the older 1.0.
type sendCallsRequest struct {
	Version        string                `json:"version"`
	ID             *string               `json:"id"`
	From           *common.Address       `json:"from"`
	ChainID        *hexutil.Uint64       `json:"chainId"`
	AtomicRequired *bool                 `json:"atomicRequired"`
	Calls          []batchCall           `json:"calls"`
	Capabilities   map[string]capability `json:"capabilities"`
}

type batchCall struct {
	To           *common.Address       `json:"to"`
	Data         hexutil.Bytes         `json:"data"`
	Value        *hexutil.Big          `json:"value"`
	Capabilities map[string]capability `json:"capabilities"`
}

// check returns the error for a request that this chain cannot carry out.
func (r *sendCallsRequest) check(chainID uint64) error {
	switch {
	case r.Version != "2.0.0" && r.Version != "1.0":
		return provider(codeParams, `version %q is not supported: want "2.0.0"`, r.Version)
	case r.ChainID == nil:
		return provider(codeParams, "chainId is missing")
	case uint64(*r.ChainID) != chainID:
		return provider(codeBatchChain, "this endpoint serves chain %#x, not %#x", chainID, uint64(*r.ChainID))
	case r.AtomicRequired == nil && r.Version != "1.0":
		return provider(codeParams, "atomicRequired is missing")
	case len(r.Calls) == 0:
		return provider(codeParams, "calls is empty")
	case len(r.Calls) > maxBatchCalls:
		return provider(codeTooLarge, "the batch has %d calls: expected at most %d", len(r.Calls), maxBatchCalls)
	case r.ID != nil && (*r.ID == "" || len(*r.ID) > maxBatchID):
		return provider(codeParams, "an id has 1 to %d bytes", maxBatchID)
	}
	for name, c := range r.Capabilities {
		if !c.Optional {
			return provider(codeCapability, "the capability %s is not supported", name)
		}
	}
	for i := range r.Calls {
		for name, c := range r.Calls[i].Capabilities {
			if !c.Optional {
				return provider(codeCapability, "the capability %s of call %d is not supported", name, i)
			}
		}
		if r.Calls[i].To == nil && len(r.Calls[i].Data) == 0 {
			return provider(codeParams, "call %d has neither to nor data", i)
		}
	}
	return nil
}

// sendCallsResult names a batch.
type sendCallsResult struct {
	ID string `json:"id"`
}

// SendCalls sends a batch of calls from one of the node's accounts, by default the first, and returns the batch's id.
func (a *sendCallsAPI) SendCalls(ctx context.Context, r sendCallsRequest) (*sendCallsResult, error) {
	if err := r.check(a.node.chain.Genesis.ChainID); err != nil {
		return nil, err
	}
	from, err := a.sender(r.From)
	if err != nil {
		return nil, err
	}
	b := &batch{atomic: r.AtomicRequired != nil && *r.AtomicRequired}
	if r.ID != nil && !a.keep(*r.ID, b) {
		return nil, provider(codeDuplicateID, "there is a batch %q already", *r.ID)
	}
	var hashes []common.Hash
	if b.atomic {
		hashes, err = a.sendTogether(ctx, from, r.Calls)
	} else {
		hashes, err = a.sendEach(ctx, from, r.Calls)
	}
	if len(hashes) == 0 {
		if r.ID != nil {
			a.forget(*r.ID)
		}
		return nil, err
	}
	a.mu.Lock()
	b.hashes, b.short = hashes, err != nil
	a.mu.Unlock()
	if r.ID != nil {
		return &sendCallsResult{*r.ID}, nil
	}
	id := batchID(hashes)
	a.keep(id, b)
	return &sendCallsResult{id}, nil
}

// batchID returns the id of a batch for which its app chose none: a hash of its transactions' hashes, so that the same world gives the same one.
func batchID(hashes []common.Hash) string {
	all := make([]byte, 0, len(hashes)*common.HashLength)
	for _, hash := range hashes {
		all = append(all, hash[:]...)
	}
	return crypto.Keccak256Hash(all).Hex()
}

// sender returns the account that sends a batch.
func (a *sendCallsAPI) sender(from *common.Address) (common.Address, error) {
	accounts := a.node.Accounts()
	switch {
	case from != nil && (a.node.wallet.has(*from) || a.node.miner.Impersonation.Allows(*from)):
		return *from, nil
	case from != nil:
		return common.Address{}, provider(codeUnauthorized, "the node does not send for %s; let it with anvil_impersonateAccount", from)
	case len(accounts) == 0:
		return common.Address{}, provider(codeUnauthorized, "the node has no accounts to send for")
	}
	return accounts[0], nil
}

// keep remembers a batch, in place of the oldest. It returns false if the id is taken.
func (a *sendCallsAPI) keep(id string, b *batch) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batches[id] != nil {
		return false
	}
	if len(a.order) == batchesKept {
		delete(a.batches, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
	a.batches[id], a.order = b, append(a.order, id)
	return true
}

// forget forgets a batch of which nothing was sent.
func (a *sendCallsAPI) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.batches, id)
	a.order = slices.DeleteFunc(a.order, func(other string) bool { return other == id })
}

// unsent describes a batch's call as eth_sendTransaction takes it.
func (c *batchCall) unsent(from common.Address) reader.Call {
	call := reader.Call{From: &from, To: c.To, Value: c.Value}
	if len(c.Data) > 0 {
		call.Input = &c.Data
	}
	return call
}

// sendEach sends a transaction for each call. It returns those that it sent, and why it sent no more.
func (a *sendCallsAPI) sendEach(ctx context.Context, from common.Address, calls []batchCall) (sent []common.Hash, err error) {
	for i := range calls {
		call := calls[i].unsent(from)
		if _, err := a.node.estimate(ctx, &call); err != nil { // it is sent to revert in a block: an earlier call may be in one already
			head, err := a.node.miner.NextBlock(ctx)
			if err != nil {
				return sent, err
			}
			call.Gas = new(hexutil.Uint64(min(head.GasLimit, gasToRevert)))
		}
		hash, err := a.node.SendTransaction(ctx, call)
		if err != nil {
			return sent, err
		}
		sent = append(sent, hash)
	}
	return sent, nil
}

// gasToRevert is the gas limit of a call that cannot be estimated.
const gasToRevert = 1_000_000

// sendTogether sends a transaction for each call in a block of their own.
func (a *sendCallsAPI) sendTogether(ctx context.Context, from common.Address, calls []batchCall) ([]common.Hash, error) {
	if !a.node.miner.Automine() {
		return nil, provider(codeNotAtomic, "a batch is atomic only with automine, which is off: anvil_setAutomine turns it on")
	}
	limits, err := a.gasOf(ctx, from, calls)
	if err != nil {
		return nil, err
	}
	a.node.send.Lock()
	defer a.node.send.Unlock()
	for attempt := 1; ; attempt++ {
		transactions, err := a.write(ctx, from, calls, limits)
		if err != nil {
			return nil, err
		}
		err = a.node.miner.SendTogether(ctx, transactions, from)
		switch {
		case err == nil:
			hashes := make([]common.Hash, len(transactions))
			for i, tx := range transactions {
				hashes[i] = tx.Hash()
			}
			return hashes, nil
		case errors.Is(err, miner.ErrNotTogether):
			return nil, provider(codeNotAtomic, "%v", err)
		case !errors.Is(err, core.ErrNonceTooLow) || attempt == maxAttempts:
			return nil, refused(err)
		}
	}
}

// write makes a transaction of each call, with consecutive nonces.
func (a *sendCallsAPI) write(ctx context.Context, from common.Address, calls []batchCall, limits []hexutil.Uint64) ([]*types.Transaction, error) {
	nonce, err := a.node.miner.Nonce(ctx, from)
	if err != nil {
		return nil, err
	}
	transactions := make([]*types.Transaction, len(calls))
	for i := range calls {
		call, next := calls[i].unsent(from), hexutil.Uint64(nonce+uint64(i))
		call.Nonce, call.Gas = &next, &limits[i]
		tx, err := a.node.fill(ctx, &call)
		if err != nil {
			return nil, err
		}
		if key := a.node.wallet.key(from); key != nil {
			tx, err = secp256k1.SignTx(tx, types.LatestSignerForChainID(a.node.chainID()), key)
		} else {
			tx, err = evm.Impersonate(tx, a.node.chainID(), from)
		}
		if err == nil {
			err = checkFee(tx)
		}
		if err != nil {
			return nil, err
		}
		transactions[i] = tx
	}
	return transactions, nil
}

// gasOf returns the gas limit of each call after those before it. A call may need more than it uses, because it can pass on only 63/64 of its gas,
// so the limits are tried and, if one is too low, raised.
func (a *sendCallsAPI) gasOf(ctx context.Context, from common.Address, calls []batchCall) ([]hexutil.Uint64, error) {
	used, failed, err := a.try(ctx, from, calls, nil)
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	limits := make([]hexutil.Uint64, len(calls))
	for _, quarters := range []uint64{4, 5, 8, 16} {
		for i := range limits {
			limits[i] = hexutil.Uint64(used[i] / 4 * quarters)
			if quarters == 4 {
				limits[i] = hexutil.Uint64(used[i])
			}
		}
		if _, failed, err = a.try(ctx, from, calls, limits); err != nil || failed == nil {
			break
		}
	}
	if err == nil {
		err = failed
	}
	return limits, err
}

// try executes calls one after the other on top of the head, and returns the most gas that each held, or how the first of them failed.
func (a *sendCallsAPI) try(ctx context.Context, from common.Address, calls []batchCall, limits []hexutil.Uint64) (used []uint64, failed, err error) {
	head, err := a.node.chain.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	next, err := a.node.miner.NextBlock(ctx)
	if err != nil {
		return nil, nil, err
	}
	block := reader.BlockCalls{Block: reader.OverridesOf(next.Header)}
	if next.Time <= head.Header.Time {
		block.Block.Time = nil
	}
	for i := range calls {
		call := calls[i].unsent(from)
		if limits != nil {
			call.Gas = &limits[i]
		}
		block.Calls = append(block.Calls, call)
	}
	made, err := a.node.chain.Simulate(ctx, head, reader.Simulation{Blocks: []reader.BlockCalls{block}})
	if err != nil {
		return nil, nil, err
	}
	for i := range made[0].Calls {
		call := &made[0].Calls[i]
		if err := executionError(call.ExecutionResult); err != nil {
			return nil, &failedCallError{i, err}, nil
		}
		used = append(used, call.MaxUsedGas)
	}
	return used, nil, nil
}

// failedCallError says which call of a batch fails, with the code and the data of its failure.
type failedCallError struct {
	index int
	error
}

func (e *failedCallError) Error() string { return fmt.Sprintf("call %d: %v", e.index, e.error) }
func (e *failedCallError) Unwrap() error { return e.error }

// ErrorCode returns the code of the failure.
func (e *failedCallError) ErrorCode() int {
	if coded, ok := e.error.(interface{ ErrorCode() int }); ok {
		return coded.ErrorCode()
	}
	return -32000
}

// ErrorData returns the data of the failure.
func (e *failedCallError) ErrorData() any {
	if with, ok := e.error.(interface{ ErrorData() any }); ok {
		return with.ErrorData()
	}
	return nil
}

// The states of a batch in EIP-5792.
const (
	batchPending   = 100
	batchConfirmed = 200
	batchDropped   = 400 // nothing of it is in a block, nor waits for one
	batchReverted  = 500
	batchPartly    = 600
)

// callsStatus describes a batch.
type callsStatus struct {
	Version  string            `json:"version"`
	ID       string            `json:"id"`
	ChainID  hexutil.Uint64    `json:"chainId"`
	Status   int               `json:"status"`
	Atomic   bool              `json:"atomic"`
	Receipts []json.RawMessage `json:"receipts,omitempty"`
}

// GetCallsStatus returns a batch's EIP-5792 status, and the receipts of its transactions that are in a block.
func (a *sendCallsAPI) GetCallsStatus(ctx context.Context, id string) (*callsStatus, error) {
	b, err := a.batch(id)
	if err != nil {
		return nil, err
	}
	s := &callsStatus{Version: "2.0.0", ID: id, ChainID: hexutil.Uint64(a.node.chain.Genesis.ChainID), Atomic: b.atomic}
	waiting, succeeded := 0, 0
	for _, hash := range b.hashes {
		t, err := a.node.chain.Receipt(ctx, hash)
		if err == nil {
			err = CheckExecuted(ctx, a.node.miner, t.Block)
		}
		switch {
		case Missing(err):
			if a.node.miner.Pool.Get(hash) != nil || errors.Is(err, ErrNotExecuted) {
				waiting++
			}
		case err != nil:
			return nil, err
		default:
			s.Receipts = append(s.Receipts, marshal.Receipt(t))
			if t.Row.Status == types.ReceiptStatusSuccessful {
				succeeded++
			}
		}
	}
	switch complete := !b.short && len(s.Receipts) == len(b.hashes); {
	case len(b.hashes) == 0 || waiting > 0:
		s.Status = batchPending
	case complete && succeeded == len(b.hashes):
		s.Status = batchConfirmed
	case len(s.Receipts) == 0:
		s.Status = batchDropped
	case succeeded == 0:
		s.Status = batchReverted
	default:
		s.Status = batchPartly
	}
	return s, nil
}

// batch returns a copy of a batch.
func (a *sendCallsAPI) batch(id string) (batch, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.batches[id]; b != nil {
		return *b, nil
	}
	return batch{}, provider(codeUnknownBatch, "there is no batch %q", id)
}

// ShowCallsStatus checks that a batch exists; the node has no window to show it in.
func (a *sendCallsAPI) ShowCallsStatus(id string) error {
	_, err := a.batch(id)
	return err
}

// atomicCapability says whether batches are atomic if they must be.
type atomicCapability struct {
	Status string `json:"status"`
}

type batchCapabilities struct {
	Atomic atomicCapability `json:"atomic"`
}

// GetCapabilities returns what batches of an account can do, by chain id: atomic is supported while automine is on. It returns nothing if the list of
// chain ids lacks this chain's.
func (a *sendCallsAPI) GetCapabilities(account common.Address, chains *[]hexutil.Uint64) (map[string]batchCapabilities, error) {
	if _, err := a.sender(&account); err != nil {
		return nil, err
	}
	id := hexutil.Uint64(a.node.chain.Genesis.ChainID)
	if chains != nil && !slices.Contains(*chains, id) {
		return map[string]batchCapabilities{}, nil
	}
	status := "unsupported"
	if a.node.miner.Automine() {
		status = "supported"
	}
	return map[string]batchCapabilities{id.String(): {atomicCapability{status}}}, nil
}
