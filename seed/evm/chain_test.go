package evm

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
)

// TestCallsOfMissingContractsAreErrors lets somebody act on a chain without the contract that the action calls.
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
