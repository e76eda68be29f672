package pchain

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

func nodeID(n byte) ids.NodeID { return ids.NodeID{19: n + 1} }

// validatorTx stakes for a node with the key of the same number.
func (w *world) validatorTx(key *txs.Key, node byte, weight, duration uint64, change ...func(*txs.AddPermissionlessValidatorTx)) *txs.Tx {
	owner := txs.NewOwner(key.Address())
	signer := w.signer(node)
	return w.pChainTx(key, weight, func(base txs.BaseTx) txs.Unsigned {
		tx := &txs.AddPermissionlessValidatorTx{
			BaseTx:           base,
			Validator:        txs.Validator{NodeID: nodeID(node), End: w.p.Time() + duration, Weight: weight},
			Signer:           signer,
			StakeOuts:        []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, weight, owner)},
			ValidationOwner:  &owner,
			DelegationOwner:  &owner,
			DelegationShares: 100_000,
		}
		for _, c := range change {
			c(tx)
		}
		return tx
	})
}

func (w *world) delegatorTx(key *txs.Key, node byte, weight, duration uint64) *txs.Tx {
	owner := txs.NewOwner(key.Address())
	return w.pChainTx(key, weight, func(base txs.BaseTx) txs.Unsigned {
		return &txs.AddPermissionlessDelegatorTx{
			BaseTx:       base,
			Validator:    txs.Validator{NodeID: nodeID(node), End: w.p.Time() + duration, Weight: weight},
			StakeOuts:    []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, weight, owner)},
			RewardsOwner: &owner,
		}
	})
}

// reward ends the next staker and decides its reward.
func (w *world) reward(commit bool) *Diff {
	w.t.Helper()
	proposal, err := w.p.BuildProposal(w.p.NextStakerChangeTime())
	if err != nil {
		w.t.Fatal(err)
	}
	w.acceptBlock(proposal)
	option, err := w.p.BuildOption(commit)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.acceptBlock(option)[0]
}

func TestStakingFromStartToReward(t *testing.T) {
	w := newWorld(t)
	supply := w.p.Supply()
	diff := w.accept(start+10, w.validatorTx(w.keys[0], 0, 2000*nAVAX, 30*oneDay))[1]
	validator := diff.Stakers[0]
	want := local.BaseStaking.Reward(30*oneDay-10, 2000*nAVAX, supply)
	if validator.PotentialReward != want || validator.Start != start+10 || w.p.Supply() != supply+want {
		t.Errorf("validator %+v with supply %d", validator, w.p.Supply())
	}
	delegator := w.accept(start+20, w.delegatorTx(w.keys[1], 0, 500*nAVAX, 10*oneDay))[1].Stakers[0]

	paid := w.reward(true)
	fee, rest := rules.SplitReward(delegator.PotentialReward, 100_000)
	if len(paid.Rewards) != 1 || paid.Rewards[0].Amount() != rest {
		t.Errorf("the delegator earns %+v, want %d", paid.Rewards, rest)
	}
	if len(paid.Created) != 2 || paid.Created[0].Amount() != 500*nAVAX || paid.Created[0].OutputIndex != 1 {
		t.Errorf("the stake returns as %+v", paid.Created)
	}
	paid = w.reward(true)
	if len(paid.Rewards) != 2 || paid.Rewards[0].Amount() != want || paid.Rewards[1].Amount() != fee {
		t.Errorf("the validator earns %+v, want %d and %d", paid.Rewards, want, fee)
	}
	if last := paid.Stakers[0]; last.Status != Completed || !last.Rewarded {
		t.Errorf("the validator ends as %+v", last)
	}
	if w.p.Time() != start+30*oneDay {
		t.Errorf("it ends at %d", w.p.Time()-start)
	}
	w.replay()
}

func TestAbortPaysFeesOnly(t *testing.T) {
	w := newWorld(t)
	supply := w.p.Supply()
	w.accept(start, w.validatorTx(w.keys[0], 0, 2000*nAVAX, 30*oneDay))
	delegator := w.accept(start, w.delegatorTx(w.keys[1], 0, 500*nAVAX, 10*oneDay))[1].Stakers[0]
	w.reward(true)
	paid := w.reward(false)
	fee, _ := rules.SplitReward(delegator.PotentialReward, 100_000)
	if len(paid.Rewards) != 1 || paid.Rewards[0].Amount() != fee || paid.Stakers[0].Rewarded {
		t.Errorf("the aborted validator gets %+v", paid.Rewards)
	}
	if w.p.Supply() != supply+delegator.PotentialReward {
		t.Errorf("supply grew by %d", w.p.Supply()-supply)
	}
	w.replay()
}

