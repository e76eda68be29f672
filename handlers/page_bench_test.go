// make bench: the pages' first load.

package handlers_test

import (
	"compress/gzip"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"snowglobe/handlers/control"
)

// webPages measures the first load of each page from a server that has just started, and a second load: the document with everything it loads,
// compressed as browsers ask for it.
func (r *report) webPages() {
	for _, profile := range []string{"default", "large"} {
		open := func() *process { return r.serve("--profile", profile, "--db", r.world(profile)) }
		p := open()
		paths := r.pagePaths(p)
		p.stop()
		r.table(profile+": first load\tdocument kB\twith what it loads kB\tbudget\tms\tbudget\tagain ms", func(row func(string, ...any)) {
			for _, path := range paths {
				p := open()
				document, whole, took := r.visit(p, path)
				_, _, again := r.visit(p, path)
				row("%.60s\t%.1f\t%.1f\t%s\t%.1f\t%s\t%.1f", path, float64(document)/1000, float64(whole)/1000, budget("first load of a page, with everything that it loads"),
					milliseconds(took), budget("first load of a page from a server that has just started"), milliseconds(again))
				p.stop()
			}
		})
	}
}

// pagePaths lists pages of every kind about a world.
func (r *report) pagePaths(p *process) []string {
	var world control.World
	body, _, _ := r.load(p, "/sim/world")
	if err := json.Unmarshal(body, &world); err != nil {
		r.b.Fatal(err)
	}
	chain, network, alice := world.Chains[0], world.Networks[0], world.Personas[0]
	on, token, collection := "/sim/explorer/"+chain.ChainID, "", ""
	for _, c := range chain.Contracts {
		switch c.Role {
		case "usdc":
			token = c.Address
		case "collection":
			collection = c.Address
		}
	}
	return []string{"/", on, on + "/block/10", on + "/tx/" + chain.Samples["crossChainSource"], on + "/tx/" + chain.Samples["failed"],
		on + "/address/" + alice.Address, on + "/address/" + token + "/contract", on + "/token/" + token, on + "/token/" + collection, on + "/token/" + collection + "/1",
		"/p/mainnet", "/p/mainnet?list=delegators", "/p/mainnet?list=l1", "/p/mainnet?list=subnets", "/p/mainnet?list=transactions", "/p/mainnet?list=blocks",
		"/p/mainnet/block/7", "/p/mainnet/tx/" + network.Samples["P.BaseTx"], "/p/mainnet/address/" + alice.Addresses["mainnet"],
		"/p/mainnet/node/" + network.Nodes[0].NodeID, "/p/mainnet/subnet/" + network.Subnets[0].SubnetID, "/x/mainnet", "/x/mainnet/tx/" + network.Samples["X.OperationTx"],
		"/x/mainnet/asset/" + network.Samples["X.CreateAssetTx"], "/c/mainnet/tx/" + network.Samples["C.ExportTx"],
		"/messages", "/messages/" + chain.Samples["crossChainMessage"], "/charts", "/charts?of=mainnet", "/requests", "/webhooks", "/search?q=usd", "/docs", "/docs/coverage"}
}

// visit loads a page with everything it loads: files, and the parts that its scripts request when shown.
func (r *report) visit(p *process, path string) (document, whole int, took time.Duration) {
	begin := time.Now()
	content, document, _ := r.load(p, path)
	whole = document
	for _, m := range loadedLinks.FindAllStringSubmatch(string(content), -1) {
		_, n, _ := r.load(p, html.UnescapeString(m[1]+m[2]))
		whole += n
	}
	return document, whole, time.Since(begin)
}

// loadedLinks matches the files of a page, and the parts it loads when shown.
var loadedLinks = regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"|hx-get="([^"]*)" hx-trigger="load`)

// load fetches a URL like a browser, and returns the content, the number of bytes and the time.
func (r *report) load(p *process, path string) (content []byte, size int, took time.Duration) {
	request, err := http.NewRequestWithContext(r.b.Context(), http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		r.b.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	if strings.Contains(path, "part=") {
		request.Header.Set("HX-Request", "true")
	}
	begin := time.Now()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.b.Fatal(err)
	}
	defer answer.Body.Close()
	counted := &counter{from: answer.Body}
	var body io.Reader = counted
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(counted); err != nil {
			r.b.Fatal(err)
		}
	}
	content, err = io.ReadAll(body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.b.Fatal(path, answer.Status, err)
	}
	return content, counted.n, time.Since(begin)
}

// counter counts the bytes read.
type counter struct {
	from io.Reader
	n    int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += n
	return n, err
}
