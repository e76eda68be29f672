package store

import (
	"context"
	"database/sql"

	"snowglobe/sim/metric"
)

// FeeChange is what a block changed of who pays the continuous fee of L1 validators. The payer is a validation, a node or
// a subnet by its id, or empty for all of the network.
type FeeChange struct {
	Payer []byte
	metric.Dues
}

// MeterRow is the accrued fee of a P-chain at the end of a day.
type MeterRow struct {
	Day     int64 // its beginning, Unix seconds
	Accrued Amount
}

const feeColumns = `day, active, base, paying`

func feeFields(r *metric.FeeRow) []any {
	return []any{&r.Day, &r.Active, (*Amount)(&r.Base), &r.Paying}
}

// addFees adds a block's changes to the day of the block, in which those pay who were active when it began.
func (b *Batch) addFees(d *PrimaryDelta) error {
	for _, m := range d.Meter {
		if err := b.exec(`INSERT INTO fee_meter (chain, day, accrued) VALUES (?, ?, ?)`, d.Block.ID.Chain(), m.Day, m.Accrued); err != nil {
			return err
		}
	}
	for _, c := range d.Fees {
		chain, day := d.Block.ID.Chain(), metric.Day.Start(d.Block.Time)
		var row metric.FeeRow
		if _, err := found(b.one(`SELECT `+feeColumns+` FROM fee WHERE payer = ? AND chain = ? ORDER BY day DESC LIMIT 1`,
			[]any{c.Payer, chain}, feeFields(&row)...)); err != nil {
			return err
		}
		if row.Day != day {
			row.Paying = row.Active
		}
		now := row.Plus(c.Dues)
		if err := b.exec(`INSERT OR REPLACE INTO fee (payer, chain, `+feeColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
			c.Payer, chain, day, now.Active, Amount(now.Base), now.Paying); err != nil {
			return err
		}
	}
	return nil
}

// FirstFee says which day is the first of a payer. ErrNotFound says that there is none.
func (db *DB) FirstFee(ctx context.Context, chain int, payer []byte) (first int64, err error) {
	err = db.one(ctx, `SELECT day FROM fee WHERE payer = ? AND chain = ? ORDER BY day LIMIT 1`, []any{payer, chain}, &first)
	return first, err
}

// FeeRows reads the days of a payer that changed something from one day on and before a moment, and the newest such day
// before them; newest first.
func (db *DB) FeeRows(ctx context.Context, chain int, payer []byte, from, before int64) ([]metric.FeeRow, error) {
	return many(ctx, db, `SELECT `+feeColumns+` FROM fee WHERE payer = ? AND chain = ? AND day < ?
		AND day >= COALESCE((SELECT MAX(day) FROM fee WHERE payer = ? AND chain = ? AND day < ?), ?) ORDER BY day DESC`,
		[]any{payer, chain, before, payer, chain, from, from},
		func(rows *sql.Rows, r *metric.FeeRow) error { return rows.Scan(feeFields(r)...) })
}

// Meter reads the accrued fee of a P-chain at the end of each day from one to another, both included, as far as blocks
// came after them.
func (db *DB) Meter(ctx context.Context, chain int, from, to int64) ([]MeterRow, error) {
	return many(ctx, db, `SELECT day, accrued FROM fee_meter WHERE chain = ? AND day BETWEEN ? AND ? ORDER BY day`, []any{chain, from, to},
		func(rows *sql.Rows, r *MeterRow) error { return rows.Scan(&r.Day, &r.Accrued) })
}

// DrainedL1Validators lists the active L1 validators of a P-chain whose balances are used up when the accrued fee has
// grown from that of the newest block to another.
func (db *DB) DrainedL1Validators(ctx context.Context, chain int, from, to Amount) ([]L1, error) {
	// Next to the condition of an index, a bare parameter would make the engine prepare the statement anew for every value.
	return many(ctx, db, `SELECT `+l1Columns+` FROM l1_state s CROSS JOIN l1_validator v ON v.id = s.validator
		WHERE s.paid_until > 0 + ? AND s.paid_until <= 0 + ? AND s.paid_until > 0 AND v.id >= ? AND v.id < ?
		AND s.height = (SELECT MAX(t.height) FROM l1_state t WHERE t.validator = v.id)`,
		[]any{from, to, NumberUTXO(chain, 0, 0), NumberUTXO(chain+1, 0, 0)}, scanL1)
}
