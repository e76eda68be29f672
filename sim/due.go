package sim

import (
	"context"
	"errors"
	"math"

	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// nextDue is when time alone asks for the next block of the P-Chain: a staker begins or ends, or an L1 validator runs out of
// balance. The network's state knows; the rows say it too, for who needs nothing else of the state.
func (n *Network) nextDue(ctx context.Context) (uint64, error) {
	if n.state != nil {
		return n.state.P.NextStakerChangeTime(), nil
	}
	if n.due > 0 {
		return n.due, nil
	}
	chain := n.Chain(txs.PChain)
	head, err := n.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return 0, err
	}
	stakers, err := n.DB.StakerTimes(ctx, chain)
	if err != nil {
		return 0, err
	}
	next := uint64(math.MaxUint64)
	for i := range stakers {
		switch s := &stakers[i]; s.Status {
		case store.StakerPending:
			next = min(next, uint64(s.Start))
		case store.StakerActive:
			next = min(next, uint64(s.End))
		}
	}
	if next, err = n.nextDeactivation(ctx, head, next); err == nil {
		n.due = next
	}
	return next, err
}

// rewound forgets what is known of the network in memory after the world went back, save when something is due if its P-Chain stayed.
func (n *Network) rewound(stayed bool) {
	switch {
	case !stayed:
		n.due = 0
	case n.state != nil:
		n.due = n.state.P.NextStakerChangeTime()
	}
	n.state = nil
}

// nextDeactivation is when the first L1 validator runs out of balance, if that is before next.
func (n *Network) nextDeactivation(ctx context.Context, head *store.PrimaryBlock, next uint64) (uint64, error) {
	validators, err := n.DB.L1Validators(ctx, n.Chain(txs.PChain), head.ID.Number())
	if err != nil {
		return 0, err
	}
	first := uint64(math.MaxUint64)
	for i := range validators {
		if v := &validators[i]; v.Weight > 0 && v.EndAccumulatedFee > 0 {
			first = min(first, uint64(v.EndAccumulatedFee))
		}
	}
	if now := uint64(head.Time); first < math.MaxUint64 && next > now {
		next = now + n.Rules.ValidatorFees.Seconds(head.L1Active, head.L1Excess, first-uint64(head.AccruedFees), next-now)
	}
	return next, nil
}

// advanceP accepts the blocks of the P-Chain that time asks for by a time. Once the last validator's time is over nobody proposes
// any, and the chain stands still.
func (e *extension) advanceP(by uint64) error {
	for {
		b, err := e.state.P.BuildDue(by, e.rewarded)
		if err != nil || b == nil {
			return err
		}
		switch err := e.accept(b, txs.PChain); {
		case errors.Is(err, errNoProposer):
			return nil
		case err != nil:
			return err
		}
	}
}

// rewarded decides about a staker's reward as the network's validators do: by the uptime of its node. One that is not known was
// never up.
func (e *extension) rewarded(s *pchain.Staker) bool {
	for i := range e.nodes {
		if string(e.nodes[i].Node) == string(s.NodeID[:]) {
			return e.nodes[i].Uptime >= e.Rules.Staking.UptimeRequirement
		}
	}
	return false
}
