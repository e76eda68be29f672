package store

import (
	"context"
	"database/sql"

	"snowglobe/sim/metric"
)

// StakeChange is what a block changed of who stakes on a subnet, the zero id being the primary network.
type StakeChange struct {
	Subnet []byte
	metric.Stake
}

const stakeColumns = `day, validators, validator_weight, delegators, delegator_weight`

func stakeFields(r *metric.StakeRow) []any {
	return []any{&r.Day, &r.Validators, (*Amount)(&r.ValidatorWeight), &r.Delegators, (*Amount)(&r.DelegatorWeight)}
}

func scanStake(rows *sql.Rows, r *metric.StakeRow) error { return rows.Scan(stakeFields(r)...) }

// addStakes adds a block's changes to the day of the block, which begins as the newest day before it ended.
func (b *Batch) addStakes(d *PrimaryDelta) error {
	for _, c := range d.Stakes {
		chain, day := d.Block.ID.Chain(), metric.Day.Start(d.Block.Time)
		var row metric.StakeRow
		if _, err := found(b.one(`SELECT `+stakeColumns+` FROM stake WHERE subnet = ? AND chain = ? ORDER BY day DESC LIMIT 1`,
			[]any{c.Subnet, chain}, stakeFields(&row)...)); err != nil {
			return err
		}
		now := row.Plus(c.Stake)
		if err := b.exec(`INSERT OR REPLACE INTO stake (subnet, chain, `+stakeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			c.Subnet, chain, day, now.Validators, Amount(now.ValidatorWeight), now.Delegators, Amount(now.DelegatorWeight)); err != nil {
			return err
		}
	}
	return nil
}

// StakeRows reads the days of a subnet that changed something from one day on and before a moment, and the newest such day
// before them; newest first.
func (db *DB) StakeRows(ctx context.Context, chain int, subnet []byte, from, before int64) ([]metric.StakeRow, error) {
	return many(ctx, db, `SELECT `+stakeColumns+` FROM stake WHERE subnet = ? AND chain = ? AND day < ?
		AND day >= COALESCE((SELECT MAX(day) FROM stake WHERE subnet = ? AND chain = ? AND day < ?), ?) ORDER BY day DESC`,
		[]any{subnet, chain, before, subnet, chain, from, from}, scanStake)
}

// DueStakers lists the stakers of a subnet whom time alone has ended by a moment, and those who wait to begin.
func (db *DB) DueStakers(ctx context.Context, chain int, subnet []byte, moment int64) ([]Staker, error) {
	// The index holds those whose status is below 2, and the engine must be told that these are some of them.
	const due = `SELECT ` + stakerColumns + ` FROM staker WHERE subnet = ? AND +id BETWEEN ? AND ? AND status < 2 AND status = `
	return many(ctx, db, due+`1 AND until <= ? UNION ALL `+due+`0`,
		[]any{subnet, First(chain), Last(chain), moment, subnet, First(chain), Last(chain)}, scanStaker)
}

// NewestStake says which day of a subnet is the newest that changed something. Every subnet has one: ErrNotFound says that
// there is no such subnet.
func (db *DB) NewestStake(ctx context.Context, chain int, subnet []byte) (day int64, err error) {
	err = db.one(ctx, `SELECT day FROM stake WHERE subnet = ? AND chain = ? ORDER BY day DESC LIMIT 1`, []any{subnet, chain}, &day)
	return day, err
}
