package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/fault"
	"snowglobe/sim/evm/reader"
)

// maxConditions is the maximum number of accounts and slots that one condition may name (EIP-7796; op-geth, TransactionConditionalMaxCost).
const maxConditions = 1_000

// condition says when a transaction may be included (EIP-7796).
type condition struct {
	KnownAccounts  map[common.Address]knownStorage `json:"knownAccounts"`
	BlockNumberMin *Quantity                       `json:"blockNumberMin"`
	BlockNumberMax *Quantity                       `json:"blockNumberMax"`
	TimestampMin   *Quantity                       `json:"timestampMin"`
	TimestampMax   *Quantity                       `json:"timestampMax"`
}

// knownStorage is a contract's expected storage: the root of all of it, or the values of some slots.
type knownStorage struct {
	root  *common.Hash
	slots map[common.Hash]common.Hash
}

// UnmarshalJSON reads the text of a root, or an object of slots.
func (k *knownStorage) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &k.root)
	}
	return json.Unmarshal(data, &k.slots)
}

// unmetError refuses a transaction whose condition does not hold, with EIP-7796's code and text.
type unmetError string

func (e unmetError) Error() string { return "transaction rejected: " + string(e) }
func (unmetError) ErrorCode() int  { return rejectedCode }

// SendRawTransactionConditional accepts a signed transaction if conditions hold for the next block (EIP-7796): its number and time, and the storage
// of contracts. With automine, that block contains the transaction. Without, the transaction waits in the pool, and nothing checks the conditions
// again.
func (a *sendAPI) SendRawTransactionConditional(ctx context.Context, raw hexutil.Bytes, conditions condition) (common.Hash, error) {
	tx, err := SignedTransaction(raw)
	if err != nil {
		return common.Hash{}, err
	}
	cost := len(conditions.KnownAccounts)
	for _, known := range conditions.KnownAccounts {
		cost += len(known.slots)
	}
	if cost > maxConditions {
		return common.Hash{}, limitError(fmt.Sprintf("the conditions name %d accounts and slots: expected at most %d", cost, maxConditions))
	}
	if _, late := fault.MiningOf(ctx); late {
		return common.Hash{}, errors.New("a mining fault cannot hold a transaction with conditions")
	}
	return a.submitBy(tx, func() error { return a.miner.SendIf(ctx, tx, func() error { return a.meets(ctx, &conditions) }) })
}

// meets reports which condition the next block does not meet.
func (a *api) meets(ctx context.Context, c *condition) error {
	next, err := a.miner.NextBlock(ctx)
	if err != nil {
		return err
	}
	for _, bound := range []struct {
		what     string
		is       uint64
		min, max *Quantity
	}{{"block number", next.Number.Uint64(), c.BlockNumberMin, c.BlockNumberMax}, {"timestamp", next.Time, c.TimestampMin, c.TimestampMax}} {
		switch {
		case bound.min != nil && bound.is < uint64(*bound.min):
			return unmetError(fmt.Sprintf("the next block's %s is %d: expected at least %d", bound.what, bound.is, *bound.min))
		case bound.max != nil && bound.is > uint64(*bound.max):
			return unmetError(fmt.Sprintf("the next block's %s is %d: expected at most %d", bound.what, bound.is, *bound.max))
		}
	}
	head, err := a.chain.Head(ctx)
	if err != nil {
		return err
	}
	for _, address := range slices.SortedFunc(maps.Keys(c.KnownAccounts), common.Address.Cmp) {
		known := c.KnownAccounts[address]
		if err := a.knows(ctx, head, address, &known); err != nil {
			return err
		}
	}
	return nil
}

// knows compares a contract's storage with what is expected.
func (a *api) knows(ctx context.Context, b *reader.Block, address common.Address, known *knownStorage) error {
	if known.root != nil {
		account, err := a.chain.Account(ctx, b, address)
		if err == nil && account.Root != *known.root {
			err = unmetError(fmt.Sprintf("the storage root of %s is %s: expected %s", address, account.Root, *known.root))
		}
		return err
	}
	for _, slot := range slices.SortedFunc(maps.Keys(known.slots), common.Hash.Cmp) {
		value, err := a.chain.Slot(ctx, b, address, slot)
		if err != nil {
			return err
		}
		if value != known.slots[slot] {
			return unmetError(fmt.Sprintf("slot %s of %s is %s: expected %s", slot, address, value, known.slots[slot]))
		}
	}
	return nil
}
