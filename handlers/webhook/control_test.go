package webhook_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"snowglobe/handlers/events"
)

// TestADeliveryIsShownWhole lets a receiver refuse a message, then accept it. Every attempt is shown with its times and the receiver's words,
// published as an event and kept in the journal.
func TestADeliveryIsShownWhole(t *testing.T) {
	w := open(t, inFile(t), true)
	listener := w.events.Listen(events.Delivery)
	defer listener.End()
	proceed := make(chan int)
	r := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		status := <-proceed
		a.WriteHeader(status)
		fmt.Fprintf(a, "no\x00\xff %s", strings.Repeat("x", 2000))
	}))
	defer r.Close()
	id := w.create(r.URL+"/hook?a=b", nil, bob)
	hash := w.pay(bob, 1).Hex()
	path := "/sim/webhooks/" + id + "/deliveries/"
	name := w.deliveries(id)[0]["messageId"].(string)
	shown := func(attempts int) object {
		t.Helper()
		until(t, "an attempt is noted", func() bool { return len(w.ask("GET", path+name, "", "", 200)["attempts"].([]any)) == attempts })
		one := w.ask("GET", path+name, "", "", 200)
		if listed := w.deliveries(id); len(listed) != 1 || text(listed[0]) != text(one) {
			t.Errorf("%s is listed as %s", text(one), text(listed))
		}
		return one
	}
	proceed <- 300
	answer := "no " + strings.Repeat("x", 1024-len("no\x00\xff "))
	first := `{"answer":"` + answer + `","error":"the receiver answered 300 Multiple Choices","number":1,"started":"2027-01-15T08:00:00.000Z","status":300,"tookMilliseconds":0}`
	head := `"event":"transaction","messageId":"` + name + `",`
	tail := `"time":"` + w.Clock.Now().UTC().Format(time.RFC3339) + `","txHash":"` + hash + `"}`
	if one, want := text(shown(1)), `{"attempts":[`+first+`],`+head+`"nextAttempt":"2027-01-15T08:00:10.000Z","number":1,"status":"pending",`+tail; one != want {
		t.Errorf("after a refusal %s\n want %s", one, want)
	}
	w.wait(10*time.Second + 5*time.Millisecond)
	until(t, "the next attempt begins", func() bool {
		select {
		case proceed <- 299:
			return true
		default:
			return false
		}
	})
	second := `{"answer":"` + answer + `","number":2,"started":"2027-01-15T08:00:10.005Z","status":299,"tookMilliseconds":0}`
	if one, want := text(shown(2)), `{"attempts":[`+first+`,`+second+`],`+head+`"number":1,"status":"delivered",`+tail; one != want {
		t.Errorf("after an acceptance %s\n want %s", one, want)
	}
	for i, want := range []string{
		`"attempt":1,"answerStatus":300,"error":"the receiver answered 300 Multiple Choices","status":"pending"}`, `"attempt":2,"answerStatus":299,"status":"delivered"}`,
	} {
		e := <-listener.Events()
		if want = `{"webhookId":"` + id + `","messageId":"` + name + `","url":"` + r.URL + `/hook?a=b",` + want; text(e.Data) != want {
			t.Errorf("event %d is %s\n want %s", i, text(e.Data), want)
		}
	}
	until(t, "the journal has both", func() bool { return len(w.journal.Latest(0)) == 2 })
	e := w.journal.Latest(0)[0]
	if d := w.journal.Describe(&e); d.Operation != "deliverMessage" || d.Status != 299 || d.Path != "/hook" || d.Query != "a=b" || d.Method != "POST" || d.Duration != 0 ||
		d.RequestHeaders["User-Agent"][0] != "snowglobe" || d.RequestHeaders["Content-Type"][0] != "application/json" || !strings.Contains(d.RequestBody, hash) ||
		d.ResponseBody == "" || e.Answer.Size != 2005 || e.Time != w.clock() {
		t.Errorf("the journal has %s", text(d))
	}
}

