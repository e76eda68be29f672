// make bench: the lists of the REST interfaces.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"snowglobe/handlers/control"
)

// lists returns the targets in the REST interfaces: the first and the deepest page of lists, and single objects.
func (r *report) lists(p *process) []target {
	w := r.describe(p)
	c, alice := w.Chains[0], w.Personas[0].Address
	chain := "/v1/chains/" + c.ChainID
	all := r.ends(p, []list{
		{"blocks", chain + "/blocks"},
		{"transactions", chain + "/transactions"},
		{"transactions:listNative of alice", chain + "/addresses/" + alice + "/transactions:listNative"},
		{"transactions:listInternals of alice", chain + "/addresses/" + alice + "/transactions:listInternals"},
		{"transactions:listErc20 of alice", chain + "/addresses/" + alice + "/transactions:listErc20"},
		{"balances:listErc20 of alice", chain + "/addresses/" + alice + "/balances:listErc20"},
		{"metrics, days", "/v2/chains/" + c.ChainID + "/metrics/txCount"},
		{"metrics of a network, days", "/v2/networks/mainnet/metrics/validatorWeight"},
	})
	return append(all, r.objects(p, c)...)
}

// list is a path that returns pages.
type list struct{ name, path string }

// ends returns the first and the deepest page of lists.
func (r *report) ends(p *process, lists []list) (all []target) {
	for _, l := range lists {
		all = append(all, target{l.name + ", first page", anew(l.path)}, target{l.name + ", deepest page", anew(r.deepest(p, l.path))})
	}
	return all
}

// anew varies a request each time, so that no cache has the response.
func anew(path string) (all []request) {
	for n := range 20_000 {
		all = append(all, get(with(path, fmt.Sprintf("rltoken=%d", n)))...)
	}
	return all
}

// with adds a parameter to a path.
func with(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
}

// objects returns requests for single objects, many of each kind.
func (r *report) objects(p *process, c control.Chain) []target {
	chain := "/v1/chains/" + c.ChainID
	var page struct {
		Transactions []struct{ TxHash string }
	}
	r.read(p, chain+"/transactions?pageSize=100", &page)
	var transactions []request
	for _, t := range page.Transactions {
		transactions = append(transactions, get(chain+"/transactions/"+t.TxHash)...)
	}
	blocks := heights(c.Height, func(n uint64) []request { return get(fmt.Sprintf("%s/blocks/%d", chain, n)) })
	return []target{
		{"balances:listErc20 of alice, again", get(chain + "/addresses/" + r.describe(p).Personas[0].Address + "/balances:listErc20")},
		{"an object, again", get(chain + "/blocks/5")},
		{"2,160 hours of a metric, again", get("/v2/chains/" + c.ChainID + "/metrics/txCount?timeInterval=hour&pageSize=2160")},
		{"a chain", anew(chain)},
		{"a block, many", blocks},
		{"a transaction, many", transactions},
		{"2,160 hours of a metric", anew("/v2/chains/" + c.ChainID + "/metrics/txCount?timeInterval=hour&pageSize=2160")},
		{"weekly addresses of all chains", anew("/v2/chains/total/metrics/activeAddresses?timeInterval=week")},
		{"metrics, a page of 10", anew("/v2/chains/" + c.ChainID + "/metrics/feesPaid?pageSize=10")},
		{"rolling addresses of all chains", anew("/v2/chains/total/rollingWindowMetrics/activeAddresses")},
		{"fees of all L1 validators", anew("/v2/validators/metrics/totalValidatorFeesDaily")},
	}
}

func get(path string) []request { return []request{{http.MethodGet, path, ""}} }

// deepest follows a list to its last hundred items and returns the path of a page of the usual size there.
func (r *report) deepest(p *process, path string) string {
	for last := path; ; {
		var page struct{ NextPageToken string }
		r.read(p, last, &page)
		if page.NextPageToken == "" {
			return strings.Replace(last, "pageSize=100&", "", 1)
		}
		last = with(path, "pageSize=100&pageToken="+page.NextPageToken)
	}
}

func (r *report) read(p *process, path string, into any) {
	r.decode(r.first(p, get(path)[0]).Body, into)
}

func (r *report) decode(raw []byte, into any) {
	if err := json.Unmarshal(raw, into); err != nil {
		r.b.Fatalf("%v: %.200s", err, raw)
	}
}
