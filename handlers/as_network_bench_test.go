// make bench: the cost of the proxy for the real network's host names.

package handlers_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ownNames measures the same requests to the server's own address and to the network's names through the proxy, alternately, one after another on a
// kept connection.
func (r *report) ownNames() {
	p := r.serve("--as-network", "--db", r.world("default"), "--profile", "default")
	defer p.stop()
	own := "http://" + p.address
	read := func(c *http.Client, url, body string) []byte {
		answer, err := c.Get(url)
		if body != "" {
			answer, err = c.Post(url, "application/json", strings.NewReader(body))
		}
		if err != nil {
			r.b.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			r.b.Fatal(answer.Status, err)
		}
		return text
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(http.DefaultClient, own+"/sim/proxy.pem", ""))
	at, err := url.Parse(own)
	if err != nil {
		r.b.Fatal(err)
	}
	through := func(h2 bool) *http.Client {
		return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: h2}}
	}
	direct := &http.Client{Transport: &http.Transport{}}
	clients := []struct {
		name string
		*http.Client
	}{{"HTTP/1.1", through(false)}, {"HTTP/2", through(true)}}
	const rounds, each = 15, 200
	r.table("request on a kept connection, ms\town address\tnetwork's name\tmore\tbudget", func(row func(string, ...any)) {
		for _, ask := range []struct{ host, path, body string }{
			{"data-api.avax.network", "/v1/chains/43114/blocks/5", ""}, {"data-api.avax.network", "/v1/chains/43114/transactions", ""},
			{"api.avax.network", "/ext/bc/C/rpc", call("eth_blockNumber")[0].body},
		} {
			for _, c := range clients {
				measure := func(client *http.Client, base string) time.Duration {
					read(client, base+ask.path, ask.body)
					begin := time.Now()
					for range each {
						read(client, base+ask.path, ask.body)
					}
					return time.Since(begin) / each
				}
				var plain, named, more []time.Duration
				for range rounds {
					a, b := measure(direct, own), measure(c.Client, "https://"+ask.host)
					plain, named, more = append(plain, a), append(named, b), append(more, b-a)
				}
				row("%s %s, %s\t%.3f\t%.3f\t%.3f\t%s", ask.path, ask.body, c.name, milliseconds(median(plain)), milliseconds(median(named)), milliseconds(median(more)),
					budget("a request at the network's own names, against ours"))
			}
		}
	})
	for _, c := range []*http.Client{direct, clients[0].Client, clients[1].Client} {
		c.CloseIdleConnections()
	}
}
