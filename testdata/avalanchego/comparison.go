package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/ava-labs/avalanchego/api"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/utils/set"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm"
	"github.com/ava-labs/avalanchego/vms/platformvm/state"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
)

// compare compares what the node knows after the last block with what the server says.
func (p *platform) compare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{p.compareFees, p.compareStakers, p.compareL1s, p.compareRewards, p.compareUTXOs} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("after P block %d: %w", len(p.pBlocks)-1, err)
		}
	}
	return nil
}

// compareFees compares the time, what fees depend on, and the supply.
func (p *platform) compareFees(ctx context.Context) error {
	now, err := p.p.GetTimestamp(ctx)
	if err != nil {
		return err
	}
	if want := p.state.GetTimestamp(); !want.Equal(now) {
		return fmt.Errorf("it is %s, the node says %s", now, want)
	}
	fees, _, _, err := p.p.GetFeeState(ctx)
	if err != nil {
		return err
	}
	if want := p.state.GetFeeState(); want != fees {
		return fmt.Errorf("fees are %+v, the node has %+v", fees, want)
	}
	excess, _, _, err := p.p.GetValidatorFeeState(ctx)
	if err != nil {
		return err
	}
	if want := p.state.GetL1ValidatorExcess(); want != excess {
		return fmt.Errorf("the excess of L1 validators is %d, the node has %d", excess, want)
	}
	supply, _, err := p.p.GetCurrentSupply(ctx, constants.PrimaryNetworkID)
	if err != nil {
		return err
	}
	if want, err := p.state.GetCurrentSupply(constants.PrimaryNetworkID); err != nil || want != supply {
		return fmt.Errorf("supply is %d, the node counts %d: %w", supply, want, err)
	}
	return nil
}

// stake is what both sides know of someone who stakes.
type stake struct {
	node       ids.NodeID
	start, end uint64
	weight     uint64
	potential  uint64
	delegatee  uint64 // of a validator, in its present cycle
	next       uint64 // period of an auto-renewed validator
	shares     uint32
}

// compareStakers compares everyone who stakes on the primary network and on subnets.
func (p *platform) compareStakers(ctx context.Context) error {
	want, err := p.stakers()
	if err != nil {
		return err
	}
	subnets, err := p.state.GetSubnetIDs()
	if err != nil {
		return err
	}
	for _, subnet := range append(subnets, constants.PrimaryNetworkID) {
		have, err := p.served(ctx, subnet)
		if err != nil {
			return err
		}
		if want := want[subnet]; !maps.Equal(have, want) {
			for id, s := range want {
				if have[id] != s {
					return fmt.Errorf("subnet %s: staker %s is %+v, the node has %+v", subnet, id, have[id], s)
				}
			}
			return fmt.Errorf("subnet %s: %d stake, the node has %d", subnet, len(have), len(want))
		}
	}
	return nil
}

// stakers are the node's, by subnet and transaction.
func (p *platform) stakers() (map[ids.ID]map[ids.ID]stake, error) {
	all, err := p.state.GetCurrentStakerIterator()
	if err != nil {
		return nil, err
	}
	defer all.Release()
	known := map[ids.ID]map[ids.ID]stake{}
	for all.Next() {
		s := all.Value()
		one := stake{node: s.NodeID, start: uint64(s.StartTime.Unix()), end: uint64(s.EndTime.Unix()), weight: s.Weight, potential: s.PotentialReward}
		if s.Priority.IsCurrentValidator() && s.SubnetID == constants.PrimaryNetworkID {
			more, err := p.state.GetStakingInfo(s.SubnetID, s.NodeID)
			if err != nil {
				return nil, err
			}
			one.delegatee, one.next, one.shares = more.DelegateeReward, more.NextPeriod, more.AutoCompoundRewardShares
		}
		if known[s.SubnetID] == nil {
			known[s.SubnetID] = map[ids.ID]stake{}
		}
		known[s.SubnetID][s.TxID] = one
	}
	return known, nil
}

// served are the stakers that the server has on a subnet, by transaction.
func (p *platform) served(ctx context.Context, subnet ids.ID) (map[ids.ID]stake, error) {
	current, err := p.p.GetCurrentValidators(ctx, subnet, nil)
	if err != nil {
		return nil, err
	}
	known := map[ids.ID]stake{}
	for _, v := range current {
		if v.ValidationID != nil {
			continue // compareL1s looks at it
		}
		one := stakeOf(v.ClientStaker, v.PotentialReward)
		if v.AccruedDelegateeReward != nil {
			one.delegatee = *v.AccruedDelegateeReward
		}
		if c := v.AutoRenewedConfig; c != nil {
			one.next, one.shares = c.NextPeriod, c.AutoCompoundRewardShares
		}
		known[v.TxID] = one
		if subnet != constants.PrimaryNetworkID {
			continue
		}
		alone, err := p.p.GetCurrentValidators(ctx, subnet, []ids.NodeID{v.NodeID}) // only then with its delegators
		if err != nil || len(alone) != 1 {
			return nil, fmt.Errorf("validator %s: %d, %w", v.NodeID, len(alone), err)
		}
		for _, d := range alone[0].Delegators {
			known[d.TxID] = stakeOf(d.ClientStaker, d.PotentialReward)
		}
	}
	return known, nil
}