// replay feeds the bytes of all blocks to a new chain that verifies every signature and proof, and compares the states.
func (w *world) replay() {
	w.t.Helper()
	fresh := newWorldOn(w.t, w.p.Network)
	fresh.p.Strict = true
	for _, b := range w.blocks {
		parsed, err := txs.ParseBlock(txs.PChain, b.Bytes())
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := fresh.p.Accept(parsed); err != nil {
			w.t.Fatal(err)
		}
	}
	sameState(w.t, fresh.p, w.p)
}

func sameState(t *testing.T, a, b *Chain) {
	t.Helper()
	if a.Tip() != b.Tip() || a.Time() != b.Time() || a.Supply() != b.Supply() || a.Fees() != b.Fees() || a.Count() != b.Count() || a.l1.accrued != b.l1.accrued {
		t.Errorf("states differ: %s %d %d %+v %d, %s %d %d %+v %d", a.Tip(), a.Time(), a.Supply(), a.Fees(), a.Count(), b.Tip(), b.Time(), b.Supply(), b.Fees(), b.Count())
	}
	for u := range b.UTXOs() {
		if _, err := a.UTXO(u.InputID()); err != nil {
			t.Errorf("output %s is missing", u.InputID())
		}
	}
	if len(a.current.queue) != len(b.current.queue) || len(a.l1.active) != len(b.l1.active) || len(a.l1.byID) != len(b.l1.byID) {
		t.Error("validators differ")
	}
}

func TestStakingRulesRefuse(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	w.accept(start, w.validatorTx(w.keys[1], 9, 2000*nAVAX, 20*oneDay))
	change := func(f func(*txs.AddPermissionlessValidatorTx)) *txs.Tx {
		return w.validatorTx(key, 0, 2000*nAVAX, 20*oneDay, f)
	}
	unpaid := func(weight uint64) *txs.Tx {
		return w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
			owner := txs.NewOwner(key.Address())
			return &txs.AddPermissionlessDelegatorTx{
				BaseTx: base, Validator: txs.Validator{NodeID: nodeID(9), End: start + 5*oneDay, Weight: weight},
				StakeOuts: []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, weight, owner)}, RewardsOwner: &owner,
			}
		})
	}
	cases := []struct {
		want error
		tx   *txs.Tx
	}{
		{errWeightTooSmall, w.validatorTx(key, 0, 1999*nAVAX, 20*oneDay)},
		{errWeightTooLarge, w.validatorTx(key, 0, 3_000_001*nAVAX, 20*oneDay)},
		{errStakeTooShort, w.validatorTx(key, 0, 2000*nAVAX, oneDay-1)},
		{errStakeTooLong, w.validatorTx(key, 0, 2000*nAVAX, 366*oneDay)},
		{errStakeTooLong, w.validatorTx(key, 0, 2000*nAVAX, 1<<60)},
		{errStakeTooShort, w.validatorTx(key, 0, 2000*nAVAX, math.MaxUint64-start)},
		{errDelegationFee, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.DelegationShares = 19_999 })},
		{errTooManyShares, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.DelegationShares = 1_000_001 })},
		{errEmptyNodeID, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.Validator.NodeID = ids.EmptyNodeID })},
		{errDuplicate, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.Validator.NodeID = nodeID(9) })},
		{errStakeMismatch, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.Validator.Weight++ })},
		{errInvalidSigner, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.Signer = &txs.EmptySigner{} })},
		{errInvalidSigner, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.SubnetID = ids.ID{1} })},
		{utxo.ErrNotFound, change(func(tx *txs.AddPermissionlessValidatorTx) { tx.SubnetID, tx.Signer = ids.ID{1}, &txs.EmptySigner{} })},
		{utxo.ErrNotFound, w.delegatorTx(key, 3, 25*nAVAX, 5*oneDay)},
		{errWeightTooSmall, w.delegatorTx(key, 9, 24*nAVAX, 5*oneDay)},
		{errPeriodMismatch, w.delegatorTx(key, 9, 25*nAVAX, 21*oneDay)},
		{errOverDelegated, w.delegatorTx(key, 9, 8001*nAVAX, 5*oneDay)},
		{errOverDelegated, unpaid(math.MaxUint64 - 2000*nAVAX)},
		{utxo.ErrOverflow, unpaid(math.MaxUint64 - 2000*nAVAX + 1)},
	}
	for _, c := range cases {
		w.refuse(c.want, c.tx)
	}
	if got := w.p.RemainingDelegation(nodeID(9), start+5*oneDay); got != 8000*nAVAX {
		t.Errorf("room for %d", got)
	}
	w.accept(start, w.delegatorTx(key, 9, 8000*nAVAX, 5*oneDay))
	w.refuse(errOverDelegated, w.delegatorTx(w.keys[2], 9, 25*nAVAX, 5*oneDay))
}

