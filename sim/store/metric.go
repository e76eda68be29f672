package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
	"snowglobe/sim/store/bulk"
)

// MetricTables lists the tables that are derived from the others alone.
var MetricTables = []string{"tally", "open_hour", "presence", "lifetime", "traffic"}

// AddActivity adds a block of a known chain to the roll-ups of the metrics.
func (b *Batch) AddActivity(chain int, a *metric.Activity) error {
	if b.db.rollup == nil {
		var err error
		if b.db.rollup, err = newRollup(b); err != nil {
			return err
		}
	}
	b.rollup, b.db.rollup.batch = b.db.rollup.Rollup, b
	return b.rollup.Add(chain, a)
}

// rollup updates the roll-ups of one batch after another. It keeps the rows in memory that small blocks update next; a failed batch
// discards it.
type rollup struct {
	*metric.Rollup
	batch *Batch // the open one
}

// keptRows bounds the rows of each kind that stay in memory between batches.
const keptRows = 4096

func newRollup(b *Batch) (*rollup, error) {
	used, err := value[bool](context.Background(), b, `SELECT EXISTS (SELECT 1 FROM tally)`)
	if err != nil {
		return nil, err
	}
	r, kept := &rollup{batch: b}, keptRows
	if b.bulk != nil { // keep no gathered rows: a row is read, and so written, before it is gathered again
		kept = 0
	}
	r.Rollup = &metric.Rollup{
		Fresh:   !used,
		Network: func(chain int) (metric.Scope, error) { return r.batch.scopeOf(chain) },
		Tallies: &metric.Cache[metric.Key, metric.Tally]{
			Read:  func(k metric.Key) (metric.Tally, bool, error) { return r.batch.tally(k) },
			Write: func(k metric.Key, t *metric.Tally) error { return r.batch.setTally(k, t) }, Keep: kept,
		},
		Hours: &metric.Cache[int, metric.OpenHour]{
			Read:  func(chain int) (metric.OpenHour, bool, error) { return r.batch.openHour(chain) },
			Write: func(chain int, h *metric.OpenHour) error { return r.batch.setOpenHour(chain, h) }, Keep: kept,
		},
		Presences: &metric.Cache[metric.MonthKey, metric.Presence]{
			Read:  func(k metric.MonthKey) (metric.Presence, bool, error) { return r.batch.presence(k) },
			Write: func(k metric.MonthKey, p *metric.Presence) error { return r.batch.setPresence(k, p) }, Keep: kept,
		},
		Lifetimes: &metric.Cache[common.Address, metric.Lifetime]{
			Read:  func(a common.Address) (metric.Lifetime, bool, error) { return r.batch.lifetime(a) },
			Write: func(a common.Address, l *metric.Lifetime) error { return r.batch.setLifetime(a, l) }, Keep: kept,
		},
	}
	return r, nil
}

func (b *Batch) scopeOf(chain int) (metric.Scope, error) {
	network, err := value[string](context.Background(), b, `SELECT network FROM chain WHERE id = ?`, chain)
	if err != nil {
		return 0, err
	}
	return metric.ScopeOf(network)
}

