package pchain

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// heliconWorld returns a world where Helicon activates a number of seconds after its start.
func heliconWorld(t *testing.T, after int64) *world {
	t.Helper()
	network, err := local.WithActivation(rules.Helicon, start+after)
	return newWorldOn(t, must(t, network, err))
}

// autoRenewedTx stakes for a node in cycles, and restakes a share of the rewards. The same key has authority over it.
func (w *world) autoRenewedTx(key *txs.Key, node byte, amount, period uint64, restaked uint32, mistakes ...func(*txs.AddAutoRenewedValidatorTx)) *txs.Tx {
	w.t.Helper()
	owner := txs.NewOwner(key.Address())
	return w.pChainTx(key, amount, func(base txs.BaseTx) txs.Unsigned {
		u := &txs.AddAutoRenewedValidatorTx{BaseTx: base, ValidatorNodeID: nodeID(node).Bytes(), Signer: w.signer(node),
			StakeOuts:       []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, amount, owner)},
			ValidationOwner: &owner, DelegationOwner: &owner, ValidatorAuthority: &owner,
			DelegationShares: 100_000, AutoCompoundRewardShares: restaked, Period: period}
		for _, mistake := range mistakes {
			mistake(u)
		}
		return u
	})
}

// configTx changes the configuration of an auto-renewed validator.
func (w *world) configTx(key *txs.Key, added ids.ID, period uint64, restaked uint32) *txs.Tx {
	w.t.Helper()
	return w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.SetAutoRenewedValidatorConfigTx{BaseTx: base, TxID: added, Auth: &txs.Input{SigIndices: []uint32{0}}, Period: period, AutoCompoundRewardShares: restaked}
	}, []*txs.Key{key})
}

// TestAutoRenewedValidator goes through cycles: the rewards are split, a delegator's fee is restaked with them, a new configuration applies from the
// next cycle on, and at the end everything is paid.
func TestAutoRenewedValidator(t *testing.T) {
	w := heliconWorld(t, 0)
	const stake, period, half = 2000 * nAVAX, 30 * oneDay, 500_000
	tx := w.autoRenewedTx(w.keys[0], 0, stake, period, half)
	first := w.accept(start+10, tx)[1].Stakers[0]
	if first.Start != start+10 || first.End != start+10+period || first.Renewal.NextPeriod != period || first.PotentialReward == 0 {
		t.Fatalf("the first cycle is %+v", first)
	}
	w.refuse(errPeriodMismatch, w.delegatorTx(w.keys[1], 0, 500*nAVAX, period+20)) // a delegation cannot outlast the cycle
	delegator := w.accept(start+20, w.delegatorTx(w.keys[1], 0, 500*nAVAX, 20*oneDay))[1].Stakers[0]
	w.reward(true)
	fee, _ := rules.SplitReward(delegator.PotentialReward, 100_000)

	supply := w.p.Supply()
	paid := w.reward(true)
	ended, second := paid.Stakers[0], paid.Stakers[1]
	restaked, restakedFee := first.PotentialReward-first.PotentialReward/2, fee-fee/2
	if len(paid.Rewards) != 2 || paid.Rewards[0].Amount() != first.PotentialReward/2 || paid.Rewards[1].Amount() != fee/2 {
		t.Errorf("withdrawn are %+v, want %d and %d", paid.Rewards, first.PotentialReward/2, fee/2)
	}
	rewardTx := w.blocks[len(w.blocks)-2].Body.(*txs.ProposalBlock).Tx
	if u, ok := rewardTx.Unsigned.(*txs.RewardAutoRenewedValidatorTx); !ok || u.Timestamp != first.End || paid.Rewards[0].TxID != rewardTx.ID() || paid.Rewards[1].OutputIndex != 1 {
		t.Errorf("the reward is %+v of %+v", paid.Rewards, rewardTx.Unsigned)
	}
	if ended.Status != Completed || !ended.Rewarded || ended.Weight != stake || ended.TxID != second.TxID {
		t.Errorf("the first cycle ends as %+v", ended)
	}
	want := Renewal{period, half, restaked, restakedFee}
	if second.Weight != stake+restaked+restakedFee || second.Start != first.End || second.End != first.End+period || *second.Renewal != want || second.DelegateeReward != 0 {
		t.Errorf("the second cycle is %+v, %+v", second, second.Renewal)
	}
	if got := w.p.Network.StakingAt(first.End).Reward(period, second.Weight, supply); second.PotentialReward != got || w.p.Supply() != supply+got {
		t.Errorf("it may earn %d, want %d", second.PotentialReward, got)
	}
	w.accept(second.Start+5, w.configTx(w.keys[0], tx.ID(), 0, 1_000_000))
	paid = w.reward(true)
	if len(paid.Created) != 3 || paid.Created[0].Amount() != stake || paid.Created[0].TxID != tx.ID() {
		t.Errorf("returned are %+v", paid.Created)
	}
	if paid.Rewards[0].Amount() != restaked+second.PotentialReward || paid.Rewards[1].Amount() != restakedFee {
		t.Errorf("in the end %d and %d are paid", paid.Rewards[0].Amount(), paid.Rewards[1].Amount())
	}
	if _, found := w.p.Validator(ids.Empty, nodeID(0)); found {
		t.Error("the validator stays")
	}
	w.replay()
}

