package journal_test

import (
	"strings"
	"testing"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
)

// TestOnlySecretsAreHidden: what stands around a secret stays as it is, also in a body that is cut off or is not JSON.
func TestOnlySecretsAreHidden(t *testing.T) {
	j := journal.New(10, nil, nil)
	for body, want := range map[string]string{
		`{"a":1,"secret":"x","b":2}`:               `{"a":1,"secret":"[redacted]","b":2}`,
		`{"secret" : 12 ,"b":2}`:                   `{"secret" : "[redacted]","b":2}`,
		`{"secret":12}`:                            `{"secret":"[redacted]"}`,
		`{"secret":{"a":[1,{"b":"}"}]},"c":[3]}`:   `{"secret":"[redacted]","c":[3]}`,
		`{"secret":["a","]",[2]],"c":3}`:           `{"secret":"[redacted]","c":3}`,
		`{"secret":"a\"b","c":3}`:                  `{"secret":"[redacted]","c":3}`,
		`{"list":[{"passphrase":"x"},{"d":1}]}`:    `{"list":[{"passphrase":"[redacted]"},{"d":1}]}`,
		`{"se\u0063ret":"x"}`:                      `{"se\u0063ret":"[redacted]"}`,
		`{"secret":"x`:                             `{"secret":"[redacted]"`,
		`{"secret":`:                               `{"secret":"[redacted]"`,
		`{"secret"`:                                `{"secret"`,
		`["secret","x"]`:                           `["secret","x"]`,
		`{"pageToken":"x","token":"y","key":"z"}`:  `{"pageToken":"x","token":"y","key":"z"}`, // tokens and keys of the API's own
		`see https://me:pass@host/ and ftp://a@b/`: `see https://[redacted]@host/ and ftp://[redacted]@b/`,
		`mail me@host.com`:                         `mail me@host.com`,
		`a PrivateKey-ewoqjP7P!`:                   `a [redacted]!`,
	} {
		if d := j.Describe(exchange("POST", "/v1/x", body, body)); d.RequestBody != want || d.ResponseBody != want {
			t.Errorf("%s\nis %s\nand %s\nwant %s", body, d.RequestBody, d.ResponseBody, want)
		}
	}
}

// TestNamesOfSecrets: parameters and headers by these names are secrets, and others are not.
func TestNamesOfSecrets(t *testing.T) {
	j := journal.New(10, nil, nil)
	for range 2 { // the second time from memory
		for name, secret := range map[string]bool{
			"apiKey": true, "api_key": true, "rltoken": true, "token": true, "x-token": true, "session_key": true, "key": true, "Authorization": true, "x-auth-user": true, "password": true,
			"pageToken": false, "keys": false, "tokens": false, "author": true, "monkey": false, "tokenId": false, strings.Repeat("x", 100): false, strings.Repeat("x", 100) + "-key": true,
		} {
			e := exchange("GET", "/v1/x?"+name+"=some-value&b=%2F", "", "", "X-Own", "other")
			want := name + "=some-value&b=%2F"
			if secret {
				want = name + "=[redacted]&b=%2F"
			}
			if d := j.Describe(e); d.Query != want {
				t.Errorf("%s: %s", name, d.Query)
			}
		}
	}
	for header, want := range map[string]string{"X-Api-Key": "[redacted]", "Sec-Websocket-Key": "some-value", "Accept": "some-value"} {
		if got := j.Describe(exchange("GET", "/", "", "", header, "some-value")).RequestHeaders[header][0]; got != want {
			t.Errorf("%s: %s", header, got)
		}
	}
	d := j.Describe(exchange("GET", "/v1/secret5/secret-6?key=secret5&token=secret-6", "", "secret5 secret-6"))
	if d.Path != "/v1/secret5/[redacted]" && d.Path != "/v1/[redacted]/[redacted]" || strings.Contains(d.ResponseBody, "secret-6") {
		t.Errorf("%s: %s", d.Path, d.ResponseBody)
	}
	short := j.Describe(exchange("GET", "/v1/chain?key=chain", "", "the chain")) // five letters occur by chance
	if short.Path != "/v1/chain" || short.Query != "key=[redacted]" || short.ResponseBody != "the chain" {
		t.Errorf("%+v", short)
	}
}

