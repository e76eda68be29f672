package evm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// ErrChange refuses a change after which there could be no next block.
var ErrChange = errors.New("the chain refuses the change")

// Changes changes the state after the newest block without transactions, one change after the other, and adds what becomes known of tokens to
// known. The caller sets kind, address, key, value and owner of each change; Changes fills in the rest of its row. The next block begins with the
// changed state, and its root includes it; the newest block's header does not. The rows of the last change have the parts of tries, and those of an
// account stand where it changed last.
//
// An empty account has no storage (EIP-161, EIP-7610), so an empty account that gets storage also gets nonce 1, like a contract.
func (b *Builder) Changes(all []store.StateChange, known *index.LaterHoldings) ([]*store.StateDelta, error) {
	made, changed := make([]*store.StateDelta, len(all)), touched{}
	for i := range all {
		d, err := b.change(all[i], known)
		if err != nil {
			return nil, fmt.Errorf("change the %s of %s: %w", all[i].Kind, common.Address(all[i].Address), err)
		}
		changed.add(b.state.update)
		known.Add(d)
		made[i] = d
	}
	later := map[string]bool{}
	for i := len(made) - 1; i >= 0; i-- {
		made[i].Accounts = slices.DeleteFunc(made[i].Accounts, func(a store.Account) bool { return later[string(a.Address)] })
		for _, a := range made[i].Accounts {
			later[string(a.Address)] = true
		}
	}
	var err error
	made[len(made)-1].Tries, err = b.state.changedTries(&changed)
	return made, err
}

func (b *Builder) change(c store.StateChange, known index.Holdings) (*store.StateDelta, error) {
	states, err := state.New(b.root, b.state)
	if err != nil {
		return nil, err
	}
	if err := applyChange(b.kind, states, &c); err != nil {
		return nil, err
	}
	if c.Kind == store.StorageChange && b.schedule.HasFeeManager(b.head.Time) { // without valid fees there can be no next block
		if config, _ := precompile.StoredFeeConfig(states.GetState); config.Check() != nil {
			return nil, fmt.Errorf("%w: the fee manager cannot have it: %w", ErrChange, config.Check())
		}
	}
	number := b.head.Number.Uint64()
	root, err := states.Commit(b.rulesAt(b.head), number)
	if err != nil {
		return nil, store.Inside(err)
	}
	var rows store.Delta
	b.state.rows(&rows, b.chain, number)
	c.Chain, c.Block, c.Sequence, c.Root = b.chain, number, b.changes, root.Bytes()
	c.Digest = ChangeDigest(b.digest, &c)
	b.root, b.digest = root, c.Digest
	b.changes++
	if len(b.queue) > 0 {
		last := b.queue.head()
		last.changes = append(last.changes, c)
	}
	d := &store.StateDelta{Change: c, Accounts: rows.Accounts, Slots: rows.Slots, Codes: rows.Codes}
	if c.Kind != store.CodeChange && c.Kind != store.StorageChange {
		return d, nil
	}
	if err := b.index.AddChange(d, known, func() (*index.ContractReader, error) { return b.contractReader(b.executed) }); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return d, nil
}

func applyChange(kind Kind, states *state.StateDB, c *store.StateChange) error {
	address, stored := common.BytesToAddress(c.Address), false
	switch {
	case c.Kind == store.BalanceChange && len(c.Value) == 32:
		states.SetBalance(address, new(uint256.Int).SetBytes(c.Value), tracing.BalanceChangeUnspecified)
	case c.Kind == store.NonceChange && len(c.Value) == 8:
		states.SetNonce(address, binary.BigEndian.Uint64(c.Value), tracing.NonceChangeUnspecified)
	case c.Kind == store.CodeChange:
		states.SetCode(address, c.Value, tracing.CodeChangeUnspecified)
	case c.Kind == store.StorageChange && len(c.Value) == 32:
		stored = !bytes.Equal(c.Value, make([]byte, 32))
		states.SetState(address, StateKey(kind, common.BytesToHash(c.Key)), common.BytesToHash(c.Value))
	default:
		return fmt.Errorf("a change of %s has no value of %d bytes", c.Kind, len(c.Value))
	}
	if root := states.GetStorageRoot(address); root != (common.Hash{}) && root != types.EmptyRootHash {
		stored = true
	}
	if stored && states.Empty(address) {
		states.SetNonce(address, 1, tracing.NonceChangeUnspecified)
	}
	return Fault(states)
}

// ChangeDigest covers a chain's digest before a state change, and the change.
func ChangeDigest(before []byte, c *store.StateChange) []byte {
	h := sha256.New()
	h.Write(before)
	fmt.Fprintf(h, "change %d %s %x %x %x %x %x\n", c.Sequence, c.Kind, c.Address, c.Key, c.Value, c.Owner, c.Root)
	return h.Sum(nil)
}
