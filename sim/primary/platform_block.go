package primary

import (
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// Build makes a standard block of transactions; with none it only lets time pass to a change of validators.
func (p *Platform) Build(time uint64, txs []*Tx) (*Block, error) {
	return NewBlock(PChain, &StandardBlock{Time: time, Link: p.next(), Txs: txs})
}

// BuildProposal makes the block that proposes to reward the staker whose time has come.
func (p *Platform) BuildProposal(time uint64) (*Block, error) {
	s, found := p.NextReward(time)
	if !found {
		return nil, fmt.Errorf("block %d of P: no staker ends at %d", p.height+1, time)
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
		return NewBlock(PChain, &CommitBlock{Time: p.time, Link: p.next()})
	}
	return NewBlock(PChain, &AbortBlock{Time: p.time, Link: p.next()})
}

func (p *Platform) next() Link { return Link{ParentID: p.tip, Height: p.height + 1} }

// Accept verifies a block and applies it: the first Diff is what the passing of time changed, those that follow belong to
// the transactions in order, and the last is what became of L1 validators that cannot pay on. An option block has one
// Diff. On an error nothing has changed.
func (p *Platform) Accept(b *Block) ([]*Diff, error) {
	p.begin()
	diffs, err := p.accept(b)
	if err != nil {
		p.revert()
		return nil, fmt.Errorf("block %d of P: %w", b.Height(), err)
	}
	return diffs, nil
}

func (p *Platform) accept(b *Block) ([]*Diff, error) {
	if err := p.links(b); err != nil {
		return nil, err
	}
	var (
		diffs []*Diff
		err   error
	)
	switch body := b.Body.(type) {
	case *StandardBlock:
		diffs, err = p.standard(body)
	case *ProposalBlock:
		diffs, err = p.propose(body)
	case *CommitBlock:
		diffs, err = p.decide(body.Time, true)
	case *AbortBlock:
		diffs, err = p.decide(body.Time, false)
	default:
		err = errBlockType
	}
	if err != nil {
		return nil, err
	}
	p.link(b)
	return diffs, nil
}

func (p *Platform) standard(b *StandardBlock) ([]*Diff, error) {
	diffs, err := p.pass(b.Time, b.Txs)
	if err != nil {
		return nil, err
	}
	passed, settled := diffs[0], diffs[len(diffs)-1]
	if len(b.Txs) == 0 && len(passed.Stakers) == 0 && len(passed.L1Validators) == 0 && len(settled.L1Validators) == 0 {
		return nil, errNoChanges
	}
	return diffs, nil
}

// pass lets time pass and applies transactions, all at the gas price that holds when the block begins.
func (p *Platform) pass(time uint64, txs []*Tx) ([]*Diff, error) {
	if p.proposal != nil {
		return nil, errUndecided
	}
	passed, err := p.advance(time)
	if err != nil {
		return nil, err
	}
	diffs := []*Diff{passed}
	price := p.fees.Price(&p.Network.Fees)
	for _, tx := range txs {
		diff, err := p.apply(tx, price)
		if err != nil {
			return nil, fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
		diffs = append(diffs, diff)
	}
	settled := p.start(ids.Empty)
	p.chargeable()
	return append(diffs, settled), nil
}

// consumeGas counts a transaction's gas against the block's capacity.
func (p *Platform) consumeGas(gas uint64) error {
	fees, err := p.fees.Consume(gas)
	if err != nil {
		return err
	}
	set(&p.journal, &p.fees, fees)
	return nil
}

func (p *Platform) propose(b *ProposalBlock) ([]*Diff, error) {
	diffs, err := p.pass(b.Time, b.Txs)
	if err != nil {
		return nil, err
	}
	reward, ok := b.Tx.Unsigned.(*RewardValidatorTx)
	if !ok {
		return nil, ErrWrongTxType
	}
	s, err := p.due(reward.TxID)
	if err != nil {
		return nil, err
	}
	set(&p.journal, &p.proposal, s)
	return slices.Insert(diffs, len(diffs)-1, &Diff{TxID: b.Tx.ID()}), nil
}

// due checks that a staker is the next to leave and that its time has come.
func (p *Platform) due(txID ids.ID) (*Staker, error) {
	if len(p.current.queue) == 0 {
		return nil, errNotFound
	}
	switch s := p.current.queue[0]; {
	case s.TxID != txID:
		return nil, fmt.Errorf("attempting to remove wrong staker: %s != %s", s.TxID, txID)
	case s.End != p.time:
		return nil, fmt.Errorf("attempting to remove staker before their end time: TxID = %s with %d < %d", txID, p.time, s.End)
	default:
		return s, nil
	}
}

func (p *Platform) decide(time uint64, commit bool) ([]*Diff, error) {
	switch {
	case p.proposal == nil:
		return nil, errNothingToElect
	case time != p.time:
		return nil, errOptionTime
	}
	s := p.proposal
	set(&p.journal, &p.proposal, nil)
	diff := p.start(s.TxID)
	p.release(s, commit)
	return []*Diff{diff}, nil
}
