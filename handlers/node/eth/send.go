package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/handlers/fault"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
)

// sendAPI implements the eth methods that send transactions: coreth's internal/ethapi.TransactionAPI.
type sendAPI struct {
	*api
	blocks *broadcaster[*reader.BlockEvent]
	open   context.Context // ends with the endpoint
}

// rejectedCode is EIP-1474's code for a rejected transaction. Libraries recognise the errors in recognized by their text and need a node's
// usual code with them; for the others, that code would make them report missing or invalid parameters.
const rejectedCode = -32003

var recognized = []error{
	core.ErrNonceTooLow, core.ErrNonceTooHigh, core.ErrNonceMax, core.ErrInsufficientFunds, core.ErrIntrinsicGas, core.ErrFeeCapTooLow,
	core.ErrFeeCapVeryHigh, core.ErrTipAboveFeeCap, core.ErrTipVeryHigh, txpool.ErrAlreadyKnown,
}

// rejectedError is a rejection with its own code.
type rejectedError struct{ error }

func (e *rejectedError) ErrorCode() int { return rejectedCode }
func (e *rejectedError) Unwrap() error  { return e.error }

// refused gives a rejection its code.
func refused(err error) error {
	if err == nil || slices.ContainsFunc(recognized, func(known error) bool { return errors.Is(err, known) }) {
		return err
	}
	return &rejectedError{err}
}

// maxFee is the most that one transaction's gas may cost, in whole coins (coreth plugin/evm/config.NewDefaultConfig, RPCTxFeeCap).
const maxFee = 100

var errUnprotected = errors.New("only replay-protected (EIP-155) transactions allowed over RPC")

// unprotected is the hash of the one transaction that a node accepts without replay protection: the deployment of the EIP-1820 registry
// (coreth plugin/evm/config.NewDefaultConfig, AllowUnprotectedTxHashes).
var unprotected = common.HexToHash("0xfefb2da535e927b85fe68eb81cb2e4a5827c905f78381a01ef2322aa9b0aee8e")

// replayable reports whether a node accepts a transaction without replay protection (coreth eth.EthAPIBackend.UnprotectedAllowed). It also
// accepts the first transaction of an account without a key (Nick's method): with r = s, the sender follows from the signature.
func replayable(tx *types.Transaction) bool {
	_, r, s := tx.RawSignatureValues()
	return tx.Hash() == unprotected || tx.Nonce() == 0 && r.Cmp(s) == 0
}

// checkFee refuses a transaction that may cost too much, as far as a float can tell (coreth internal/ethapi.checkTxFee).
func checkFee(tx *types.Transaction) error {
	fee := new(big.Float).SetInt(new(big.Int).Mul(tx.GasPrice(), new(big.Int).SetUint64(tx.Gas())))
	if coins, _ := fee.Quo(fee, new(big.Float).SetInt(big.NewInt(params.Ether))).Float64(); coins > maxFee {
		return fmt.Errorf("tx fee (%.2f ether) exceeds the configured cap (%.2f ether)", coins, float64(maxFee))
	}
	return nil
}

// submit sends a transaction, after the checks that a node makes before it asks its pool (coreth internal/ethapi.SubmitTransaction).
func (a *api) submit(ctx context.Context, tx *types.Transaction) (common.Hash, error) {
	return a.submitBy(tx, func() error { return a.miner.Send(ctx, tx) })
}

func (a *api) submitBy(tx *types.Transaction, send func() error) (common.Hash, error) {
	err := checkFee(tx)
	if err == nil && !tx.Protected() && !replayable(tx) {
		err = errUnprotected
	}
	if err == nil {
		err = send()
	}
	if err != nil {
		return common.Hash{}, refused(err)
	}
	return tx.Hash(), nil
}

