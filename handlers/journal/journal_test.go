package journal_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
)

func exchange(method, target, request, answer string, headers ...string) *journal.Exchange {
	u, _ := url.Parse(target)
	e := &journal.Exchange{Method: method, Target: target, URL: u, Host: "127.0.0.1:9650", Client: "127.0.0.1:5000", Status: 200, World: "main",
		RequestHeader: http.Header{}, Request: journal.Keep([]byte(request)), Answer: journal.Keep([]byte(answer))}
	for i := 0; i+1 < len(headers); i += 2 {
		e.RequestHeader.Add(headers[i], headers[i+1])
	}
	return e
}

// calling returns an exchange with a call and its parameters in the body.
func calling(e *journal.Exchange, method, params string) *journal.Exchange {
	at := bytes.Index(e.Request.Kept, []byte(params))
	e.Calls = append(e.Calls, journal.Record(e.Request.Kept, method, e.Request.Kept[at:at+len(params)]))
	return e
}

// TestSecretsAreNowhere sends secrets everywhere clients put them, and searches all output of the journal for them.
func TestSecretsAreNowhere(t *testing.T) {
	const secret = "s3cr3t-value"
	long := strings.Repeat("x", 2*journal.KeptBody)
	j := journal.New(100, []string{"known-key-" + secret}, events.NewHub())
	for _, e := range []*journal.Exchange{
		exchange("GET", "/v1/chains?rltoken="+secret+"&pageSize=1", "", `{"url":"/v1?x=`+secret+`"}`),
		exchange("GET", "/v1/chains?api_key="+secret, "", ""),
		exchange("GET", "/v1/chains/known-key-"+secret, "", ""),
		exchange("GET", "/v1/chains", "", `{"echo":"`+secret+`"}`, "Authorization", "Bearer "+secret),
		exchange("GET", "/v1/chains", "", "", "Cookie", "session="+secret, "X-Service-Api-Key", secret, "X-Glacier-Api-Key", secret, "X-Auth-Token", secret),
		exchange("POST", "/v1/webhooks", `{"url":"https://me:`+secret+`@host/","sharedSecret":"`+secret+`"}`, `{"secret":"`+secret+`"}`),
		exchange("POST", "/v1/webhooks", `{"secr\u0065t" : {"value":["`+secret+`"]},"more":"`+long+`"}`, ""),
		exchange("POST", "/v1/webhooks", `{"more":"`+long[:journal.KeptBody-40]+`","password":"`+secret+secret+secret+secret, ""),
		exchange("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"personal_importRawKey","params":["`+secret+`","`+secret+`"]`, ""),
		calling(exchange("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"personal_importRawKey","params":["`+secret+`","`+secret+`"]}`, `{"id":1,"error":{"code":1,"message":"m"}}`),
			"personal_importRawKey", `["`+secret+`","`+secret+`"]`),
		calling(exchange("POST", "/ext/bc/C/rpc", `[{"jsonrpc":"2.0","id":1,"method":"personal_unlockAccount","params":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","`+secret+`"]}]`, ""),
			"personal_unlockAccount", `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","`+secret+`"]`),
		exchange("POST", "/ext/X", `{"jsonrpc":"2.0","id":1,"method":"avm.importKey","params":{"privateKey":"PrivateKey-`+secret+`","password":"`+secret+`"}}`, ""),
		exchange("POST", "/ext/X", `["PrivateKey-abcdefgh"]`, `"PrivateKey-ewoqjP7PxY4yr3iLTpLisriqt94hdyDFNgchSxGGztUrTXtNN"`),
	} {
		j.Add(e)
		d := j.Describe(e)
		shown := strings.Join([]string{d.Path, d.Query, d.Curl, d.Cause, d.RequestBody, d.ResponseBody, sprint(d.Parameters), sprint(d.Calls), sprint(d.RequestHeaders)}, "\n")
		for _, s := range []string{secret, "PrivateKey-e", "PrivateKey-a"} {
			if strings.Contains(shown, s) {
				t.Errorf("%s %s: %s is in\n%.2000s", e.Method, e.Target, s, shown)
			}
		}
	}
	e := exchange("GET", "/v1/x?pageToken=abc-def", `{"storageProof":[{"key":"0x1"}],"token":"0x2"}`, `{"nextPageToken":"abc-def"}`)
	d := j.Describe(e)
	if d.Query != "pageToken=abc-def" || d.RequestBody != string(e.Request.Kept) || d.ResponseBody != string(e.Answer.Kept) {
		t.Errorf("what is no secret is hidden: %+v", d)
	}
}

func TestTheRingHasTheLatest(t *testing.T) {
	j := journal.New(3, nil, nil)
	for range 5 {
		j.Add(exchange("GET", "/v1/chains", "", ""))
	}
	check := func(want ...int64) {
		t.Helper()
		all := j.Latest(0)
		if len(all) != len(want) {
			t.Fatalf("%d are remembered: want %d", len(all), len(want))
		}
		for i, e := range all {
			if e.ID != want[i] {
				t.Errorf("number %d is %d: want %d", i, e.ID, want[i])
			}
		}
	}
	check(5, 4, 3)
	if _, found := j.Find(2); found {
		t.Error("the second is remembered")
	}
	if n := j.Clear(); n != 3 {
		t.Errorf("%d were forgotten", n)
	}
	check()
	j.Add(exchange("GET", "/v1/chains", "", ""))
	check(6)
	if e, found := j.Find(6); !found || e.Target != "/v1/chains" {
		t.Errorf("the sixth is %+v, %v", e, found)
	}
}

// TestLongHeadsAreFewer bounds the memory: fewer exchanges with heads of a megabyte are remembered.
func TestLongHeadsAreFewer(t *testing.T) {
	j := journal.New(100, nil, events.NewHub())
	long := strings.Repeat("x", 1<<20)
	for range 50 {
		j.Add(exchange("GET", "/v1/chains", "", "", "X-Long", long))
	}
	if n := len(j.Latest(0)); n != 3 {
		t.Errorf("%d of a megabyte are remembered where all may take 4 MiB", n)
	}
	for range 150 {
		j.Add(exchange("GET", "/v1/chains?"+long[:1000], long, long[:100]))
	}
	all := j.Latest(0)
	if len(all) != 100 || all[0].ID != 200 || all[99].ID != 101 {
		t.Errorf("%d are remembered", len(all))
	}
	if _, found := j.Find(50); found {
		t.Error("the 50th is still remembered")
	}
	if j.Clear() != 100 || len(j.Latest(0)) != 0 {
		t.Error("not cleared")
	}
	j.Add(exchange("GET", "/v1/chains", "", ""))
	if len(j.Latest(0)) != 1 {
		t.Error("nothing is remembered any more")
	}
}

// TestBatchesAreCountedByTheirMembers, as far as they are kept.
func TestBatchesAreCountedByTheirMembers(t *testing.T) {
	j := journal.New(10, nil, nil)
	e := exchange("POST", "/ext/bc/C/rpc", "[]", "[]")
	e.Calls = []journal.CallRecord{{Method: "eth_call"}, {Method: "eth_call", Error: &journal.CallError{Code: 3, Message: "execution reverted"}}, {Method: "eth_chainId"}}
	j.Add(e)
	if n := j.Count(&journal.Criteria{Operation: "eth_call"}); n != 2 {
		t.Errorf("%d calls of eth_call", n)
	}
	found, _ := j.List(&journal.Criteria{Operation: "eth_chainId", Failed: new(true)}, 0, 10)
	if len(found) != 1 || found[0].Cause != "3 execution reverted" || found[0].Calls[1].Error.Code != 3 || found[0].Calls[0].Error != nil {
		t.Errorf("found %+v", found)
	}
	near := j.NearMisses(&journal.Criteria{Operation: "eth_calls", Status: 200})
	if len(near) != 1 || len(near[0].Differences) != 1 || !strings.Contains(near[0].Differences[0], "eth_calls") {
		t.Errorf("near misses are %+v", near)
	}
}

func TestEventsReachThoseWhoListen(t *testing.T) {
	hub := events.NewHub()
	hub.Publish(events.Block, "main", func() any { t.Error("an event was made for nobody"); return nil })
	all, clocks := hub.Listen(), hub.Listen(events.Clock)
	for _, k := range []events.Kind{events.Block, events.Clock} {
		hub.Publish(k, "main", func() any { return string(k) })
	}
	if e := <-clocks.Events(); e.Kind != events.Clock || e.ID != 2 || e.World != "main" {
		t.Errorf("the clock's listener got %+v", e)
	}
	if first, second := <-all.Events(), <-all.Events(); first.Data != "block" || second.Data != "clock" {
		t.Errorf("who listens to all got %+v, %+v", first, second)
	}
	clocks.End()
	hub.Close()
	if _, open := <-all.Events(); open {
		t.Error("the hub was closed and goes on")
	}
}

func sprint(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestCallsBeyondWhatIsKeptAreNamed: a batch that exceeds the kept part of a body counts with all its members.
func TestCallsBeyondWhatIsKeptAreNamed(t *testing.T) {
	params := `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]`
	body := []byte(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":`+params+`},`, 400))
	e := exchange("POST", "/ext/bc/C/rpc", "", "")
	e.Request = journal.Keep(body)
	for rest := body; ; {
		at := bytes.Index(rest, []byte(params))
		if at < 0 {
			break
		}
		e.Calls = append(e.Calls, journal.Record(body, "eth_getBalance", rest[at:at+len(params)]))
		rest = rest[at+len(params):]
	}
	e.Calls = append(e.Calls, journal.CallRecord{Method: "eth_chainId"})
	j := journal.New(10, nil, nil)
	j.Add(e)
	for method, want := range map[string]int{"eth_getBalance": 400, "eth_chainId": 1} {
		if got := j.Count(&journal.Criteria{Operation: method}); got != want {
			t.Errorf("%s is counted %d times, not %d", method, got, want)
		}
	}
	if calls := j.Summarize(e).Calls; calls[0].Params == nil || calls[399].Params != nil {
		t.Errorf("parameters of the first call are %v, of the last %v", calls[0].Params, calls[399].Params)
	}
	if len(e.Request.Kept) != journal.KeptBody {
		t.Errorf("%d bytes are kept", len(e.Request.Kept))
	}
}
