package webhook_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/fault"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

func personaKey(personas []store.Persona, name string) (*ecdsa.PrivateKey, error) {
	for _, p := range personas {
		if p.Name == name {
			return crypto.ToECDSA(p.Key)
		}
	}
	return nil, errors.New("there is no " + name)
}

// TestNoAddressesMeanNothing: a webhook with an empty list of addresses sends nothing until an address is added, nor after it is removed again.
// Adding an empty list changes nothing.
func TestNoAddressesMeanNothing(t *testing.T) {
	w := open(t, inFile(t), true)
	none, all := newReceiver(t), newReceiver(t)
	id := w.create(none.URL, object{"metadata": object{"addresses": []string{}}})
	w.create(all.URL, nil, bob)
	told := 0
	pay := func() string {
		t.Helper()
		hash := w.pay(bob, 1).Hex()
		told++
		until(t, "the other webhook tells", func() bool { return len(all.hashes()) == told })
		return hash
	}
	has := func(method, body string, total int) {
		t.Helper()
		w.ask(method, "/v1/webhooks/"+id+"/addresses", "", body, 200)
		list := w.ask("GET", "/v1/webhooks/"+id+"/addresses", "", "", 200)
		if list["totalAddresses"] != float64(total) || len(list["addresses"].([]any)) != total {
			t.Errorf("after %s %s it has %v", method, body, list)
		}
	}
	if made := w.ask("GET", "/v1/webhooks/"+id, "", "", 200); made["status"] != "active" || text(made["metadata"]) != `{"addresses":[]}` {
		t.Errorf("it is made as %v", made)
	}
	pay()
	has("PATCH", `{"addresses":[]}`, 0)
	has("DELETE", `{"addresses":[]}`, 0)
	pay()
	has("PATCH", `{"addresses":["`+bob+`"]}`, 1)
	has("DELETE", `{"addresses":[]}`, 1)
	want := pay()
	until(t, "it tells of the address that was added", func() bool { return len(none.hashes()) > 0 })
	has("DELETE", `{"addresses":["`+bob+`"]}`, 0)
	pay()
	if w.ask("GET", "/v1/webhooks/"+id, "", "", 200)["status"] != "active" {
		t.Error("it is no longer active")
	}
	same(t, "told", none.hashes(), []string{want})
}

// TestEachTransactionIsToldOnce sends payments to a receiver that fails now and then: each arrives once, in order, signed.
func TestEachTransactionIsToldOnce(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	w.create(r.URL, nil, bob)
	r.secret = w.ask("GET", "/v1/webhooks:getSharedSecret", "", "", 200)["secret"].(string)
	var want []string
	for i := range int64(5) {
		want = append(want, w.pay(bob, 1+i).Hex())
		w.pay("0x000000000000000000000000000000000000dEaD", 1) // of no interest
	}
	until(t, "all are told", func() bool { return len(r.hashes()) == 5 })
	same(t, "told", r.hashes(), want)

	r.answer(500, 302, 200)
	for i := range int64(3) {
		want = append(want, w.pay(bob, 100+i).Hex())
	}
	until(t, "the first attempt fails", func() bool { return r.tried() == 6 })
	w.wait(9 * time.Second)
	time.Sleep(30 * time.Millisecond)
	if r.tried() != 6 {
		t.Errorf("it is tried again too early")
	}
	w.wait(2 * time.Second)
	until(t, "the second fails, as redirects are not followed", func() bool { return r.tried() == 7 })
	w.wait(71 * time.Second)
	until(t, "the third succeeds", func() bool { return len(r.hashes()) == 8 })
	same(t, "told", r.hashes(), want)
	if len(r.wrong) > 0 {
		t.Errorf("not signed: %q", r.wrong)
	}
	until(t, "every attempt is in the journal", func() bool {
		attempts := 0
		for _, e := range w.journal.Latest(0) {
			if e.Interface == "webhook" {
				attempts++
			}
		}
		return attempts == r.tried()
	})
}

