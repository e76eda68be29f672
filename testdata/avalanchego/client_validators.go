package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/api/info"
	"github.com/ava-labs/avalanchego/graft/subnet-evm/plugin/evm/client"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/rpc"
	"github.com/ava-labs/avalanchego/vms/platformvm"
)

// useValidators calls the validators service of every chain that a subnet validates, through the client of the network's EVM, and compares each
// result with the subnet on the P-Chain.
func (n clients) useValidators(ctx context.Context) error {
	chains, err := n.p.GetBlockchains(ctx)
	if err != nil {
		return err
	}
	var seen int
	for _, chain := range chains {
		if chain.SubnetID == ids.Empty {
			continue
		}
		if err := n.useValidatorsOf(ctx, chain); err != nil {
			return fmt.Errorf("validators of %s: %w", chain.Name, err)
		}
		seen++
	}
	if seen == 0 {
		return errors.New("no subnet has a chain")
	}
	return nil
}

func (n clients) useValidatorsOf(ctx context.Context, chain platformvm.APIBlockchain) error {
	c := client.NewClient(n.url, chain.ID.String())
	all, err := c.GetCurrentValidators(ctx, nil)
	if err != nil {
		return err
	}
	known, err := n.p.GetCurrentValidators(ctx, chain.SubnetID, nil)
	if err != nil {
		return err
	}
	if len(all) != len(known) || len(all) == 0 {
		return fmt.Errorf("%d validators, the P-Chain has %d", len(all), len(known))
	}
	for _, v := range known {
		i := slices.IndexFunc(all, func(a client.CurrentValidator) bool { return a.NodeID == v.NodeID })
		if i < 0 || all[i].Weight != v.Weight || all[i].StartTimestamp != v.StartTime || all[i].IsL1Validator != (v.ValidationID != nil) {
			return fmt.Errorf("%s: the P-Chain says %+v", v.NodeID, v)
		}
		want := v.TxID
		if v.ValidationID != nil {
			want = *v.ValidationID
		}
		if all[i].ValidationID != want {
			return fmt.Errorf("%s: validation %s, the P-Chain says %s", v.NodeID, all[i].ValidationID, want)
		}
	}
	one, err := c.GetCurrentValidators(ctx, []ids.NodeID{all[0].NodeID, ids.EmptyNodeID})
	if err != nil || len(one) != 1 || one[0].NodeID != all[0].NodeID {
		return fmt.Errorf("one validator: %+v, %w", one, err)
	}
	n.seen.calls += 2
	return nil
}

// useRest calls the methods of info for which the client has none, with the types that a node answers with.
func (n clients) useRest(ctx context.Context) error {
	c := rpc.NewEndpointRequester(n.url + "/ext/info")
	var acps info.ACPsReply
	if err := c.SendRequest(ctx, "info.acps", struct{}{}, &acps); err != nil || len(acps.ACPs) != constants.CurrentACPs.Len() {
		return fmt.Errorf("acps: %+v, %w", acps, err)
	}
	var fees info.GetTxFeeResponse
	if err := c.SendRequest(ctx, "info.getTxFee", struct{}{}, &fees); err != nil || fees.TxFee == 0 {
		return fmt.Errorf("getTxFee: %+v, %w", fees, err)
	}
	n.seen.calls += 2
	return nil
}
