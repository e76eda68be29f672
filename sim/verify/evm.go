package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// VerifyChain rebuilds an EVM chain from its genesis and the bytes of its transactions, and compares every row of the file with the result.
// It reports each block that agrees. The error names the first difference.
func VerifyChain(ctx context.Context, db *store.DB, c *reader.Chain, report func(*store.Delta)) error {
	v := &chainVerifier{db: db, chain: c, report: report, tokens: map[store.TokenID]store.Token{}}
	b, delta, err := evm.NewBuilder(c.Row.ID, c.Genesis)
	if err != nil {
		return err
	}
	b.SetNetworkContext(c.NetworkContext)
	head, err := db.Head(ctx, c.Row.ID)
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	for number := uint64(0); ; number++ {
		if err := v.block(ctx, b, delta); err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
		if number == head.ID.Number() {
			break
		}
		if delta, err = v.rebuild(ctx, b, number+1); err != nil {
			return fmt.Errorf("block %d: %w", number+1, err)
		}
	}
	return errors.Join(v.compareTokens(ctx), v.compareRoot(ctx, b))
}

// chainVerifier compares one EVM chain in the file with a rebuilt one.
type chainVerifier struct {
	db     *store.DB
	chain  *reader.Chain
	report func(*store.Delta)
	tokens map[store.TokenID]store.Token // after all blocks so far
}

// block makes the state changes after a block again, and compares the block with the rows that remain its own.
func (v *chainVerifier) block(ctx context.Context, b *evm.Builder, delta *store.Delta) error {
	for _, t := range delta.Tokens {
		v.tokens[t.ID] = t
	}
	if err := v.change(ctx, b, delta); err != nil {
		return err
	}
	if err := v.compare(ctx, delta); err != nil {
		return err
	}
	v.report(delta)
	return nil
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
	impersonated, err := v.db.ImpersonatedTxs(ctx, row.ID.Block(), row.ID.End())
	if err != nil {
		return nil, err
	}
	for i := range transactions {
		unsigned := slices.Contains(impersonated, store.ImpersonatedTx{ID: transactions[i].ID})
		if err := v.apply(p, &transactions[i], unsigned); err != nil {
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

// apply recovers the sender of a stored transaction from its signature and executes it. An unsigned one names its sender in place of the
// signature.
func (v *chainVerifier) apply(p *evm.BlockExecution, row *store.Transaction, unsigned bool) error {
	tx, sender, err := v.chain.Recover(row.Raw)
	if unsigned && tx != nil {
		sender, err = common.BytesToAddress(row.Sender), nil
		if !evm.Impersonates(tx, sender) {
			err = fmt.Errorf("it is unsigned, but does not name %s as its sender", sender)
		}
	}
	if err != nil {
		return err
	}
	_, err = p.Apply(tx, sender)
	return err
}

// compare looks up every row of a block and compares it, column by column.
func (v *chainVerifier) compare(ctx context.Context, want *store.Delta) error {
	at := want.Block.ID
	return cmp.Or(
		like("block", &want.Block)(v.db.Block(ctx, v.chain.Row.ID, at.Number())),
		rowsLike("transaction", want.Transactions)(v.db.Transactions(ctx, at)),
		rowsLike("impersonated transaction", want.Impersonated)(v.db.ImpersonatedTxs(ctx, at, at.End())),
		rowsLike("log", want.Logs)(v.db.LogsBetween(ctx, at, at.End(), math.MaxInt32)),
		rowsLike("call", want.Calls)(v.db.Calls(ctx, at)),
		v.compareState(ctx, want),
		v.compareIndex(ctx, want),
	)
}

func (v *chainVerifier) compareState(ctx context.Context, want *store.Delta) error {
	for i := range want.Accounts {
		w := &want.Accounts[i]
		if err := like("account", w)(v.db.Account(ctx, v.chain.Row.ID, w.Address, w.Block)); err != nil {
			return fmt.Errorf("account %s: %w", common.BytesToAddress(w.Address), err)
		}
	}
	for i := range want.Slots {
		w := &want.Slots[i]
		if err := like("slot", w)(v.db.SlotRow(ctx, v.chain.Row.ID, w.Address, w.Key, w.Block)); err != nil {
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

// compareRoot hashes the flat rows at the head and compares the root with the header's, or with that of the changes after it.
func (v *chainVerifier) compareRoot(ctx context.Context, b *evm.Builder) error {
	head, _ := b.Head()
	tree, err := evm.NewFlatState(ctx, v.db, v.chain.Row.ID, head.Number.Uint64()).AccountTrie(v.chain.Kind)
	if err != nil {
		return err
	}
	if root := tree.Hash(); root != b.Root() {
		return fmt.Errorf("the flat state at block %d hashes to %s, want %s", head.Number, root, b.Root())
	}
	return checkParts(ctx, v.db, v.chain, head.Number.Uint64(), b.Root())
}

// checkParts hashes the contents of the parts of a chain's tries at its newest block.
func checkParts(ctx context.Context, db *store.DB, c *reader.Chain, head uint64, root common.Hash) error {
	owners, err := db.TrieOwners(ctx, c.Row.ID)
	if err != nil {
		return err
	}
	state := evm.NewFlatState(ctx, db, c.Row.ID, head)
	accounts, err := db.AccountsAt(ctx, c.Row.ID, head)
	if err != nil {
		return err
	}
	if err := state.CompareBalances(accounts); err != nil {
		return err
	}
	for _, owner := range owners {
		want := root
		if len(owner) > 0 {
			account, err := state.Account(common.BytesToAddress(owner))
			if err != nil {
				return err
			}
			if want = (common.Hash{}); account != nil {
				want = account.Root
			}
		}
		tree, err := state.PartsOf(c.Kind, owner, want)
		if err == nil && tree == nil {
			err = fmt.Errorf("they do not hash to the root %s", want)
		}
		if err == nil {
			err = tree.LoadAll()
		}
		if err != nil {
			return fmt.Errorf("parts of the trie of 0x%x: %w", owner, err)
		}
	}
	return nil
}

// rowsLike compares the rows that a look-up returns one by one.
func rowsLike[T any](noun string, want []T) func(have []T, err error) error {
	return func(have []T, err error) error {
		if err != nil {
			return err
		}
		for i := range min(len(have), len(want)) {
			if err := same(noun, &have[i], &want[i]); err != nil {
				return fmt.Errorf("%s %d: %w", noun, i, err)
			}
		}
		if len(have) != len(want) {
			return fmt.Errorf("%d %ss, but execution makes %d", len(have), noun, len(want))
		}
		return nil
	}
}

// like is same for the row that a look-up returns.
func like[T any](noun string, want *T) func(have *T, err error) error {
	return func(have *T, err error) error {
		if err != nil {
			return err
		}
		return same(noun, have, want)
	}
}

// same compares two rows column by column. The driver reads an empty blob as an absent one; the schema's constraints keep the two apart,
// and the integrity check tests those.
func same[T any](noun string, have, want *T) error {
	h, w := reflect.ValueOf(have).Elem(), reflect.ValueOf(want).Elem()
	for i := range h.NumField() {
		a, b := h.Field(i).Interface(), w.Field(i).Interface()
		if h.Field(i).Kind() == reflect.Slice {
			if x, y := h.Field(i).Bytes(), w.Field(i).Bytes(); !bytes.Equal(x, y) {
				return fmt.Errorf("%s's %s is %x, but should be %x", noun, h.Type().Field(i).Name, x, y)
			}
		} else if a != b {
			return fmt.Errorf("%s's %s is %v, but should be %v", noun, h.Type().Field(i).Name, a, b)
		}
	}
	return nil
}
