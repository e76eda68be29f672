package rest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// wall is a wall clock that the test moves.
type wall struct{ now time.Time }

func (w *wall) read() time.Time { return w.now }

func limited(t *testing.T, w *wall, limit int) *rest.Server {
	return newServer(t, func(o *rest.Options) { o.RateLimit, o.Now = limit, w.read })
}

func TestLimitIsExact(t *testing.T) {
	w := &wall{noon}
	s := limited(t, w, 5)
	for i := range 5 {
		r := get(t, s, "/v1/numbers")
		h := r.Header()
		if r.Code != 200 || h.Get("ratelimit-policy") != "5;w=60" || h.Get("ratelimit-limit") != "5" ||
			h.Get("ratelimit-remaining") != fmt.Sprint(4-i) || h.Get("retry-after") != "" || h.Get("ratelimit-reset") != "" {
			t.Fatalf("request %d is %d %v", i+1, r.Code, h)
		}
		w.now = w.now.Add(100 * time.Millisecond)
	}
	r := get(t, s, "/v1/numbers")
	expect(t, r, 429, `"message":"the limit of 5 requests per minute is used up: try again in 60 seconds","error":"Too Many Requests"`)
	h := r.Header()
	if h.Get("ratelimit-remaining") != "0" || h.Get("ratelimit-reset") != "60" || h.Get("retry-after") != "60" {
		t.Fatalf("headers are %v", h)
	}
	w.now = noon.Add(time.Minute - time.Nanosecond)
	r = get(t, s, "/v1/numbers")
	if r.Code != 429 || r.Header().Get("retry-after") != "1" {
		t.Fatalf("before the end of the window: %d %v", r.Code, r.Header())
	}
	w.now = noon.Add(time.Minute)
	for range 5 {
		expect(t, get(t, s, "/v1/numbers"), 200, "")
	}
	expect(t, get(t, s, "/v1/numbers"), 429, "")
}

func TestLimitIsPerClient(t *testing.T) {
	s := limited(t, &wall{noon}, 1)
	expect(t, get(t, s, "/v1/numbers"), 200, "")
	expect(t, get(t, s, "/v1/numbers"), 429, "")
	for _, where := range []string{"x-service-api-key", "x-glacier-api-key"} {
		expect(t, get(t, s, "/v1/numbers", where, "made up"), 429, "limit of 1 requests")
	}
	expect(t, get(t, s, "/v1/numbers?rltoken=x-glacier-api-key"), 429, "")
	expect(t, get(t, s, "/v2/chains/total/metrics/txCount"), 429, "")
	for _, free := range []string{"/openapi.json"} {
		expect(t, get(t, s, free), 200, "")
	}
	expect(t, ask(t, s, http.MethodPost, "/sim/clock", ""), 200, "")
}

