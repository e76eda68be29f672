package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"snowglobe/sim/metric"
	"snowglobe/sim/store/bulk"
)

// Batch is one writing transaction, the only way to write. A block's rows are written by one Batch or not at all.
type Batch struct {
	db         *DB
	tx         *sqlx.Tx
	statements map[string]*stmt
	rollup     *metric.Rollup       // nil before the first block
	tokens     bool                 // it wrote a token, a contract or a market
	renamed    bool                 // it wrote a contract, so that the same rows have another digest than after the last commit
	primary    bool                 // it wrote a block of a P-, X- or C-Chain of UTXOs
	uncounted  bool                 // it changes nothing that cached answers depend on
	bulk       *bulk.Writer         // waiting rows while the world is generated; otherwise each is written at once
	uris       map[URIHash]struct{} // hashes of the URIs it wrote

	after    Commit  // the world after the commit
	aside    bool    // the commit cannot be undone
	boundary bool    // clients may revert to the commit before this one
	to       int64   // which is this one
	last     *Commit // the newest commit, those of this batch included; nil while a world is generated
}

// Begin starts a Batch. Only one can be open at a time; a second Begin waits.
func (db *DB) Begin() (*Batch, error) {
	if db.readOnly {
		return nil, ErrReadOnly
	}
	if err := db.beginSession(); err != nil {
		return nil, fmt.Errorf("begin: %w", db.refusal(err))
	}
	b := &Batch{db: db, statements: map[string]*stmt{}, uris: map[URIHash]struct{}{}, last: db.lastCommit.Load()}
	if err := b.begin(); err != nil {
		return nil, fmt.Errorf("begin: %w", db.refusal(err))
	}
	b.record()
	return b, nil
}

// begin begins the transaction. While a world is generated, it also takes the raw connection, to insert rows past package sql.
func (b *Batch) begin() (err error) {
	if err := b.db.refused("BEGIN"); err != nil {
		return err
	}
	if !b.db.gathers {
		b.tx, err = b.db.write.Beginx()
		return err
	}
	conn, err := b.db.write.Connx(context.Background())
	if err != nil {
		return err
	}
	if b.tx, err = conn.BeginTxx(context.Background(), nil); err != nil {
		return errors.Join(err, conn.Close())
	}
	b.bulk = bulk.NewWriter(conn.Conn)
	return nil
}

func (b *Batch) end(way func() error) error {
	if b.bulk == nil {
		return way()
	}
	return errors.Join(way(), b.bulk.Close())
}

// Step ends a commit that can be undone alone, and begins another in the same database transaction: both become visible together. m is the world
// between them, which the file never stores: SetMeta is for the last commit. The metrics are written with the last one, too, or with one at which
// they begin anew.
func (b *Batch) Step(m Meta) error {
	b.after = Commit{Clock: m.Clock, Digest: m.Digest}
	if (b.last.Sequence+1)%mergeEvery == 0 {
		if err := b.flushRollup(); err != nil {
			return err
		}
	}
	if err := b.addUndo(); err != nil {
		return err
	}
	b.undoCommitted()
	b.after, b.aside, b.renamed = Commit{}, false, false
	b.record()
	return nil
}

func (b *Batch) flushRollup() error {
	if b.rollup == nil {
		return nil
	}
	return b.rollup.Flush()
}

// Commit makes everything that the batch wrote visible at once, including the roll-ups of its blocks.
func (b *Batch) Commit() error {
	if err := b.flushRollup(); err != nil {
		return errors.Join(err, b.Rollback())
	}
	if b.bulk != nil {
		if err := b.bulk.Flush(); err != nil {
			return errors.Join(b.db.failure("", err), b.Rollback())
		}
	}
	if err := b.addUndo(); err != nil {
		return errors.Join(err, b.Rollback())
	}
	if err := b.db.refused("COMMIT"); err != nil {
		return errors.Join(b.db.refusal(err), b.Rollback())
	}
	err := b.db.refusal(b.end(b.tx.Commit))
	if err == nil {
		b.undoCommitted()
		b.db.lastCommit.Store(b.last)
		b.keepStatements()
	} else {
		b.undoFailed()
	}
	if err != nil || b.bulk != nil {
		b.db.forgetRows()
	}
	if b.tokens {
		b.db.tokenCommits.Add(1)
	}
	if b.primary {
		b.db.primaryCommits.Add(1)
	}
	if !b.uncounted {
		b.db.commits.Add(1) // last: a reader that sees it changed sees the other counts changed too
	}
	return err
}

// Uncounted declares that the batch changes nothing that cached answers depend on or that a revert touches, but only data that is read each
// time.
func (b *Batch) Uncounted() { b.uncounted, b.aside = true, true }

// Rollback drops everything that the batch wrote.
func (b *Batch) Rollback() error {
	b.undoFailed()
	b.db.forgetRows()
	return b.end(b.tx.Rollback)
}