// TestAWebhookThatNeverAnswersIsDeactivated after the whole schedule of the live service.
func TestAWebhookThatNeverAnswersIsDeactivated(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, nil, bob)
	r.answer(500, 500, 500, 500, 500, 500, 500, 500, 500, 500)
	hash := w.pay(bob, 1).Hex()
	begin, starts := w.clock().Unix(), []int64{0, 10, 80, 390, 1000, 2810, 10020, 31630, 74840, 161250}
	for i, at := range starts {
		w.wait(time.Unix(begin+at, 0).Sub(w.clock()))
		until(t, fmt.Sprintf("attempt %d is made", i+1), func() bool { return r.tried() == i+1 })
		until(t, "it is noted", func() bool { return len(w.deliveries(id)[0]["attempts"].([]any)) == i+1 })
	}
	until(t, "it is inactive", func() bool { return w.ask("GET", "/v1/webhooks/"+id, "", "", 200)["status"] == "inactive" })
	d := w.deliveries(id)[0]
	if d["status"] != "failed" || d["txHash"] != hash {
		t.Errorf("the delivery is %v", d)
	}
	again := "/sim/webhooks/" + id + "/deliveries/" + d["messageId"].(string) + ":redeliver"
	w.ask("POST", again, "", "", 400)
	w.ask("PATCH", "/v1/webhooks/"+id, "", `{"status":"active"}`, 200)
	w.ask("POST", again, "", "", 200)
	until(t, "it is told after all", func() bool { return len(r.hashes()) == 1 })
	w.ask("POST", again, "", "", 200)
	until(t, "it is told again", func() bool { return len(r.hashes()) == 2 })
	if r.got[0]["messageId"] != r.got[1]["messageId"] {
		t.Errorf("two names of one message: %v, %v", r.got[0]["messageId"], r.got[1]["messageId"])
	}
}

func (w *world) deliveries(id string) (all []object) {
	w.Helper()
	for _, d := range w.ask("GET", "/sim/webhooks/"+id+"/deliveries", "", "", 200)["deliveries"].([]any) {
		all = append(all, d.(object))
	}
	return all
}

// TestWhatWasPromisedSurvives closes the file before anything is delivered, and a second time in the middle.
func TestWhatWasPromisedSurvives(t *testing.T) {
	r := newReceiver(t)
	first, path := fresh(t)
	w := open(t, first, false)
	w.create(r.URL, nil, bob)
	var want []string
	for i := range int64(4) {
		want = append(want, w.pay(bob, 1+i).Hex())
	}
	w.end()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	r.answer(200, 200, 503)
	for round := range 2 {
		again, err := sim.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		w = open(t, again, true)
		if round == 0 {
			until(t, "an attempt fails", func() bool { return r.tried() == 3 })
		} else {
			w.wait(10 * time.Second)
			until(t, "all are told", func() bool { return len(r.hashes()) == 4 })
		}
		w.end()
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "told", r.hashes(), want)
	if r.tried() != 5 {
		t.Errorf("%d attempts", r.tried())
	}
}

// TestEventSignaturesAndLogs moves tokens: messages are sent only about transactions with a log of the signature, and contain all their logs on
// request.
func TestEventSignaturesAndLogs(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	const transferred = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	w.create(r.URL, object{"includeLogs": true, "includeInternalTxs": true,
		"metadata": object{"addresses": []string{alice}, "eventSignatures": []string{transferred}}}, alice)
	chain := w.NetworkNamed(fixtures.MainnetName).CChain()
	rows, err := w.DB.Contracts(t.Context(), chain.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := contracts.Load("Token")
	if err != nil {
		t.Fatal(err)
	}
	var token common.Address
	for _, row := range rows {
		if row.Role == "usdx" {
			token = common.BytesToAddress(row.Address)
			artifact, _ = contracts.Load(row.Artifact)
		}
	}
	data, err := artifact.ABI.Pack("transfer", common.HexToAddress(bob), common.Big1)
	if err != nil {
		t.Fatal(err)
	}
	w.pay(bob, 1)
	hash := w.send(&token, common.Big0, data).Hex()
	w.pay(bob, 1)
	until(t, "the transfer is told", func() bool { return len(r.hashes()) == 1 })
	same(t, "told", r.hashes(), []string{hash})
	event := r.got[0]["event"].(object)
	moved := event["transaction"].(object)["erc20Transfers"].([]any)
	if len(moved) != 1 || dig(moved[0], "to") != bob || dig(moved[0], "erc20Token", "symbol") != "USDX" || dig(moved[0], "erc20Token", "valueWithDecimals") != "0.000001" {
		t.Errorf("transfers are %s", text(moved))
	}
	logs, calls := event["logs"].([]any), event["transaction"].(object)["internalTransactions"].([]any)
	if len(logs) != 1 || dig(logs[0], "topic0") != transferred || dig(calls[0], "internalTxType") != "CALL" || !strings.EqualFold(dig(calls[0], "to"), token.Hex()) {
		t.Errorf("logs are %s, calls %s", text(logs), text(calls))
	}
}

// TestAskedForAgainDuringAnAttempt: a message requested again during its delivery is delivered once more.
func TestAskedForAgainDuringAnAttempt(t *testing.T) {
	w := open(t, inFile(t), true)
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-proceed
	}))
	t.Cleanup(slow.Close)
	id := w.create(slow.URL, nil, bob)
	w.pay(bob, 1)
	<-begun
	again := "/sim/webhooks/" + id + "/deliveries/" + w.deliveries(id)[0]["messageId"].(string) + ":redeliver"
	w.ask("POST", again, "", "", 200)
	proceed <- struct{}{}
	select {
	case <-begun:
		close(proceed)
	case <-time.After(20 * time.Second):
		t.Fatal("it is not delivered again")
	}
	until(t, "both attempts are noted", func() bool { return len(w.deliveries(id)[0]["attempts"].([]any)) == 2 })
}

