package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/formatting/address"
	"github.com/ava-labs/avalanchego/utils/units"
	"github.com/ava-labs/avalanchego/vms/platformvm"
	"github.com/ava-labs/avalanchego/vms/platformvm/reward"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	"snowglobe/testdata/avalanchego/wallet/primary" // avalanchego's own, as run.sh puts it here
)

const (
	renewedStake = 2000 * units.Avax
	tenth        = reward.PercentDenominator / 10
)

// useRenewal has validators that renew themselves go through cycles.
func (n clients) useRenewal(ctx context.Context) error {
	if err := n.learn(); err != nil {
		return err
	}
	a, err := n.account(ctx)
	if err != nil {
		return err
	}
	for _, do := range []func(context.Context) error{a.renew, a.fail} {
		if err := errors.Join(a.open(ctx, primary.WalletConfig{}), do(ctx)); err != nil {
			return fmt.Errorf("auto-renewed validator: %w", err)
		}
	}
	return nil
}

// renewed is a validator that renews itself. Its rewards go to addresses that nobody else uses, so their balances are exactly what it did not
// restake.
type renewed struct {
	*account
	node          ids.NodeID
	tx            ids.ID
	rewards, fees ids.ShortID
}

func ownedBy(address ids.ShortID) *secp256k1fx.OutputOwners {
	return &secp256k1fx.OutputOwners{Threshold: 1, Addrs: []ids.ShortID{address}}
}

func (a *account) addRenewed(ctx context.Context, period time.Duration, restaked uint32) (*renewed, error) {
	id, proof, err := node()
	if err != nil {
		return nil, err
	}
	v := &renewed{account: a, node: id, rewards: ids.GenerateTestShortID(), fees: ids.GenerateTestShortID()}
	tx, err := a.wallet.P().IssueAddAutoRenewedValidatorTx(id, renewedStake, proof, ownedBy(v.rewards), ownedBy(v.fees), a.owner, tenth, restaked, period)
	if err := a.issued("auto-renewed validator", err); err != nil {
		return nil, err
	}
	v.tx = tx.ID()
	return v, a.open(ctx, primary.WalletConfig{AutoRenewedValidatorTxIDs: []ids.ID{v.tx}})
}

// configure changes the next cycles, and finds the change.
func (v *renewed) configure(ctx context.Context, period time.Duration, restaked uint32) error {
	_, err := v.wallet.P().IssueSetAutoRenewedValidatorConfigTx(v.tx, restaked, period)
	if err := v.issued("configuration", err); err != nil {
		return err
	}
	now, err := v.current(ctx)
	if err != nil || now == nil || now.AutoRenewedConfig.NextPeriod != uint64(period/time.Second) || now.AutoRenewedConfig.AutoCompoundRewardShares != restaked {
		return fmt.Errorf("configured with %s and %d: %+v, %w", period, restaked, now, err)
	}
	return nil
}

// current returns the validator as the P-Chain has it, nil after it left.
func (v *renewed) current(ctx context.Context) (*platformvm.ClientPermissionlessValidator, error) {
	all, err := v.p.GetCurrentValidators(ctx, constants.PrimaryNetworkID, []ids.NodeID{v.node})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if all[0].TxID != v.tx || all[0].AutoRenewedConfig == nil {
		return nil, fmt.Errorf("%s does not renew itself: %+v", v.node, all[0])
	}
	return &all[0], nil
}

func (a *account) until(ctx context.Context, unix uint64) error {
	return a.server.MoveClock(ctx, fmt.Sprintf(`{"set":%q}`, time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)))
}

// balance is what addresses own on the P-Chain.
func (a *account) balance(ctx context.Context, addresses ...ids.ShortID) (uint64, error) {
	b, err := a.p.GetBalance(ctx, addresses)
	if err != nil {
		return 0, err
	}
	return uint64(b.Balance), nil
}

// endCycle goes to the end of a cycle. It returns the validator before and after, nil if it left, and how much its owners got.
func (v *renewed) endCycle(ctx context.Context) (before, after *platformvm.ClientPermissionlessValidator, paid uint64, err error) {
	before, err = v.current(ctx)
	if err != nil || before == nil {
		return nil, nil, 0, fmt.Errorf("%s does not validate: %w", v.node, err)
	}
	had, err := v.balance(ctx, v.rewards, v.fees)
	if err := errors.Join(err, v.until(ctx, before.EndTime)); err != nil {
		return nil, nil, 0, err
	}
	after, err = v.current(ctx)
	if err == nil && after != nil && (after.StartTime != before.EndTime || *after.AccruedDelegateeReward != 0) {
		err = fmt.Errorf("after %+v comes %+v", before, after)
	}
	has, balanceErr := v.balance(ctx, v.rewards, v.fees)
	return before, after, has - had, errors.Join(err, balanceErr, v.checkCycle(ctx, before, after != nil), v.checkRewards(ctx, has))
}

// checkCycle finds a cycle that ended in the Data API.
func (v *renewed) checkCycle(ctx context.Context, ended *platformvm.ClientPermissionlessValidator, stays bool) error {
	type cycle struct {
		TxHash           ids.ID `json:"txHash"`
		AmountStaked     uint64 `json:"amountStaked,string"`
		StartTimestamp   uint64 `json:"startTimestamp"`
		EndTimestamp     uint64 `json:"endTimestamp"`
		ValidationStatus string `json:"validationStatus"`
	}
	var reply struct {
		Validators []cycle `json:"validators"`
	}
	if err := v.get(ctx, "/validators/"+v.node.String(), &reply); err != nil {
		return err
	}
	cycles, due := reply.Validators, cycle{v.tx, ended.Weight, ended.StartTime, ended.EndTime, "completed"}
	if stays && len(cycles) > 0 && cycles[0].ValidationStatus == "active" {
		cycles = cycles[1:]
	}
	if len(cycles) == 0 || cycles[0] != due {
		return fmt.Errorf("the Data API has no cycle %+v: %+v", due, reply)
	}
	return nil
}

