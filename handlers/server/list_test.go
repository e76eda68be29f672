package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"

	"snowglobe/handlers/control"
)

// lists are the targets of the REST interfaces and of the X-chain: the first and the deepest page of lists, and single
// objects.
func (r *report) lists(p *process) []target {
	w := r.describe(p)
	c, alice := w.Chains[0], w.Personas[0].Address
	chain := "/v1/chains/" + c.ChainID
	var all []target
	for _, list := range []struct{ name, path string }{
		{"blocks", chain + "/blocks"},
		{"transactions", chain + "/transactions"},
		{"transactions:listNative of alice", chain + "/addresses/" + alice + "/transactions:listNative"},
		{"transactions:listInternals of alice", chain + "/addresses/" + alice + "/transactions:listInternals"},
		{"transactions:listErc20 of alice", chain + "/addresses/" + alice + "/transactions:listErc20"},
		{"balances:listErc20 of alice", chain + "/addresses/" + alice + "/balances:listErc20"},
		{"metrics, days", "/v2/chains/" + c.ChainID + "/metrics/txCount"},
	} {
		all = append(all, target{list.name + ", first page", get(list.path)}, target{list.name + ", deepest page", get(r.deepest(p, list.path))})
	}
	return append(all, r.objects(p, c)...)
}

// objects are single objects, many of each kind.
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
	return append([]target{
		{"a chain", get(chain)},
		{"a block, many", blocks},
		{"a transaction, many", transactions},
		{"2,160 hours of a metric", get("/v2/chains/" + c.ChainID + "/metrics/txCount?timeInterval=hour&pageSize=2160")},
		{"weekly addresses of all chains", get("/v2/chains/total/metrics/activeAddresses?timeInterval=week")},
	}, r.outputs(p)...)
}

// outputs are the UTXOs of the hoarder, first and last page, and a transaction that made one.
func (r *report) outputs(p *process) []target {
	var world struct {
		Personas []struct {
			Name           string
			ChainAddresses map[string]map[string]string
		}
	}
	r.read(p, "/sim/world", &world)
	var hoarder string
	for _, persona := range world.Personas {
		if persona.Name == "hoarder" {
			hoarder = persona.ChainAddresses["mainnet"]["X"]
		}
	}
	first := onExchange("xvm.getUTXOs", map[string]any{"addresses": []string{hoarder}})
	var page struct {
		Result struct {
			EndIndex struct{ Address, UTXO string }
		}
	}
	r.decode(r.first(p, first).Body, &page)
	last := onExchange("xvm.getUTXOs", map[string]any{"addresses": []string{hoarder}, "startIndex": map[string]string{
		"address": page.Result.EndIndex.Address, "utxo": page.Result.EndIndex.UTXO}})
	var balance struct {
		Result struct {
			UTXOIDs []struct{ TxID string }
		}
	}
	r.decode(r.first(p, onExchange("xvm.getBalance", map[string]any{"address": hoarder, "assetID": "AVAX"})).Body, &balance)
	get := onExchange("xvm.getTx", map[string]any{"txID": balance.Result.UTXOIDs[0].TxID, "encoding": "json"})
	return []target{
		{"xvm.getUTXOs of the hoarder, first page", []request{first}},
		{"xvm.getUTXOs of the hoarder, last page", []request{last}},
		{"xvm.getTx", []request{get}},
	}
}

func onExchange(method string, params map[string]any) request {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and maps of them
	return request{http.MethodPost, "/ext/bc/X", string(body)}
}

func get(path string) []request { return []request{{http.MethodGet, path, ""}} }

// deepest follows a list to its last page and is that page's path.
func (r *report) deepest(p *process, path string) string {
	for last := path; ; {
		var page struct{ NextPageToken string }
		r.read(p, last, &page)
		if page.NextPageToken == "" {
			return last
		}
		last = path + "?pageSize=100&pageToken=" + page.NextPageToken
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
