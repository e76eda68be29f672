package data

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Delegator is a delegation. Its gross and net reward are what was paid once it is completed, and what to expect before.
type Delegator struct {
	TxHash               string   `json:"txHash" format:"cb58"`
	NodeID               string   `json:"nodeId" format:"nodeId"`
	RewardAddresses      []string `json:"rewardAddresses"`
	AmountDelegated      string   `json:"amountDelegated" format:"uint" doc:"nAVAX"`
	DelegationFee        string   `json:"delegationFee" format:"decimal" doc:"Percent of the reward that the validator keeps."`
	StartTimestamp       int64    `json:"startTimestamp"`
	EndTimestamp         int64    `json:"endTimestamp"`
	GrossReward          string   `json:"grossReward" format:"uint" doc:"nAVAX"`
	NetReward            string   `json:"netReward" format:"uint" doc:"nAVAX; without the validator's fee."`
	EstimatedGrossReward string   `json:"estimatedGrossReward,omitempty" format:"uint" doc:"nAVAX; until the delegation is completed."`
	EstimatedNetReward   string   `json:"estimatedNetReward,omitempty" format:"uint" doc:"nAVAX; until the delegation is completed."`
	DelegationStatus     string   `json:"delegationStatus" enum:"completed,active,pending"`
}

type delegators struct {
	NextPageToken string      `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Delegators    []Delegator `json:"delegators"`
}

func (a *stakingAPI) delegatorOperations() []handlers.Operation {
	return []handlers.Operation{{
		ID: "listDelegators", Path: "/v1/networks/{network}/delegators", Summary: "List delegators", Spec: "Primary network",
		Params: with(pathNetworkParam, handlers.Paging(10, 100),
			handlers.Param{Name: "rewardAddresses", Kind: handlers.KindPrimary, List: true, MaxItems: 64, Doc: "Only delegations that reward one of these addresses, with a chain's prefix or without; one of the other network is refused."},
			sortOrderParam,
			handlers.Param{Name: "delegationStatus", Kind: handlers.KindEnum, Enum: []string{"completed", "active", "pending"}}, nodesParam),
		Answer: reflect.TypeFor[delegators](), Handle: a.onNetwork(a.listDelegators),
	}}
}

func (a *stakingAPI) listDelegators(r *handlers.Request, l *sim.Ledger) (any, error) {
	addresses, err := addressesOf(r, l, "rewardAddresses")
	if err != nil {
		return nil, err
	}
	all, err := a.stakers.of(r.Context(), l)
	if err != nil {
		return nil, err
	}
	status, nodes := r.Text("delegationStatus"), handlers.List[ids.NodeID](r, "nodeIds")
	found, next := pageOf(r, all.delegated, func(d *delegatorEntry) bool {
		return (status == "" || stakerStatuses[d.status] == status) && (len(nodes) == 0 || slices.Contains(nodes, ids.NodeID(d.Node))) &&
			(len(addresses) == 0 || owned(d.Owner, addresses))
	})
	page := &jsonPage{next: next, name: "delegators", items: make([]rawJSON, len(found))}
	texts := a.json(l, all)
	for i, d := range found {
		if page.items[i], err = texts.delegators[d.number].once(func() any { return showDelegator(l, d) }); err != nil {
			return nil, err
		}
	}
	return page, nil
}

func showDelegator(l *sim.Ledger, d *delegatorEntry) Delegator {
	gross, net := decimals(uint64(d.Reward)), decimals(d.netReward())
	shown := Delegator{
		TxHash: cb58(d.Tx), NodeID: ids.NodeID(d.Node).String(), RewardAddresses: bech32s(l.Rules, store.ParseOwners(d.Owner).Addresses),
		AmountDelegated: decimals(uint64(d.Weight)), DelegationFee: percentage(int64(d.shares)), StartTimestamp: d.Start, EndTimestamp: d.End,
		GrossReward: gross, NetReward: net, DelegationStatus: stakerStatuses[d.status],
	}
	switch {
	case d.status != store.StakerCompleted:
		shown.EstimatedGrossReward, shown.EstimatedNetReward = gross, net
	case !d.Rewarded:
		shown.GrossReward, shown.NetReward = "0", "0"
	}
	return shown
}