// TestSecretsAmongParameters: methods with keys and passwords among positional parameters show only addresses and numbers.
func TestSecretsAmongParameters(t *testing.T) {
	const address = `"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"`
	j := journal.New(10, nil, nil)
	for _, c := range []struct{ method, params, want string }{
		{"personal_unlockAccount", `[` + address + `,"pass",60]`, `[` + address + `,"[redacted]",60]`},
		{"evm_addAccount", `["0x01","pass"]`, `["[redacted]","[redacted]"]`},
		{"eth_call", `["0x01","latest"]`, `["0x01","latest"]`},
		{"avm.importKey", `{"privateKey":"x","to":"y"}`, `{"privateKey":"[redacted]","to":"y"}`},
	} {
		body := `{"method":"` + c.method + `","params":` + c.params + `}`
		d := j.Describe(calling(exchange("POST", "/rpc", body, ""), c.method, c.params))
		if shown := sprint(d.Calls[0].Params); shown != c.want || d.RequestBody != strings.Replace(body, c.params, c.want, 1) {
			t.Errorf("%s: %s in %s", c.method, shown, d.RequestBody)
		}
	}
	for _, method := range []string{"personal_sign", "evm_addAccount"} { // nobody has read the calls
		if d := j.Describe(exchange("POST", "/rpc", `[{"method":"`+method+`","params":["a"]}`, "")); d.RequestBody != "[redacted]" {
			t.Errorf("%s: %s", method, d.RequestBody)
		}
	}
	e := calling(exchange("POST", "/rpc", `[{"method":"eth_call","params":[1]},{"method":"personal_sign","params":["a"]},`, ""), "eth_call", "[1]")
	e.Request.Size = 1 << 20
	e.Calls = append(e.Calls, journal.CallRecord{Method: "eth_chainId"}) // its parameters are cut off
	if d := j.Describe(e); d.RequestBody != "[redacted]" {
		t.Errorf("a body that is cut off: %s", d.RequestBody)
	}
}

// TestKeptBodies: a body is kept to 16 KiB, and its length is known.
func TestKeptBodies(t *testing.T) {
	long := []byte(strings.Repeat("x", journal.KeptBody+1))
	for _, c := range []struct {
		size  int
		whole bool
	}{{0, true}, {journal.KeptBody - 1, true}, {journal.KeptBody, true}, {journal.KeptBody + 1, false}} {
		b := journal.Keep(long[:c.size])
		var parts journal.Body
		for at := 0; at < c.size; at += 5000 {
			parts.Add(long[at:min(at+5000, c.size)])
		}
		for _, b := range []journal.Body{b, parts} {
			if b.Size != int64(c.size) || len(b.Kept) != min(c.size, journal.KeptBody) || b.Whole() != c.whole {
				t.Errorf("%d bytes: %d of %d are kept", c.size, len(b.Kept), b.Size)
			}
		}
	}
	short, beyond := journal.Record([]byte("[1]"), strings.Repeat("m", 100), []byte("[1]")), journal.Record(long, strings.Repeat("m", 101), long[len(long)-1:])
	if len(short.Method) != 100 || string(short.Params) != "[1]" || len(beyond.Method) != 100 || beyond.Params != nil {
		t.Errorf("%+v %+v", short, beyond)
	}
	if within := journal.Record(long, "m", long[:journal.KeptBody]); len(within.Params) != journal.KeptBody {
		t.Errorf("%d bytes of parameters are kept", len(within.Params))
	}
	if none := journal.Record(long, "m", nil); none.Params != nil {
		t.Errorf("%q", none.Params)
	}
}

// TestJournalsHaveLimits: a journal may be off, and has room for so many exchanges and bytes.
func TestJournalsHaveLimits(t *testing.T) {
	var none *journal.Journal
	if none.On() || journal.New(0, nil, nil).On() || !journal.New(1, nil, nil).On() || journal.New(7, nil, nil).Size() != 7 {
		t.Error("a journal of one exchange is on, and others are not")
	}
	limited := func(j *journal.Journal, body int) int {
		for range 100 {
			j.Add(exchange("GET", "/", strings.Repeat("x", body), ""))
		}
		return len(j.Latest(0))
	}
	j := journal.New(100, nil, events.NewHub()).Within(50_000)
	if n := limited(j, 10_000); n != 4 {
		t.Errorf("%d of 10,000 bytes are in 50,000", n)
	}
	if j.Clear() != 4 || limited(j, 10_000) != 4 || limited(j, 100) != 100 {
		t.Error("after clearing there is room for other numbers")
	}
	if n := limited(journal.New(100, nil, nil).Within(1<<30), journal.KeptBody); n != 100 {
		t.Errorf("%d of 16 KiB are in 4 MiB", n)
	}
	if n := limited(journal.New(2000, nil, nil), journal.KeptBody); n != 100 {
		t.Errorf("%d of 16 KiB are in 8 MiB", n)
	}
}