// Found turns ErrNotFound into false, and passes other errors on.
func Found(err error) (bool, error) {
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

const (
	sumColumns   = `first_block, last_block, txs, gas, contracts, fees, prices, top_price, top_gas, top_gas_seconds, top_txs, top_txs_seconds`
	tallyColumns = sumColumns + `, addresses, senders, deployers,
	new_addresses, new_senders, new_deployers, last_addresses, last_senders, last_deployers`
)

// sums holds a Sums as stored in the file.
type sums struct {
	*metric.Sums
	fees, prices, top []byte
}

func (s *sums) fields() []any {
	return []any{&s.First, &s.Last, &s.Txs, &s.Gas, &s.Contracts, &s.fees, &s.prices, &s.top,
		&s.TopGas.Amount, &s.TopGas.Seconds, &s.TopTxs.Amount, &s.TopTxs.Seconds}
}

// scanned takes over the amounts of wei.
func (s *sums) scanned() {
	s.Fees.SetBytes(s.fees)
	s.Prices.SetBytes(s.prices)
	s.TopPrice.SetBytes(s.top)
}

func sumValues(s *metric.Sums) []any {
	return []any{s.First, s.Last, s.Txs, s.Gas, s.Contracts, amount(&s.Fees), amount(&s.Prices), amount(&s.TopPrice),
		s.TopGas.Amount, s.TopGas.Seconds, s.TopTxs.Amount, s.TopTxs.Seconds}
}

func (b *Batch) tally(k metric.Key) (t metric.Tally, ok bool, err error) {
	if err := b.written(intoTally); err != nil {
		return t, false, err
	}
	sums := sums{Sums: &t.Sums}
	err = b.scan(`SELECT `+tallyColumns+` FROM tally WHERE scope = ? AND interval = ? AND start = ?`,
		[]any{k.Scope, k.Interval, k.Start}, append(sums.fields(),
			&t.Distinct[metric.Present], &t.Distinct[metric.Sender], &t.Distinct[metric.Deployer],
			&t.FirstSeen[metric.Present], &t.FirstSeen[metric.Sender], &t.FirstSeen[metric.Deployer],
			&t.LastSeen[metric.Present], &t.LastSeen[metric.Sender], &t.LastSeen[metric.Deployer])...)
	sums.scanned()
	ok, err = Found(err)
	return t, ok, err
}

// These update a row in place. Replacing it would make two changes to record for undo.
var (
	intoTally    = bulk.NewUpsert("tally", `scope, interval, start, `+tallyColumns, `ON CONFLICT (scope, interval, start) DO UPDATE SET `+setting(tallyColumns))
	intoOpenHour = bulk.NewUpsert("open_hour", openHourColumns, `ON CONFLICT (chain) DO UPDATE SET `+setting(`start, `+sumColumns))
	intoPresence = bulk.NewUpsert("presence", `month, address, hours`, `ON CONFLICT (month, address) DO UPDATE SET hours = excluded.hours`)
	intoLifetime = bulk.NewUpsert("lifetime", `address, spans`, `ON CONFLICT (address) DO UPDATE SET spans = excluded.spans`)
)

// setting assigns the new values of columns.
func setting(columns string) string {
	names := strings.Join(strings.Fields(columns), " ")
	return `(` + names + `) = (excluded.` + strings.ReplaceAll(names, ", ", ", excluded.") + `)`
}

func (b *Batch) setTally(k metric.Key, t *metric.Tally) error {
	row := append([]any{k.Scope, k.Interval, k.Start}, sumValues(&t.Sums)...)
	return b.insert(intoTally, append(row,
		t.Distinct[metric.Present], t.Distinct[metric.Sender], t.Distinct[metric.Deployer],
		t.FirstSeen[metric.Present], t.FirstSeen[metric.Sender], t.FirstSeen[metric.Deployer],
		t.LastSeen[metric.Present], t.LastSeen[metric.Sender], t.LastSeen[metric.Deployer])...)
}

const openHourColumns = `chain, network, start, ` + sumColumns

func (b *Batch) openHour(chain int) (h metric.OpenHour, ok bool, err error) {
	if err := b.written(intoOpenHour); err != nil {
		return h, false, err
	}
	sums := sums{Sums: &h.Sums}
	err = b.scan(`SELECT network, start, `+sumColumns+` FROM open_hour WHERE chain = ?`, []any{chain}, append([]any{&h.Network, &h.Start}, sums.fields()...)...)
	sums.scanned()
	ok, err = Found(err)
	return h, ok, err
}

func (b *Batch) setOpenHour(chain int, h *metric.OpenHour) error {
	return b.insert(intoOpenHour, append([]any{chain, h.Network, h.Start}, sumValues(&h.Sums)...)...)
}

// amount encodes a number without leading zeros.
func amount(n *uint256.Int) []byte { return append([]byte{}, n.Bytes()...) }

func (b *Batch) presence(k metric.MonthKey) (h metric.Presence, ok bool, err error) {
	if err := b.written(intoPresence); err != nil {
		return nil, false, err
	}
	presence, err := value[[]byte](context.Background(), b, `SELECT hours FROM presence WHERE month = ? AND address = ?`,
		k.Month, k.Address[:])
	ok, err = Found(err)
	return presence, ok, err
}

func (b *Batch) setPresence(k metric.MonthKey, h *metric.Presence) error {
	return b.insert(intoPresence, k.Month, k.Address[:], []byte(*h))
}

func (b *Batch) lifetime(address common.Address) (l metric.Lifetime, ok bool, err error) {
	if err := b.written(intoLifetime); err != nil {
		return nil, false, err
	}
	spans, err := value[[]byte](context.Background(), b, `SELECT spans FROM lifetime WHERE address = ?`, address[:])
	ok, err = Found(err)
	return spans, ok, err
}

func (b *Batch) setLifetime(address common.Address, l *metric.Lifetime) error {
	return b.insert(intoLifetime, address[:], []byte(*l))
}

// NewestTally returns the start of a scope's newest tally, or ErrNotFound.
func (db *DB) NewestTally(ctx context.Context, scope metric.Scope, i metric.Interval) (start int64, err error) {
	return value[int64](ctx, db, `SELECT start FROM tally WHERE scope = ? AND interval = ? ORDER BY start DESC LIMIT 1`, scope, i)
}

// ReadingsSince reads only the columns a metric needs, of each tally that begins before one time and not before another, and of the
// newest one before that; newest first. One statement reads the tallies and the open hours, because closing an hour changes both.
func (db *DB) ReadingsSince(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.Reading, error) {
	columns := `start, ` + string(m.Amount) + ` AS amount, ` + cmp.Or(string(m.Over), `1`) + ` AS divisor`
	if m.Elapsed {
		columns += `, first_block, last_block`
	}
	text := `SELECT 0 AS open, ` + columns + ` FROM tally WHERE scope = ?1 AND interval = ?2 AND start < ?3
		AND start >= COALESCE((SELECT MAX(start) FROM tally WHERE scope = ?1 AND interval = ?2 AND start < ?4), ?4)`
	if inOpenHours(m.Amount) {
		text += ` UNION ALL SELECT 1, ` + columns + openHoursOf1
	}
	var all, hours []metric.Reading
	err := each(ctx, db, func(r *reading) {
		g := metric.Reading{Start: r.Start, First: r.First, Last: r.Last, Amount: uint256.Int(r.Amount), Over: r.Divisor}
		if r.Open {
			hours = append(hours, g)
		} else {
			all = append(all, g)
		}
	}, text, scope, i, before, from)
	slices.SortFunc(all, func(a, b metric.Reading) int { return cmp.Compare(b.Start, a.Start) })
	m.AddOpenHours(i, all, hours)
	return all, err
}

// openHoursOf1 selects the open hours of the chains in the scope of the first parameter.
const openHoursOf1 = ` FROM open_hour WHERE chain > 0 AND ?1 IN (chain, network, 0)`

// inOpenHours reports whether a quantity has a part in the open hours. Numbers of addresses have none.
func inOpenHours(q metric.Quantity) bool {
	return slices.Contains(strings.Split(sumColumns, ", "), string(q))
}

// reading is the part of a tally that a metric needs.
type reading struct {
	Open    bool   `db:"open"` // an open hour
	Start   int64  `db:"start"`
	Amount  number `db:"amount"`
	Divisor int64  `db:"divisor"`
	First   int64  `db:"first_block"`
	Last    int64  `db:"last_block"`
}

// number is an amount stored as an integer or, where it may be larger, as big-endian bytes.
type number uint256.Int

// Scan reads either form.
func (n *number) Scan(amount any) error {
	switch amount := amount.(type) {
	case int64:
		(*uint256.Int)(n).SetUint64(uint64(amount))
	case []byte:
		(*uint256.Int)(n).SetBytes(amount)
	case nil: // the driver returns an empty blob as nil
		*n = number{}
	default:
		return fmt.Errorf("number is %T", amount)
	}
	return nil
}

// SumBefore adds up an integer column over the tallies that begin before a time at which an interval begins.
func (db *DB) SumBefore(ctx context.Context, m *metric.Metric, scope metric.Scope, i metric.Interval, before int64) (n int64, err error) {
	sum := `SELECT COALESCE(SUM(` + string(m.Amount) + `), 0)`
	text := sum + ` FROM tally WHERE scope = ?1 AND interval = ?2 AND start < ?3`
	if inOpenHours(m.Amount) {
		text = `SELECT (` + text + `) + (` + sum + openHoursOf1 + ` AND start < ?3)`
	}
	return value[int64](ctx, db, text, scope, i, before)
}

// AddICMCount counts a message in the intervals around its time, for its network and for all networks.
func (b *Batch) AddICMCount(m *Message) error {
	network, err := b.scopeOf(m.ID.Chain())
	if err != nil {
		return err
	}
	for _, scope := range []metric.Scope{network, metric.Total} {
		for i := range metric.Intervals {
			if err := b.exec(`INSERT INTO traffic (scope, interval, start, source, destination, messages) VALUES (?, ?, ?, ?, ?, 1)
				ON CONFLICT (scope, interval, start, source, destination) DO UPDATE SET messages = messages + 1`,
				scope, i, metric.Interval(i).Start(m.Time), m.Source, m.Destination); err != nil {
				return err
			}
		}
	}
	return nil
}

// ICMCounts reads the number of messages by source and destination in each interval that begins from one time on and before another,
// newest first.
func (db *DB) ICMCounts(ctx context.Context, scope metric.Scope, i metric.Interval, from, before int64) ([]metric.ICMCount, error) {
	return List[metric.ICMCount](ctx, db, `SELECT start, source, destination, messages FROM traffic WHERE scope = ? AND interval = ? AND start >= ? AND start < ?
		ORDER BY start DESC, source DESC, destination DESC`, scope, i, from, before)
}

// ICMCountSpan returns the start of the oldest and the newest interval with messages, or ErrNotFound.
func (db *DB) ICMCountSpan(ctx context.Context, scope metric.Scope, i metric.Interval) (oldest, newest int64, err error) {
	const end = `SELECT start FROM traffic WHERE scope = ? AND interval = ? ORDER BY start `
	if oldest, err = value[int64](ctx, db, end+`LIMIT 1`, scope, i); err != nil {
		return 0, 0, err
	}
	newest, err = value[int64](ctx, db, end+`DESC LIMIT 1`, scope, i)
	return oldest, newest, err
}

// StakeChange is a block's change to the stake of a subnet; the zero id is the primary network.
type StakeChange struct {
	Subnet []byte
	metric.Stake
}

const stakeColumns = `day, validators, validator_weight, delegators, delegator_weight`

// stakeRow is a metric.StakeRow as stored in the file.
type stakeRow struct {
	Day             int64  `db:"day"`
	Validators      int64  `db:"validators"`
	ValidatorWeight Amount `db:"validator_weight"`
	Delegators      int64  `db:"delegators"`
	DelegatorWeight Amount `db:"delegator_weight"`
}

func (r *stakeRow) stake() metric.Stake {
	return metric.Stake{Validators: r.Validators, ValidatorWeight: uint64(r.ValidatorWeight),
		Delegators: r.Delegators, DelegatorWeight: uint64(r.DelegatorWeight)}
}

// addStakes adds a block's changes to the day of the block, which starts with the previous day's final values.
func (b *Batch) addStakes(d *PrimaryDelta) error {
	for _, c := range d.Stakes {
		chain, day := d.Block.ID.Chain(), metric.Day.Start(d.Block.Time)
		row, err := Get[stakeRow](context.Background(), b, `SELECT `+stakeColumns+` FROM stake
			WHERE subnet = ? AND chain = ? ORDER BY day DESC LIMIT 1`, c.Subnet, chain)
		if _, err := Found(err); err != nil {
			return err
		}
		now := row.stake().Plus(c.Stake)
		if err := b.exec(`INSERT OR REPLACE INTO stake (subnet, chain, `+stakeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			c.Subnet, chain, day, now.Validators, Amount(now.ValidatorWeight), now.Delegators, Amount(now.DelegatorWeight)); err != nil {
			return err
		}
	}
	return nil
}

// StakeRows reads the days on which a subnet's stake changed, from one day on and before a time, and the newest such day before them;
// newest first.
func (db *DB) StakeRows(ctx context.Context, chain int, subnet []byte, from, before int64) ([]metric.StakeRow, error) {
	var all []metric.StakeRow
	err := each(ctx, db, func(r *stakeRow) { all = append(all, metric.StakeRow{Day: r.Day, Stake: r.stake()}) }, `SELECT `+stakeColumns+` FROM stake WHERE subnet = ? AND chain = ? AND day < ?
		AND day >= COALESCE((SELECT MAX(day) FROM stake WHERE subnet = ? AND chain = ? AND day < ?), ?) ORDER BY day DESC`,
		subnet, chain, before, subnet, chain, from, from)
	return all, err
}

// NewestStake returns the newest day on which a subnet's stake changed. Every subnet has one: ErrNotFound means that the subnet does not
// exist.
func (db *DB) NewestStake(ctx context.Context, chain int, subnet []byte) (day int64, err error) {
	return value[int64](ctx, db, `SELECT day FROM stake WHERE subnet = ? AND chain = ? ORDER BY day DESC LIMIT 1`, subnet, chain)
}

// FeeChange is a block's change to the payers of the continuous fee of L1 validators. The payer is the id of a validation, a node or a
// subnet, or empty for the whole network.
type FeeChange struct {
	Payer []byte
	metric.ContinuousFee
}

// AccruedFee is the accrued fee of a P-Chain at the end of a day.
type AccruedFee struct {
	Day     int64  `db:"day"` // its beginning, Unix seconds
	Accrued Amount `db:"accrued"`
}

const feeColumns = `day, active, base, paying`

// feeRow is a metric.FeeRow as stored in the file.
type feeRow struct {
	Day    int64  `db:"day"`
	Active int64  `db:"active"`
	Base   Amount `db:"base"`
	Paying int64  `db:"paying"`
}

func (r *feeRow) continuousFee() metric.ContinuousFee {
	return metric.ContinuousFee{Active: r.Active, Base: uint64(r.Base), Paying: r.Paying}
}

// addFees adds a block's changes to the day of the block, on which those active at its start pay.
func (b *Batch) addFees(d *PrimaryDelta) error {
	for _, m := range d.AccruedFees {
		if err := b.exec(`INSERT INTO fee_meter (chain, day, accrued) VALUES (?, ?, ?)`, d.Block.ID.Chain(), m.Day, m.Accrued); err != nil {
			return err
		}
	}
	for _, c := range d.Fees {
		chain, day := d.Block.ID.Chain(), metric.Day.Start(d.Block.Time)
		row, err := Get[feeRow](context.Background(), b, `SELECT `+feeColumns+` FROM fee
			WHERE payer = ? AND chain = ? ORDER BY day DESC LIMIT 1`, c.Payer, chain)
		if _, err := Found(err); err != nil {
			return err
		}
		if row.Day != day {
			row.Paying = row.Active
		}
		now := row.continuousFee().Plus(c.ContinuousFee)
		if err := b.exec(`INSERT OR REPLACE INTO fee (payer, chain, `+feeColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
			c.Payer, chain, day, now.Active, Amount(now.Base), now.Paying); err != nil {
			return err
		}
	}
	return nil
}

// FirstFee returns a payer's first day, or ErrNotFound.
func (db *DB) FirstFee(ctx context.Context, chain int, payer []byte) (first int64, err error) {
	return value[int64](ctx, db, `SELECT day FROM fee WHERE payer = ? AND chain = ? ORDER BY day LIMIT 1`, payer, chain)
}

// FeeRows reads the days on which a payer changed, from one day on and before a time, and the newest such day before them; newest first.
func (db *DB) FeeRows(ctx context.Context, chain int, payer []byte, from, before int64) ([]metric.FeeRow, error) {
	var all []metric.FeeRow
	err := each(ctx, db, func(r *feeRow) { all = append(all, metric.FeeRow{Day: r.Day, ContinuousFee: r.continuousFee()}) }, `SELECT `+feeColumns+` FROM fee WHERE payer = ? AND chain = ? AND day < ?
		AND day >= COALESCE((SELECT MAX(day) FROM fee WHERE payer = ? AND chain = ? AND day < ?), ?) ORDER BY day DESC`,
		payer, chain, before, payer, chain, from, from)
	return all, err
}

// AccruedFees reads the accrued fee of a P-Chain at the end of each day from one to another, both included, as far as blocks followed them.
func (db *DB) AccruedFees(ctx context.Context, chain int, from, to int64) ([]AccruedFee, error) {
	return List[AccruedFee](ctx, db, `SELECT day, accrued FROM fee_meter WHERE chain = ? AND day BETWEEN ? AND ? ORDER BY day`,
		chain, from, to)
}