// End commits if err is nil and otherwise rolls back; it returns the first error.
func (b *Batch) End(err error) error {
	if err != nil {
		return errors.Join(err, b.Rollback())
	}
	return b.Commit()
}

// prepared returns the statement with this text: one kept from an earlier batch, or a new one for this batch.
func (b *Batch) prepared(text string) (*stmt, error) {
	if err := b.db.refused(text); err != nil {
		return nil, b.db.noted(failed(text, err))
	}
	if statement := b.statements[text]; statement != nil {
		return statement, nil
	}
	if kept := b.db.kept[text]; kept != nil {
		b.statements[text] = &stmt{Stmt: b.tx.Stmtx(kept)}
		return b.statements[text], nil
	}
	prepared, err := b.tx.Preparex(text)
	if err != nil {
		return nil, b.db.noted(failed(text, err))
	}
	b.statements[text] = &stmt{Stmt: prepared}
	return b.statements[text], nil
}

// Statements returns the texts of the statements that batches use, for the test that none scans a table.
func (b *Batch) Statements() []string { return slices.Collect(maps.Keys(b.db.kept)) }

// keepStatements prepares the batch's statements for later batches, on the one writing connection: preparing takes as long as everything
// else in a small block. Generation has one large batch, and keeps nothing.
func (b *Batch) keepStatements() {
	if b.bulk != nil || b.db.final != "" {
		return
	}
	for text := range b.statements {
		if b.db.kept[text] != nil {
			continue
		}
		if prepared, err := b.db.write.Preparex(text); err == nil { // otherwise the next batch prepares it, and returns the error
			b.db.kept[text] = prepared
		}
	}
}

func (b *Batch) exec(text string, args ...any) error {
	statement, err := b.prepared(text)
	if err != nil {
		return err
	}
	_, err = statement.Exec(args...)
	return b.db.failure(text, err)
}

// scan reads a row without a tagged struct as the batch sees it, its own writes included.
func (b *Batch) scan(text string, args []any, fields ...any) error {
	statement, err := b.prepared(text)
	if err != nil {
		return err
	}
	switch err := statement.QueryRow(args...).Scan(fields...); {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return b.db.noted(failed(text, err))
	}
	return nil
}

// PrimaryDelta holds everything that one block of P or X, or the atomic transactions of one C-Chain block, adds to the world.
type PrimaryDelta struct {
	Block             *PrimaryBlock // nil for C, whose blocks are EVM blocks
	Transactions      []PrimaryTx
	UTXOs             []UTXO
	Spends            []Spend
	Activity          []PrimaryActivity
	Assets            []PrimaryAsset
	Stakers           []Staker // new ones, and new values of old ones
	StakeOwners       []StakeOwner
	L1Validators      []L1Validator
	L1ValidatorStates []L1ValidatorState
	Subnets           []Subnet
	SubnetStates      []SubnetState
	Blockchains       []Blockchain
	Stakes            []StakeChange
	Fees              []FeeChange
	AccruedFees       []AccruedFee
}

// AddPrimaryBlock writes everything that a block adds.
func (b *Batch) AddPrimaryBlock(d *PrimaryDelta) error {
	if d == nil {
		return nil
	}
	b.primary = true
	if d.Block != nil {
		if err := b.addPrimaryBlock(d.Block); err != nil {
			return err
		}
	}
	return inTurn(
		adding(d.Transactions, b.addPrimaryTx),
		adding(d.UTXOs, b.addUTXO),
		adding(d.Spends, b.addSpend),
		adding(d.Activity, b.addActivity),
		adding(d.Assets, b.addAsset),
		adding(d.Stakers, b.putStaker),
		adding(d.StakeOwners, b.addStakeOwner),
		adding(d.L1Validators, b.addL1Validator),
		adding(d.L1ValidatorStates, b.addL1State),
		adding(d.Subnets, b.addSubnet),
		adding(d.SubnetStates, b.addSubnetState),
		adding(d.Blockchains, b.addBlockchain),
		func() error { return b.addStakes(d) },
		func() error { return b.addFees(d) },
	)
}

// Delta holds everything that one block adds to the world.
type Delta struct {
	Block        Block
	Override     *BlockOverride // nil if the block follows the network's rules
	Transactions []Transaction
	Impersonated []ImpersonatedTx // transactions of impersonated accounts
	Logs         []Log
	Calls        []Call
	Called       []Called // only while the block is new: the file does not store it
	Console      []int    // transactions that may have logged to the console; the file does not store it
	Accounts     []Account
	Slots        []Slot
	Codes        []Code
	Tries        []TrieChange

	Tokens        []Token
	Deployments   []Deployment
	Transfers     []Transfer
	TokenBalances []TokenBalance
	NFTStates     []NFTState
	Touches       []Touch

	Messages      []Message
	MessageEvents []MessageEvent

	Activity *metric.Activity // the block's contribution to the metrics

	Atomic *PrimaryDelta // of the block's atomic transactions, nil without any

	// State changes after the block, which are read together with it. AddStateChange writes them.
	Changes []StateChange
}

