package undo

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// Merged reports whether steps undo several transactions, and so cannot undo one of them.
func Merged(steps []byte) bool { return len(steps) > 0 && steps[0] == stepMerged }

// numbered is a set of added rows whose keys differ only in the last column, which is a number.
type numbered struct {
	table   *table
	prefix  []byte // the other columns of the key
	numbers []int64
	kind    byte
}

// Merge returns the steps that undo several transactions together, given theirs, first one first: what a row was before the first change is
// all that they need. Keys of added rows take few bytes if they are numbers with equal distances, as those of blocks often are.
func (r *Recorder) Merge(transactions [][]byte) ([]byte, error) {
	seen, runs := map[string]bool{}, map[string]*numbered{}
	var rest []packed
	merge := func(p packed) error {
		raw, last := p.key(nil)
		key := string(raw)
		if seen[key] {
			if run := runs[key[:last]]; run != nil && p.kind == stepPut {
				run.kind = stepMixed
			}
			return nil
		}
		seen[key] = true
		value, _, err := cutValue(raw[last:])
		number, isNumber := value.(int64)
		if p.kind == stepPut || !isNumber {
			rest = append(rest, p)
			return err
		}
		run := runs[key[:last]]
		if run == nil {
			run = &numbered{table: p.table, prefix: raw[len(p.table.name)+1 : last], kind: stepRun}
			runs[key[:last]] = run
		}
		run.numbers = append(run.numbers, number)
		return nil
	}
	for _, steps := range transactions {
		if err := r.tables.each(steps, merge); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(rest, func(a, b packed) int { return strings.Compare(a.table.name, b.table.name) })
	w := &writer{steps: []byte{stepMerged}}
	for _, p := range rest {
		w.use(p.table)
		w.steps = append(append(w.steps, p.kind), p.values...)
	}
	for _, key := range slices.Sorted(maps.Keys(runs)) { // undone first, as the last ones
		run := runs[key]
		slices.Sort(run.numbers)
		w.use(run.table)
		w.steps = appendValue(append(append(w.steps, run.kind), run.prefix...), appendNumbers(nil, run.numbers))
	}
	return w.steps, nil
}

// appendNumbers writes sorted numbers as their distances, and how often each distance follows itself.
func appendNumbers(b []byte, numbers []int64) []byte {
	last := int64(0)
	for len(numbers) > 0 {
		distance, n := numbers[0]-last, 1
		for n < len(numbers) && numbers[n]-numbers[n-1] == distance {
			n++
		}
		b = binary.AppendUvarint(binary.AppendVarint(b, distance), uint64(n))
		last, numbers = numbers[n-1], numbers[n:]
	}
	return b
}

// maxNumbers bounds the numbers in one step, in case of a damaged log.
const maxNumbers = 1 << 24

// eachNumber visits what appendNumbers wrote: numbers that begin after one, a distance apart.
func eachNumber(b []byte, visit func(after, distance, n int64) error) error {
	for after, all := int64(0), uint64(0); len(b) > 0; {
		distance, size := binary.Varint(b)
		if size <= 0 {
			return errSteps
		}
		n, more := binary.Uvarint(b[size:])
		if all += n; more <= 0 || n == 0 || n > maxNumbers || all > maxNumbers {
			return errSteps
		}
		if err := visit(after, distance, int64(n)); err != nil {
			return err
		}
		after, b = after+distance*int64(n), b[size+more:]
	}
	return nil
}