// TestRefusalsAreAdvised: the message has a node's words, and the advice for the log has the numbers that they leave out.
func TestRefusalsAreAdvised(t *testing.T) {
	w := newWorld(t)
	w.accept(start, w.validatorTx(w.keys[1], 9, 2000*nAVAX, 20*oneDay))
	at := func(days uint64) string { return time.Unix(int64(start+days*oneDay), 0).UTC().Format(time.RFC3339) }
	cheap := w.validatorTx(w.keys[0], 0, 2000*nAVAX, 20*oneDay, func(tx *txs.AddPermissionlessValidatorTx) { tx.DelegationShares = 19_999 })
	w.accept(start, w.delegatorTx(w.keys[2], 9, 7000*nAVAX, 5*oneDay))
	period := "on " + w.p.Network.Name + " it takes 24 to 8760 hours, so it ends from " + at(1) + " to " + at(365)
	stakes := " nAVAX are staked; on " + w.p.Network.Name + " it takes 2000000000000 to 3000000000000000"
	for _, c := range []struct {
		words, advice string
		tx            *txs.Tx
	}{
		{"staking period is too short", period, w.validatorTx(w.keys[0], 0, 2000*nAVAX, oneDay-1)},
		{"staking period is too long", period, w.validatorTx(w.keys[0], 0, 2000*nAVAX, 366*oneDay)},
		{"weight of this validator is too low", "1999999999999" + stakes, w.validatorTx(w.keys[0], 0, 2000*nAVAX-1, 20*oneDay)},
		{"weight of this validator is too large", "3000000000000001" + stakes, w.validatorTx(w.keys[0], 0, 3_000_000*nAVAX+1, 20*oneDay)},
		{"staker charges an insufficient delegation fee", "it charges 19999 millionths; on " + w.p.Network.Name + " it takes at least 20000", cheap},
		{"weight of this validator is too low", "24999999999 nAVAX are delegated; on " + w.p.Network.Name + " it takes at least 25000000000", w.delegatorTx(w.keys[0], 9, 25*nAVAX-1, 5*oneDay)},
		{"proposed staking period is not inside dependent staking period", "it ends at " + at(21) + "; the validator's period is from " + at(0) + " to " + at(20),
			w.delegatorTx(w.keys[0], 9, 25*nAVAX, 21*oneDay)},
		{"validator would be over delegated", "1001000000000 nAVAX are delegated; until then the validator has room for 1000000000000", w.delegatorTx(w.keys[0], 9, 1001*nAVAX, 5*oneDay)},
	} {
		b, err := w.p.BuildBlock(w.p.Time(), []*txs.Tx{c.tx})
		if err != nil {
			t.Fatal(err)
		}
		err = w.p.acceptOnly(b)
		var advises interface{ Advice() string }
		if !errors.As(err, &advises) || !strings.HasSuffix(err.Error(), c.words) {
			t.Fatalf("%v has no advice; want %s", err, c.words)
		}
		if advises.Advice() != c.advice {
			t.Errorf("%s\nis advised %q\nwant       %q", c.words, advises.Advice(), c.advice)
		}
	}
}

func TestForeignProofsAreChecked(t *testing.T) {
	w := newWorld(t)
	tx := w.validatorTx(w.keys[0], 0, 2000*nAVAX, 20*oneDay, func(tx *txs.AddPermissionlessValidatorTx) {
		wrong := *tx.Signer.(*txs.ProofOfPossession)
		wrong.PublicKey = w.signer(1).PublicKey
		tx.Signer = &wrong
	})
	parsed, err := txs.ParseTx(txs.PChain, tx.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	w.refuse(txs.ErrInvalidPossession, parsed)
}

func TestFeesAreDemanded(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	fee, err := w.p.Fee(ptr(baseOf(&w.p.UTXOState, key, 0, 0)), start)
	if err != nil {
		t.Fatal(err)
	}
	base := baseOf(&w.p.UTXOState, key, fee-1, 0)
	tx, err := txs.NewSigned(txs.PChain, &base, signers(base, key)...)
	if err != nil {
		t.Fatal(err)
	}
	w.refuse(utxo.ErrInsufficientUnlockedFunds, tx)
	diff := w.accept(start, w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned { return &base }))[1]
	if diff.Burned != fee {
		t.Errorf("burned %d, the fee is %d", diff.Burned, fee)
	}
}

func ptr[T any](v T) *T { return &v }

