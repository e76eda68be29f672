package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"snowglobe/handlers/fault"
)

// confirmations is how often a schedule must fail again before the search blames it.
const confirmations = 2

// shrinking is a schedule being shrunk.
type shrinking struct {
	*searcher
	record   Record
	attempts int
	last     *Outcome        // of the newest failure
	passed   map[string]bool // the ids of lists that need not be tried again
}

// shrink removes faults, merges them and makes them milder until each that is left is needed for the failure. It names requests without their
// parameters if those depend on a fault that isn't needed. It returns nil if the same faults don't make the command fail again. If the context ends, it
// returns the faults that are left then, and the error.
func (s *searcher) shrink(ctx context.Context, r Record) (*Finding, error) {
	h := &shrinking{searcher: s, record: r, last: r.Outcome, passed: map[string]bool{fault.List{}.ID(): true}}
	list, err := h.begin(ctx, r.Outcome.Applied)
	if err == nil && list == nil {
		list, err = h.begin(ctx, r.Outcome.Applied.Loose())
	}
	if err != nil {
		return h.unfinished(ctx, r.Outcome.Applied, err)
	}
	if list == nil {
		return nil, nil
	}
	for again := true; again; {
		again = false
		for _, fewer := range [][]fault.List{h.without(list), h.without(list.Loose()), list.Merged(), list.Milder()} {
			failing, err := h.first(ctx, fewer)
			if err != nil {
				return h.unfinished(ctx, list, err)
			}
			if failing != nil {
				list, again = failing, true
				break
			}
		}
	}
	steady, err := h.steady(ctx, list)
	if err != nil {
		return h.unfinished(ctx, list, err)
	}
	if !steady {
		return nil, nil
	}
	return h.finding(list), nil
}

func (h *shrinking) finding(list fault.List) *Finding {
	return &Finding{Number: h.record.Number, List: list, From: len(h.record.Outcome.Applied), Attempts: h.attempts, Outcome: h.last}
}

// unfinished returns the finding as it stands after an error: none unless the context has ended.
func (h *shrinking) unfinished(ctx context.Context, list fault.List, err error) (*Finding, error) {
	if ctx.Err() == nil {
		return nil, err
	}
	f := h.finding(list)
	f.Unfinished = true
	return f, err
}

// begin returns one of the faults with which the command fails alone, or all of them if it needs several; nil if it passes.
func (h *shrinking) begin(ctx context.Context, list fault.List) (fault.List, error) {
	if failing, err := h.first(ctx, singles(list)); err != nil || failing != nil {
		return failing, err
	}
	if steady, err := h.steady(ctx, list); err != nil || !steady {
		return nil, err
	}
	return list, nil
}

// singles lists each fault alone, last first, because the last is the likeliest cause. A request that was repeated because of other faults comes
// earlier without them. Events that come twice are tried from the first one on: the command may end before the last one comes again.
func singles(list fault.List) (all []fault.List) {
	var earlier, twice []fault.List
	for i, p := range slices.Backward(list) {
		if p.Kind == "doubled" {
			twice = append(twice, fault.List{p})
			continue
		}
		all = append(all, fault.List{p})
		before := 0
		for _, other := range list[:i] {
			if other.On == p.On && other.Key == p.Key {
				before++
			}
		}
		if before > 0 {
			p.Nth -= before
			earlier = append(earlier, fault.List{p})
		}
	}
	slices.Reverse(twice)
	return slices.Concat(all, twice, earlier)
}

// without returns copies of a list: without each half of its faults, then without each single fault.
func (h *shrinking) without(list fault.List) (all []fault.List) {
	if half := len(list) / 2; half > 1 {
		all = append(all, list[half:], list[:half])
	}
	for i := range list {
		all = append(all, slices.Delete(slices.Clone(list), i, i+1))
	}
	return all
}

// first returns the first list that makes the command fail, nil if none does. Workers try several at a time.
func (h *shrinking) first(ctx context.Context, lists []fault.List) (fault.List, error) {
	lists = slices.DeleteFunc(lists, func(l fault.List) bool { return h.passed[l.ID()] })
	for part := range slices.Chunk(lists, max(h.Workers, 1)) {
		outcomes, err := h.together(ctx, part)
		if err != nil {
			return nil, err
		}
		for i, o := range outcomes {
			if o.Failure != "" {
				h.last = o
				return part[i], nil
			}
			h.passed[part[i].ID()] = true
		}
	}
	return nil, ctx.Err()
}

// steady reports whether a list makes the command fail every time.
func (h *shrinking) steady(ctx context.Context, list fault.List) (bool, error) {
	for part := range slices.Chunk(slices.Repeat([]fault.List{list}, confirmations), max(h.Workers, 1)) {
		outcomes, err := h.together(ctx, part)
		if err != nil {
			return false, err
		}
		for _, o := range outcomes {
			if o.Failure == "" {
				return false, nil
			}
			h.last = o
		}
	}
	return true, nil
}

// together runs the command with several lists at a time.
func (h *shrinking) together(ctx context.Context, lists []fault.List) ([]*Outcome, error) {
	outcomes, errs := make([]*Outcome, len(lists)), make([]error, len(lists))
	var all sync.WaitGroup
	for i := range lists {
		all.Go(func() { outcomes[i], errs[i] = h.run(ctx, fault.Repeat(lists[i])) })
	}
	all.Wait()
	err := errors.Join(errs...)
	if err == nil {
		h.attempts += len(lists)
	}
	return outcomes, err
}