// checkRewards compares all rewards that the Data API has of the validator with what its owners have.
func (v *renewed) checkRewards(ctx context.Context, paid uint64) error {
	var reply struct {
		HistoricalRewards []struct {
			Reward struct {
				Amount uint64 `json:"amount,string"`
			} `json:"reward"`
		} `json:"historicalRewards"`
	}
	rewards, err := address.Format("P", constants.GetHRP(v.id), v.rewards[:])
	fees, feesErr := address.Format("P", constants.GetHRP(v.id), v.fees[:])
	if err := errors.Join(err, feesErr, v.get(ctx, "/rewards?addresses="+rewards+","+fees, &reply)); err != nil {
		return err
	}
	var sum uint64
	for _, r := range reply.HistoricalRewards {
		sum += r.Reward.Amount
	}
	return want(nil, sum == paid, reply)
}

// delegate adds a delegator for most of a validator's cycle, goes to its end, and returns what of its reward is the validator's.
func (v *renewed) delegate(ctx context.Context) (fee uint64, err error) {
	start, err := v.current(ctx)
	if err != nil {
		return 0, err
	}
	delegator := ids.GenerateTestShortID()
	_, err = v.wallet.P().IssueAddPermissionlessDelegatorTx(&txs.SubnetValidator{
		Validator: txs.Validator{NodeID: v.node, End: start.EndTime - 60, Wght: 25 * units.Avax},
	}, v.avax, ownedBy(delegator))
	if err := v.issued("delegator of an auto-renewed validator", err); err != nil {
		return 0, err
	}
	with, err := v.current(ctx)
	if err != nil || len(with.Delegators) != 1 {
		return 0, fmt.Errorf("no delegator: %+v, %w", with, err)
	}
	if err := v.until(ctx, with.Delegators[0].EndTime); err != nil {
		return 0, err
	}
	got, err := v.balance(ctx, delegator)
	if err != nil {
		return 0, err
	}
	fee, rest := reward.Split(*with.Delegators[0].PotentialReward, tenth)
	now, err := v.current(ctx)
	if err != nil || got != rest || *now.AccruedDelegateeReward != fee {
		return 0, fmt.Errorf("the delegator got %d of %d: %+v, %w", got, fee+rest, now, err)
	}
	return fee, nil
}

// renew goes through a long cycle with a delegator and two short ones, in each of which half is restaked, and leaves after the next.
func (a *account) renew(ctx context.Context) error {
	staking := genesis.GetStakingConfig(a.id)
	v, err := a.addRenewed(ctx, staking.MinStakeDuration+time.Hour, reward.PercentDenominator/2)
	if err != nil {
		return err
	}
	if err := v.configure(ctx, staking.HeliconMinStakeDuration, reward.PercentDenominator/2); err != nil {
		return err
	}
	earned, err := v.delegate(ctx)
	if err != nil {
		return err
	}
	for cycle := range 3 {
		before, after, paid, err := v.endCycle(ctx)
		if err != nil || after == nil {
			return fmt.Errorf("cycle %d: left, %w", cycle, err)
		}
		validation, _ := reward.Split(*before.PotentialReward, reward.PercentDenominator/2)
		fees, _ := reward.Split(*before.AccruedDelegateeReward, reward.PercentDenominator/2)
		earned += *before.PotentialReward
		has, err := v.balance(ctx, v.rewards, v.fees)
		if err != nil || after.Weight != before.Weight+validation+fees || paid+validation+fees != *before.PotentialReward+*before.AccruedDelegateeReward ||
			has+after.Weight-renewedStake != earned || after.EndTime-after.StartTime != uint64(staking.HeliconMinStakeDuration/time.Second) {
			return fmt.Errorf("cycle %d paid %d of %d: %+v, then %+v, %w", cycle, paid, earned, before, after, err)
		}
	}
	if err := v.configure(ctx, 0, reward.PercentDenominator); err != nil {
		return err
	}
	last, after, _, err := v.endCycle(ctx)
	if err != nil || after != nil {
		return fmt.Errorf("it stays: %+v, %w", after, err)
	}
	has, err := v.balance(ctx, v.rewards, v.fees)
	return want(err, has == earned+*last.PotentialReward, has)
}

// fail restakes everything, is up for too little of the second cycle, and leaves with the reward of the first alone.
func (a *account) fail(ctx context.Context) error {
	v, err := a.addRenewed(ctx, genesis.GetStakingConfig(a.id).HeliconMinStakeDuration, reward.PercentDenominator)
	if err != nil {
		return err
	}
	first, second, paid, err := v.endCycle(ctx)
	if err != nil || second == nil || paid != 0 || second.Weight != renewedStake+*first.PotentialReward {
		return fmt.Errorf("the first cycle paid %d: %+v, %w", paid, second, err)
	}
	if err := a.server.Post(ctx, "/sim/node", fmt.Sprintf(`{"network":%q,"uptimes":[{"nodeId":%q,"percent":85}]}`, a.name, v.node)); err != nil {
		return err
	}
	_, after, paid, err := v.endCycle(ctx)
	return want(err, after == nil && paid == *first.PotentialReward, after)
}
