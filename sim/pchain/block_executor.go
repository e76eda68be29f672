package pchain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing a block of the P-Chain, in the node's words.
var (
	errUnexpectedBlock  = errors.New("unexpected block type")
	errSkipsChange      = errors.New("proposed timestamp later than next staker change time")
	errNoChanges        = errors.New("BanffStandardBlock performs no state changes")
	errOptionTime       = errors.New("option block proposed timestamp not matching parent block one")
	errUndecided        = errors.New("the proposal before is not decided")
	errTxTooBig         = errors.New("transaction size exceeds max transaction size pre-Helicon") // Manager.verifyTransactionSizePreHelicon
	errBlockTooBig      = errors.New("block size exceeds max block size pre-Helicon")             // Block.verifyBlockSizePreHelicon
	errMissingTimestamp = errors.New("missing timestamp")
	errTimestamp        = errors.New("invalid timestamp")
	errNotAutoRenewed   = errors.New("expected auto renewed staker")
	errStakerTxType     = errors.New("unexpected staker transaction type")
	errNothingToDecide  = errors.New("no proposal to decide")
)

// blockExecutor verifies and executes blocks, following avalanchego's block/executor.
type blockExecutor struct {
	*State
}

func (e *blockExecutor) accept(b *txs.Block) ([]*Diff, error) {
	if err := e.VerifyParent(b); err != nil {
		return nil, err
	}
	if len(b.Bytes()) > e.Network.MaxPChainSize(b.Time()) {
		return nil, errBlockTooBig
	}
	var (
		diffs []*Diff
		err   error
	)
	switch body := b.Body.(type) {
	case *txs.StandardBlock:
		diffs, err = e.standardBlock(body)
	case *txs.ProposalBlock:
		diffs, err = e.proposalBlock(body)
	case *txs.CommitBlock:
		diffs, err = e.optionBlock(body.Time, true)
	case *txs.AbortBlock:
		diffs, err = e.optionBlock(body.Time, false)
	default:
		err = errUnexpectedBlock
	}
	if err != nil {
		return nil, err
	}
	e.SetLastAccepted(b)
	return diffs, nil
}

func (e *blockExecutor) standardBlock(b *txs.StandardBlock) ([]*Diff, error) {
	diffs, err := e.executeTxs(b.Time, b.Txs)
	if err != nil {
		return nil, err
	}
	passed, deactivated := diffs[0], diffs[len(diffs)-1]
	if len(b.Txs) == 0 && len(passed.Stakers) == 0 && len(passed.L1Validators) == 0 && len(deactivated.L1Validators) == 0 {
		return nil, errNoChanges
	}
	return diffs, nil
}

// executeTxs advances the chain's time and executes transactions, all at the gas price at the beginning of the block.
func (e *blockExecutor) executeTxs(time uint64, transactions []*txs.Tx) ([]*Diff, error) {
	if e.proposal != nil {
		return nil, errUndecided
	}
	passed, err := e.advanceTimeTo(time)
	if err != nil {
		return nil, err
	}
	diffs := []*Diff{passed}
	price := e.fees.Price(&e.Network.Fees)
	for _, tx := range transactions {
		executor := newTxExecutor(e.State, tx)
		if err := executor.verifyWarpMessage(); err != nil {
			return nil, fmt.Errorf("transaction %s: %w", tx.ID(), err)
		}
		diff, err := executor.execute(price)
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, diff)
	}
	// Deactivate the L1 validators that cannot pay for one more second, so that time can go on.
	deactivated := e.record(ids.Empty)
	e.deactivateBelow(e.l1.afterNextSecond())
	return append(diffs, deactivated), nil
}

// verifyTx returns the reason why a transaction cannot be in a block of this time, as avalanchego's block/executor.Manager.VerifyTx does.
// It executes the transaction.
func (e *blockExecutor) verifyTx(tx *txs.Tx, time uint64) error {
	if len(tx.Bytes()) > e.Network.MaxPChainSize(time) {
		return errTxTooBig
	}
	if err := newTxExecutor(e.State, tx).verifyWarpMessage(); err != nil {
		return fmt.Errorf("failed verifying warp messages: %w", err)
	}
	if _, err := e.advanceTimeTo(time); err != nil {
		return fmt.Errorf("failed to advance the chain time: %w", err)
	}
	complexity, err := rules.ComplexityOf(tx.Unsigned)
	if err != nil {
		return fmt.Errorf("failed to calculate tx complexity: %w", err)
	}
	if gas := e.Network.Fees.Gas(complexity); gas > e.fees.Capacity {
		return fmt.Errorf("%w: %d > %d", errGasCapacity, gas, e.fees.Capacity)
	}
	if _, err := newTxExecutor(e.State, tx).execute(e.fees.Price(&e.Network.Fees)); err != nil {
		return fmt.Errorf("failed execution: %w", err)
	}
	return nil
}

