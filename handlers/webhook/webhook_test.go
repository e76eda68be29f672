package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/webhook"
	"snowglobe/sim"
)

// TestSignature compares the signature of two messages with the documented verification.
func TestSignature(t *testing.T) {
	const secret = "c13cc017c4ed63bcc842c8edfb49df37512280326a32826de3b885340b8a3d53"
	for _, c := range []struct {
		event      any
		body, want string
	}{
		{object{"transaction": object{"txHash": "0x1", "to": "0x2", "blockTimestamp": 1}},
			`{"event":{"transaction":{"blockTimestamp":1,"to":"0x2","txHash":"0x1"}},"eventType":"address_activity","messageId":"m","webhookId":"w"}`,
			"7JsiVqG6rlNTBAgpJ/ws9zIMiHvCnBMo70MBT/kwHds="},
		{object{"name": "USD₮0 <A&B>"}, `{"event":{"name":"USD₮0 <A&B>"},"eventType":"address_activity","messageId":"m","webhookId":"w"}`,
			"C4ie1pwBY+FJPqMd6w/CTaaOEnclmcHuzoh7WVPUESs="},
	} {
		body, signature, err := webhook.Seal(secret, webhook.Envelope{WebhookID: "w", EventType: "address_activity", MessageID: "m", Event: c.event})
		if err != nil || string(body) != c.body || signature != c.want {
			t.Errorf("%s is signed %s, %v: want %s signed %s", body, signature, err, c.body, c.want)
		}
	}
}

// TestTargets checks the allowed targets of webhooks, and that the client goes nowhere else.
func TestTargets(t *testing.T) {
	here, named, any := webhook.Targets{}, webhook.Targets{Hosts: []string{"hooks.example", "10.1.2.3"}}, webhook.Targets{Hosts: []string{"*"}}
	for url, want := range map[string]string{
		"http://127.0.0.1:3000/x": "here", "https://localhost/x": "here", "http://app.localhost": "here", "http://[::1]:1/": "here",
		"http://LOCALHOST.:1/": "here", "http://[::ffff:127.0.0.1]/": "here", "http://127.9.9.9/": "here",
		"https://hooks.example/x": "named", "http://10.1.2.3/": "named", "http://HOOKS.example.": "named",
		"https://evil.example/": "any", "http://169.254.169.254/": "any", "http://0.0.0.0/": "any", "http://2130706433/": "any", "http://0x7f.1/": "any",
		"http://localhost.evil.example/": "any", "http://127.0.0.1.evil.example/": "any", "http://[fe80::1]/": "any", "http://10.1.2.4/": "any",
		"ftp://localhost/": "", "http:///x": "", "http://user@localhost/": "", "localhost:3000": "", "": "", "http://localhost/#x": "",
		"http://localhost:99999/": "", "http://localhost:65536/": "", "http://localhost:0/": "", "http://localhost:65535/": "here", "https://hooks.example:99999": "",
		"http://localhost/" + strings.Repeat("x", 2048-len("http://localhost/")): "here", "http://localhost/" + strings.Repeat("x", 2049-len("http://localhost/")): "",
	} {
		allowed := map[string]bool{"here": here.Check(url) == nil, "named": named.Check(url) == nil, "any": any.Check(url) == nil}
		wanted := map[string]bool{"here": want == "here", "named": want == "here" || want == "named", "any": want != ""}
		if fmt.Sprint(allowed) != fmt.Sprint(wanted) {
			t.Errorf("%s is allowed %v: want %v", url, allowed, wanted)
		}
	}
	for url, want := range map[string]string{
		"http://user:secret@localhost/": "webhooks cannot send a user and password: expected a URL without them; put a secret into the path or the query",
		"http://localhost/#x":           "webhooks cannot send a fragment: expected a URL without #",
		"ftp://localhost/":              "expected an http or https URL",
	} {
		if err := here.Check(url); err == nil || err.Error() != want {
			t.Errorf("%s: %v: want %s", url, err, want)
		}
	}
	for _, url := range []string{"http://0.0.0.0:1/", "http://169.254.169.254/", "http://[::]:1/", "http://10.1.2.3/"} {
		if _, err := here.NewClient(time.Second).Get(url); err == nil || !strings.Contains(err.Error(), "--webhook-hosts") {
			t.Errorf("%s: %v", url, err)
		}
	}
	moved := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
	defer moved.Close()
	if answer, err := any.NewClient(time.Second).Get(moved.URL); err != nil || answer.StatusCode != http.StatusFound {
		t.Errorf("a redirect is followed: %v", err)
	}
}

