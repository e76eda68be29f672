package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// longestExample is the longest response that a document shows in full.
const longestExample = 6 << 10

// exampleUUID stands for a webhook and for its messages: a new world has none.
const exampleUUID = "5b6f2a9e-6e1b-4f0c-9d55-2f1a4c3e7b80"

// samples are values that lead somewhere in the world, by the names of parameters.
type samples struct {
	site  *Site
	from  *http.Request
	names *directory
}

func (s *Site) samples() (*samples, error) {
	r, err := http.NewRequest(http.MethodGet, rest.ExampleURL+"/", nil)
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = "127.0.0.1:1"
	d, err := s.directory(&page{site: s, r: r})
	return &samples{site: s, from: r, names: d}, err
}

// of returns a parameter's value in an example.
func (s *samples) of(name, path string) any {
	network, chain := s.names.World.Networks[0], s.names.World.Chains[0]
	has := func(part string) bool { return strings.Contains(path, part) }
	switch name {
	case "chainId":
		return chain.ChainID
	case "network":
		return network.Name
	case "address":
		switch {
		case has("/nfts/"):
			return s.contract("collection")
		case has("/tokens/"), strings.HasSuffix(path, "/addresses/{address}"):
			return s.contract("usdc")
		case has("getDeployment"):
			return s.contract("greeter")
		case has("/deployments"):
			return s.names.named("deployer")
		}
		return s.names.named("alice")
	case "addresses":
		return s.names.World.Personas[0].Addresses[network.Name]
	case "blockchainId":
		switch {
		case has("/assets"), has("/vertices"):
			return "x-chain"
		case strings.HasSuffix(path, "{blockchainId}"):
			return network.Subnets[0].Blockchains[0].BlockchainID
		}
		return "p-chain"
	case "txHash":
		switch {
		case has("/blockchains/"):
			return network.Samples["P.BaseTx"]
		case has("/signatureAggregator/"):
			return network.Samples["P.RegisterL1ValidatorTx"]
		}
		return chain.Samples["crossChainSource"]
	case "assetId":
		return network.Samples["X.CreateAssetTx"]
	case "nodeId":
		return s.node("popular").NodeID
	case "subnetId":
		return network.Subnets[0].SubnetID
	case "l1ValidationId":
		return s.node("l1-active").ValidationID
	case "messageId":
		if has("/webhooks/") {
			return exampleUUID
		}
		return chain.Samples["crossChainMessage"]
	case "metric":
		return s.metric(path)
	case "id":
		if has("/webhooks/") {
			return exampleUUID
		}
		return "1"
	case "startTimestamp":
		return s.names.World.Clock.Unix - 86400 // a day or two are quickly counted
	}
	if text, found := plainSamples[name]; found {
		return text
	}
	return nil
}

var plainSamples = map[string]string{
	"blockId": "10", "height": "1", "tokenId": "1", "vertexHeight": "1", "limit": "2", "section": "personas", "file": "AVAX-ae42bf.svg", "kind": "unindexed", "threshold": "1", "tokens": "AVAX",
}

func (s *samples) metric(path string) string {
	for part, metric := range map[string]string{"/chains/": "txCount", "/networks/": "validatorCount", "/subnet/": "perSubnetDailyFeesPaid",
		"/validation/": "validationFeesDaily", "/validator/": "perNodeDailyFeesPaid", "/validators/": "totalValidatorFeesDaily"} {
		if strings.Contains(path, part) {
			return metric
		}
	}
	return ""
}

func (s *samples) contract(role string) string {
	for _, c := range s.names.World.Chains[0].Contracts {
		if c.Role == role {
			return c.Address
		}
	}
	return ""
}

func (s *samples) node(role string) (n struct{ NodeID, ValidationID string }) {
	for _, node := range s.names.World.Networks[0].Nodes {
		if node.Role == role {
			n.NodeID, n.ValidationID = node.NodeID, node.ValidationID
		}
	}
	return n
}

// queries lists the query parameters that examples have beyond those in the path.
var queries = map[string][]string{
	"listPrimaryBalances": {"addresses"}, "listUtxos": {"addresses"}, "getLastActivity": {"addresses"}, "listChainIds": {"addresses"}, "listRewards": {"addresses"},
	"listPendingRewards": {"addresses"}, "listVerticesByHeight": {"vertexHeight"}, "listBTCbBridgers": {"threshold"},
	"getPrimaryNetworkRpcUsageMetrics": {"network", "startTimestamp"}, "getSubnetRpcUsageMetrics": {"startTimestamp"}, "getRpcUsageMetrics": {"startTimestamp"},
	"getApiUsageMetrics": {"startTimestamp"}, "listClockEvents": {"limit"}, "getWatchlist": {"tokens"},
}