// TestAutoRenewedValidatorFails lets a validator fail its second cycle: it leaves without that reward, and gets its restaked amount back.
func TestAutoRenewedValidatorFails(t *testing.T) {
	w := heliconWorld(t, 0)
	first := w.accept(start+10, w.autoRenewedTx(w.keys[0], 0, 2000*nAVAX, 30*oneDay, 1_000_000))[1].Stakers[0]
	if paid := w.reward(true); len(paid.Rewards) != 0 {
		t.Errorf("withdrawn are %+v", paid.Rewards)
	}
	supply := w.p.Supply()
	second := w.p.current.queue[0]
	paid := w.reward(false)
	if len(paid.Rewards) != 1 || paid.Rewards[0].Amount() != first.PotentialReward || paid.Created[0].Amount() != 2000*nAVAX || paid.Stakers[0].Rewarded {
		t.Errorf("paid are %+v", paid.Created)
	}
	if w.p.Supply() != supply-second.PotentialReward || len(w.p.current.queue) > 0 {
		t.Errorf("the supply is %d, want %d", w.p.Supply(), supply-second.PotentialReward)
	}
	w.replay()
}

// TestAutoRenewedValidatorAtTheLimit restakes as much as the maximum stake has room for, in proportion of reward and fees, rounded as a node does.
func TestAutoRenewedValidatorAtTheLimit(t *testing.T) {
	w := heliconWorld(t, 0)
	most := w.p.Network.BaseStaking.MaxValidatorStake
	const room = 1_000_000_007
	first := w.accept(start+10, w.autoRenewedTx(w.keys[0], 0, most-room, 30*oneDay, 1_000_000))[1].Stakers[0]
	credited := *first
	credited.DelegateeReward = 777_777_777_777
	w.p.journal.Begin()
	w.p.record(first.TxID)
	w.p.updateStaker(first, &credited)
	paid := w.reward(true)
	v, fees := new(big.Int).SetUint64(first.PotentialReward), new(big.Int).SetUint64(credited.DelegateeReward)
	part := new(big.Int).Mul(v, big.NewInt(room))
	part.Div(part, new(big.Int).Add(v, fees))
	next := paid.Stakers[1]
	if next.Weight != most || next.Renewal.AccruedValidationRewards != part.Uint64() || next.Renewal.AccruedDelegateeRewards != room-part.Uint64() {
		t.Errorf("the next cycle is %+v, %+v", next, next.Renewal)
	}
	if paid.Rewards[0].Amount() != first.PotentialReward-part.Uint64() || paid.Rewards[1].Amount() != credited.DelegateeReward-(room-part.Uint64()) {
		t.Errorf("withdrawn are %+v", paid.Rewards)
	}
}

