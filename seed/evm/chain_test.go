package evm

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
)

// TestCallsOfMissingContractsAreErrors lets an account act on a chain without the contract that the action calls.
func TestCallsOfMissingContractsAreErrors(t *testing.T) {
	who := &population.Account{}
	c := &Chain{Row: store.Chain{EVMID: 43114}, byRole: map[string]common.Address{}, balances: newTokenBalances(), accounts: []*population.Account{who}, Personas: &population.Personas{}}
	a := &activity{chain: c}
	for want, act := range map[string]func(*population.Account, *rand.Rand) (*TxRequest, error){
		"chain 43114 has no vault":   a.deposit,
		"chain 43114 has no wrapped": a.wrap,
		"chain 43114 has no splitter": func(who *population.Account, r *rand.Rand) (*TxRequest, error) {
			return (&personaActivity{a, true}).splitTo(who)(r)
		},
	} {
		if request, err := act(who, population.RNG(1).For(want)); request != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, %v, want %s", request, err, want)
		}
	}
	for n := range 20 {
		if request, err := a.withdraw(who, population.RNG(1).For(n)); request != nil || err == nil || err.Error() != "chain 43114 has no vault" {
			t.Errorf("withdraw: got %v, %v", request, err)
		}
	}
}

// TestChainsHaveRoomForTheirTransactions: in a world of ten million transactions, an L1's gas target is high enough for days of busy hours. The
// targets of built-in worlds and of C-Chains do not change.
func TestChainsHaveRoomForTheirTransactions(t *testing.T) {
	span := population.Span{Start: 1_700_000_000, Until: 1_700_000_000 + 200*population.Day}
	for i := range ChainSpecs {
		spec := &ChainSpecs[i]
		if spec.roomFor(220_000, span) != spec {
			t.Errorf("chain %d has another target in a world of a million", i)
		}
		huge := spec.roomFor(1_740_000, span)
		if !spec.IsL1() {
			if huge != spec {
				t.Errorf("C-Chain %d has another configuration", i)
			}
			continue
		}
		average := int64(1_740_000) * usualGas * targetSeconds / (200 * population.Day)
		if got := huge.fees.TargetGas.Int64(); got < 7*average || got > 9*average {
			t.Errorf("chain %d: the target is %d, the average %d", i, got, average)
		}
		if huge.fees.MinBaseFee.Cmp(spec.fees.MinBaseFee) != 0 || spec.fees.TargetGas.Int64() > 200_000 {
			t.Errorf("chain %d: more has changed: %+v", i, huge.fees)
		}
	}
}

// TestSomebodyGivesWhenTheWhaleHasNothing: when the whale has given everything away in a long history, an account that cannot pay gets money from one
// with plenty, or half of a rich account's.
func TestSomebodyGivesWhenTheWhaleHasNothing(t *testing.T) {
	personas, err := population.NewPersonas()
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := population.NewAccounts(1, 12)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		whaleHas, somebodyHas int64
		from                  *population.Account
		coins                 int64
	}{
		"the whale has plenty":  {plenty, plenty + 1, personas.Whale, usualGift},
		"somebody has plenty":   {1, plenty + 1, accounts[7], usualGift},
		"nobody has plenty":     {1, 60, accounts[7], 30},
		"the whale has most":    {20, 10, personas.Whale, 10},
		"everybody has as much": {2, 2, personas.Whale, 1},
	} {
		balance := func(of common.Address) *uint256.Int {
			coins := int64(1)
			switch of {
			case personas.Whale.Address:
				coins = x.whaleHas
			case accounts[7].Address:
				coins = x.somebodyHas
			}
			return uint256.MustFromBig(population.Units(coins, 18))
		}
		c := Chain{Personas: personas, accounts: accounts}
		got := c.gift(personas.Whale, personas.Alice.Address, balance, population.RNG(1).For("gift"))
		if got.From != x.from || *got.To != personas.Alice.Address || got.Value.Cmp(population.Units(x.coins, 18)) != 0 {
			t.Errorf("%s: %s gives %d to %s, want %d from %s", name, got.From.Address, got.Value, got.To, x.coins, x.from.Address)
		}
	}
}
