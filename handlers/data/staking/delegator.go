package staking

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// Delegator is a delegation. Its gross and net reward are the amounts paid once it is completed, and the expected amounts before.
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

func (a *stakingAPI) delegatorOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "listDelegators", Path: "/v1/networks/{network}/delegators", Summary: "List delegators", Spec: "Primary network",
		Params: data.JoinParams(data.PathNetworkParam, rest.Paging(10, 100),
			rest.Param{Name: "rewardAddresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: 64, Doc: "Only delegations that reward one of these addresses, with or without a chain's prefix; addresses of the other network are an error."},
			data.SortOrderParam,
			rest.Param{Name: "delegationStatus", Kind: schema.KindEnum, Enum: []string{"completed", "active", "pending"}}, data.NodesParam),
		Answer: reflect.TypeFor[delegators](), Handle: a.OnNetwork(a.listDelegators),
	}}
}

func (a *stakingAPI) listDelegators(r *rest.Request, n *sim.Network) (any, error) {
	addresses, err := data.AddressesOf(r, n, "rewardAddresses")
	if err != nil {
		return nil, err
	}
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, err
	}
	status, nodes := r.Text("delegationStatus"), rest.List[ids.NodeID](r, "nodeIds")
	found, next := data.PageOf(r, all.Delegated, func(d *query.DelegatorEntry) bool {
		return (status == "" || stakerStatuses[d.StatusNow] == status) && (len(nodes) == 0 || slices.Contains(nodes, ids.NodeID(d.Node))) &&
			(len(addresses) == 0 || data.OwnedBy(d.Owner, addresses))
	})
	return delegators{next, data.List(found, func(d **query.DelegatorEntry) Delegator { return showDelegator(n, *d) })}, nil
}

func showDelegator(n *sim.Network, d *query.DelegatorEntry) Delegator {
	gross, net := data.Decimals(uint64(d.PotentialReward)), data.Decimals(d.NetReward())
	shown := Delegator{
		TxHash: data.CB58(d.Tx), NodeID: ids.NodeID(d.Node).String(), RewardAddresses: data.Bech32s(n.Rules, store.ParseOutputOwners(d.Owner).Addresses),
		AmountDelegated: data.Decimals(uint64(d.Weight)), DelegationFee: data.Percentage(int64(d.ValidatorShares)), StartTimestamp: d.Start, EndTimestamp: d.End,
		GrossReward: gross, NetReward: net, DelegationStatus: stakerStatuses[d.StatusNow],
	}
	switch {
	case d.StatusNow != store.StakerCompleted:
		shown.EstimatedGrossReward, shown.EstimatedNetReward = gross, net
	case !d.Rewarded:
		shown.GrossReward, shown.NetReward = "0", "0"
	}
	return shown
}
