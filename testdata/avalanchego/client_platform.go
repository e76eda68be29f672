package main

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/crypto/secp256k1"
	"github.com/ava-labs/avalanchego/vms/platformvm/api"
	"github.com/ava-labs/avalanchego/vms/platformvm/status"
)

// call is a method of the P-Chain's client, with a check of its result.
type call struct {
	name string
	do   func() error
}

// usePlatform calls the methods of the P-Chain through the real node's client.
func (n clients) usePlatform(ctx context.Context) error {
	var key secp256k1.PrivateKey
	if err := key.UnmarshalText([]byte(ewoq)); err != nil {
		return err
	}
	calls := append(n.chainCalls(ctx), n.validatorCalls(ctx)...)
	for _, c := range append(append(calls, n.subnetCalls(ctx)...), n.addressCalls(ctx, key.Address())...) {
		if err := c.do(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		n.seen.calls++
	}
	return nil
}

func (n clients) chainCalls(ctx context.Context) []call {
	return []call{
		{"getProposedHeight", func() error { _, err := n.p.GetProposedHeight(ctx); return err }},
		{"getTimestamp", func() error { _, err := n.p.GetTimestamp(ctx); return err }},
		{"getFeeConfig", func() error { _, err := n.p.GetFeeConfig(ctx); return err }},
		{"getFeeState", func() error { _, _, _, err := n.p.GetFeeState(ctx); return err }},
		{"getValidatorFeeConfig", func() error { _, err := n.p.GetValidatorFeeConfig(ctx); return err }},
		{"getValidatorFeeState", func() error { _, _, _, err := n.p.GetValidatorFeeState(ctx); return err }},
		{"getCurrentSupply", func() error { _, _, err := n.p.GetCurrentSupply(ctx, constants.PrimaryNetworkID); return err }},
		{"getMinStake", func() error { _, _, err := n.p.GetMinStake(ctx, constants.PrimaryNetworkID); return err }},
		{"getStakingAssetID", func() error {
			id, err := n.p.GetStakingAssetID(ctx, constants.PrimaryNetworkID)
			return want(err, id == n.avax, id)
		}},
		{"getTxStatus", func() error {
			s, err := n.p.GetTxStatus(ctx, n.pTxs[len(n.pTxs)-1].ID())
			return want(err, s != nil && (s.Status == status.Committed || s.Status == status.Aborted), s)
		}},
	}
}

// validatorCalls compare the ways to ask who validates.
func (n clients) validatorCalls(ctx context.Context) []call {
	var weight uint64
	return []call{
		{"getCurrentValidators", func() error {
			all, err := n.p.GetCurrentValidators(ctx, constants.PrimaryNetworkID, nil)
			for _, v := range all {
				weight += v.Weight + *v.DelegatorWeight
				if v.Signer != nil && err == nil {
					err = v.Signer.Verify()
				}
			}
			return want(err, len(all) > 0, all)
		}},
		{"getCurrentValidators of one node", func() error {
			all, err := n.p.GetCurrentValidators(ctx, constants.PrimaryNetworkID, nil)
			if err != nil {
				return err
			}
			one, err := n.p.GetCurrentValidators(ctx, constants.PrimaryNetworkID, []ids.NodeID{all[0].NodeID})
			return want(err, len(one) == 1 && one[0].TxID == all[0].TxID && uint64(len(one[0].Delegators)) == *all[0].DelegatorCount, one)
		}},
		{"getTotalStake", func() error {
			total, err := n.p.GetTotalStake(ctx, constants.PrimaryNetworkID)
			return want(err, total == weight, total)
		}},
		{"getValidatorsAt", func() error {
			set, err := n.p.GetValidatorsAt(ctx, constants.PrimaryNetworkID, api.ProposedHeight)
			var total uint64
			for _, v := range set {
				total += v.Weight
			}
			return want(err, total == weight, total)
		}},
		{"getAllValidatorsAt", func() error {
			sets, err := n.p.GetAllValidatorsAt(ctx, api.ProposedHeight)
			return want(err, sets[constants.PrimaryNetworkID].TotalWeight == weight, sets)
		}},
	}
}

func (n clients) subnetCalls(ctx context.Context) []call {
	return []call{
		{"getSubnets", func() error {
			all, err := n.p.GetSubnets(ctx, nil)
			if err != nil || len(all) < 2 {
				return want(err, false, all)
			}
			for _, s := range all[:len(all)-1] {
				if err := n.useSubnet(ctx, s.ID); err != nil {
					return fmt.Errorf("subnet %s: %w", s.ID, err)
				}
			}
			return nil
		}},
		{"getBlockchains", func() error {
			all, err := n.p.GetBlockchains(ctx)
			for _, b := range all {
				if err == nil {
					_, err = n.p.GetBlockchainStatus(ctx, b.ID.String())
				}
			}
			return want(err, len(all) > 2, all)
		}},
	}
}

// useSubnet asks everything about a subnet, and about each of its validators if it is an L1.
func (n clients) useSubnet(ctx context.Context, subnet ids.ID) error {
	if _, err := n.p.GetSubnet(ctx, subnet); err != nil {
		return err
	}
	if _, err := n.p.Validates(ctx, subnet); err != nil {
		return err
	}
	all, err := n.p.GetCurrentValidators(ctx, subnet, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.ValidationID == nil {
			continue
		}
		one, _, err := n.p.GetL1Validator(ctx, *v.ValidationID)
		if err != nil || one.NodeID != v.NodeID || one.Weight != v.Weight {
			return fmt.Errorf("validator %s: %+v, %w", v.ValidationID, one, err)
		}
	}
	return nil
}

func (n clients) addressCalls(ctx context.Context, address ids.ShortID) []call {
	owners := []ids.ShortID{address}
	return []call{
		{"getBalance", func() error {
			b, err := n.p.GetBalance(ctx, owners)
			return want(err, b != nil && b.Balance > 0, b)
		}},
		{"getStake", func() error { _, _, err := n.p.GetStake(ctx, owners, false); return err }},
	}
}

// want returns an error when there was one, or when an answer is not as it should be.
func want(err error, right bool, answer any) error {
	if err == nil && !right {
		return fmt.Errorf("answered %+v", answer)
	}
	return err
}
