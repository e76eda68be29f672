package handlers_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"time"

	"snowglobe/handlers/control"
)

// webPages measures the first load of each page: its document with everything that it loads, compressed as browsers ask for it. The
// budgets are 200 ms and 300 kB. The library of the reference, which weighs more, comes when an operation is opened.
func (r *report) webPages() {
	for _, profile := range []string{"default", "large"} {
		p := r.serve("--profile", profile, "--db", r.world(profile))
		var world control.World
		body, _, _ := r.load(p, "/sim/world")
		if err := json.Unmarshal(body, &world); err != nil {
			r.b.Fatal(err)
		}
		chain, network, alice := world.Chains[0], world.Networks[0], world.Personas[0]
		on := "/sim/explorer/" + chain.ChainID
		r.table(profile+": first load\tdocument kB\twith assets kB\tms\tagain ms", func(row func(string, ...any)) {
			for _, path := range []string{"/", on, on + "/block/10", on + "/tx/" + chain.Samples["crossChainSource"], on + "/address/" + alice.Address,
				on + "/token/" + chain.Contracts[0].Address, "/p/mainnet", "/p/mainnet/tx/" + network.Samples["P.BaseTx"], "/p/mainnet/node/" + network.Nodes[0].NodeID,
				"/x/mainnet", "/messages", "/messages/" + chain.Samples["crossChainMessage"], "/charts", "/requests", "/webhooks", "/control", "/search?q=usd", "/docs"} {
				document, size, took := r.load(p, path)
				whole := size
				for _, m := range assetLinks.FindAllStringSubmatch(string(document), -1) {
					_, n, _ := r.load(p, m[1])
					whole += n
				}
				_, _, again := r.load(p, path)
				row("%.60s\t%.1f\t%.1f\t%.1f\t%.1f", path, float64(size)/1000, float64(whole)/1000, milliseconds(took), milliseconds(again))
			}
		})
		p.stop()
	}
}

var assetLinks = regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`)

// load fetches something as a browser does: its content, how many bytes came, and how long that took.
func (r *report) load(p *process, path string) (content []byte, size int, took time.Duration) {
	request, err := http.NewRequestWithContext(r.b.Context(), http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		r.b.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
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

// counter counts what is read.
type counter struct {
	from io.Reader
	n    int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += n
	return n, err
}