// body returns the example body of an operation, nil if it takes none.
func (s *samples) body(id string) any {
	alice, chain, addresses := s.names.named("alice"), s.of("chainId", ""), J{"addresses": s.of("addresses", "")}
	return J{
		"moveClock": J{"advance": "1h"}, "takeSnapshot": J{"name": "before"}, "createWorld": J{"name": "test-1"}, "copyWorld": J{"name": "test-1"},
		"decode":        J{"data": "0xa9059cbb" + strings.Repeat("0", 24) + strings.TrimPrefix(strings.ToLower(alice), "0x") + strings.Repeat("0", 56) + "000f4240"},
		"requestFunds":  J{"address": s.names.named("nobody"), "amount": "2.5"},
		"countRequests": J{"operation": "getChain"}, "verifyRequests": J{"operation": "getChain", "times": J{"atLeast": 0}},
		"addFault":              J{"match": J{"operation": "getChain"}, "action": J{"status": 503}, "times": J{"first": 1}},
		"getLastActivityByBody": addresses, "listUtxosByBody": addresses,
		"startTransactionExport": J{"type": "TRANSACTION_EXPORT_EVM", "firstDate": "2026-10-01", "lastDate": "2026-10-31",
			"options": J{"addresses": []any{alice}, "includeChains": []any{chain}}},
		"aggregateSignatures": J{"message": "0x", "signingSubnetId": s.names.World.Networks[0].Subnets[0].SubnetID},
		"compositeQuery": J{"operator": "AND", "queries": []any{J{"id": "holders", "type": "LatestBalance",
			"params": J{"evmChainId": chain, "minBalance": "1000000000000000000000", "tokenType": "NATIVE"}}}},
		"createWebhook": J{"eventType": "address_activity", "url": "http://127.0.0.1:9999/", "chainId": chain, "metadata": J{"addresses": []any{alice}}},
	}[id]
}

// endless lists operations whose answers last as long as the connection or are as large as the state. They get no example answers.
var endless = []string{"streamEvents", "getAlloc"}

// operation returns an example of a REST operation.
func (s *samples) operation(id, method, path string, d schema.Dialect) rest.Example {
	example := rest.Example{Params: map[string]any{}, Body: s.body(id)}
	var b strings.Builder
	for rest := path; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, tail, _ := strings.Cut(after, "}")
		value := s.of(name, path)
		if text(value) == "" {
			return example
		}
		example.Params[name] = value
		b.WriteString(url.PathEscape(text(value)))
		rest = tail
	}
	query := url.Values{"pageSize": {"1"}}
	for _, name := range queries[id] {
		example.Params[name] = s.of(name, path)
		query.Set(name, text(example.Params[name]))
	}
	if slices.Contains(endless, id) || method != http.MethodGet && (example.Body == nil || !slices.Contains(asking, id)) {
		return example
	}
	call := &Call{Method: method, Path: b.String() + "?" + query.Encode()}
	if example.Body != nil {
		body, err := json.Marshal(example.Body)
		if err != nil {
			return example
		}
		call.Body = string(body)
	}
	if d == schema.Upstream {
		call.Path = "/upstream" + call.Path
	}
	status, answer := s.site.ask(s.from.Context(), s.from, call)
	if value, err := decode(answer); err == nil && status < 300 {
		example.Answer, _ = json.Marshal(shortened(value, len(answer) > longestExample)) // decoded values always encode
	}
	return example
}

// mostMembers bounds the members of an object with a fixed shape. A larger object is a map, with a key for each entry.
const mostMembers = 60

// shortened truncates the lists, maps and texts of a long value.
func shortened(v any, long bool) any {
	const few, some = 2, 300
	if !long {
		return v
	}
	switch v := v.(type) {
	case J:
		if len(v) > mostMembers {
			for _, name := range slices.Sorted(maps.Keys(v))[few:] {
				delete(v, name)
			}
		}
		for name := range v {
			v[name] = shortened(v[name], true)
		}
	case []any:
		v = v[:min(len(v), few)]
		for i := range v {
			v[i] = shortened(v[i], true)
		}
		return v
	case string:
		return clip(v, some)
	}
	return v
}

