package snowglobetest_test

import (
	"math/big"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/snowglobetest"
)

func TestFundAndVerifyRequests(t *testing.T) {
	t.Parallel()
	s := snowglobetest.Run(t)
	nobody := s.Persona("nobody")
	if paid := s.Fund(nobody.Address.Hex(), "2.5"); paid.Amount != "2500000000000000000" {
		t.Errorf("%+v", paid)
	}
	if paid := s.Fund(nobody.Addresses[snowglobetest.Fuji].P, ""); paid.Network != "fuji" || paid.Chain != "P" || paid.Amount != "1000000000" {
		t.Errorf("%+v", paid)
	}
	balance, err := dial(t, s.RPCURL).BalanceAt(t.Context(), nobody.Address, nil)
	if err != nil || balance.Cmp(big.NewInt(25e17)) != 0 {
		t.Error(balance, err)
	}
	two := 2
	asked := control.ExpectedRequests{Criteria: journal.Criteria{Operation: "requestFunds"}, Times: &control.Times{Exactly: &two}}
	if got := s.VerifyRequests(asked); got != two {
		t.Errorf("%d requests", got)
	}
	asked.Status = http.StatusTeapot
	if n, err := s.Client().VerifyRequests(t.Context(), asked); n != 0 || err == nil || !strings.Contains(err.Error(), `0 requests, expected exactly 2; the closest are [{`) {
		t.Error(n, err)
	}
	asked.Operation = "nothing"
	if _, err := s.Client().VerifyRequests(t.Context(), asked); err == nil || !strings.Contains(err.Error(), "operation") {
		t.Error(err)
	}
}
