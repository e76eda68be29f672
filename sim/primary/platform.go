package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// Platform is the P-Chain: it builds blocks on its State and accepts them.
type Platform struct {
	*State
}

// NewPlatform begins at a genesis, or where a stored chain stands.
func NewPlatform(n *Network, shared *SharedMemory, at PlatformState) *Platform {
	return &Platform{newPlatformState(n, shared, at)}
}

// Build makes a standard block of transactions; with none it only lets time pass to a change of validators.
func (p *Platform) Build(time uint64, txs []*Tx) (*Block, error) {
	return NewBlock(PChain, &StandardBlock{Time: time, Link: p.next(), Txs: txs})
}

// BuildProposal makes the block that proposes to reward the staker whose time has come.
func (p *Platform) BuildProposal(time uint64) (*Block, error) {
	s, found := p.NextReward(time)
	if !found {
		return nil, fmt.Errorf("block %d of P: no staker ends at %d", p.Height()+1, time)
	}
	tx, err := NewTx(PChain, &RewardValidatorTx{TxID: s.TxID})
	if err != nil {
		return nil, err
	}
	return NewBlock(PChain, &ProposalBlock{Time: time, Txs: []*Tx{}, Link: p.next(), Tx: tx})
}

// BuildOption makes the block that decides a proposal: commit pays the reward, abort does not.
func (p *Platform) BuildOption(commit bool) (*Block, error) {
	if commit {
		return NewBlock(PChain, &CommitBlock{Time: p.Time(), Link: p.next()})
	}
	return NewBlock(PChain, &AbortBlock{Time: p.Time(), Link: p.next()})
}

func (p *Platform) next() Link { return Link{ParentID: p.Tip(), Height: p.Height() + 1} }

// Accept verifies a block and applies it: the first Diff is what the passing of time changed, those that follow belong to
// the transactions in order, and the last is what became of L1 validators that cannot pay on. An option block has one
// Diff. On an error nothing has changed.
func (p *Platform) Accept(b *Block) ([]*PlatformDiff, error) {
	p.journal.Begin()
	diffs, err := (&blockExecutor{p.State}).accept(b)
	if err != nil {
		p.journal.Revert()
		return nil, fmt.Errorf("block %d of P: %w", b.Height(), err)
	}
	return diffs, nil
}

// Fee is what a transaction must burn in a block of this time. Inputs and outputs count, amounts do not, so that it can be
// asked for before the change is known.
func (p *Platform) Fee(unsigned Unsigned, time uint64) (uint64, error) {
	complexity, err := ComplexityOf(unsigned)
	if err != nil {
		return 0, err
	}
	fees := p.fees.Advance(&p.Network.Fees, time-min(time, p.Time()))
	return p.Network.Fees.Gas(complexity) * fees.Price(&p.Network.Fees), nil
}

// Room is how much more may be delegated to a validator from now to a time.
func (p *Platform) Room(nodeID ids.NodeID, end uint64) uint64 {
	validator, found := p.Validator(ids.Empty, nodeID)
	if !found {
		return 0
	}
	peak := p.current.peak(validator, p.pending, p.Time(), end)
	return p.Network.Staking.MaxWeight(validator.Weight) - min(peak, p.Network.Staking.MaxWeight(validator.Weight))
}