// asking lists the operations that take a body and change nothing.
var asking = []string{"getLastActivityByBody", "listUtxosByBody", "compositeQuery", "countRequests", "verifyRequests", "decode"}

// blockHash returns the hash of a block of the C-Chain.
func (s *samples) blockHash() string {
	return text(dig(s.answer(get("", "/v1/chains/%s/blocks/10", s.names.Chains[0].ID)), "blockHash"))
}

// special holds arguments whose names mean something else in other methods.
func (s *samples) special(method, name string) any {
	primary := s.names.World.Personas[0].Addresses[s.names.World.Networks[0].Name]
	letter := map[string]string{"platform": "P-", "avm": "X-", "xvm": "X-", "avax": "C-"}[strings.Split(method, ".")[0]]
	switch {
	case strings.HasPrefix(method, "validators."):
		return J{} // omitted
	case letter != "" && name == "address":
		return letter + primary
	case letter != "" && name == "addresses":
		return []any{letter + primary}
	case name == "blockID":
		return s.blockID(letter)
	case method == "avax.getAtomicTx" && name == "encoding":
		return "hex"
	case strings.HasSuffix(method, "getUTXOs") && name == "encoding", strings.HasPrefix(method, "index.") && name == "encoding":
		return "hex"
	case strings.Contains(method, "BlockByHash") && name == "hash", method == "debug_getModifiedAccountsByHash" && name == "start":
		return s.blockHash()
	case strings.HasPrefix(method, "ots_searchTransactions"), strings.HasPrefix(method, "erigon_searchTransactions"):
		if name == "block" {
			return 0
		}
	case method == "eth_newFilter" || method == "eth_getLogs":
		return J{"fromBlock": "0x1", "toBlock": "0x4"}
	case method == "trace_filter":
		return J{"fromBlock": "0x1", "toBlock": "0x4", "count": 2}
	case name == "sender":
		return s.names.named("alice")
	case name == "nonce":
		return "0x0"
	case name == "full":
		return false
	case name == "slots":
		return []any{"0x0"}
	case name == "kinds":
		return []any{"trace"}
	case name == "input":
		return "0x68656c6c6f"
	case method == "debug_getModifiedAccountsByNumber" && name == "start":
		return 2
	case method == "trace_get" && name == "address":
		return []any{"0x0"}
	case method == "eth_simulateV1" && name == "o":
		return J{"blockStateCalls": []any{J{"calls": []any{J{"from": s.names.named("alice"), "to": s.names.named("bob"), "value": "0x1"}}}}}
	}
	return nil
}

// blockID returns the id of a block of the P- or X-Chain.
func (s *samples) blockID(letter string) string {
	network := s.names.World.Networks[0].Name
	chain := chainNames[strings.ToLower(strings.TrimSuffix(letter, "-"))]
	return text(dig(s.answer(get("", "/v1/networks/%s/blockchains/%s/blocks/5", network, chain)), "blockHash"))
}

// argument returns an example value of a method's parameter.
func (s *samples) argument(method string, c openrpc.Content) any {
	network, chain := s.names.World.Networks[0], s.names.World.Chains[0]
	usdc, alice := s.contract("usdc"), s.names.named("alice")
	if v := s.special(method, c.Name); v != nil {
		if empty, ok := v.(J); ok && len(empty) == 0 {
			return nil
		}
		return v
	}
	switch c.Name {
	case "address", "account", "owner", "who", "from":
		return alice
	case "addresses":
		return []any{alice}
	case "hash", "txHash", "tx", "transaction", "parent":
		if pattern := text(c.Schema["pattern"]); strings.Contains(pattern, "{64}") {
			return chain.Samples["crossChainSource"]
		}
		return J{"from": alice, "to": usdc, "value": "0x0", "data": "0x18160ddd"}
	case "call", "args":
		return J{"from": alice, "to": usdc, "data": "0x18160ddd"}
	case "block", "number", "to", "last", "newest":
		return "latest"
	case "index", "slot", "key", "position":
		return "0x0"
	case "keys":
		return []any{"0x0"}
	case "criteria", "filter":
		return J{"fromBlock": "0x1", "toBlock": "0x8"}
	case "txID":
		if strings.HasPrefix(method, "platform.") {
			return network.Samples["P.BaseTx"]
		}
		if strings.HasPrefix(method, "avax.") {
			return network.Samples["C.ExportTx"]
		}
		return network.Samples["X.BaseTx"]
	case "height":
		return 1
	case "assetID":
		return network.AVAXAssetID
	case "nodeIDs":
		return []any{s.node("popular").NodeID}
	case "subnetID":
		if strings.Contains(method, "L1") || method == "platform.getSubnet" {
			return network.Subnets[0].SubnetID
		}
		return primarySubnet
	case "blockchainID":
		return network.Subnets[0].Blockchains[0].BlockchainID
	case "validationID":
		return s.node("l1-active").ValidationID
	case "chain", "alias":
		return "C"
	case "encoding":
		return "json"
	case "limit", "numToFetch", "size", "count", "page", "pageSize":
		return 2
	}
	return nil
}

