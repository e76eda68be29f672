package store

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
)

// RollUps are the tables that hold nothing but what follows from the others.
var RollUps = []string{"tally", "presence", "lifetime", "traffic"}

// AddActivity counts a block of a chain in the roll-ups of the metrics. The chain must be known.
func (b *Batch) AddActivity(chain int, a *metric.Activity) error {
	if b.rollup == nil {
		var err error
		if b.rollup, err = b.newRollup(); err != nil {
			return err
		}
	}
	return b.rollup.Add(chain, a)
}

func (b *Batch) newRollup() (*metric.Rollup, error) {
	var used bool
	if err := b.one(`SELECT EXISTS (SELECT 1 FROM tally)`, nil, &used); err != nil {
		return nil, err
	}
	return &metric.Rollup{
		Fresh:   !used,
		Network: b.scopeOf,
		Tallies: &metric.Cache[metric.Key, metric.Tally]{Read: b.tally, Write: b.setTally},
		Months:  &metric.Cache[metric.MonthKey, metric.Hours]{Read: b.presence, Write: b.setPresence},
		Lives:   &metric.Cache[common.Address, metric.Lives]{Read: b.lifetime, Write: b.setLifetime},
	}, nil
}

func (b *Batch) scopeOf(chain int) (metric.Scope, error) {
	var network string
	if err := b.one(`SELECT network FROM chain WHERE id = ?`, []any{chain}, &network); err != nil {
		return 0, err
	}
	return metric.ScopeOf(network)
}

// found tells a row that is not there from a failure.
func found(err error) (bool, error) {
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

const tallyColumns = `first_block, last_block, txs, gas, contracts, fees, prices, top_price,
	top_gas, top_gas_seconds, top_txs, top_txs_seconds, addresses, senders, deployers,
	new_addresses, new_senders, new_deployers, last_addresses, last_senders, last_deployers`

func (b *Batch) tally(k metric.Key) (t metric.Tally, ok bool, err error) {
	var fees, prices, top []byte
	err = b.one(`SELECT `+tallyColumns+` FROM tally WHERE scope = ? AND interval = ? AND start = ?`,
		[]any{k.Scope, k.Interval, k.Start},
		&t.First, &t.Last, &t.Txs, &t.Gas, &t.Contracts, &fees, &prices, &top,
		&t.TopGas.Amount, &t.TopGas.Seconds, &t.TopTxs.Amount, &t.TopTxs.Seconds,
		&t.Distinct[metric.Present], &t.Distinct[metric.Sender], &t.Distinct[metric.Deployer],
		&t.Debuts[metric.Present], &t.Debuts[metric.Sender], &t.Debuts[metric.Deployer],
		&t.Latest[metric.Present], &t.Latest[metric.Sender], &t.Latest[metric.Deployer])
	t.Fees.SetBytes(fees)
	t.Prices.SetBytes(prices)
	t.TopPrice.SetBytes(top)
	ok, err = found(err)
	return t, ok, err
}

func (b *Batch) setTally(k metric.Key, t *metric.Tally) error {
	return b.exec(`INSERT OR REPLACE INTO tally (scope, interval, start, `+tallyColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.Scope, k.Interval, k.Start,
		t.First, t.Last, t.Txs, t.Gas, t.Contracts, amount(&t.Fees), amount(&t.Prices), amount(&t.TopPrice),
		t.TopGas.Amount, t.TopGas.Seconds, t.TopTxs.Amount, t.TopTxs.Seconds,
		t.Distinct[metric.Present], t.Distinct[metric.Sender], t.Distinct[metric.Deployer],
		t.Debuts[metric.Present], t.Debuts[metric.Sender], t.Debuts[metric.Deployer],
		t.Latest[metric.Present], t.Latest[metric.Sender], t.Latest[metric.Deployer])
}

// amount is a number without leading zeros.
func amount(n *uint256.Int) []byte { return append([]byte{}, n.Bytes()...) }

func (b *Batch) presence(k metric.MonthKey) (h metric.Hours, ok bool, err error) {
	ok, err = found(b.one(`SELECT hours FROM presence WHERE month = ? AND address = ?`,
		[]any{k.Month, k.Address[:]}, (*[]byte)(&h)))
	return h, ok, err
}

func (b *Batch) setPresence(k metric.MonthKey, h *metric.Hours) error {
	return b.exec(`INSERT OR REPLACE INTO presence (month, address, hours) VALUES (?, ?, ?)`, k.Month, k.Address[:], []byte(*h))
}

func (b *Batch) lifetime(address common.Address) (l metric.Lives, ok bool, err error) {
	ok, err = found(b.one(`SELECT spans FROM lifetime WHERE address = ?`, []any{address[:]}, (*[]byte)(&l)))
	return l, ok, err
}

func (b *Batch) setLifetime(address common.Address, l *metric.Lives) error {
	return b.exec(`INSERT OR REPLACE INTO lifetime (address, spans) VALUES (?, ?)`, address[:], []byte(*l))
}
