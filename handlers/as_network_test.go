// Requests for the real network's host names, through a whole server's proxy.

package handlers_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/journal"
)

// asNetwork serves a tiny world with a proxy, and returns its own client and one that uses the proxy.
func asNetwork(t *testing.T, o intercept.Options) (*clocked, *http.Client) {
	t.Helper()
	l, err := handlers.Addresses{Main: "127.0.0.1:0", Fuji: handlers.Off, AsNetwork: &handlers.AsNetwork{Options: o, Log: slog.New(slog.DiscardHandler)}}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	c := &clocked{t, l.URL()}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- handlers.Run(ctx, l, tinyWorld(t), handlers.Options{Network: "mainnet", JournalSize: 1000, Log: slog.New(slog.DiscardHandler)}, io.Discard)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	certificate := c.try("GET", "/sim/proxy.pem", "").body
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(certificate)) {
		t.Fatalf("/sim/proxy.pem is %s", certificate)
	}
	proxy := decoded[control.HostNames](c, "/sim/proxy", "")
	at, err := url.Parse(proxy.ProxyURL)
	if err != nil || proxy.ProxyURL != c.url || len(proxy.ChromiumFlags) < 2 {
		t.Fatalf("%+v %v", proxy, err)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	t.Cleanup(client.CloseIdleConnections)
	return c, client
}