// AddBlock writes a block with everything it adds.
func (b *Batch) AddBlock(d *Delta) error {
	if err := b.addBlock(&d.Block); err != nil {
		return err
	}
	return inTurn(
		func() error { return b.addBlockOverride(d.Override) },
		adding(d.Transactions, b.addTransaction),
		adding(d.Impersonated, b.addImpersonatedTx),
		adding(d.Logs, b.addLog),
		adding(d.Calls, b.addCall),
		adding(d.Accounts, b.addAccount),
		adding(d.Slots, b.addSlot),
		adding(d.Codes, b.addCode),
		func() error { return b.AddTrieChanges(d.Block.ID.Chain(), d.Tries) },
		adding(d.Tokens, b.addToken),
		adding(d.Deployments, b.addDeployment),
		adding(d.Transfers, b.addTransfer),
		adding(d.TokenBalances, b.addTokenBalance),
		adding(d.NFTStates, b.addNFTState),
		adding(d.Touches, b.addTouch),
		adding(d.Messages, b.addMessage),
		adding(d.MessageEvents, b.addMessageEvent),
		adding(d.Messages, b.AddICMCount),
		func() error { return b.AddActivity(d.Block.ID.Chain(), d.Activity) },
		func() error { return b.AddPrimaryBlock(d.Atomic) },
	)
}

// Deltas reads what some blocks added, as far as their digests and headers cover it.
func (db *DB) Deltas(ctx context.Context, chain int, first, last uint64) ([]Delta, error) {
	low, high := At(chain, first, 0), At(chain, last, MaxIndex)
	blocks, err := db.Blocks(ctx, chain, first, last)
	if err != nil {
		return nil, err
	}
	transactions, err := db.TransactionsBetween(ctx, low, high)
	if err != nil {
		return nil, err
	}
	logs, err := db.LogsBetween(ctx, low, high, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	calls, err := db.CallsBetween(ctx, low, high)
	if err != nil {
		return nil, err
	}
	overrides, err := db.BlockOverridesBetween(ctx, low, high)
	if err != nil {
		return nil, err
	}
	impersonated, err := db.ImpersonatedTxs(ctx, low, high)
	if err != nil {
		return nil, err
	}
	changes, err := db.StateChanges(ctx, chain, first, last)
	if err != nil {
		return nil, err
	}
	deltas := make([]Delta, len(blocks))
	for n := range blocks {
		end := blocks[n].ID.End()
		deltas[n].Block = blocks[n]
		if own := Cut(&overrides, func(o *BlockOverride) bool { return o.ID <= end }); len(own) > 0 {
			deltas[n].Override = &own[0]
		}
		deltas[n].Transactions = Cut(&transactions, func(t *Transaction) bool { return t.ID <= end })
		deltas[n].Changes = Cut(&changes, func(c *StateChange) bool { return c.Block <= end.Number() })
		deltas[n].Impersonated = Cut(&impersonated, func(t *ImpersonatedTx) bool { return t.ID <= end })
		deltas[n].Logs = Cut(&logs, func(l *Log) bool { return l.ID <= end })
		deltas[n].Calls = Cut(&calls, func(c *Call) bool { return c.ID <= end })
	}
	if len(transactions)+len(logs)+len(calls)+len(overrides)+len(impersonated)+len(changes) > 0 {
		return nil, fmt.Errorf("after block %d: rows without a block", first)
	}
	return deltas, nil
}

// Cut takes the leading rows that satisfy a condition off a list.
func Cut[T any](rows *[]T, holds func(*T) bool) []T {
	n := 0
	for n < len(*rows) && holds(&(*rows)[n]) {
		n++
	}
	taken := (*rows)[:n]
	*rows = (*rows)[n:]
	return taken
}

// inTurn writes one thing after another until one fails.
func inTurn(writes ...func() error) error {
	for _, write := range writes {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func adding[T any](rows []T, add func(*T) error) func() error {
	return func() error { return addAll(rows, add) }
}

func addAll[T any](rows []T, add func(*T) error) error {
	for i := range rows {
		if err := add(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// insert inserts or changes a row at once or, while the world is generated, together with others.
func (b *Batch) insert(into *bulk.Table, row ...any) error {
	if b.bulk == nil {
		return b.exec(into.Statement, row...)
	}
	return b.db.failure(into.Statement, b.bulk.Add(into, row))
}

// written flushes a table's waiting rows, so that it can be read.
func (b *Batch) written(t *bulk.Table) error {
	if b.bulk == nil {
		return nil
	}
	return b.db.failure(t.Statement, b.bulk.Write(t))
}

// failure returns why a statement failed, if it did.
func (db *DB) failure(text string, err error) error {
	if err == nil || unwritten(err) != err {
		return db.refusal(err)
	}
	return db.noted(failed(text, err))
}

// refusal returns why a transaction could not begin or commit, if it could not.
func (db *DB) refusal(err error) error {
	reason := unwritten(err)
	if err != nil && reason == err {
		reason = inWords(err)
	}
	return db.noted(reason)
}
