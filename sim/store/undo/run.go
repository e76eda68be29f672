package undo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// leastRun is the length from which deleting a run at once is cheaper than counting it first and deleting each row.
const leastRun = 4

// run is a set of added rows whose keys differ only in the last column, which is a number. Most rows that a chain adds are in a few long runs:
// its blocks, or the balances of an account.
type run struct {
	table       *table
	prefix      []byte // the other columns of the key
	first, last int64
	rows        int64
	mixed       bool // some row was changed or deleted as well
}

// run returns what a step's rows have in common with the rest of their run, and their numbers, if they have any.
func (p packed) run(scratch []byte) (prefix []byte, first, last, rows int64, ok bool) {
	key, at := p.key(scratch)
	value, _, err := cutValue(key[at:])
	number, ok := value.(int64)
	if !p.isRun() {
		return key[:at], number, number, 1, ok
	}
	numbers, _ := value.([]byte)
	err = errors.Join(err, eachNumber(numbers, func(after, distance, n int64) error {
		if rows == 0 {
			first = after + distance
		}
		last, rows = after+distance*n, rows+n
		return nil
	}))
	return key[:at], first, last, rows, err == nil
}

// Plan looks for runs in the steps of a transaction. Call it for each one to be undone, then TakeRuns, then TakeRest.
func (u *Undo) Plan(steps []byte) error {
	found, err := u.tables.split(steps)
	var scratch [128]byte
	for _, p := range found {
		prefix, first, last, rows, ok := p.run(scratch[:0])
		if !ok {
			continue
		}
		r := u.runs[string(prefix)]
		if r == nil {
			r = &run{table: p.table, prefix: slices.Clone(prefix[len(p.table.name)+1:]), first: first, last: last}
			u.runs[string(prefix)] = r
		}
		r.first, r.last = min(r.first, first), max(r.last, last)
		r.rows += rows
		r.mixed = r.mixed || p.kind == stepPut || p.kind == stepMixed
	}
	return err
}

// TakeRuns deletes the rows of each run with one statement. It leaves a run to TakeRest if other rows are among them.
func (u *Undo) TakeRuns() error {
	for _, key := range slices.Sorted(maps.Keys(u.runs)) {
		taken, err := u.takeRun(u.runs[key])
		if err != nil {
			return fmt.Errorf("undo additions to %s: %w", u.runs[key].table.name, err)
		}
		if !taken {
			delete(u.runs, key)
		}
	}
	return nil
}

func (u *Undo) takeRun(r *run) (taken bool, err error) {
	if r.mixed || r.rows < leastRun {
		return false, nil
	}
	values := make([]any, 0, len(r.table.key)+1)
	for rest := r.prefix; len(rest) > 0; {
		var value any
		if value, rest, err = cutValue(rest); err != nil {
			return false, err
		}
		values = append(values, value)
	}
	values = append(values, r.first, r.last)
	where := r.table.where(" BETWEEN ? AND ?")
	count, err := u.prepared("SELECT count(*)" + where)
	if err != nil {
		return false, err
	}
	var rows int64
	if err := count.QueryRow(values...).Scan(&rows); err != nil || rows != r.rows {
		return false, err
	}
	return true, u.exec("DELETE"+where, values)
}

// TakeRest undoes the changes of a transaction outside the runs that TakeRuns has deleted. Begin with the last transaction.
func (u *Undo) TakeRest(steps []byte) error {
	found, err := u.tables.split(steps)
	if err != nil {
		return err
	}
	var scratch [128]byte
	for _, p := range slices.Backward(found) {
		if prefix, _, _, _, ok := p.run(scratch[:0]); ok && u.runs[string(prefix)] != nil {
			continue
		}
		err := p.each(func(p packed) error {
			s, err := p.unpack()
			if err == nil {
				err = u.Take(Change{s})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// where returns the condition that finds rows by their key, given that of the last column.
func (t *table) where(last string) string {
	names := make([]string, len(t.key))
	for i, column := range t.key {
		names[i] = t.columns[column]
	}
	return " FROM " + t.name + " WHERE " + strings.Join(names, " = ? AND ") + last
}
