package data

import (
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// PricedAmount is an amount with what one whole unit cost at the time.
type PricedAmount struct {
	AssetAmount
	HistoricalPrice *Price `json:"historicalPrice,omitempty" doc:"Of rewards that are older than a day."`
}

// Reward is what the pending and the paid rewards share.
type Reward struct {
	Addresses      []string `json:"addresses"`
	TxHash         string   `json:"txHash" format:"cb58" doc:"Of the staking transaction."`
	AmountStaked   string   `json:"amountStaked" format:"uint" doc:"nAVAX"`
	NodeID         string   `json:"nodeId" format:"nodeId"`
	StartTimestamp int64    `json:"startTimestamp"`
	EndTimestamp   int64    `json:"endTimestamp"`
	RewardType     string   `json:"rewardType" enum:"VALIDATOR,DELEGATOR,VALIDATOR_FEE"`
}

// PendingReward is a reward that somebody will be paid if all goes well.
type PendingReward struct {
	Reward
	Progress        float64     `json:"progress" min:"0" max:"100" doc:"Percent of the staking time that is over."`
	EstimatedReward AssetAmount `json:"estimatedReward"`
}

// HistoricalReward is a reward that was paid.
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

func (a *stakingAPI) rewardOperations() []handlers.Operation {
	params := with(pathNetworkParam, handlers.Param{Name: "addresses", Kind: handlers.KindPrimary, List: true, MaxItems: 64,
		Doc: "Only rewards of these addresses, with a chain's prefix or without; one of the other network is refused. These or nodeIds must be given."}, handlers.Paging(10, 100), nodesParam, sortOrderParam)
	return []handlers.Operation{
		{ID: "listPendingRewards", Path: "/v1/networks/{network}/rewards:listPending", Summary: "List the rewards of those who stake",
			Params: params, Answer: reflect.TypeFor[pendingRewards](), Handle: a.onNetwork(a.listPendingRewards)},
		{ID: "listRewards", Path: "/v1/networks/{network}/rewards", Summary: "List the rewards that were paid",
			Params: with(params, currencyParam), Answer: reflect.TypeFor[historicalRewards](), Handle: a.onNetwork(a.listRewards)},
	}
}

// earned is a page of those rewards of a status that the request asks for.
func (a *stakingAPI) earned(r *handlers.Request, l *sim.Ledger, status int) (page []*rewardEntry, next string, err error) {
	addresses, err := addressesOf(r, l, "addresses")
	if err != nil {
		return nil, "", err
	}
	nodes := handlers.List[ids.NodeID](r, "nodeIds")
	if len(addresses)+len(nodes) == 0 {
		return nil, "", handlers.BadRequest("addresses or nodeIds is required")
	}
	all, err := a.stakers.of(r.Context(), l)
	if err != nil {
		return nil, "", err
	}
	page, next = pageOf(r, all.rewards, func(e *rewardEntry) bool {
		return e.status == status && (len(nodes) == 0 || slices.Contains(nodes, ids.NodeID(e.staker.Node))) &&
			(len(addresses) == 0 || owned(e.owner, addresses))
	})
	return page, next, nil
}

func shownReward(l *sim.Ledger, e *rewardEntry) Reward {
	s := e.staker
	return Reward{bech32s(l.Rules, store.ParseOwners(e.owner).Addresses), cb58(s.Tx), decimals(uint64(s.Weight)),
		ids.NodeID(s.Node).String(), s.Start, s.End, e.kind}
}

func (a *stakingAPI) listPendingRewards(r *handlers.Request, l *sim.Ledger) (any, error) {
	found, next, err := a.earned(r, l, store.StakerActive)
	now := l.Clock.Unix()
	return pendingRewards{next, list(found, func(e **rewardEntry) PendingReward {
		s := (*e).staker
		return PendingReward{shownReward(l, *e), 100 * float64(now-s.Start) / float64(s.End-s.Start), avax(l, (*e).amount)}
	})}, err
}

func (a *stakingAPI) listRewards(r *handlers.Request, l *sim.Ledger) (any, error) {
	found, next, err := a.earned(r, l, store.StakerCompleted)
	if err != nil {
		return nil, err
	}
	prices, err := a.prices(r, a.readers.evmOf(l, primary.CChain).Row.ID)
	if err != nil {
		return nil, err
	}
	page := historicalRewards{next, make([]HistoricalReward, len(found))}
	for i, e := range found {
		if page.HistoricalRewards[i], err = paidReward(prices, l, e); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// paidReward is a reward with the output that paid it.
func paidReward(s *priceView, l *sim.Ledger, e *rewardEntry) (HistoricalReward, error) {
	chain := l.Chain(primary.PChain)
	outputs, err := l.DB.UTXOsOfTx(s.Context(), chain, e.staker.Tx)
	if err != nil {
		return HistoricalReward{}, err
	}
	outputs = slices.DeleteFunc(outputs, func(u store.UTXO) bool { return !u.Reward })
	if e.part >= len(outputs) {
		return HistoricalReward{}, handlers.NotFound("the reward of %s does not exist", cb58(e.staker.Tx))
	}
	u := outputs[e.part]
	time, err := l.DB.PrimaryTime(s.Context(), store.At(chain, u.ID.Height(), 0))
	paid := PricedAmount{AssetAmount: avax(l, uint64(u.Amount))}
	if time < l.Clock.Unix()-day {
		paid.HistoricalPrice = s.price(s.native[s.chain], time)
	}
	return HistoricalReward{shownReward(l, e), cb58(u.Hash), u.Output, paid, cb58(e.staker.RewardTx)}, err
}