// TestLimitIsPerKey: a key in the file has its own allowance; a made-up key shares that of its address.
func TestLimitIsPerKey(t *testing.T) {
	keys, err := rest.ReadKeys([]byte("- key: ours\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *rest.Options) { o.RateLimit, o.Now, o.Keys = 1, (&wall{noon}).read, keys })
	for _, where := range []string{"x-service-api-key", "x-glacier-api-key"} {
		expect(t, get(t, s, "/v1/numbers", where, "ours"), 200, "")
	}
	expect(t, get(t, s, "/v1/numbers?rltoken=ours"), 429, "limit of 2 requests")
	expect(t, get(t, s, "/v1/numbers", "x-service-api-key", "made up"), 200, "")
	expect(t, get(t, s, "/v1/numbers", "x-service-api-key", "made up too"), 429, "limit of 1 requests")
	expect(t, get(t, s, "/v1/numbers"), 429, "limit of 1 requests")
}

func TestNothingIsLimitedByDefault(t *testing.T) {
	s := newServer(t, nil)
	for range 1000 {
		if w := get(t, s, "/v1/logo"); w.Code != 200 || w.Header().Get("ratelimit-limit") != "" {
			t.Fatalf("answer is %d %v", w.Code, w.Header())
		}
	}
}

const keysFile = `
- key: mainnet-only
  networks: [mainnet]
  limit: 3
- key: testnet-only
  networks: [testnet]
- key: metrics-only
  interfaces: [metrics]
- key: everything
`

func keyed(t *testing.T, require bool) *rest.Server {
	keys, err := rest.ReadKeys([]byte(keysFile))
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, func(o *rest.Options) {
		o.Keys, o.RequireKey = keys, require
		o.NetworkOf = func(c schema.ChainID) (string, bool) {
			network, ok := map[uint64]string{43114: "mainnet", 43113: "fuji"}[c.EVM]
			return network, ok
		}
	})
}

func TestKeysAreRequired(t *testing.T) {
	s := keyed(t, true)
	cases := []struct {
		path, key string
		status    int
		message   string
	}{
		{"/v1/numbers", "", 401, "an API key is required"},
		{"/v1/numbers", "stranger", 401, "the API key is not known"},
		{"/v1/numbers", "everything", 200, ""},
		{"/v1/numbers", "metrics-only", 403, "the API key is not for the Data API"},
		{"/v1/chains/43114/blocks/7?network=mainnet", "mainnet-only", 200, ""},
		{"/v1/chains/43114/blocks/7", "mainnet-only", 200, ""}, // the chain determines the network
		{"/v1/chains/43114/blocks/7", "testnet-only", 403, "the API key is not for the network mainnet, only for fuji"},
		{"/v1/chains/99/blocks/7", "testnet-only", 403, "the API key is not for the network mainnet"},
		{"/v1/chains/43113/blocks/7?network=mainnet", "testnet-only", 403, "the API key is not for the network mainnet"},
		{"/v1/chains/0/blocks/x?pageSize=-1", "metrics-only", 403, "the API key is not for the Data API"},
		{"/v1/chains/0/blocks/7", "testnet-only", 400, "chainId"},
		{"/v1/chains/43113/blocks/7?network=fuji", "mainnet-only", 403, "not for the network fuji"},
		{"/v1/chains/43113/blocks/7?network=testnet", "testnet-only", 200, ""},
		{tokenPath, "testnet-only", 403, "not for the network mainnet"},
		{"/v1/chains/43114/tokens/0x1", "", 401, "Unauthorized"},
		{"/v2/chains/total/metrics/txCount", "", 200, ""},
		{"/v2/chains/total/metrics/txCount", "stranger", 200, ""},
		{"/v2/chains/total/metrics/txCount", "testnet-only", 200, ""},
	}
	for _, c := range cases {
		var headers []string
		if c.key != "" {
			headers = []string{"x-service-api-key", c.key}
		}
		expect(t, get(t, s, c.path, headers...), c.status, c.message)
	}
	expect(t, get(t, s, "/v1/numbers", "x-service-api-key", "stranger", "x-glacier-api-key", "everything"), 200, "")
	expect(t, get(t, s, "/v1/numbers?rltoken=everything", "x-service-api-key", "stranger"), 200, "")
	expect(t, get(t, s, "/v1/live"), 200, "")
}

func TestKnownKeysAreOptional(t *testing.T) {
	s := keyed(t, false)
	expect(t, get(t, s, "/v1/numbers"), 200, "")
	expect(t, get(t, s, "/v1/numbers", "x-glacier-api-key", "stranger"), 200, "")
	expect(t, get(t, s, "/v1/numbers", "x-glacier-api-key", "metrics-only"), 403, "")
	for range 3 {
		expect(t, get(t, s, "/v1/numbers", "x-glacier-api-key", "mainnet-only"), 200, "")
	}
	expect(t, get(t, s, "/v1/numbers", "x-glacier-api-key", "mainnet-only"), 429, "limit of 3 requests")
}

func TestKeysFileProblems(t *testing.T) {
	for text, want := range map[string]string{
		"- limit: 1":                     "API keys: entry 1: has no key",
		"- key: a\n- key: a":             "API keys: entry 2: repeats an earlier key",
		"- key: a\n  limit: -1":          "API keys: entry 1: limit -1 is negative",
		"- key: a\n  interfaces: [node]": `API keys: entry 1: interface "node" is not one of data, metrics, sim`,
		"- key: a\n  networks: [local]":  `API keys: entry 1: network "local" is not one of mainnet, fuji, testnet`,
		"-":                              "API keys: entry 1: has no key",
	} {
		if _, err := rest.ReadKeys([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: error is %v: want %s", text, err, want)
		}
	}
	if _, err := rest.ReadKeys([]byte("- key: a\n  limits: 3")); err == nil {
		t.Error("unknown field is accepted")
	}
	if _, err := rest.ReadKeys(nil); err != nil {
		t.Errorf("empty file: %v", err)
	}
}
