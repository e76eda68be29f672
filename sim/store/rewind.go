package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store/undo"
)

// RewindOptions selects the blocks that Rewind removes.
type RewindOptions struct {
	To int64 // sequence number of the newest commit that stays

	// If Chain is set, Rewind removes only that EVM chain's blocks above After and leaves the other chains alone. The metrics still go back to
	// the commit To, which PlanRewind finds.
	Chain int
	After uint64
}

// Rewind takes the world, or one chain, back. Nothing else removes rows of blocks.
//
// Without a chain it undoes commits, newest first, and the batch may change nothing else. With a chain it removes the chain's newest blocks
// and everything they added, including exports requested and webhook messages promised since the first of them. The batch must then count
// the remaining blocks in the metrics again and update the parts of the chain's tries.
func (b *Batch) Rewind(o RewindOptions) error {
	b.tokens, b.rollup = true, nil
	b.db.forgetRows()
	if o.Chain > 0 {
		return b.removeBlocks(o)
	}
	b.aside, b.boundary, b.to, b.primary = true, true, o.To, true
	u := b.db.recorder.Undo(b.tx.Tx)
	err := inTurn(
		func() error { return b.eachUndo(o.To, u.Plan) },
		u.TakeRuns,
		func() error { return b.eachUndo(o.To, u.TakeRest) },
	)
	if err = errors.Join(err, b.exec(`DELETE FROM undo WHERE sequence > ?`, o.To), b.exec(`DELETE FROM pooled_tx`)); err != nil {
		return err
	}
	m, err := readMeta(context.Background(), b)
	if err != nil {
		return err
	}
	return b.SetMeta(m)
}

// eachUndo visits the steps of the commits after a given one, newest first.
func (b *Batch) eachUndo(after int64, visit func(steps []byte) error) error {
	next := b.last.Sequence
	var failed error
	err := each(context.Background(), b, func(r *undoRow) {
		if failed != nil || r.Sequence != next {
			return
		}
		next--
		if err := visit(r.Steps); err != nil {
			failed = fmt.Errorf("undo %d: %w", r.Sequence, err)
		}
	}, `SELECT sequence, steps FROM undo WHERE sequence > ? ORDER BY sequence DESC`, after)
	if err := cmp.Or(failed, err); err != nil {
		return err
	}
	if next > after {
		return Damaged(fmt.Errorf("undo %d: %w", next, ErrNotFound))
	}
	return nil
}

// HeadsBefore returns the heights, by EVM chain, that undoing every commit after a given one would leave. Chains that would not change are
// absent.
func (db *DB) HeadsBefore(ctx context.Context, sequence int64) (map[int]uint64, error) {
	heads := map[int]uint64{}
	var problem error
	err := each(ctx, db, func(steps *[]byte) {
		blocks, err := db.recorder.Additions(*steps, "block")
		problem = errors.Join(problem, err)
		fall(heads, blocks)
	}, `SELECT steps FROM undo WHERE sequence > ? ORDER BY sequence`, sequence)
	return heads, Damaged(errors.Join(err, problem))
}

// fall lowers the heights below the blocks that a commit added.
func fall(heads map[int]uint64, changes []undo.Change) {
	for _, c := range changes {
		if c.Table() != "block" || !c.Added() {
			continue
		}
		at := positionOf(c)
		if head, known := heads[at.Chain()]; !known || at.Number()-1 < head {
			heads[at.Chain()] = at.Number() - 1
		}
	}
}

func positionOf(c undo.Change) Position {
	id, _ := c.Value("id").(int64)
	return Position(id)
}

// ChainRewind is a plan for removing an EVM chain's newest blocks.
type ChainRewind struct {
	RewindOptions
	Heads map[int]uint64 // heights of the EVM chains after the commit To; chains that have not grown since are absent

	// The state that the blocks changed.
	Accounts map[common.Address]bool
	Slots    map[common.Address]map[common.Hash]bool
}

// PlanRewind finds the newest boundary before the chain's block after+1 was added, and before every block was added that a later rewind
// removed. A boundary of the metrics is a snapshot, the generated world, or a multiple of mergeEvery. PlanRewind returns ErrNotFound if the
// block was generated, and ErrMerged if a commit on the way cannot be undone alone.
func (db *DB) PlanRewind(ctx context.Context, chain int, after uint64) (*ChainRewind, error) {
	all, err := db.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	boundaries := map[int64]bool{0: true}
	for _, s := range all {
		boundaries[s.Sequence] = true
	}
	p := &ChainRewind{RewindOptions{Chain: chain, After: after}, map[int]uint64{}, map[common.Address]bool{}, map[common.Address]map[common.Hash]bool{}}
	open := map[Position]bool{At(chain, after+1, 0): true} // blocks whose insertion is further back
	for p.To = db.lastCommit.Load().Sequence; len(open) > 0 || !boundaries[p.To] && p.To%mergeEvery > 0; p.To-- {
		if p.To == 0 {
			return nil, ErrNotFound
		}
		steps, err := value[[]byte](ctx, db, `SELECT steps FROM undo WHERE sequence = ?`, p.To)
		if err != nil {
			return nil, Damaged(fmt.Errorf("undo %d: %w", p.To, err))
		}
		if undo.Merged(steps) {
			return nil, ErrMerged
		}
		changes, err := db.recorder.Changes(steps)
		if err != nil {
			return nil, Damaged(fmt.Errorf("undo %d: %w", p.To, err))
		}
		fall(p.Heads, changes)
		for _, c := range changes {
			p.note(c)
			if c.Table() == "block" && !c.Added() {
				open[positionOf(c)] = true
			}
		}
		for _, c := range changes {
			if c.Table() == "block" && c.Added() {
				delete(open, positionOf(c))
			}
		}
	}
	return p, nil
}

