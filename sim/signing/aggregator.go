package signing

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/warp"
)

// Aggregator collects signatures from the canonical validator set of a subnet at a P-Chain height. It holds the keys of the validators that
// sign when asked.
type Aggregator struct {
	*warp.CanonicalValidatorSet
	keys *sim.NodeKeys
}

// NewAggregator returns the aggregator of a subnet at a height, which must not exceed the P-Chain's last block. A subnet without
// validators has an empty set.
func NewAggregator(ctx context.Context, n *sim.Network, subnet ids.ID, height uint64) (*Aggregator, error) {
	set, err := n.CanonicalValidatorSet(ctx, subnet, height)
	if err != nil {
		return nil, err
	}
	keys, err := n.NodeKeys(ctx)
	return &Aggregator{set, keys}, err
}

// QuorumError means that too few validators sign, and accounts for all the weight.
type QuorumError struct {
	Quorum        uint64 // percentage of the weight required
	Signed, Total uint64 // weights
	Down, Members int    // validators with a key
	Silent        uint64 // weight of the validators that are down
	Keyless       uint64 // weight of validators without a key, which count but cannot sign
	Reason        error  // why the others do not sign, nil if they do
}

// Error begins with the network's words, which make clients retry, and adds the weight reached and required.
func (e *QuorumError) Error() string {
	text := fmt.Sprintf("failed to collect a threshold of signatures: %v: a weight of %d of %d signs (%s%%), %d%% is needed; %d of %d validators do not answer (a weight of %d)",
		warp.VerifyWeight(e.Signed, e.Total, e.Quorum, warp.QuorumDenominator), e.Signed, e.Total, percent(e.Signed, e.Total), e.Quorum, e.Down, e.Members, e.Silent)
	if e.Keyless > 0 {
		text += fmt.Sprintf("; validators without a BLS key, such as inactive ones of an L1, cannot sign (a weight of %d)", e.Keyless)
	}
	if e.Reason != nil {
		text += fmt.Sprintf("; a weight of %d answers, but %v", e.Total-e.Silent-e.Keyless, e.Reason)
	}
	return text
}

// percent formats a share with two decimals, rounded down.
func percent(part, whole uint64) string {
	share := new(big.Int).Mul(new(big.Int).SetUint64(part), big.NewInt(10_000))
	share.Div(share, new(big.Int).SetUint64(max(whole, 1)))
	return fmt.Sprintf("%d.%02d", share.Uint64()/100, share.Uint64()%100)
}

// Sign makes the signed message of a set that has any weight; the quorum is at least 1. Like the signature aggregator of icm-services, it
// collects signatures until they reach the quorum plus the buffer, both in percent of the weight, here in the set's order; if all who
// answer do not reach the buffer, the quorum is enough. Below it the error is a *QuorumError.
func (c *Aggregator) Sign(m *warp.UnsignedMessage, quorum, buffer uint64) (*warp.Message, error) {
	indices, signed := c.answering(min(quorum+buffer, warp.QuorumDenominator))
	if signed < warp.QuorumWeight(c.TotalWeight, quorum, warp.QuorumDenominator) {
		return nil, c.missed(quorum, signed, nil)
	}
	return c.aggregate(m, indices)
}

var errNoSignatures = errors.New("no signatures")

// Collect returns the message signed by answering validators, up to a quorum in percent of the weight, or by all of them if they fall short:
// avalanchego's acp118.SignatureAggregator returns what it has.
func (c *Aggregator) Collect(m *warp.UnsignedMessage, quorum uint64) (*warp.Message, error) {
	indices, _ := c.answering(max(min(quorum, warp.QuorumDenominator), 1))
	if len(indices) == 0 {
		return nil, errNoSignatures
	}
	return c.aggregate(m, indices)
}

// answering returns the indices of validators that answer, in the set's order, until they reach a quorum.
func (c *Aggregator) answering(quorum uint64) (indices []int, signed uint64) {
	aim := warp.QuorumWeight(c.TotalWeight, quorum, warp.QuorumDenominator)
	for i, member := range c.Validators {
		if signed >= aim {
			break
		}
		if c.keys.Secret(member) != nil {
			indices, signed = append(indices, i), signed+member.Weight
		}
	}
	return indices, signed
}

func (c *Aggregator) aggregate(m *warp.UnsignedMessage, indices []int) (*warp.Message, error) {
	return warp.Aggregate(m, c.CanonicalValidatorSet, indices, func(member *warp.CanonicalValidator) (*warp.SecretKey, error) { return c.keys.Secret(member), nil })
}

// Refusal returns the error if no validator signs, for a reason.
func (c *Aggregator) Refusal(quorum uint64, reason error) *QuorumError {
	return c.missed(quorum, 0, reason)
}

func (c *Aggregator) missed(quorum, signed uint64, reason error) *QuorumError {
	e := &QuorumError{Quorum: quorum, Signed: signed, Total: c.TotalWeight, Members: len(c.Validators), Keyless: c.TotalWeight, Reason: reason}
	for _, member := range c.Validators {
		e.Keyless -= member.Weight
		if c.keys.Secret(member) == nil {
			e.Down++
			e.Silent += member.Weight
		}
	}
	return e
}
