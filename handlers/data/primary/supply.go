package primary

import (
	"context"
	"math"
	"math/big"
	"reflect"
	"strings"

	"golang.org/x/sync/errgroup"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Supply reports how much AVAX exists on mainnet and where, in whole AVAX: the initial supply plus all rewards, less the burned amounts.
type Supply struct {
	CirculatingSupply string `json:"circulatingSupply" format:"decimal" doc:"The same as totalSupply."`
	TotalSupply       string `json:"totalSupply" format:"decimal"`
	TotalPBurned      string `json:"totalPBurned" format:"decimal" doc:"Includes fees of L1 validators."`
	TotalCBurned      string `json:"totalCBurned" format:"decimal" doc:"By EVM and atomic transactions."`
	TotalXBurned      string `json:"totalXBurned" format:"decimal"`
	TotalStaked       string `json:"totalStaked" format:"decimal" doc:"By active validators and delegators."`
	TotalLocked       string `json:"totalLocked" format:"decimal" doc:"Unspent outputs on the P- and X-Chain whose locktime is still ahead."`
	TotalRewards      string `json:"totalRewards" format:"decimal" doc:"Rewards that stakers have earned so far, including restaked ones."`
	LastUpdated       string `json:"lastUpdated" doc:"The world's clock, as a date and time."`
	GenesisUnlock     string `json:"genesisUnlock" format:"decimal" doc:"The supply at the beginning of the history."`
	L1ValidatorFees   string `json:"l1ValidatorFees" format:"decimal" doc:"Paid by L1 validators up to the world's clock."`
}

// burnedSum adds up the amounts burned on one of mainnet's chains, reading each transaction once.
type burnedSum struct {
	nano uint64
	upTo store.Position
}

// supplyAPI sums up the supply of AVAX. It keeps the sums in a cache because the world clears caches when it goes back.
type supplyAPI struct {
	*data.Base
	burned *cache.Cache[txs.Chain, burnedSum]
}

func (a *supplyAPI) supplyOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "getAvaxSupply", Path: "/v1/avax/supply", Summary: "Sum up the supply of AVAX on mainnet", Answer: reflect.TypeFor[Supply](), Handle: a.getSupply,
	}}
}

func (a *supplyAPI) getSupply(r *rest.Request) (any, error) {
	n := a.World.Networks[0]
	var all *query.StakerIndex
	var burned map[txs.Chain]uint64
	reading, ctx := errgroup.WithContext(r.Context())
	reading.Go(func() (err error) {
		all, err = a.Stakers.Of(ctx, n)
		return err
	})
	reading.Go(func() (err error) {
		burned, err = a.burnedOn(ctx, n)
		return err
	})
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	genesis, err := initialSupply(r.Context(), n, all)
	if err != nil {
		return nil, err
	}
	fees, err := query.FeesPaid(r.Context(), n)
	if err != nil {
		return nil, err
	}
	gas, err := a.gasBurned(r.Context(), n)
	if err != nil {
		return nil, err
	}
	held, err := a.Readers.Reader(r.Context(), n).LockedNow()
	if err != nil {
		return nil, err
	}
	p, x, c := nano(burned[txs.PChain]+fees), nano(burned[txs.XChain]), nano(burned[txs.CChain])
	c.Add(c, gas)
	total := nano(genesis + all.Granted())
	for _, lost := range []*big.Int{p, x, c} {
		total.Sub(total, lost)
	}
	return Supply{whole(total), whole(total), whole(p), whole(c), whole(x), whole(nano(all.Stake)), whole(nano(held)), whole(nano(all.Granted())),
		n.Clock.Now().Format("2006-01-02T15:04:05.000Z"), whole(nano(genesis)), whole(nano(fees))}, nil
}

// burnedOn adds the amounts burned since the last call.
func (a *supplyAPI) burnedOn(ctx context.Context, n *sim.Network) (map[txs.Chain]uint64, error) {
	now := map[txs.Chain]uint64{}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		chain := n.Chain(kind)
		newest, err := n.DB.PrimaryTxIDs(ctx, store.TxRange{High: store.Last(chain), Low: store.First(chain), Limit: 1})
		if err != nil {
			return nil, err
		}
		sum, _ := a.burned.Get(kind)
		if len(newest) > 0 && newest[0] > sum.upTo {
			more, err := n.DB.Burned(ctx, max(store.First(chain), sum.upTo+1), newest[0])
			if err != nil {
				return nil, err
			}
			sum = burnedSum{sum.nano + more, newest[0]}
			a.burned.Add(kind, sum)
		}
		now[kind] = sum.nano
	}
	return now, nil
}

// initialSupply returns the supply at genesis, without the rewards of the genesis stakers that the genesis block's supply includes
// (pchain.PChainGenesis.State). Reading the genesis itself takes ten times as long.
func initialSupply(ctx context.Context, n *sim.Network, all *query.StakerIndex) (uint64, error) {
	genesis, err := n.DB.PrimaryBlock(ctx, n.Chain(txs.PChain), 0)
	if err != nil {
		return 0, err
	}
	supply := genesis.Supply
	take := func(s *store.Staker) {
		if s.Began != nil && *s.Began == 0 {
			supply -= s.PotentialReward
		}
	}
	for _, v := range all.Validators {
		take(&v.Staker)
	}
	for _, d := range all.Delegators {
		take(&d.Staker)
	}
	return uint64(supply), nil
}

// gasBurned returns the fees of the C-Chain's EVM transactions in wei, all of which are burned.
func (a *supplyAPI) gasBurned(ctx context.Context, n *sim.Network) (*big.Int, error) {
	chain := n.CChain().Row.ID
	days, err := a.World.DB.ReadingsSince(ctx, metric.ByName("feesPaid"), metric.Scope(chain), metric.Day, 0, math.MaxInt64)
	sum := new(big.Int)
	for _, day := range days {
		sum.Add(sum, day.Amount.ToBig())
	}
	return sum, err
}

// weiPerNano converts nAVAX to wei.
const weiPerNano = 1_000_000_000

// nano converts nAVAX to wei.
func nano(n uint64) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(weiPerNano))
}

// whole formats wei as AVAX, exactly.
func whole(wei *big.Int) string {
	text := new(big.Rat).SetFrac(wei, big.NewInt(weiPerNano*weiPerNano)).FloatString(18)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
