package eth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// reorgAPI implements anvil's methods that replace or remove a chain's newest blocks, for clients that also run on other networks. The real
// network never reorganises: its chains accept a block for good.
type reorgAPI struct {
	*walletAPI
	world *sim.World
	log   *slog.Logger // may be nil
}

const (
	maxReorg    = 1_000 // blocks that one request may replace
	maxReorgTxs = 10_000
)

// badReorg reports an impossible reorganisation with the code of invalid parameters, as anvil does.
type badReorg struct{ error }

func (badReorg) ErrorCode() int  { return -32602 }
func (e badReorg) Unwrap() error { return e.error }

// reorgTx is a transaction for one of the new blocks: a list of the transaction, signed and in hexadecimal or as an eth_sendTransaction
// object, and the number of the new block, counted from 0.
type reorgTx struct {
	raw   hexutil.Bytes // nil for a call
	call  reader.Call
	block uint64
}

// UnmarshalJSON reads such a list.
func (t *reorgTx) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return errors.New("expected a list of a transaction and the number of a block")
	}
	if err := json.Unmarshal(pair[1], &t.block); err != nil {
		return errors.New("the number of a block counts the new blocks from 0")
	}
	if len(pair[0]) > 0 && pair[0][0] == '"' {
		return json.Unmarshal(pair[0], &t.raw)
	}
	return json.Unmarshal(pair[0], &t.call)
}

// Reorg replaces a number of the newest blocks with as many others, which are empty or contain the given transactions.
func (a *reorgAPI) Reorg(ctx context.Context, depth Quantity, transactions *[]reorgTx) error {
	switch {
	case depth > maxReorg:
		return badReorg{fmt.Errorf("the depth is %d: expected at most %d", depth, maxReorg)}
	case transactions == nil:
		transactions = &[]reorgTx{}
	case len(*transactions) > maxReorgTxs:
		return badReorg{fmt.Errorf("there are %d transactions: expected at most %d", len(*transactions), maxReorgTxs)}
	}
	blocks, err := a.reorgBlocks(ctx, uint64(depth), *transactions)
	if err != nil {
		return err
	}
	return a.reorg(ctx, uint64(depth), blocks)
}

// Rollback removes a number of the newest blocks, one by default.
func (a *reorgAPI) Rollback(ctx context.Context, depth *Quantity) error {
	return a.reorg(ctx, uint64(*cmp.Or(depth, new(Quantity(1)))), nil)
}

func (a *reorgAPI) reorg(ctx context.Context, depth uint64, blocks [][]*miner.Transaction) error {
	err := a.world.Reorg(ctx, a.chain, depth, blocks)
	switch {
	case errors.Is(err, sim.ErrReorg):
		return badReorg{err}
	case a.log != nil && depth > 0:
		a.log.Warn("accepted blocks were removed, which never happens on the real network",
			"chain", a.chain.Row.EVMID, "removed", depth, "made", len(blocks))
	}
	return err
}

// reorgBlocks distributes the transactions over the new blocks. Nonces continue from the newest block that stays.
func (a *reorgAPI) reorgBlocks(ctx context.Context, depth uint64, transactions []reorgTx) ([][]*miner.Transaction, error) {
	blocks := make([][]*miner.Transaction, depth)
	slices.SortStableFunc(transactions, func(x, y reorgTx) int { return int(min(x.block, depth)) - int(min(y.block, depth)) })
	nonces := map[common.Address]uint64{}
	for i := range transactions {
		t := &transactions[i]
		if t.block >= depth {
			return nil, badReorg{fmt.Errorf("block number for reorg tx will exceed the reorged chain height: block number %d must not exceed (depth-1) %d", t.block, int64(depth)-1)}
		}
		tx, err := a.reorgTx(ctx, depth, t, nonces)
		if err != nil {
			return nil, badReorg{fmt.Errorf("transaction %d: %w", i, err)}
		}
		blocks[t.block] = append(blocks[t.block], tx)
	}
	return blocks, nil
}

// reorgTx reads a transaction, or fills it in and signs it.
func (a *reorgAPI) reorgTx(ctx context.Context, depth uint64, t *reorgTx, nonces map[common.Address]uint64) (*miner.Transaction, error) {
	if t.raw != nil {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(t.raw); err != nil {
			return nil, err
		}
		sender, err := a.miner.Pool.Sender(tx)
		return &miner.Transaction{Transaction: tx, Sender: sender}, err
	}
	call := &t.call
	if call.From == nil {
		accounts := a.wallet.addresses()
		if len(accounts) == 0 {
			return nil, errAccount
		}
		call.From = &accounts[0]
	}
	from := *call.From
	unsigned := !a.wallet.has(from) && a.miner.Impersonation.Allows(from)
	if !unsigned && !a.wallet.has(from) {
		return nil, keylessError{from}
	}
	if err := a.fillAfter(ctx, depth, call, nonces); err != nil {
		return nil, err
	}
	var tx *types.Transaction
	var err error
	if unsigned {
		if tx, err = a.fill(ctx, call); err == nil {
			tx, err = evm.Impersonate(tx, a.chainID(), from)
		}
	} else {
		tx, err = a.signed(ctx, call)
	}
	return &miner.Transaction{Transaction: tx, Sender: from}, err
}

// fillAfter fills in nonce and gas as of the newest block that stays. A transaction that works only after another new one gets a whole
// block's gas.
func (a *reorgAPI) fillAfter(ctx context.Context, depth uint64, call *reader.Call, nonces map[common.Address]uint64) error {
	head, err := a.chain.Head(ctx)
	if err != nil {
		return err
	}
	last, err := a.chain.Block(ctx, head.Number-min(depth, head.Number))
	if err != nil {
		return err
	}
	if call.Nonce == nil {
		next, known := nonces[*call.From]
		if !known {
			states, err := a.chain.State(ctx, last)
			if err != nil {
				return err
			}
			next = states.GetNonce(*call.From)
			if err := evm.Fault(states); err != nil {
				return err
			}
		}
		nonces[*call.From] = next + 1
		call.Nonce = (*hexutil.Uint64)(&next)
	}
	if call.Gas == nil {
		unpriced := *call
		unpriced.Nonce = nil
		gas, result, err := a.chain.Estimate(ctx, last, &unpriced, reader.Overrides{})
		switch {
		case store.Internal(err):
			return err
		case err != nil || result != nil:
			gas = head.Header.GasLimit
		}
		call.Gas = (*hexutil.Uint64)(&gas)
	}
	return nil
}