// TestWebhooksOfAnAccount creates, changes, lists and deactivates webhooks of two accounts.
func TestWebhooksOfAnAccount(t *testing.T) {
	w := open(t, inFile(t), false)
	w.ask("GET", "/v1/webhooks:getSharedSecret", "mine", "", 404)
	first := w.ask("POST", "/v1/webhooks:generateOrRotateSharedSecret", "mine", "", 201)["secret"].(string)
	body := text(object{"eventType": "address_activity", "url": "http://localhost:1/", "chainId": "43114", "name": "n", "metadata": object{"addresses": []string{alice, strings.ToLower(alice), bob}}})
	made := w.ask("POST", "/v1/webhooks", "mine", body, 201)
	id := made["id"].(string)
	if same := w.ask("GET", "/v1/webhooks:getSharedSecret", "mine", "", 200)["secret"]; same != first {
		t.Errorf("the secret is %v, it was %v", same, first)
	}
	if now := w.ask("POST", "/v1/webhooks:generateOrRotateSharedSecret", "mine", "", 201)["secret"]; now == first || len(now.(string)) != 64 {
		t.Errorf("the secret is %v, it was %v", now, first)
	}
	if found := text(made["metadata"]); found != `{"addresses":["`+alice+`","`+bob+`"]}` {
		t.Errorf("metadata is %s", found)
	}
	for _, path := range []string{"/v1/webhooks/" + id, "/v1/webhooks/" + id + "/addresses", "/v1/webhooks/00000000-0000-4000-8000-000000000000"} {
		w.ask("GET", path, "theirs", "", 404)
		w.ask("GET", path, "", "", 404)
	}
	if theirs := w.ask("GET", "/v1/webhooks", "theirs", "", 200); len(theirs["webhooks"].([]any)) != 0 {
		t.Errorf("they see %v", theirs)
	}
	for range 3 {
		w.ask("POST", "/v1/webhooks", "mine", body, 201)
	}
	page := w.ask("GET", "/v1/webhooks?pageSize=3", "mine", "", 200)
	rest := w.ask("GET", "/v1/webhooks?pageSize=3&pageToken="+page["nextPageToken"].(string), "mine", "", 200)
	if len(page["webhooks"].([]any)) != 3 || len(rest["webhooks"].([]any)) != 1 || rest["nextPageToken"] != nil {
		t.Errorf("pages are %v and %v", page, rest)
	}
	w.ask("PATCH", "/v1/webhooks/"+id+"/addresses", "mine", `{"addresses":["0x00000000000000000000000000000000000000aa","`+bob+`"]}`, 200)
	w.ask("DELETE", "/v1/webhooks/"+id+"/addresses", "mine", `{"addresses":["`+alice+`"]}`, 200)
	list := w.ask("GET", "/v1/webhooks/"+id+"/addresses?pageSize=1", "mine", "", 200)
	if fmt.Sprint(list["addresses"], list["totalAddresses"]) != fmt.Sprintf("[%s] 2", bob) || list["nextPageToken"] == nil {
		t.Errorf("addresses are %v", list)
	}
	changed := w.ask("PATCH", "/v1/webhooks/"+id, "mine", `{"name":"other","includeLogs":true,"url":"http://localhost:2/"}`, 200)
	if changed["name"] != "other" || changed["includeLogs"] != true || changed["url"] != "http://localhost:2/" || changed["description"] != "" {
		t.Errorf("changed is %v", changed)
	}
	w.ask("PATCH", "/v1/webhooks/"+id, "mine", `{"url":"http://evil.example/"}`, 403)
	if gone := w.ask("DELETE", "/v1/webhooks/"+id, "mine", "", 200); gone["status"] != "inactive" {
		t.Errorf("deactivated is %v", gone)
	}
	if some := w.ask("GET", "/v1/webhooks?status=inactive", "mine", "", 200)["webhooks"].([]any); len(some) != 1 || dig(some[0], "id") != id {
		t.Errorf("inactive are %v", some)
	}
	one := w.ask("GET", "/v1/webhooks?status=inactive&pageSize=1", "mine", "", 200) // which is the oldest of four
	if some := one["webhooks"].([]any); len(some) != 1 || dig(some[0], "id") != id || one["nextPageToken"] != nil {
		t.Errorf("inactive are %v", one)
	}
	if some := w.ask("GET", "/v1/webhooks?status=active&pageSize=2", "mine", "", 200)["webhooks"].([]any); len(some) != 2 {
		t.Errorf("active are %v", some)
	}
}

func primaryAddress(t *testing.T, w *sim.World) string {
	t.Helper()
	n := w.NetworkNamed("mainnet")
	stakers, err := w.DB.Stakers(t.Context(), n.Chain(0))
	if err != nil {
		t.Fatal(err)
	}
	return ownersOf(n, stakers[0].Owner)[0]
}