func (e *blockExecutor) proposalBlock(b *txs.ProposalBlock) ([]*Diff, error) {
	diffs, err := e.executeTxs(b.Time, b.Txs)
	if err != nil {
		return nil, err
	}
	s, err := e.proposalTx(b.Tx)
	if err != nil {
		return nil, fmt.Errorf("proposal tx %s failed execution: %w", b.Tx.ID(), err)
	}
	utxo.Set(e.journal, &e.proposal, &proposal{s, b.Tx})
	return slices.Insert(diffs, len(diffs)-1, &Diff{Diff: utxo.Diff{TxID: b.Tx.ID()}}), nil
}

// proposalTx checks a reward transaction, as avalanchego's txs/executor.ProposalTx does, and returns the staker that it is about.
func (e *blockExecutor) proposalTx(tx *txs.Tx) (*Staker, error) {
	renewed, renews := tx.Unsigned.(*txs.RewardAutoRenewedValidatorTx)
	if renews {
		switch {
		case renewed.TxID == ids.Empty:
			return nil, errMissingTxID
		case renewed.Timestamp == 0:
			return nil, errMissingTimestamp
		case len(tx.Credentials) > 0:
			return nil, errCredentials
		case renewed.Timestamp != e.Time():
			return nil, errTimestamp
		}
	} else if _, ok := tx.Unsigned.(*txs.RewardValidatorTx); !ok {
		return nil, utxo.ErrWrongTxType
	}
	txID, _ := txs.Rewarded(tx.Unsigned)
	s, err := e.stakerToReward(txID)
	switch {
	case err != nil:
		return nil, err
	case renews && s.Renewal == nil:
		return nil, errNotAutoRenewed
	case !renews && s.Renewal != nil:
		return nil, fmt.Errorf("%w: %T", errStakerTxType, s.Tx.Unsigned)
	}
	return s, nil
}

// stakerToReward checks that a staker is the next to be rewarded and that its staking period is over.
func (e *blockExecutor) stakerToReward(txID ids.ID) (*Staker, error) {
	if len(e.current.queue) == 0 {
		return nil, utxo.ErrNotFound
	}
	switch s := e.current.queue[0]; {
	case s.TxID != txID:
		return nil, fmt.Errorf("attempting to remove wrong staker: %s != %s", s.TxID, txID)
	case s.End != e.Time():
		return nil, fmt.Errorf("attempting to remove staker before their end time: TxID = %s with %d < %d", txID, e.Time(), s.End)
	default:
		return s, nil
	}
}

func (e *blockExecutor) optionBlock(time uint64, commit bool) ([]*Diff, error) {
	switch {
	case e.proposal == nil:
		return nil, errNothingToDecide
	case time != e.Time():
		return nil, errOptionTime
	}
	p := e.proposal
	utxo.Set(e.journal, &e.proposal, nil)
	diff := e.record(p.staker.TxID)
	r := &rewarder{State: e.State, staker: p.staker, tx: p.staker.Tx}
	if p.staker.Renewal != nil {
		r.tx = p.tx
	}
	r.reward(commit)
	return []*Diff{diff}, nil
}

// advanceTimeTo advances the chain's time to that of a block, as avalanchego's executor.AdvanceTimeTo does.
func (e *blockExecutor) advanceTimeTo(time uint64) (*Diff, error) {
	if next := e.NextStakerChangeTime(); time > next {
		return nil, fmt.Errorf("%w, proposed timestamp (%d), next staker change time (%d)", errSkipsChange, time, next)
	}
	diff := e.record(ids.Empty)
	e.startPendingStakers(time)
	e.endSubnetValidators(time)
	e.l1.expire(time)
	seconds := time - e.Time()
	utxo.Set(e.journal, &e.fees, e.fees.Advance(&e.Network.Fees, seconds))
	e.l1.charge(seconds)
	e.deactivateBelow(e.l1.accrued + 1)
	e.SetTime(time)
	return diff, nil
}

// startPendingStakers activates pending stakers that are due: validators first, so that delegators find theirs.
func (e *blockExecutor) startPendingStakers(now uint64) {
	var due []*Staker
	for _, s := range e.pending.queue {
		if s.Start > now {
			break
		}
		due = append(due, s)
	}
	slices.SortStableFunc(due, func(a, b *Staker) int { return -cmp.Compare(a.priority(), b.priority()) })
	for _, s := range due {
		e.pending.remove(e.journal, s)
		e.addStaker(s)
	}
}

// endSubnetValidators ends validators of permissioned subnets, which time alone removes.
func (e *blockExecutor) endSubnetValidators(now uint64) {
	for len(e.current.queue) > 0 {
		s := e.current.queue[0]
		if s.End > now || !s.permissioned() {
			return
		}
		e.deleteStaker(s, Completed, false)
	}
}
