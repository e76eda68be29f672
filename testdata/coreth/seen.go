package main

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ava-labs/libevm/core/types"

	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/customtypes"
)

// examples bounds the printed failures of one kind.
const examples = 3

// seen counts checks and failures, and describes the kinds of blocks.
type seen struct {
	blocks, executed, checks, failures int
	byCheck                            map[string]int // failures
	errs                               []error

	lowest, highest    *big.Int // base fees
	fractions, hurried int      // blocks at a fraction of a second, and at the first millisecond that is allowed
	targets, delays    int      // blocks that moved the gas target, the delay
}

// note counts the outcome of a check.
func (s *seen) note(block uint64, check string, err error) {
	s.checks++
	if err == nil {
		return
	}
	s.failures++
	if s.byCheck[check]++; s.byCheck[check] <= examples {
		s.errs = append(s.errs, fmt.Errorf("block %d: %s: %w", block, check, err))
	}
}

func (s *seen) header(parent, h *types.Header) {
	s.blocks++
	if s.lowest == nil || h.BaseFee.Cmp(s.lowest) < 0 {
		s.lowest = h.BaseFee
	}
	if s.highest == nil || h.BaseFee.Cmp(s.highest) > 0 {
		s.highest = h.BaseFee
	}
	millis, before := customtypes.HeaderTimeMilliseconds(h), customtypes.GetHeaderExtra(parent)
	if millis%1000 != 0 {
		s.fractions++
	}
	if before.MinDelayExcess != nil && millis == customtypes.HeaderTimeMilliseconds(parent)+before.MinDelayExcess.Delay() {
		s.hurried++
	}
	if *customtypes.GetHeaderExtra(h).MinDelayExcess != *before.MinDelayExcess {
		s.delays++
	}
	if h.GasLimit != parent.GasLimit && parent.Number.Sign() > 0 {
		s.targets++
	}
}

func (s *seen) String() string {
	return fmt.Sprintf("%d blocks, %d of them executed, %d checks of headers and answers, %d failed; base fee %d to %d wei; %d blocks at a fraction of a second, %d at the minimal delay, %d after one that moved the gas target, %d moved the delay",
		s.blocks, s.executed, s.checks, s.failures, s.lowest, s.highest, s.fractions, s.hurried, s.targets, s.delays)
}

// err is nil when nothing failed.
func (s *seen) err(network string) error {
	if s.failures == 0 {
		return nil
	}
	var counts []string
	for check, n := range s.byCheck {
		counts = append(counts, fmt.Sprintf("%s %d", check, n))
	}
	slices.Sort(counts)
	return fmt.Errorf("%s: %d failures (%s)\n%w", network, s.failures, strings.Join(counts, ", "), errors.Join(s.errs...))
}
