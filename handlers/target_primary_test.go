// make bench: requests about P and X.

package handlers_test

import (
	"encoding/json"
	"net/http"

	"snowglobe/handlers/control"
)

// pageOf is the number of outputs on a measured page; the hoarder fills more than ten such pages.
const pageOf = 100

// utxoIndex is where a page of outputs ends.
type utxoIndex struct {
	Address string `json:"address"`
	UTXO    string `json:"utxo"`
}

// primaryTargets returns requests to the X-Chain: the hoarder's outputs at both ends, and a transaction.
func (r *report) primaryTargets(p *process, w control.World) []target {
	pages := r.pages(p, hoarder(w))
	return []target{
		{"xvm.getUTXOs, 100 of the hoarder's, first", pages[:1]},
		{"xvm.getUTXOs, 100 of the hoarder's, deepest", pages[len(pages)-1:]},
		{"xvm.getTx, as JSON", xChainCall("xvm.getTx", map[string]any{"txID": r.firstTx(p), "encoding": "json"})},
	}
}

func hoarder(w control.World) (owner string) {
	for _, persona := range w.Personas {
		if persona.Name == "hoarder" {
			owner = persona.ChainAddresses["mainnet"]["X"]
		}
	}
	return owner
}

// primaryLists returns the lists of the primary network.
func (r *report) primaryLists(p *process) []target {
	const base = "/v1/networks/mainnet"
	outputs := base + "/blockchains/x-chain/utxos?addresses=" + hoarder(r.describe(p))
	return r.ends(p, []list{
		{"validators", base + "/validators"},
		{"validators, filtered", base + "/validators?validationStatus=active&minUptimePerformance=80&nodeIds=a,b"},
		{"validators, sorted", base + "/validators?sortBy=timeRemaining&sortOrder=asc"},
		{"validators, filtered and sorted", base + "/validators?validationStatus=active&minUptimePerformance=80&nodeIds=a,b&sortBy=delegationCapacity"},
		{"delegators", base + "/delegators"},
		{"l1Validators", base + "/l1Validators?includeInactiveL1Validators=true"},
		{"P-Chain blocks", base + "/blockchains/p-chain/blocks"},
		{"X-Chain blocks", base + "/blockchains/x-chain/blocks"},
		{"C-Chain blocks", base + "/blockchains/c-chain/blocks"},
		{"P-Chain transactions", base + "/blockchains/p-chain/transactions"},
		{"utxos of hoarder", outputs},
		{"utxos of hoarder, by amount", outputs + "&sortBy=amount"},
	})
}

// xChainCall returns a JSON-RPC request to the X-Chain.
func xChainCall(method string, params any) []request {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and maps of them
	return []request{{http.MethodPost, "/ext/bc/X", string(body)}}
}

// pages returns requests for every full page of an owner's outputs.
func (r *report) pages(p *process, owner string) (all []request) {
	var from utxoIndex
	for {
		ask := xChainCall("xvm.getUTXOs", map[string]any{"addresses": []string{owner}, "limit": pageOf, "startIndex": from})
		var answer struct {
			Result struct {
				UTXOs    []string  `json:"utxos"`
				EndIndex utxoIndex `json:"endIndex"`
			} `json:"result"`
		}
		r.ask(p, ask[0], &answer)
		if len(answer.Result.UTXOs) < pageOf {
			return all
		}
		all, from = append(all, ask...), answer.Result.EndIndex
	}
}

// firstTx returns a transaction in the X-Chain's first block.
func (r *report) firstTx(p *process) string {
	var answer struct {
		Result struct {
			Block struct {
				Txs []struct {
					ID string `json:"id"`
				} `json:"txs"`
			} `json:"block"`
		} `json:"result"`
	}
	r.ask(p, xChainCall("xvm.getBlockByHeight", map[string]any{"height": 1, "encoding": "json"})[0], &answer)
	return answer.Result.Block.Txs[0].ID
}

func (r *report) ask(p *process, ask request, answer any) {
	if err := json.Unmarshal(r.first(p, ask).Body, answer); err != nil {
		r.b.Fatal(err)
	}
}