// TestAutoRenewedValidatorsAreRefused in the node's words.
func TestAutoRenewedValidatorsAreRefused(t *testing.T) {
	early := heliconWorld(t, 1000)
	early.refuse(errHeliconNotActive, early.autoRenewedTx(early.keys[0], 0, 2000*nAVAX, 30*oneDay, 0, func(u *txs.AddAutoRenewedValidatorTx) { u.Period = 0 }))
	early.accept(start+1000, early.autoRenewedTx(early.keys[0], 0, 2000*nAVAX, 30*oneDay, 0))

	w := heliconWorld(t, 0)
	shortest := w.p.Network.StakingAt(start).MinValidationDuration
	added := w.autoRenewedTx(w.keys[0], 0, 2000*nAVAX, shortest, 0)
	w.accept(start+1, added)
	for i, c := range []struct {
		want    error
		mistake func(*txs.AddAutoRenewedValidatorTx)
	}{
		{errNoStake, func(u *txs.AddAutoRenewedValidatorTx) { u.StakeOuts = nil }},
		{errTooManyShares, func(u *txs.AddAutoRenewedValidatorTx) { u.DelegationShares = 1_000_001 }},
		{errTooMuchRestaked, func(u *txs.AddAutoRenewedValidatorTx) { u.AutoCompoundRewardShares = 1_000_001 }},
		{errMissingPeriod, func(u *txs.AddAutoRenewedValidatorTx) { u.Period = 0 }},
		{errEmptyNodeID, func(u *txs.AddAutoRenewedValidatorTx) { u.ValidatorNodeID = make([]byte, 20) }},
		{errMissingSigner, func(u *txs.AddAutoRenewedValidatorTx) { u.Signer = &txs.EmptySigner{} }},
		{errInvalidStakedAsset, func(u *txs.AddAutoRenewedValidatorTx) { u.StakeOuts[0].AssetID = ids.ID{1} }},
		{errDelegationFee, func(u *txs.AddAutoRenewedValidatorTx) { u.DelegationShares = 19_999 }},
		{errStakeTooShort, func(u *txs.AddAutoRenewedValidatorTx) { u.Period = shortest - 1 }},
		{errStakeTooLong, func(u *txs.AddAutoRenewedValidatorTx) { u.Period = 365*oneDay + 1 }},
		{errDuplicate, func(u *txs.AddAutoRenewedValidatorTx) { u.ValidatorNodeID = nodeID(0).Bytes() }},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w.refuse(c.want, w.autoRenewedTx(w.keys[1], 1, 2000*nAVAX, 30*oneDay, 0, c.mistake))
		})
	}
	w.refuse(errWeightTooSmall, w.autoRenewedTx(w.keys[1], 1, 2000*nAVAX-1, 30*oneDay, 0))
	w.refuse(errWeightTooLarge, w.autoRenewedTx(w.keys[1], 1, 3_000_000*nAVAX+1, 30*oneDay, 0))

	w.refuse(errMissingTxID, w.configTx(w.keys[0], ids.Empty, 0, 0))
	w.refuse(errTooMuchRestaked, w.configTx(w.keys[0], added.ID(), 0, 1_000_001))
	w.refuse(utxo.ErrNotFound, w.configTx(w.keys[0], ids.ID{1}, 0, 0))
	w.refuse(errStakeTooShort, w.configTx(w.keys[0], added.ID(), shortest-1, 0))
	w.refuse(errStakeTooLong, w.configTx(w.keys[0], added.ID(), 365*oneDay+1, 0))
	w.refuse(errUnauthorized, w.configTx(w.keys[1], added.ID(), 0, 0))
	other := w.delegatorTx(w.keys[1], 0, 500*nAVAX, shortest)
	w.p.State.Tx = func(ids.ID) (*txs.Tx, error) { return other, nil }
	w.refuse(errInvalidStakerTx, w.configTx(w.keys[0], other.ID(), 0, 0))
}