// SignedTransaction reads the bytes of a signed transaction.
func SignedTransaction(raw []byte) (*types.Transaction, error) {
	if len(raw) > 1 && raw[0] == types.SetCodeTxType { // libevm core/types.Transaction.UnmarshalBinary knows no such type
		return nil, refused(core.ErrTxTypeNotSupported)
	}
	tx := new(types.Transaction)
	return tx, tx.UnmarshalBinary(raw)
}

// SendRawTransaction accepts a signed transaction. With automine, a block contains it by the time the response arrives.
func (a *sendAPI) SendRawTransaction(ctx context.Context, raw hexutil.Bytes) (common.Hash, error) {
	tx, err := SignedTransaction(raw)
	if err != nil {
		return common.Hash{}, err
	}
	return a.sendSigned(ctx, tx)
}

// sendSigned accepts a signed transaction, which a fault may hold in the pool.
func (a *sendAPI) sendSigned(ctx context.Context, tx *types.Transaction) (common.Hash, error) {
	if wait, late := fault.MiningOf(ctx); late {
		return a.sendLate(ctx, tx, wait)
	}
	return a.submit(ctx, tx)
}

// sendLate accepts a signed transaction and holds it in the pool for a number of milliseconds, for ever if negative.
func (a *sendAPI) sendLate(ctx context.Context, tx *types.Transaction, wait int64) (common.Hash, error) {
	var until time.Time
	if wait >= 0 {
		until = time.Now().Add(time.Duration(wait) * time.Millisecond)
	}
	held := a.miner.Pool.Hold(tx.Hash(), until)
	hash, err := a.submit(ctx, tx)
	if err != nil {
		return hash, errors.Join(err, a.miner.Release(ctx, tx.Hash(), held))
	}
	if wait >= 0 {
		go func() {
			select {
			case <-time.After(time.Duration(wait) * time.Millisecond):
				_ = a.miner.Release(a.open, tx.Hash(), held) // a transaction that cannot be mined stays in the pool, where clients find it
			case <-a.open.Done():
			}
		}()
	}
	return hash, nil
}

// How long SendRawTransactionSync waits (go-ethereum eth/ethconfig.Defaults).
const (
	syncTimeout    = 20 * time.Second
	maxSyncTimeout = time.Minute
)

// syncTimeoutError names a transaction that is in the pool but in no block yet (EIP-7966).
type syncTimeoutError struct {
	waited time.Duration
	hash   common.Hash
}

func (e *syncTimeoutError) Error() string {
	return fmt.Sprintf("The transaction was added to the transaction pool but wasn't processed in %v", e.waited)
}
func (e *syncTimeoutError) ErrorCode() int { return 4 }
func (e *syncTimeoutError) ErrorData() any { return e.hash.Hex() }

// SendRawTransactionSync accepts a signed transaction and returns its receipt once a block contains it (EIP-7966). timeout is in
// milliseconds.
func (a *sendAPI) SendRawTransactionSync(ctx context.Context, raw hexutil.Bytes, timeout *Quantity) (json.RawMessage, error) {
	return a.await(ctx, timeout, func() (common.Hash, error) { return a.SendRawTransaction(ctx, raw) })
}

// await sends a transaction and returns its receipt once a block contains it.
func (a *sendAPI) await(ctx context.Context, timeout *Quantity, send func() (common.Hash, error)) (json.RawMessage, error) {
	blocks, err := a.blocks.subscribe()
	if err != nil {
		return nil, err
	}
	defer a.blocks.unsubscribe(blocks)
	hash, err := send()
	if err != nil {
		return nil, err
	}
	wait := syncTimeout
	if timeout != nil && *timeout > 0 {
		wait = time.Duration(min(*timeout, Quantity(maxSyncTimeout/time.Millisecond))) * time.Millisecond
	}
	late := time.After(wait)
	for {
		if receipt, err := a.receipt(ctx, hash); err != nil || receipt != nil {
			return receipt, err
		}
		select {
		case _, open := <-blocks:
			if !open {
				return nil, &syncTimeoutError{wait, hash}
			}
		case <-late:
			return nil, &syncTimeoutError{wait, hash}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
