package seed_test

import (
	"bytes"
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// census counts a chain's rows about one address.
type census struct {
	sent, received, failed, internal int
	tokens                           map[common.Address]bool // contracts whose transfer logs name the address
	transfers                        int
	largest                          *big.Int // native value sent
}

// count reads a whole chain.
func count(t *testing.T, w *sim.World, c *reader.Chain) func(common.Address) *census {
	t.Helper()
	ctx, all := context.Background(), map[common.Address]*census{}
	of := func(a common.Address) *census {
		if all[a] == nil {
			all[a] = &census{tokens: map[common.Address]bool{}, largest: new(big.Int)}
		}
		return all[a]
	}
	first, last := store.First(c.Row.ID), store.Last(c.Row.ID)
	txs, err := w.DB.TransactionsBetween(ctx, first, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs {
		from := of(common.BytesToAddress(tx.Sender))
		from.sent++
		if tx.Status == 0 {
			from.failed++
		}
		if tx.Recipient != nil {
			of(common.BytesToAddress(tx.Recipient)).received++
		}
		calls, err := w.DB.Calls(ctx, tx.ID.Block())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if call.Tx == tx.ID.Index() {
				of(common.BytesToAddress(call.Recipient)).internal++
			}
		}
	}
	logs, err := w.DB.LogsBetween(ctx, first, last, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		for i := 0; i+32 <= len(log.Topics); i += 32 {
			if topic := log.Topics[i : i+32]; bytes.Equal(topic[:12], make([]byte, 12)) {
				a := of(common.BytesToAddress(topic))
				a.transfers++
				a.tokens[common.BytesToAddress(log.Address)] = true
			}
		}
	}
	return of
}

// TestPersonas finds every promised situation on every chain of the world: in full on default's C-Chains, a tenth of it elsewhere.
func TestPersonas(t *testing.T) {
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		for _, c := range w.Chains {
			need := func(full int) int {
				if profile == "default" && c.Kind == evm.KindC {
					return full
				}
				return full / 10
			}
			of, people := count(t, w, c), map[string]common.Address{}
			personas, err := w.DB.Personas(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range personas {
				people[p.Name] = common.BytesToAddress(p.Address)
			}
			check := func(ok bool, what string) {
				t.Helper()
				if !ok {
					t.Errorf("%s, chain %d: %s", profile, c.Row.EVMID, what)
				}
			}
			alice, bob, clumsy := of(people["alice"]), of(people["bob"]), of(people["clumsy"])
			check(alice.sent >= need(250), "alice sends too little")
			check(len(alice.tokens) >= 12, "alice has fewer than a dozen tokens")
			check(alice.internal >= need(30), "alice has few internal transactions")
			check(bob.received >= need(100) && bob.sent < bob.received, "bob does not receive much and send little")
			check(clumsy.failed*2 > clumsy.sent && clumsy.failed >= need(40), "clumsy is not clumsy")
			indirect := of(people["indirect"])
			check(indirect.sent+indirect.received+indirect.transfers == 0 && indirect.internal > 0, "indirect is not touched by internal transactions only")
			fresh := of(people["fresh"])
			check(fresh.sent == 0 && fresh.received > 0, "fresh was not funded, or sent something")
			nobody := of(people["nobody"])
			check(nobody.sent+nobody.received+nobody.internal+nobody.transfers == 0, "nobody was seen")
			check(of(people["deployer"]).sent >= 47, "deployer did not deploy everything")
			check(len(of(people["spammed"]).tokens) >= 3, "spammed got too little spam")
			check(of(people["collector"]).transfers >= 15, "collector has too few pieces")
			checkBalances(t, w, c, people)
		}
	}
}

// checkBalances checks the holdings of fresh, nobody, ewoq and the whale at the head.
func checkBalances(t *testing.T, w *sim.World, c *reader.Chain, people map[string]common.Address) {
	ctx := context.Background()
	head, err := w.DB.Head(ctx, c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	balance := func(name string) *big.Int {
		a := people[name]
		row, err := w.DB.Account(ctx, c.Row.ID, a[:], head.ID.Number())
		if err != nil {
			return new(big.Int)
		}
		return new(big.Int).SetBytes(row.Balance)
	}
	if balance("nobody").Sign() != 0 || balance("fresh").Sign() == 0 || balance("ewoq").Sign() == 0 {
		t.Errorf("chain %d: nobody has %d, fresh %d, ewoq %d", c.Row.EVMID, balance("nobody"), balance("fresh"), balance("ewoq"))
	}
	for token, least := range map[string]int{"snow": 95, "points": 128} {
		rows, whale := must(w.DB.Contracts(ctx, c.Row.ID))(t), people["whale"]
		at := slices.IndexFunc(rows, func(row store.Contract) bool { return row.Role == token })
		row := must(w.DB.TokenAt(ctx, c.Row.ID, rows[at].Address))(t)
		if held := must(w.DB.TokenBalance(ctx, whale[:], row.ID.Asset(nil), head.ID.Number()))(t); new(big.Int).SetBytes(held.Amount).BitLen() <= least {
			t.Errorf("chain %d: the whale has %x %s only", c.Row.EVMID, held.Amount, token)
		}
	}
	if balance("whale").Cmp(balance("ewoq")) < 0 {
		t.Errorf("chain %d: the whale has %d only", c.Row.EVMID, balance("whale"))
	}
}

// TestEveryContractIsDeployed finds each compiled contract deployed directly and by the factory, and the multicall contract at its canonical address.
func TestEveryContractIsDeployed(t *testing.T) {
	w := world(t, "tiny", 1)
	for _, c := range w.Chains {
		rows, err := w.DB.Contracts(context.Background(), c.Row.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			head, err := w.DB.Head(context.Background(), c.Row.ID)
			if err != nil {
				t.Fatal(err)
			}
			account, err := w.DB.Account(context.Background(), c.Row.ID, row.Address, head.ID.Number())
			if err != nil || account.CodeHash == nil {
				t.Errorf("chain %d: %s has no code: %v", c.Row.EVMID, row.Role, err)
			}
		}
		if len(rows) < 45 {
			t.Errorf("chain %d has only %d named contracts", c.Row.EVMID, len(rows))
		}
		if _, err := w.DB.Account(context.Background(), c.Row.ID, fixtures.Multicall[:], 0); err != nil {
			t.Errorf("chain %d has no multicall: %v", c.Row.EVMID, err)
		}
	}
}