// TestDeliveriesAreListedInPages lists the deliveries of two webhooks, newest first. Neither shows the other's.
func TestDeliveriesAreListedInPages(t *testing.T) {
	w := open(t, inFile(t), false)
	one, other := w.create("http://127.0.0.1:1/", nil, bob), w.create("http://127.0.0.1:1/", nil, bob)
	var want, got []string
	for range 5 {
		want = append([]string{w.pay(bob, 1).Hex()}, want...)
	}
	for token := ""; ; {
		page := w.ask("GET", "/sim/webhooks/"+one+"/deliveries?pageSize=2"+token, "", "", 200)
		for _, d := range page["deliveries"].([]any) {
			if got = append(got, dig(d, "txHash")); dig(d, "status") != "pending" || dig(d, "nextAttempt") != "" || len(d.(object)["attempts"].([]any)) > 0 {
				t.Errorf("a delivery nobody tried is %s", text(d))
			}
		}
		next, more := page["nextPageToken"]
		if !more {
			break
		}
		token = "&pageToken=" + next.(string)
	}
	same(t, "deliveries", got, want)
	unknown := uuid.New().String()
	for path, status := range map[string]int{
		"/sim/webhooks/" + one + "/deliveries/" + w.deliveries(one)[0]["messageId"].(string):   200,
		"/sim/webhooks/" + one + "/deliveries/" + w.deliveries(other)[0]["messageId"].(string): 404,
		"/sim/webhooks/" + one + "/deliveries/" + unknown:                                      404,
		"/sim/webhooks/" + unknown + "/deliveries":                                             404,
	} {
		if w.ask("GET", path, "", "", status); status == 404 && strings.Count(path, "/") == 5 {
			w.ask("POST", path+":redeliver", "", "", 404)
		}
	}
}

// TestInactiveWebhooksSendNothing, neither new messages nor tests; what was promised before arrives once they are active again.
func TestInactiveWebhooksSendNothing(t *testing.T) {
	w := open(t, inFile(t), true)
	r := newReceiver(t)
	r.answer(503)
	id := w.create(r.URL, nil, bob)
	promised := w.pay(bob, 1).Hex()
	until(t, "an attempt fails", func() bool { return len(w.deliveries(id)[0]["attempts"].([]any)) == 1 })
	w.ask("DELETE", "/v1/webhooks/"+id, "", "", 200)
	w.wait(time.Hour)
	w.pay(bob, 2)
	const inactive = "the webhook is inactive: PATCH its status to active first"
	if said := w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+promised+`"}`, 400)["message"]; said != inactive {
		t.Errorf("a test says %v", said)
	}
	if said := w.ask("POST", "/sim/webhooks/"+id+"/deliveries/"+w.deliveries(id)[0]["messageId"].(string)+":redeliver", "", "", 400)["message"]; said != inactive {
		t.Errorf("a request to deliver again says %v", said)
	}
	time.Sleep(30 * time.Millisecond)
	if r.tried() != 1 {
		t.Errorf("%d attempts", r.tried())
	}
	w.ask("PATCH", "/v1/webhooks/"+id, "", `{"status":"active"}`, 200)
	until(t, "the promised message arrives", func() bool { return len(r.hashes()) == 1 })
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+promised+`"}`, 200)
	until(t, "the test arrives", func() bool { return len(r.hashes()) == 2 })
	same(t, "told", r.hashes(), []string{promised, promised})
	for body, want := range map[string]string{
		`{"txHash":"0x12"}`:               "txHash is not allowed: expected 0x and 64 hexadecimal digits",
		`{"txHash":"nothing"}`:            "txHash is not allowed: expected 0x and 64 hexadecimal digits",
		`{"txHash":"` + promised + `00"}`: "txHash is not allowed: expected 0x and 64 hexadecimal digits",
	} {
		if said := w.ask("POST", "/sim/webhooks/"+id+":test", "", body, 400)["message"]; said != want {
			t.Errorf("%s: %v", body, said)
		}
	}
}

// TestASilentReceiverHoldsUpNobodyElse: while a receiver does not answer, another webhook's messages arrive, and a message that was requested again
// is not stuck behind the finished ones.
func TestASilentReceiverHoldsUpNobodyElse(t *testing.T) {
	w := open(t, inFile(t), true)
	proceed := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-proceed }))
	defer silent.Close()
	defer close(proceed)
	r := newReceiver(t)
	w.create(silent.URL, nil, bob)
	id := w.create(r.URL, nil, bob)
	var want []string
	for i := range int64(3) {
		want = append(want, w.pay(bob, i+1).Hex())
	}
	until(t, "all are told", func() bool { return len(r.hashes()) == 3 })
	until(t, "all are noted", func() bool { return w.deliveries(id)[0]["status"] == "delivered" })
	w.ask("POST", "/sim/webhooks/"+id+"/deliveries/"+w.deliveries(id)[1]["messageId"].(string)+":redeliver", "", "", 200)
	until(t, "the second is told again", func() bool { return len(r.hashes()) == 4 })
	want = append(want, want[1], w.pay(bob, 9).Hex())
	until(t, "the next is told", func() bool { return len(r.hashes()) == 5 })
	same(t, "told", r.hashes(), want)
}