func TestTimeDoesNotSkipChanges(t *testing.T) {
	w := newWorld(t)
	w.accept(start, w.validatorTx(w.keys[0], 0, 2000*nAVAX, 20*oneDay))
	late, err := w.p.BuildBlock(start+20*oneDay+1, []*txs.Tx{w.pChainTx(w.keys[1], 0, func(base txs.BaseTx) txs.Unsigned { return &base })})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, w.p.acceptOnly(late), errSkipsChange)
	empty, err := w.p.BuildBlock(start+1, []*txs.Tx{})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, w.p.acceptOnly(empty), errNoChanges)
	if _, err := w.p.BuildProposal(start + 1); err == nil {
		t.Error("a reward is proposed before its time")
	}
	option, err := w.p.BuildOption(true)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, w.p.acceptOnly(option), errNothingToDecide)
}

func TestPendingStakersBecomeActive(t *testing.T) {
	owner := txs.NewOwner(testKey(t, 0).Address())
	add := &txs.AddValidatorTx{
		Validator:    txs.Validator{NodeID: nodeID(0), Start: start + 100, End: start + 30*oneDay, Weight: 2000 * nAVAX},
		StakeOuts:    []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, 2000*nAVAX, owner)},
		RewardsOwner: &owner, Shares: 20_000,
	}
	tx, err := txs.NewTx(txs.PChain, add)
	if err != nil {
		t.Fatal(err)
	}
	staker, err := NewStaker(tx, Pending)
	if err != nil {
		t.Fatal(err)
	}
	p := New(local, utxo.NewSharedMemory(), Snapshot{Time: start, Supply: 360_000_000 * nAVAX, Stakers: []*Staker{staker}})
	if p.NextStakerChangeTime() != start+100 {
		t.Fatalf("next change in %d seconds", p.NextStakerChangeTime()-start)
	}
	b, err := p.BuildBlock(p.NextStakerChangeTime(), []*txs.Tx{})
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := p.Accept(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := diffs[0].Stakers; len(got) != 1 || got[0].Status != Active || got[0].PotentialReward == 0 {
		t.Errorf("promoted %+v", got)
	}
	p.journal.Revert()
	if p.NextStakerChangeTime() != start+100 || p.Supply() != 360_000_000*nAVAX || p.Height() != 0 {
		t.Error("rollback does not restore the state")
	}
}

func TestStakeableLockedValueCanOnlyBeStaked(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	owner := txs.NewOwner(key.Address())
	lock := func(amount uint64) *txs.TransferableOutput {
		return &txs.TransferableOutput{AssetID: local.AVAXAssetID, Out: &txs.StakeableLockOut{Locktime: start + 100*oneDay, Output: &txs.TransferOutput{Amount: amount, OutputOwners: owner}}}
	}
	w.accept(start, w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		free := base.Outs[0].Out.(*txs.TransferOutput)
		free.Amount -= 2000 * nAVAX
		base.Outs = append(base.Outs, lock(2000*nAVAX))
		if err := txs.SortOutputs(txs.PChain, base.Outs); err != nil {
			t.Fatal(err)
		}
		return &base
	}))
	var locked *txs.UTXO
	for u := range w.p.UTXOs() {
		if u.StakeableUntil() > 0 {
			locked = u
		}
	}
	in := &txs.TransferableInput{UTXOID: locked.UTXOID, AssetID: local.AVAXAssetID, In: &txs.StakeableLockIn{Locktime: start + 100*oneDay, Input: &txs.TransferInput{Amount: 2000 * nAVAX, Input: txs.Input{SigIndices: []uint32{0}}}}}
	transfer := w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		base.Ins = append(base.Ins, in)
		txs.SortInputs(base.Ins)
		base.Outs[0].Out.(*txs.TransferOutput).Amount += 2000 * nAVAX
		return &base
	}, []*txs.Key{key})
	w.refuse(utxo.ErrInsufficientUnlockedFunds, transfer)

	stake := w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		base.Ins = append(base.Ins, in)
		txs.SortInputs(base.Ins)
		return &txs.AddPermissionlessValidatorTx{
			BaseTx: base, Validator: txs.Validator{NodeID: nodeID(0), End: start + 20*oneDay, Weight: 2000 * nAVAX}, Signer: w.signer(0),
			StakeOuts: []*txs.TransferableOutput{lock(2000 * nAVAX)}, ValidationOwner: &owner, DelegationOwner: &owner, DelegationShares: 20_000,
		}
	}, []*txs.Key{key})
	w.accept(start, stake)
	if got := w.reward(true).Created[0].StakeableUntil(); got != start+100*oneDay {
		t.Errorf("the stake returns locked until %d", got)
	}
}
