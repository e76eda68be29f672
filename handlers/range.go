package handlers

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// joinRanges finds both ends of each range, which must be alike.
func (op *operation) joinRanges() error {
	for _, p := range op.params {
		if p.NotAbove == "" {
			continue
		}
		i := slices.IndexFunc(op.params, func(o *param) bool { return o.Name == p.NotAbove && o.Kind == p.Kind })
		if i < 0 {
			return fmt.Errorf("operation %s: parameter %s has no %s of its kind", op.ID, p.Name, p.NotAbove)
		}
		p.end, op.params[i].end = true, true
	}
	return nil
}

// reversed finds the ranges that end before they start. One that ends where it starts is a range.
func (r *Request) reversed() (problems []string) {
	for _, p := range r.op.params {
		if p.NotAbove == "" || !r.Given(p.Name) || !r.Given(p.NotAbove) {
			continue
		}
		low, high := number(r.value(p.Name)), number(r.value(p.NotAbove))
		if low != nil && high != nil && low.Cmp(high) > 0 {
			problems = append(problems, fmt.Sprintf("%s is above %s: expected at most as much", p.Name, p.NotAbove))
		}
	}
	return problems
}

// number is the value of a parameter that has an order, nil for one that was not sound.
func number(value any) *big.Rat {
	switch n := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(n)
	case *big.Int:
		return new(big.Rat).SetInt(n)
	case *big.Rat:
		return n
	}
	return nil
}

// description is what the document says about a parameter.
func (p *param) description() string {
	if p.NotAbove == "" {
		return p.Doc
	}
	return strings.TrimSpace(p.Doc + " At most " + p.NotAbove + ".")
}
