package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// VerifyChain builds an EVM chain again from its genesis and the bytes of its transactions, and compares every row of the
// file with what comes out. Each block that agrees is reported. The error names the first difference.
func VerifyChain(ctx context.Context, db *store.DB, c *reader.Chain, report func(*store.Delta)) error {
	v := &chainVerifier{db: db, chain: c}
	b, delta, err := evm.NewBuilder(c.Row.ID, c.Genesis)
	if err != nil {
		return err
	}
	b.SetWarpContext(c.WarpContext)
	head, err := db.Head(ctx, c.Row.ID)
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	for number := uint64(0); ; number++ {
		if err := v.compare(ctx, delta); err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
		report(delta)
		if number == head.ID.Number() {
			break
		}
		if delta, err = v.rebuild(ctx, b, number+1); err != nil {
			return fmt.Errorf("block %d: %w", number+1, err)
		}
	}
	return v.compareRoot(ctx, b)
}

// chainVerifier compares one EVM chain of the file with what its transactions make of it.
type chainVerifier struct {
	db    *store.DB
	chain *reader.Chain
}

// rebuild executes the stored transactions of a block.
func (v *chainVerifier) rebuild(ctx context.Context, b *evm.Builder, number uint64) (*store.Delta, error) {
	row, err := v.db.Block(ctx, v.chain.Row.ID, number)
	if err != nil {
		return nil, err
	}
	transactions, err := v.db.Transactions(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	header, err := evm.DecodeHeader(v.chain.Kind, row.Header)
	if err != nil {
		return nil, err
	}
	override, err := v.db.BlockOverride(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	p, err := b.OpenWith(header.TimeMilliseconds, evm.OverrideOf(override))
	if err != nil {
		return nil, err
	}
	p.Desire(header.Claimed(v.chain.Kind))
	for i := range transactions {
		if err := v.apply(p, &transactions[i]); err != nil {
			return nil, fmt.Errorf("transaction %d: %w", transactions[i].ID.Index(), err)
		}
	}
	atomic, err := txs.ParseAtomicBatch(row.ExtData)
	if err != nil {
		return nil, err
	}
	if err := p.Atomic(atomic, nil); err != nil {
		return nil, err
	}
	return p.Seal()
}

// apply recovers the sender of a stored transaction from its signature and executes it.
func (v *chainVerifier) apply(p *evm.Pending, row *store.Transaction) error {
	tx, sender, err := v.chain.Recover(row.Raw)
	if err != nil {
		return err
	}
	_, err = p.Apply(tx, sender)
	return err
}

// compare looks every row of a block up and compares it, column by column.
func (v *chainVerifier) compare(ctx context.Context, want *store.Delta) error {
	at := want.Block.ID
	block, err := v.db.Block(ctx, v.chain.Row.ID, at.Number())
	if err != nil {
		return err
	}
	if err := same("block", block, &want.Block); err != nil {
		return err
	}
	transactions, err := v.db.Transactions(ctx, at)
	if err := errors.Join(err, sameRows("transaction", transactions, want.Transactions)); err != nil {
		return err
	}
	logs, err := v.db.LogsBetween(ctx, at, at.End(), math.MaxInt32)
	if err := errors.Join(err, sameRows("log", logs, want.Logs)); err != nil {
		return err
	}
	calls, err := v.db.Calls(ctx, at)
	if err := errors.Join(err, sameRows("call", calls, want.Calls)); err != nil {
		return err
	}
	if err := v.compareState(ctx, want); err != nil {
		return err
	}
	return v.compareIndex(ctx, want)
}

func (v *chainVerifier) compareState(ctx context.Context, want *store.Delta) error {
	for i := range want.Accounts {
		w := &want.Accounts[i]
		have, err := v.db.Account(ctx, v.chain.Row.ID, w.Address, w.Block)
		if err == nil {
			err = same("account", have, w)
		}
		if err != nil {
			return fmt.Errorf("account %s: %w", common.BytesToAddress(w.Address), err)
		}
	}
	for i := range want.Slots {
		w := &want.Slots[i]
		have, err := v.db.SlotRow(ctx, v.chain.Row.ID, w.Address, w.Key, w.Block)
		if err == nil {
			err = same("slot", have, w)
		}
		if err != nil {
			return fmt.Errorf("slot %x of %s: %w", w.Key, common.BytesToAddress(w.Address), err)
		}
	}
	for i := range want.Codes {
		code, err := v.db.Code(ctx, want.Codes[i].Hash)
		if err == nil && !bytes.Equal(code, want.Codes[i].Code) {
			err = errors.New("is not the code that was deployed")
		}
		if err != nil {
			return fmt.Errorf("code %x: %w", want.Codes[i].Hash, err)
		}
	}
	return nil
}

// compareRoot hashes the flat rows at the head and compares the root with the header's.
func (v *chainVerifier) compareRoot(ctx context.Context, b *evm.Builder) error {
	head, _ := b.Head()
	tree, err := evm.NewFlatState(ctx, v.db, v.chain.Row.ID, head.Number.Uint64()).AccountTrie(v.chain.Kind)
	if err != nil {
		return err
	}
	if root := tree.Hash(); root != head.Root {
		return fmt.Errorf("the flat state at block %d hashes to %s, the header says %s", head.Number, root, head.Root)
	}
	return nil
}

// sameRows compares rows one by one.
func sameRows[T any](noun string, have, want []T) error {
	for i := range min(len(have), len(want)) {
		if err := same(noun, &have[i], &want[i]); err != nil {
			return fmt.Errorf("%s %d: %w", noun, i, err)
		}
	}
	if len(have) != len(want) {
		return fmt.Errorf("%d %ss, execution makes %d", len(have), noun, len(want))
	}
	return nil
}

// same compares two rows column by column. The driver reads an empty blob as an absent one; the schema's checks keep the
// two apart, and the integrity check looks at those.
func same[T any](noun string, have, want *T) error {
	h, w := reflect.ValueOf(have).Elem(), reflect.ValueOf(want).Elem()
	for i := range h.NumField() {
		a, b := h.Field(i).Interface(), w.Field(i).Interface()
		if h.Field(i).Kind() == reflect.Slice {
			if x, y := h.Field(i).Bytes(), w.Field(i).Bytes(); !bytes.Equal(x, y) {
				return fmt.Errorf("%s's %s is %x, it should be %x", noun, h.Type().Field(i).Name, x, y)
			}
		} else if a != b {
			return fmt.Errorf("%s's %s is %v, it should be %v", noun, h.Type().Field(i).Name, a, b)
		}
	}
	return nil
}
