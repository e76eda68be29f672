package primary_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var supplyFields = datatest.Fields{"circulatingSupply": "string", "totalSupply": "string", "totalPBurned": "string", "totalCBurned": "string",
	"totalXBurned": "string", "totalStaked": "string", "totalLocked": "string", "totalRewards": "string", "lastUpdated": "string",
	"genesisUnlock": "string", "l1ValidatorFees": "string"}

// TestSupplyIsWhatTheRowsAddUpTo adds up mainnet's rows, now and after the clock has moved.
func TestSupplyIsWhatTheRowsAddUpTo(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 4))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	network := g.Network(t, "mainnet")
	rows, err := g.DB.PrimaryNetworks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began, err := pchain.ParsePChainGenesis(rows[0].PChainGenesis)
	if err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, 50 * time.Hour} {
		g.Clock.Set(g.Clock.Now().Add(later))
		have := g.Get(t, "/v1/avax/supply")
		supplyFields.Check(t, "supply", have)
		fees := paidFees(t, network.DB, network.Chain(txs.PChain), network.Accrued)
		want := map[string]*big.Rat{
			"totalXBurned":    avaxOf(burned(t, g, network.Chain(txs.XChain))),
			"totalPBurned":    avaxOf(burned(t, g, network.Chain(txs.PChain)) + fees),
			"totalRewards":    avaxOf(rewarded(t, g, network.Chain(txs.PChain))),
			"l1ValidatorFees": avaxOf(fees),
			"totalCBurned":    new(big.Rat).Add(avaxOf(burned(t, g, network.Chain(txs.CChain))), gasOf(t, g)),
			"genesisUnlock":   avaxOf(began.InitialSupply),
		}
		total := new(big.Rat).Add(want["genesisUnlock"], want["totalRewards"])
		for _, name := range []string{"totalPBurned", "totalXBurned", "totalCBurned"} {
			total.Sub(total, want[name])
		}
		want["totalSupply"], want["circulatingSupply"] = total, total
		for name, value := range want {
			if n, ok := new(big.Rat).SetString(have[name].(string)); !ok || n.Cmp(value) != 0 {
				t.Errorf("%s after %s is %v: want %s", name, later, have[name], value.FloatString(18))
			}
		}
		if have["lastUpdated"] != g.Clock.Now().Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("last updated %v", have["lastUpdated"])
		}
	}
}

func avaxOf(nano uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(nano), big.NewInt(1_000_000_000))
}

func burned(t *testing.T, g *datatest.Globe, chain int) (sum uint64) {
	t.Helper()
	transactions, err := g.DB.PrimaryTxsBetween(context.Background(), store.First(chain), store.Last(chain))
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range transactions {
		sum += uint64(tx.Burned)
	}
	return sum
}

// rewarded adds up what outputs paid to stakers and what self-renewing validators have restaked.
func rewarded(t *testing.T, g *datatest.Globe, chain int) (sum uint64) {
	t.Helper()
	all, err := g.DB.UTXOsMadeBy(context.Background(), chain)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		if u.Reward {
			sum += uint64(u.Amount)
		}
	}
	stakers, err := g.DB.Stakers(context.Background(), chain)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stakers {
		if s.RewardTx == nil { // holds what earlier cycles restaked
			sum += uint64(s.AccruedValidationRewards + s.AccruedDelegateeRewards)
		}
	}
	return sum
}

// gasOf adds up the fees of every EVM transaction of mainnet's C-Chain.
func gasOf(t *testing.T, g *datatest.Globe) *big.Rat {
	t.Helper()
	c := g.Chains[0]
	head, err := c.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sum := new(big.Int)
	for n := range head.Number + 1 {
		b, err := c.Block(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(sum, new(big.Int).SetBytes(b.Row.Fees))
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(1_000_000_000_000_000_000))
}

// paidFees returns the fees that L1 validators paid: all deposits to their balances, less refunds and the remaining balances.
func paidFees(t *testing.T, db *store.DB, chain int, accrued func(*store.PrimaryBlock) store.Amount) uint64 {
	t.Helper()
	ctx := context.Background()
	transactions, err := db.PrimaryTxsBetween(ctx, store.First(chain), store.Last(chain))
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, row := range transactions {
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		switch u := tx.Unsigned.(type) {
		case *txs.ConvertSubnetToL1Tx:
			for _, v := range u.Validators {
				sum += v.Balance
			}
		case *txs.RegisterL1ValidatorTx:
			sum += u.Balance
		case *txs.IncreaseL1ValidatorBalanceTx:
			sum += u.Balance
		case *txs.SetL1ValidatorWeightTx, *txs.DisableL1ValidatorTx:
			made, err := db.UTXOsOfTx(ctx, chain, row.Hash)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range made {
				if int(u.Output) == len(tx.Unsigned.Base().Outs) {
					sum -= uint64(u.Amount)
				}
			}
		}
	}
	head, err := db.PrimaryHead(ctx, chain)
	if err != nil {
		t.Fatal(err)
	}
	left, err := db.L1Validators(ctx, chain, head.ID.Number())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range left {
		sum -= uint64(v.EndAccumulatedFee - min(accrued(head), v.EndAccumulatedFee))
	}
	return sum
}
