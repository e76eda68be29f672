package snowglobetest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// TestMinedAgainIsAnotherEvent: a transaction mined again after a revert gets a second message with another id.
func TestMinedAgainIsAnotherEvent(t *testing.T) {
	type message struct {
		MessageID string
		Event     struct{ Transaction struct{ TxHash common.Hash } }
	}
	told := make(chan message, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		m := message{}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		told <- m
	}))
	t.Cleanup(receiver.Close)
	x := newSender(t)
	answer, err := http.Post(x.s.URL+"/v1/webhooks", "application/json", strings.NewReader(`{"eventType":"address_activity","url":"`+receiver.URL+
		`","chainId":"43114","metadata":{"addresses":["`+x.s.Persona("alice").Address.Hex()+`"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	snapshot := x.s.Snapshot()
	ids := map[string]bool{}
	for range 2 {
		if err := x.send(); err != nil {
			t.Fatal(err)
		}
		select {
		case m := <-told:
			if ids[m.MessageID] = true; m.MessageID == "" || m.Event.Transaction.TxHash != x.tx.Hash() {
				t.Errorf("told of %+v, want %s", m, x.tx.Hash())
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing is told")
		}
		x.s.Revert(snapshot)
	}
	if len(ids) != 2 {
		t.Errorf("the message ids of two events are %v", ids)
	}
}
