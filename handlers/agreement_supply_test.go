// All interfaces of one server together: the balances on every chain add up to the supply.

package handlers_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/pchain"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestNobodyHoldsMoreThanThereIs adds up all AVAX on P, X and C, in transit between them, in stakes and in balances of L1 validators. The sum equals
// the supply to the last wei, on mainnet also that of the Data API, and a realistic share of it is staked.
func TestNobodyHoldsMoreThanThereIs(t *testing.T) {
	t.Parallel()
	const moved = "tiny, in which people went on"
	worlds := map[string]*sim.World{"tiny": readWorld(t)}
	if testing.Short() {
		t.Log("left out of a short run: the moved world and the default one")
	} else {
		worlds[moved] = makeTiny(t, 1)
		worlds["default"] = readWorldOf(t, "default")
	}
	for profile, w := range worlds {
		h, err := handlers.New(w, handlers.Options{Network: "mainnet", Relayer: true, People: peopleOf})
		if err != nil {
			t.Fatal(err)
		}
		if profile == moved {
			before := w.Clock.Now()
			if told := ask(h, "POST", "/sim/clock", `{"advance":"200h","populate":true}`); !w.Clock.Now().After(before) {
				t.Fatal(told)
			}
		}
		for i, n := range w.Networks {
			v := &views{t, w, h, n}
			if ratio, _ := new(big.Rat).SetString(v.get("")["validatorDetails"].(object)["stakingRatio"].(string)); ratio.Cmp(big.NewRat(3, 10)) < 0 || ratio.Cmp(big.NewRat(6, 10)) > 0 {
				t.Errorf("%s: of %s, %s is staked", profile, n.Name, ratio.FloatString(3))
			}
			held, total := avax(holdings(t, n)), avax(supply(t, n))
			if held != total {
				t.Errorf("%s: all together hold %s AVAX on %s, and there are %s", profile, held, n.Name, total)
			}
			if i > 0 {
				continue // the Data API has only mainnet's supply
			}
			if told := v.decode("supply", ask(h, "GET", "/v1/avax/supply", ""))["totalSupply"].(string); held != told {
				t.Errorf("%s: all together hold %s AVAX, and the Data API tells of %s", profile, held, told)
			}
		}
	}
}

// avax writes wei as AVAX.
func avax(wei *big.Int) string {
	return strings.TrimRight(new(big.Rat).SetFrac(wei, big.NewInt(1e18)).FloatString(18), "0")
}

// supply adds the rewards paid to a network's initial supply and subtracts all fees, in wei.
func supply(t *testing.T, n *sim.Network) *big.Int {
	rows, err := n.DB.PrimaryNetworks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := rows[slices.IndexFunc(rows, func(r store.PrimaryNetwork) bool { return r.ID == n.Rules.NetworkID })]
	genesis, err := pchain.ParsePChainGenesis(began.PChainGenesis)
	if err != nil {
		t.Fatal(err)
	}
	all, err := query.NewStakerIndexes().Of(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	lost, err := query.FeesPaid(t.Context(), n) // by L1 validators
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		burned, err := n.DB.Burned(t.Context(), store.First(n.Chain(kind)), store.Last(n.Chain(kind)))
		if err != nil {
			t.Fatal(err)
		}
		lost += burned
	}
	sum := new(big.Int).Mul(new(big.Int).SetUint64(genesis.InitialSupply+all.Granted()-lost), big.NewInt(1e9))
	head, err := n.CChain().Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for number := range head.Number + 1 {
		b, err := n.CChain().Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		sum.Sub(sum, new(big.Int).SetBytes(b.Row.Fees))
	}
	return sum
}

// holdings adds up every balance on a network, in wei.
func holdings(t *testing.T, n *sim.Network) *big.Int {
	nano, wei := uint64(0), new(big.Int)
	for _, chain := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		utxos, err := n.DB.UTXOsMadeBy(t.Context(), n.Chain(chain))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range utxos {
			if u.Spent == nil && string(u.Asset) == string(n.Rules.AVAXAssetID[:]) {
				nano += uint64(u.Amount)
			}
		}
	}
	all, err := query.NewStakerIndexes().Of(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	active, pending := all.Staked()
	for _, s := range append(active, pending...) {
		nano += uint64(s.Weight)
	}
	for _, v := range all.L1 {
		nano += all.L1Balance(v)
	}
	c := n.CChain()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := n.DB.AccountsAt(t.Context(), c.Row.ID, head.Number)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		if common.BytesToAddress(a.Address) != evm.Blackhole { // where fees are burned
			wei.Add(wei, new(big.Int).SetBytes(a.Balance))
		}
	}
	return wei.Add(wei, new(big.Int).Mul(new(big.Int).SetUint64(nano), big.NewInt(1e9)))
}
