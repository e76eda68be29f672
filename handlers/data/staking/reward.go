package staking

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// PricedAmount is an amount with the price of one whole unit at the time.
type PricedAmount struct {
	data.AssetAmount
	HistoricalPrice *data.Price `json:"historicalPrice,omitempty" doc:"Only for rewards more than a day old."`
}

// Reward holds the fields that pending and paid rewards share.
type Reward struct {
	Addresses      []string `json:"addresses"`
	TxHash         string   `json:"txHash" format:"cb58" doc:"Hash of the staking transaction; for a pending VALIDATOR_FEE, the delegator's."`
	AmountStaked   string   `json:"amountStaked" format:"uint" doc:"nAVAX"`
	NodeID         string   `json:"nodeId" format:"nodeId"`
	StartTimestamp int64    `json:"startTimestamp"`
	EndTimestamp   int64    `json:"endTimestamp"`
	RewardType     string   `json:"rewardType" enum:"VALIDATOR,DELEGATOR,VALIDATOR_FEE"`
}

// PendingReward is a reward that will be paid if the validator behaves.
type PendingReward struct {
	Reward
	Progress        float64          `json:"progress" min:"0" max:"100" doc:"How much of the staking time is over, in percent."`
	EstimatedReward data.AssetAmount `json:"estimatedReward"`
}

// HistoricalReward is a paid reward.
type HistoricalReward struct {
	Reward
	UTXOID       string       `json:"utxoId" format:"cb58"`
	OutputIndex  uint32       `json:"outputIndex"`
	RewardPaid   PricedAmount `json:"reward"`
	RewardTxHash string       `json:"rewardTxHash" format:"cb58"`
}

type pendingRewards struct {
	NextPageToken  string          `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	PendingRewards []PendingReward `json:"pendingRewards"`
}

type historicalRewards struct {
	NextPageToken     string             `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	HistoricalRewards []HistoricalReward `json:"historicalRewards"`
}

func (a *stakingAPI) rewardOperations() []rest.Operation {
	params := data.JoinParams(data.PathNetworkParam, rest.Param{Name: "addresses", Kind: schema.KindPrimaryAddress, List: true, MaxItems: 64,
		Doc: "Only rewards of these addresses, with or without a chain's prefix; addresses of the other network are an error. Required without nodeIds."}, rest.Paging(10, 100), data.NodesParam, data.SortOrderParam)
	return []rest.Operation{
		{ID: "listPendingRewards", Path: "/v1/networks/{network}/rewards:listPending", Summary: "List the pending rewards of stakers, with a VALIDATOR_FEE for each active delegation. The list leaves out fees of ended delegations, which the validator gets with its own reward",
			Params: params, Answer: reflect.TypeFor[pendingRewards](), Handle: a.OnNetwork(a.listPendingRewards)},
		{ID: "listRewards", Path: "/v1/networks/{network}/rewards", Summary: "List the rewards paid so far",
			Params: data.JoinParams(params, data.CurrencyParam), Answer: reflect.TypeFor[historicalRewards](), Handle: a.OnNetwork(a.listRewards)},
	}
}

// earned returns a page of the rewards with a status that match the request.
func (a *stakingAPI) earned(r *rest.Request, n *sim.Network, status int) (page []*query.RewardEntry, next string, err error) {
	addresses, err := data.AddressesOf(r, n, "addresses")
	if err != nil {
		return nil, "", err
	}
	nodes := rest.List[ids.NodeID](r, "nodeIds")
	if len(addresses)+len(nodes) == 0 {
		return nil, "", rest.BadRequest("addresses or nodeIds is required")
	}
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, "", err
	}
	page, next = data.PageOf(r, all.Rewards(), func(e *query.RewardEntry) bool {
		return e.Status == status && (len(nodes) == 0 || slices.Contains(nodes, ids.NodeID(e.Staker.Node))) &&
			(len(addresses) == 0 || data.OwnedBy(e.Owner, addresses))
	})
	return page, next, nil
}

func shownReward(n *sim.Network, e *query.RewardEntry) Reward {
	s := e.Staker
	return Reward{data.Bech32s(n.Rules, store.ParseOutputOwners(e.Owner).Addresses), data.CB58(s.Tx), data.Decimals(uint64(s.Weight)),
		ids.NodeID(s.Node).String(), s.Start, s.End, e.Kind}
}

func (a *stakingAPI) listPendingRewards(r *rest.Request, n *sim.Network) (any, error) {
	found, next, err := a.earned(r, n, store.StakerActive)
	now := n.Clock.Unix()
	return pendingRewards{next, data.List(found, func(e **query.RewardEntry) PendingReward {
		s := (*e).Staker
		return PendingReward{shownReward(n, *e), 100 * float64(now-s.Start) / float64(s.End-s.Start), data.AVAX(n, (*e).Amount)}
	})}, err
}

func (a *stakingAPI) listRewards(r *rest.Request, n *sim.Network) (any, error) {
	found, next, err := a.earned(r, n, store.StakerCompleted)
	if err != nil {
		return nil, err
	}
	prices, err := a.Prices(r, n.CChain().Row.ID)
	if err != nil {
		return nil, err
	}
	shown, err := data.TryList(found, func(e *query.RewardEntry) (HistoricalReward, error) { return paidReward(prices, n, e) })
	return historicalRewards{next, shown}, err
}

// paidReward returns a reward with the output that paid it.
func paidReward(s *data.PriceView, n *sim.Network, e *query.RewardEntry) (HistoricalReward, error) {
	chain := n.Chain(txs.PChain)
	maker := e.Staker.Tx
	if e.Staker.AutoRenewed() {
		maker = e.Staker.RewardTx
	}
	outputs, err := n.DB.UTXOsOfTx(s.Context(), chain, maker)
	if err != nil {
		return HistoricalReward{}, err
	}
	outputs = slices.DeleteFunc(outputs, func(u store.UTXO) bool { return !u.Reward })
	if e.Part >= len(outputs) {
		return HistoricalReward{}, rest.NotFound("the reward of %s does not exist", data.CB58(e.Staker.Tx))
	}
	u := outputs[e.Part]
	time, err := n.DB.PrimaryTime(s.Context(), store.At(chain, u.ID.Height(), 0))
	paid := PricedAmount{AssetAmount: data.AVAX(n, uint64(u.Amount))}
	if time < n.Clock.Unix()-metric.SecondsPerDay {
		paid.HistoricalPrice = s.Price(s.Native[s.Chain], time)
	}
	return HistoricalReward{shownReward(n, e), data.CB58(u.Hash), u.Output, paid, data.CB58(e.Staker.RewardTx)}, err
}