// TestAFileThatFailsForAWhile: while the file cannot be read or written nothing is lost, the log says why, and later the messages arrive.
func TestAFileThatFailsForAWhile(t *testing.T) {
	for statement, logged := range map[string]string{
		"FROM webhook WHERE active": "webhooks could not be read", "FROM webhook_secret": "a webhook's message could not be sent", "INTO webhook_attempt": "a webhook's message could not be sent",
	} {
		w := open(t, inFile(t), true)
		r := newReceiver(t)
		r.answer(503)
		id := w.create(r.URL, nil, bob)
		want := []string{w.pay(bob, 1).Hex(), w.pay(bob, 2).Hex()}
		until(t, "the first attempt fails", func() bool { return len(w.deliveries(id)[1]["attempts"].([]any)) == 1 })
		w.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		w.wait(time.Minute)
		until(t, "the log has "+logged, func() bool { return strings.Contains(w.logged.String(), logged) })
		w.DB.FailStatements(nil)
		until(t, "all are told", func() bool { return w.deliveries(id)[0]["status"] == "delivered" })
		if told := r.hashes(); told[0] != want[0] || told[len(told)-1] != want[1] {
			t.Errorf("%s: told are %v, want %v", statement, told, want)
		}
		w.end()
	}
}

// TestANumberThatIsUsedAgain: after a revert the next message has the number of a delivered one, and is delivered as well.
func TestANumberThatIsUsedAgain(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	id := w.create(r.URL, nil, bob)
	snapshot, err := w.TakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range int64(3) {
		want = append(want, w.pay(bob, 1+i).Hex())
		until(t, "it is told", func() bool { return w.deliveries(id)[0]["status"] == "delivered" })
		if err := w.Revert(t.Context(), snapshot.ID, false); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "told", r.hashes(), want)
}

// TestMessagesComeTwiceOrOutOfTurn: one message is sent twice with the same id, another one after the message that follows it.
func TestMessagesComeTwiceOrOutOfTurn(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	w.create(r.URL, nil, bob)
	add := func(rule string) {
		t.Helper()
		var v any
		if err := json.Unmarshal([]byte(rule), &v); err != nil {
			t.Fatal(err)
		}
		decoded, problems := fault.Decode(v, &fault.Names{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		w.faults.Add(decoded)
	}
	add(`{"match":{"webhook":"address_activity"},"action":{"double":1},"times":{"first":1}}`)
	first := w.pay(bob, 1).Hex()
	until(t, "the message comes twice", func() bool { return len(r.hashes()) == 2 })
	same(t, "told", r.hashes(), []string{first, first})
	if r.got[0]["messageId"] != r.got[1]["messageId"] {
		t.Errorf("the ids are %v and %v", r.got[0]["messageId"], r.got[1]["messageId"])
	}
	w.faults.Delete("")
	add(`{"match":{"webhook":"*"},"action":{"reorder":1},"times":{"first":1}}`)
	second, third := w.pay(bob, 2).Hex(), w.pay(bob, 3).Hex()
	fourth := w.pay(bob, 4).Hex()
	until(t, "all are told", func() bool { return len(r.hashes()) == 5 })
	same(t, "told", r.hashes()[2:], []string{third, second, fourth})
}