// call returns an example of a node's method, with its result if it changes nothing.
func (s *samples) call(path string, item *openrpc.MethodItem) (e openrpc.Example) {
	e = openrpc.Example{Name: "In this world", Params: []openrpc.Value{}}
	params := s.arguments(path, item, &e)
	reads := permit.Of(item.Name) == permit.Read
	if !answers(item.Name, reads) {
		item.Description = silence(item.Name)
		return e
	}
	c := rpcWith("", path, item.Name, params)
	status, body := s.site.ask(s.from.Context(), s.from, c)
	answer, err := decode(body)
	object, _ := answer.(J)
	if result, found := object["result"]; err == nil && status == http.StatusOK && found {
		e.Result = &openrpc.Value{Name: "result", Value: shortened(result, len(body) > longestExample)}
	} else {
		item.Description = "This world has no example of a response: " + cmp.Or(text(dig(object, "error", "message")), http.StatusText(status)) + "."
	}
	return e
}

// arguments returns a method's example arguments and records them by name.
func (s *samples) arguments(path string, item *openrpc.MethodItem, e *openrpc.Example) any {
	if item.Structure == "by-name" {
		byName, found := s.members(path, item.Name)
		if !found {
			byName = J{}
			for _, c := range item.Params {
				v := s.argument(item.Name, c)
				if v != nil && c.Schema["type"] == "string" && c.Name == "addresses" {
					v = v.([]any)[0]
				}
				if v != nil {
					byName[c.Name] = v
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			e.Params = append(e.Params, openrpc.Value{Name: name, Value: byName[name]})
		}
		return byName
	}
	list, found := s.given(path, item.Name)
	for i := 0; i < len(item.Params) && !found; i++ {
		v := s.argument(item.Name, item.Params[i])
		if v == nil {
			break // the rest is optional
		}
		list = append(list, v)
	}
	for i, v := range list {
		e.Params = append(e.Params, openrpc.Value{Name: item.Params[i].Name, Value: v})
	}
	return slices.Concat([]any{}, list)
}

// document describes methods of the node. It makes examples on all processors.
func (s *samples) document(described []Described) *openrpc.Document {
	d := &openrpc.Document{OpenRPC: "1.3.2", Info: openrpc.Info{Title: "Snowglobe node", Version: fixtures.NodeVersion, Description: "The node's JSON-RPC; each method lists its servers."}}
	at := map[string]int{}
	for _, service := range described {
		path := strings.ReplaceAll(service.Paths[0], "{blockchainId}", s.names.World.Networks[0].Subnets[0].Blockchains[0].BlockchainID)
		for _, m := range service.Methods {
			if i, seen := at[m.Name]; seen {
				d.Methods[i].Servers = append(d.Methods[i].Servers, openrpc.Server{Name: path, URL: serverMark + path})
				continue
			}
			item := m.Item()
			item.Servers = []openrpc.Server{{Name: path, URL: serverMark + path}}
			switch permit.Of(m.Name) {
			case permit.Control:
				item.Errors = append(item.Errors, openrpc.Refused)
			default:
				if slices.Contains([]string{"eth_call", "eth_estimateGas", "eth_createAccessList"}, m.Name) {
					item.Errors = append(item.Errors, openrpc.Reverts)
				}
			}
			at[m.Name] = len(d.Methods)
			d.Methods = append(d.Methods, item)
		}
	}
	var asking errgroup.Group
	asking.SetLimit(runtime.GOMAXPROCS(0))
	for i := range d.Methods {
		asking.Go(func() error {
			item := &d.Methods[i]
			item.Examples = []openrpc.Example{s.call(item.Servers[0].Name, item)}
			return nil
		})
	}
	_ = asking.Wait() // the functions never fail
	return d
}

// serverMark stands for the server's base URL in cached documents.
const serverMark = "{server}"