// removes reports whether a change concerns a row of the removed blocks.
func (o *RewindOptions) removes(c undo.Change) bool {
	return tablesOfBlocks()[c.Table()].isOf(o.Chain, o.After, c.Value)
}

// note adds the account or slot of a removed row to the plan.
func (p *ChainRewind) note(c undo.Change) {
	table := c.Table()
	if table != "account" && table != "slot" || !p.removes(c) {
		return
	}
	raw, _ := c.Value("address").([]byte)
	address := common.BytesToAddress(raw)
	if table == "account" {
		p.Accounts[address] = true
		return
	}
	if p.Slots[address] == nil {
		p.Slots[address] = map[common.Hash]bool{}
	}
	key, _ := c.Value("key").([]byte)
	p.Slots[address][common.BytesToHash(key)] = true
}

// removal is the state of removeBlocks on its way back through the commits.
type removal struct {
	RewindOptions
	b    *Batch
	undo *undo.Undo

	found bool // the commit that added the first of the blocks has been seen

	operations []int64
	codes      map[string]bool // hashes of contract code added since the commit To
	orphans    map[string]bool // hashes of the code of removed accounts
	accounts   [][]any         // keys of rows that other blocks have added since
}

func (b *Batch) removeBlocks(o RewindOptions) error {
	r := &removal{RewindOptions: o, b: b, undo: b.db.recorder.Selective(b.tx.Tx), codes: map[string]bool{}, orphans: map[string]bool{}}
	if err := b.eachUndo(o.To, r.commit); err != nil {
		return err
	}
	return r.finish()
}

// commit undoes a commit's changes to metrics and those that concern the blocks.
func (r *removal) commit(steps []byte) error {
	changes, err := r.undo.Changes(steps)
	if err != nil {
		return Damaged(err)
	}
	since := !r.found
	about := since && slices.ContainsFunc(changes, r.removes)
	for _, c := range changes {
		if c.Added() && c.Table() == "block" && positionOf(c) == At(r.Chain, r.After+1, 0) {
			r.found = true
		}
		take := slices.Contains(MetricTables, c.Table()) || about && (r.removes(c) || c.Table() == "webhook_message")
		switch {
		case take && c.Table() == "account":
			if err = r.eachCode([][]any{accountKey(c)}, func(hash string) { r.orphans[hash] = true }); err == nil {
				err = r.undo.Take(c)
			}
		case take:
			err = r.undo.Take(c)
		case !c.Added():
		case c.Table() == "code":
			hash, _ := c.Value("hash").([]byte)
			r.codes[string(hash)] = true
		case c.Table() == "account" && (since || len(r.orphans) > 0):
			r.accounts = append(r.accounts, accountKey(c))
		case c.Table() == "operation" && since:
			id, _ := c.Value("id").(int64)
			r.operations = append(r.operations, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func accountKey(c undo.Change) []any {
	return []any{c.Value("chain"), c.Value("address"), c.Value("block")}
}

// eachCode visits the hashes of the code of accounts, as far as they exist and have code.
func (r *removal) eachCode(accounts [][]any, visit func(hash string)) error {
	for _, key := range accounts {
		var hash []byte
		err := r.b.scan(`SELECT code_hash FROM account WHERE chain = ? AND address = ? AND block = ?`, key, &hash)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if hash != nil {
			visit(string(hash))
		}
	}
	return nil
}

// finish deletes the exports, and the code that no remaining account needs. An account that needs code is not older than the code.
func (r *removal) finish() error {
	for _, id := range r.operations {
		if err := r.b.DropOperation(id); err != nil {
			return err
		}
	}
	maps.DeleteFunc(r.orphans, func(hash string, _ bool) bool { return !r.codes[hash] })
	if len(r.orphans) == 0 {
		return nil
	}
	if err := r.eachCode(r.accounts, func(hash string) { delete(r.orphans, hash) }); err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(r.orphans)) {
		if err := r.b.exec(`DELETE FROM code WHERE hash = ?`, []byte(hash)); err != nil {
			return err
		}
	}
	return nil
}
