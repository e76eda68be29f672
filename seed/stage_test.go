package seed

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// TestCallsOfMissingContractsAreErrors lets somebody act on a chain without the contract that the action calls.
func TestCallsOfMissingContractsAreErrors(t *testing.T) {
	s := &evmChain{chain: store.Chain{EVMID: 43114}, places: map[string]common.Address{}, tokenBalances: newTokenBalances(), accounts: []*account{{}}, people: map[string]*account{"alice": {}}}
	for want, act := range map[string]func(*account, *rand.Rand) (*txRequest, error){
		"chain 43114 has no vault":    s.deposit,
		"chain 43114 has no wrapped":  s.wrap,
		"chain 43114 has no splitter": func(who *account, r *rand.Rand) (*txRequest, error) { return s.split("alice")(r) },
	} {
		if i, err := act(s.accounts[0], rng(1).For(want)); i != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, %v, want %s", i, err, want)
		}
	}
	for n := range 20 {
		if i, err := s.withdraw(s.accounts[0], rng(1).For(n)); i != nil || err == nil || err.Error() != "chain 43114 has no vault" {
			t.Errorf("withdraw: got %v, %v", i, err)
		}
	}
}