// reply sends a request through the proxy.
func reply(t *testing.T, c *http.Client, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// replyToAbsolute asks a proxy for a URL in absolute form, with any scheme.
func replyToAbsolute(t *testing.T, proxy, url string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(proxy, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err == nil {
		err = r.WriteProxy(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const chainIDCall = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`

func TestTheNetworksOwnNames(t *testing.T) {
	t.Parallel()
	c, client := asNetwork(t, intercept.Options{Sealed: true, Hosts: []fixtures.Host{{Name: "rpc.example.com", Service: fixtures.ChainService, Chain: "70411"}}})
	for url, want := range map[string]string{
		"https://api.avax.network/ext/bc/C/rpc":                            `"0xa86a"`,
		"https://api.avax-test.network/ext/bc/C/rpc":                       `"0xa869"`,
		"https://subnets.avax.network/icefall/mainnet/rpc":                 `"0x1130b"`,
		"https://rpc.example.com":                                          `"0x1130b"`,
		"http://api.avax.network/ext/bc/C/rpc":                             `"0xa86a"`,
		"https://data-api.avax.network/v1/ext/bc/43113/rpc":                `"0xa869"`,
		"https://proxy-api.avax.network/proxy/glacier/v1/ext/bc/43114/rpc": `"0xa86a"`,
	} {
		if status, text := reply(t, client, http.MethodPost, url, chainIDCall); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", url, status, text)
		}
	}
	for url, want := range map[string]string{
		"https://data-api.avax.network/v1/chains/43114":                            `"rpcUrl":"https://data-api.avax.network/ext/bc/`,
		"https://glacier-api.avax.network/v1/chains/43113":                         `"explorerUrl":"https://glacier-api.avax.network/sim/explorer/43113"`,
		"https://metrics.avax.network/v2/chains/43114":                             `"evmChainId":43114`,
		"https://proxy-api.avax.network/v1/proxy/glacier/v1/chains/43114":          `"chainId":"43114"`,
		"https://proxy-api.avax.network/watchlist/tokens?tokens=AVAX&currency=EUR": `"internalId":"NATIVE-avax"`,
		"https://subnets.avax.network/c-chain":                                     `C-Chain mainnet`,
		"https://subnets.avax.network/":                                            `<title>`,
	} {
		if status, text := reply(t, client, http.MethodGet, url, ""); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.300s", url, status, text)
		}
	}
	if text := replyToAbsolute(t, c.url, "https://data-api.avax.network/v1/chains/43114"); !strings.Contains(text, `"rpcUrl":"https://data-api.avax.network/`) {
		t.Errorf("as older versions of axios ask: %s", text)
	}
	if status, text := reply(t, client, http.MethodGet, "http://planted.example/", ""); status != http.StatusForbidden {
		t.Errorf("%d %s", status, text)
	}
	if p := decoded[control.HostNames](c, "/sim/proxy", ""); len(p.Refused) != 1 || p.Refused[0].Host != "planted.example:80" || !p.Sealed || p.Hosts[0].Name != "rpc.example.com" {
		t.Errorf("%+v", p)
	}
	script := c.try("GET", "/sim/proxy.pac", "").body
	if !strings.Contains(script, `"rpc.example.com"`) || !strings.Contains(script, "PROXY "+strings.TrimPrefix(c.url, "http://")) {
		t.Error(script)
	}
	if page := c.try("GET", "/as-network", "").body; !strings.Contains(page, "--proxy-server="+c.url) || !strings.Contains(page, "planted.example:80") || !strings.Contains(page, "does not honour proxies") {
		t.Errorf("%.300s", page)
	}
}

// TestTheJournalHasRealURLs, without secrets, and finds requests by host.
func TestTheJournalHasRealURLs(t *testing.T) {
	t.Parallel()
	c, client := asNetwork(t, intercept.Options{})
	reply(t, client, http.MethodGet, "https://glacier-api.avax.network/v1/chains/43114?rltoken=secret-token", "", "X-Core-Api-Key", "secret-core", "X-Firebase-AppCheck", "secret-check")
	reply(t, client, http.MethodGet, "https://proxy-api.avax.network/proxy/glacier/v1/chains/43113", "")
	reply(t, client, http.MethodPost, "https://api.avax-test.network/ext/bc/C/rpc", chainIDCall)
	c.send("/v1/chains/43114", "")
	found := decoded[control.Requests](c, "/sim/requests?host=*.avax.network", "").Requests
	var urls []string
	for _, s := range found {
		urls = append(urls, s.Operation+" "+s.URL)
	}
	want := "getChain https://proxy-api.avax.network/proxy/glacier/v1/chains/43113, getChain https://glacier-api.avax.network/v1/chains/43114?rltoken=[redacted]"
	if got := strings.Join(urls, ", "); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if other := decoded[control.Requests](c, "/sim/requests?host=127.0.0.1&operation=getChain", "").Requests; len(other) != 1 || other[0].URL != "" {
		t.Errorf("%+v", other)
	}
	if n := decoded[control.RequestCount](c, "/sim/requests:count", `{"host":"*.avax-test.network","operation":"eth_chainId"}`).Count; n != 1 {
		t.Errorf("%d calls on fuji", n)
	}
	detail := decoded[journal.Detail](c, "/sim/requests/"+strconv.FormatInt(found[1].ID, 10), "")
	raw, err := json.Marshal(detail)
	if err != nil || bytes.Contains(raw, []byte("secret-")) || !strings.HasPrefix(detail.Curl, "curl 'https://glacier-api.avax.network/v1/chains/43114?") {
		t.Errorf("%s %v", raw, err)
	}
}

// TestFaultsMatchByHost, and requests through the proxy can name their own faults.
func TestFaultsMatchByHost(t *testing.T) {
	t.Parallel()
	c, client := asNetwork(t, intercept.Options{})
	c.addFault(`{"match":{"host":"GLACIER-api.avax.*"},"action":{"status":503}}`)
	const path = "/v1/chains/43114"
	for url, want := range map[string]int{"https://glacier-api.avax.network" + path: 503, "https://data-api.avax.network" + path: 200, c.url + path: 200} {
		if status, text := reply(t, client, http.MethodGet, url, ""); status != want {
			t.Errorf("%s: %d %s", url, status, text)
		}
	}
	for fault, want := range map[string]int{"429;retry-after=3": 429, "drop": 0, "truncate=10": 0} {
		if status, text := reply(t, client, http.MethodGet, "https://data-api.avax.network"+path, "", "X-Sim-Fault", fault); status != want {
			t.Errorf("%s: %d %s", fault, status, text)
		}
	}
	if a := c.try("POST", "/sim/faults", `{"match":{"host":"a.example:443"},"action":{"status":503}}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "match.host") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestPagesOfTheNetworksNames: a page that this server itself serves under such a name may change the world; a page of another origin may not.
func TestPagesOfTheNetworksNames(t *testing.T) {
	t.Parallel()
	_, client := asNetwork(t, intercept.Options{})
	for origin, want := range map[string]int{"https://subnets.avax.network": http.StatusOK, "https://core.app": http.StatusForbidden, "https://api.avax.network": http.StatusForbidden} {
		if status, text := reply(t, client, http.MethodPost, "https://subnets.avax.network/sim/clock", `{"advance":"1s"}`, "Origin", origin); status != want {
			t.Errorf("%s: %d %s", origin, status, text)
		}
	}
}

// TestAProxyBeyondLoopback: a proxy for other machines needs permission.
func TestAProxyBeyondLoopback(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	if _, err := (handlers.Addresses{Main: "0.0.0.0:0", Fuji: handlers.Off, AsNetwork: &handlers.AsNetwork{Log: log}}).Listen(); err == nil || !strings.Contains(err.Error(), "--allow-control") {
		t.Error(err)
	}
	l, err := handlers.Addresses{Main: "0.0.0.0:0", Fuji: handlers.Off, AsNetwork: &handlers.AsNetwork{Log: log, Exposed: true}}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
