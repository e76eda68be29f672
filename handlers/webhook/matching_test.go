package webhook_test

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// contract returns the address of the C-Chain's contract with a role.
func (w *world) contract(role string) common.Address {
	w.Helper()
	rows, err := w.DB.Contracts(w.Context(), w.NetworkNamed(fixtures.MainnetName).CChain().Row.ID)
	if err != nil {
		w.Fatal(err)
	}
	for _, row := range rows {
		if row.Role == role {
			return common.BytesToAddress(row.Address)
		}
	}
	w.Fatalf("there is no %s", role)
	return common.Address{}
}

// TestWhoIsCalledInsideIsTold reads a token's balance through another contract, without a transfer or a log. A reverted call does not count.
func TestWhoIsCalledInsideIsTold(t *testing.T) {
	w := open(t, inFile(t), false)
	token, caller := w.contract("usdx"), w.contract("multicall")
	read := w.create("http://127.0.0.1:1/", nil, token.Hex())
	called := w.create("http://127.0.0.1:1/", nil, "0x00000000000000000000000000000000000000f1")
	multicall, err := contracts.Load("Multicall3")
	if err != nil {
		t.Fatal(err)
	}
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	send := func(target common.Address, fails bool) string {
		t.Helper()
		calls := []call{{target, false, append(common.FromHex("0x70a08231"), make([]byte, 32)...)}}
		if fails {
			calls = append(calls, call{caller, false, []byte{1, 2, 3, 4}})
		}
		data, err := multicall.ABI.Pack("aggregate3", calls)
		if err != nil {
			t.Fatal(err)
		}
		return w.send(&caller, new(big.Int), data).Hex()
	}
	reads, calls := send(token, false), send(common.HexToAddress("0xf1"), false)
	send(token, true)
	for id, want := range map[string]string{read: reads, called: calls} {
		if told := w.deliveries(id); len(told) != 1 || told[0]["txHash"] != want {
			t.Errorf("promised is %v, want %s", told, want)
		}
	}
}

// TestMessagesGoWithTheirBlocks promises messages about blocks that a revert and a reorg remove: they are dropped, and messages about the
// replacement blocks have new ids.
func TestMessagesGoWithTheirBlocks(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, nil, bob)
	stays := w.pay(bob, 1).Hex()
	until(t, "the first is told", func() bool { return len(r.hashes()) == 1 })
	snapshot, err := w.TakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	r.answer(503) // the message must not be delivered before its block goes
	gone := w.pay(bob, 2).Hex()
	until(t, "an attempt fails", func() bool { return r.tried() == 2 })
	if told := w.deliveries(id); len(told) != 2 || told[0]["txHash"] != gone {
		t.Fatalf("promised are %v", told)
	}
	name := w.deliveries(id)[0]["messageId"]
	if err := w.Revert(t.Context(), snapshot.ID, true); err != nil {
		t.Fatal(err)
	}
	if told := w.deliveries(id); len(told) != 1 || told[0]["txHash"] != stays {
		t.Fatalf("promised after the revert are %v", told)
	}
	again := w.pay(bob, 3).Hex()
	until(t, "the next is told at once", func() bool { return len(r.hashes()) == 2 })
	same(t, "told", r.hashes(), []string{stays, again})
	if r.got[1]["messageId"] == name {
		t.Errorf("%v names two messages", name)
	}

	r.answer(503)
	w.pay(bob, 4)
	until(t, "an attempt fails", func() bool { return r.tried() == 4 })
	if err := w.Reorg(t.Context(), w.NetworkNamed(fixtures.MainnetName).CChain(), 1, [][]*miner.Transaction{nil}); err != nil {
		t.Fatal(err)
	}
	if told := w.deliveries(id); len(told) != 2 || told[0]["txHash"] != again {
		t.Errorf("promised after the reorg are %v", told)
	}
	w.wait(time.Hour)
	last := w.pay(bob, 5).Hex()
	until(t, "the one after the reorg is told", func() bool { return len(r.hashes()) == 3 })
	same(t, "told", r.hashes(), []string{stays, again, last})
}

// TestStatementsFindRowsByIndex does everything once and checks how each statement about webhooks finds its rows.
func TestStatementsFindRowsByIndex(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, nil, bob)
	r.answer(500)
	w.pay(bob, 1)
	until(t, "an attempt fails", func() bool { return r.tried() == 1 })
	w.wait(time.Minute)
	until(t, "it is told", w.settled)
	w.about(r.URL, "validator_activity", "mainnet", object{"keyType": "subnetId", "keys": []string{"11111111111111111111111111111111LpoYY"},
		"subEvents": object{"validatorActivitySubEvents": []string{"reward_distribution", "l1_validator_balance_threshold"}}, "l1ValidatorFeeBalanceThreshold": "1"})
	if err := w.Advance(t.Context(), time.Unix(w.Clock.Unix()+86_400*3, 0)); err != nil {
		t.Fatal(err)
	}
	w.ask("GET", "/v1/webhooks:getSharedSecret", "", "", 200)
	w.ask("PATCH", "/v1/webhooks/"+id+"/addresses", "", `{"addresses":["`+alice+`"]}`, 200)
	w.ask("GET", "/v1/webhooks/"+id+"/addresses", "", "", 200)
	w.ask("DELETE", "/v1/webhooks/"+id+"/addresses", "", `{"addresses":["`+alice+`"]}`, 200)
	w.ask("POST", "/sim/webhooks/"+id+"/deliveries/"+w.deliveries(id)[0]["messageId"].(string)+":redeliver", "", "", 200)
	until(t, "it is told again", w.settled)
	w.ask("DELETE", "/v1/webhooks/"+id, "", "", 200)
	w.end()

	statements := w.DB.Statements()
	if err := w.Write(t.Context(), func(b *store.Batch) error { statements = append(statements, b.Statements()...); return nil }); err != nil {
		t.Fatal(err)
	}
	wasteful, visited := regexp.MustCompile(`^SCAN |TEMP B-TREE`), 0
	for _, statement := range statements {
		if !strings.Contains(statement, "webhook") {
			continue
		}
		visited++
		steps, err := w.DB.Explain(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if wasteful.MatchString(step) {
				t.Errorf("%s\n  %s", statement, step)
			}
		}
	}
	if visited < 20 {
		t.Errorf("only %d statements", visited)
	}
}