func stakeOf(s platformvm.ClientStaker, potential *uint64) stake {
	one := stake{node: s.NodeID, start: s.StartTime, end: s.EndTime, weight: s.Weight}
	if potential != nil {
		one.potential = *potential
	}
	return one
}

// compareL1s compares the validators of every L1.
func (p *platform) compareL1s(ctx context.Context) error {
	subnets, err := p.state.GetSubnetIDs()
	if err != nil {
		return err
	}
	for _, subnet := range subnets {
		_, want, _, err := p.state.GetCurrentValidators(ctx, subnet)
		if err != nil {
			return err
		}
		current, err := p.p.GetCurrentValidators(ctx, subnet, nil)
		if err != nil {
			return err
		}
		have := map[ids.ID]platformvm.ClientPermissionlessValidator{}
		for _, v := range current {
			if v.ValidationID != nil {
				have[*v.ValidationID] = v
			}
		}
		if len(have) != len(want) {
			return fmt.Errorf("L1 %s has %d validators, the node has %d", subnet, len(have), len(want))
		}
		for _, l1 := range want {
			if err := p.sameL1(l1, have[l1.ValidationID]); err != nil {
				return fmt.Errorf("L1 validator %s: %w", l1.ValidationID, err)
			}
		}
	}
	return nil
}

func (p *platform) sameL1(l1 state.L1Validator, v platformvm.ClientPermissionlessValidator) error {
	balance := uint64(0)
	if l1.EndAccumulatedFee > 0 {
		balance = l1.EndAccumulatedFee - p.state.GetAccruedFees()
	}
	if v.Balance == nil || v.MinNonce == nil {
		return errors.New("is none")
	}
	if have, want := *v.Balance, balance; have != want {
		return fmt.Errorf("balance %d, the node has %d", have, want)
	}
	if have, want := *v.MinNonce, l1.MinNonce; have != want {
		return fmt.Errorf("nonce %d, the node has %d", have, want)
	}
	if l1.NodeID != v.NodeID || l1.Weight != v.Weight || l1.StartTime != v.StartTime {
		return fmt.Errorf("%+v, the node has %+v", v.ClientStaker, l1)
	}
	return nil
}

// compareRewards compares the rewards of everyone whose time or cycle is over.
func (p *platform) compareRewards(ctx context.Context) error {
	for _, tx := range p.pTxs {
		var over ids.ID
		switch u := tx.Unsigned.(type) {
		case *txs.RewardValidatorTx:
			over = u.TxID
		case *txs.RewardAutoRenewedValidatorTx:
			over = tx.ID()
		default:
			continue
		}
		have, err := p.p.GetRewardUTXOs(ctx, &api.GetTxArgs{TxID: over, Encoding: formatting.Hex})
		if err != nil {
			return err
		}
		want, err := p.state.GetRewardUTXOs(over)
		if err != nil || len(have) != len(want) {
			return fmt.Errorf("transaction %s has %d rewards, the node makes %d: %w", over, len(have), len(want), err)
		}
		for i, u := range want {
			due, err := txs.GenesisCodec.Marshal(txs.CodecVersion, u)
			if err != nil || string(due) != string(have[i]) {
				return fmt.Errorf("reward %d of transaction %s is %x, the node makes %x: %w", i, over, have[i], due, err)
			}
		}
	}
	return nil
}

// compareUTXOs compares what everyone owns who ever owned anything.
func (p *platform) compareUTXOs(ctx context.Context) error {
	compared := 0
	for address := range p.holder {
		have, err := p.owned(ctx, address)
		if err != nil {
			return err
		}
		want, err := avax.GetAllUTXOs(p.state, set.Of(address))
		if err != nil {
			return err
		}
		if len(have) != len(want) {
			return fmt.Errorf("address %s has %d UTXOs, the node has %d", address, len(have), len(want))
		}
		for _, u := range want {
			due, err := txs.GenesisCodec.Marshal(txs.CodecVersion, u)
			if err != nil || string(due) != have[u.InputID()] {
				return fmt.Errorf("UTXO %s of address %s is %x, the node has %x: %w", u.InputID(), address, have[u.InputID()], due, err)
			}
			compared++
		}
	}
	if compared == 0 {
		return errors.New("nobody owns anything")
	}
	return nil
}

// owned are all UTXOs of an address that the server has on the P-Chain.
func (p *platform) owned(ctx context.Context, address ids.ShortID) (map[ids.ID]string, error) {
	all := map[ids.ID]string{}
	var from ids.ShortID
	var after ids.ID
	for {
		some, endAddress, end, err := p.p.GetUTXOs(ctx, []ids.ShortID{address}, page, from, after)
		if err != nil {
			return nil, err
		}
		for _, raw := range some {
			u := &avax.UTXO{}
			if _, err := txs.GenesisCodec.Unmarshal(raw, u); err != nil {
				return nil, err
			}
			all[u.InputID()] = string(raw)
		}
		if len(some) < page {
			return all, nil
		}
		from, after = endAddress, end
	}
}
