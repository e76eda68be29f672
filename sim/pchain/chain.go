package pchain

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Chain is the P-Chain: it builds blocks on its State and accepts them.
type Chain struct {
	*State
}

// New makes a P-Chain from the state of a genesis or of a stored chain.
func New(n *rules.Network, shared *utxo.SharedMemory, at Snapshot) *Chain {
	return &Chain{newState(n, shared, at)}
}

// BuildBlock makes a standard block of transactions; without any, it only advances the chain's time to the next change of stakers.
func (p *Chain) BuildBlock(time uint64, transactions []*txs.Tx) (*txs.Block, error) {
	return txs.NewBlock(txs.PChain, &txs.StandardBlock{Time: time, Link: p.next(), Txs: transactions})
}

// BuildProposal makes the block that proposes to reward the staker whose staking period is over.
func (p *Chain) BuildProposal(time uint64) (*txs.Block, error) {
	s, found := p.NextStakerToReward(time)
	if !found {
		return nil, fmt.Errorf("block %d of P: no staker ends at %d", p.Height()+1, time)
	}
	var unsigned txs.Unsigned = &txs.RewardValidatorTx{TxID: s.TxID}
	if s.Renewal != nil {
		unsigned = &txs.RewardAutoRenewedValidatorTx{TxID: s.TxID, Timestamp: time}
	}
	tx, err := txs.NewTx(txs.PChain, unsigned)
	if err != nil {
		return nil, err
	}
	return txs.NewBlock(txs.PChain, &txs.ProposalBlock{Time: time, Txs: []*txs.Tx{}, Link: p.next(), Tx: tx})
}

// BuildOption makes the block that decides a proposal: commit pays the reward, abort does not.
func (p *Chain) BuildOption(commit bool) (*txs.Block, error) {
	if commit {
		return txs.NewBlock(txs.PChain, &txs.CommitBlock{Time: p.Time(), Link: p.next()})
	}
	return txs.NewBlock(txs.PChain, &txs.AbortBlock{Time: p.Time(), Link: p.next()})
}

func (p *Chain) next() txs.Link { return txs.Link{ParentID: p.Tip(), Height: p.Height() + 1} }

// Accept verifies a block and applies it. The first Diff holds the changes caused by time, the following ones belong to the transactions in
// order, and the last deactivates the L1 validators that cannot pay for another second. An option block has one Diff. On an error nothing
// changes.
func (p *Chain) Accept(b *txs.Block) ([]*Diff, error) {
	p.journal.Begin()
	diffs, err := (&blockExecutor{p.State}).accept(b)
	if err != nil {
		p.journal.Revert()
		return nil, fmt.Errorf("block %d of P: %w", b.Height(), err)
	}
	return diffs, nil
}

// BuildDue makes the next block that the passing of time requires by a time, or none: a proposal to reward a staker, the block that decides
// one, or a block that begins stakers, ends those of permissioned subnets or deactivates L1 validators. commit decides who is rewarded.
func (p *Chain) BuildDue(by uint64, commit func(*Staker) bool) (*txs.Block, error) {
	if p.proposal != nil {
		return p.BuildOption(commit(p.proposal.staker))
	}
	at := p.NextStakerChangeTime()
	if at > by {
		return nil, nil
	}
	if _, due := p.NextStakerToReward(at); due {
		return p.BuildProposal(at)
	}
	return p.BuildBlock(at, nil)
}

// VerifyTx returns the reason why a transaction cannot be in a block of this time. It changes nothing.
func (p *Chain) VerifyTx(tx *txs.Tx, time uint64) error {
	p.journal.Begin()
	defer p.journal.Revert()
	return (&blockExecutor{p.State}).verifyTx(tx, time)
}

// CapacityTime returns the earliest time, from a time on, at which the chain has the gas that a transaction needs (ACP-103). A transaction
// that needs more than the capacity can ever be does not wait.
func (p *Chain) CapacityTime(unsigned txs.Unsigned, from uint64) uint64 {
	fees := &p.Network.Fees
	complexity, err := rules.ComplexityOf(unsigned)
	gas := fees.Gas(complexity)
	have := p.fees.Advance(fees, from-min(from, p.Time())).Capacity
	if err != nil || gas <= have || gas > fees.MaxCapacity {
		return from
	}
	return from + (gas-have+fees.MaxPerSecond-1)/fees.MaxPerSecond
}

// Fee returns the amount that a transaction must burn in a block of this time. It depends on inputs and outputs but not on amounts, so it
// can be computed before the change.
func (p *Chain) Fee(unsigned txs.Unsigned, time uint64) (uint64, error) {
	complexity, err := rules.ComplexityOf(unsigned)
	if err != nil {
		return 0, err
	}
	fees := p.fees.Advance(&p.Network.Fees, time-min(time, p.Time()))
	return p.Network.Fees.Gas(complexity) * fees.Price(&p.Network.Fees), nil
}

// RemainingDelegation returns how much more can be delegated to a validator from now to a time.
func (p *Chain) RemainingDelegation(nodeID ids.NodeID, end uint64) uint64 {
	validator, found := p.Validator(ids.Empty, nodeID)
	if !found {
		return 0
	}
	maxWeight := p.current.maxWeight(validator, p.pending, p.Time(), end)
	most := p.Network.StakingAt(p.Time()).MaxWeight(validator.Weight)
	return most - min(maxWeight, most)
}
