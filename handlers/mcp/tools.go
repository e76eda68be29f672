package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// tools lists what agents can do.
var tools = []tool{
	reading(newTool("describe_world", "Describe the world",
		"What is in the world: its URLs, time, networks, chains, personas and what each is for. With a section, all of that part with addresses, private keys, contracts and ids.",
		describeWorld)),
	reading(newTool("find", "Find a case",
		"Finds anything in the world by name, purpose, address, id, hash or number: personas, tokens, contracts, chains, nodes by role, sample transactions such as failed ones. "+
			"Words to try: multisig, locked, reverts, UTXOs, failed, deployment, crossChain, P.ConvertSubnetToL1Tx.",
		func(ctx context.Context, w *world, in *struct {
			Query string `json:"query" jsonschema:"a name or a part of one, a word of a purpose, or any id"`
		}) (string, error) {
			return w.request(ctx, http.MethodGet, "/search?q="+url.QueryEscape(in.Query), "application/json", nil)
		})),
	reading(newTool("search_documentation", "Search the documentation",
		"Searches the pages of the manual, the operations of the Data API, the Metrics API and the simulator, and the node's JSON-RPC methods.",
		func(ctx context.Context, w *world, in *struct {
			Query string `json:"query" jsonschema:"words such as: erc20 balances of an address"`
		}) (string, error) {
			return w.index.search(ctx, w, in.Query)
		})),
	reading(newTool("read_documentation", "Read the documentation",
		"A page of the manual as Markdown, or the description of an operation or of a JSON-RPC method with its parameters and an example.",
		func(ctx context.Context, w *world, in *struct {
			Name string `json:"name" jsonschema:"a page, an operation or a method, as search_documentation names it"`
		}) (string, error) {
			return w.index.read(ctx, w, in.Name)
		})),
	newTool("call_api", "Call a REST operation",
		"Sends a request to the Data API (/v1), the Metrics API (/v2), the simulator (/sim) or the explorers' API (/api), and returns the response.",
		func(ctx context.Context, w *world, in *struct {
			Path   string `json:"path" jsonschema:"with the query, such as /v1/chains/43114/blocks?pageSize=2"`
			Method string `json:"method,omitempty" jsonschema:"default: GET"`
			Body   value  `json:"body,omitzero" jsonschema:"of a POST, PUT or PATCH: JSON"`
		}) (string, error) {
			method := cmp.Or(strings.ToUpper(in.Method), http.MethodGet)
			path, err := url.ParseRequestURI(in.Path)
			if err != nil || !strings.HasPrefix(in.Path, "/") || strings.HasPrefix(in.Path, "//") {
				return "", errPath
			}
			if path.Path == Path {
				return "", errors.New("this tool cannot call /mcp itself")
			}
			return w.request(ctx, method, path.RequestURI(), "application/json", in.Body.RawMessage)
		}),
	newTool("call_rpc", "Call a JSON-RPC method",
		"Calls a method of a chain or of a service of the node and returns its result: eth_*, debug_*, trace_*, anvil_* on EVM chains, platform.* on P, avm.* on X, info.* and others by their path.",
		func(ctx context.Context, w *world, in *struct {
			Method string `json:"method" jsonschema:"such as eth_getBalance or platform.getHeight"`
			Chain  string `json:"chain,omitempty" jsonschema:"C, P or X, or with a network as in fuji/P, or an L1's name or EVM chain id; default: mainnet's C-Chain"`
			Path   string `json:"path,omitempty" jsonschema:"of a service outside of chains, such as /ext/info, in place of chain"`
			Params value  `json:"params,omitzero" jsonschema:"an array, or an object for methods with a dot"`
		}) (string, error) {
			path := in.Path
			if path == "" {
				var err error
				if path, err = w.chainPath(ctx, in.Chain); err != nil {
					return "", err
				}
			}
			if !strings.HasPrefix(path, "/") {
				return "", errPath
			}
			return w.rpc(ctx, path, in.Method, in.Params.RawMessage)
		}),
	reading(newTool("decode", "Decode calldata, a revert or a log",
		"Names the function, custom error or event and its arguments.",
		posting[struct {
			Data    string   `json:"data,omitempty" jsonschema:"0x…: calldata, the data of a revert, or of a log if topics are given"`
			Topics  []string `json:"topics,omitempty" jsonschema:"of a log"`
			Address string   `json:"address,omitempty" jsonschema:"of the contract, if known"`
			Chain   string   `json:"chain,omitempty" jsonschema:"of the address"`
		}]("/sim/decode"))),
	reading(newTool("explain_transaction", "Explain a transaction of an EVM chain",
		"Why it failed and where, its calls, events and console.log, and what it used and paid.",
		explainTransaction)),
	lasting(newTool("move_clock", "Move the world's clock",
		"Moves the clock forward. Everything that falls due on the way happens: stakes end, L1 validators run out of balance, outputs unlock. One of advance, set, until, rate or freeze.",
		posting[struct {
			Advance  string   `json:"advance,omitempty" jsonschema:"by a duration such as 36h, 90m or 7d"`
			Set      string   `json:"set,omitempty" jsonschema:"to a time, RFC 3339"`
			Until    string   `json:"until,omitempty" jsonschema:"to the next event of a kind in GET /sim/clock/events, such as next-validator-end"`
			Rate     *float64 `json:"rate,omitempty" jsonschema:"let it run at this multiple of real time"`
			Freeze   bool     `json:"freeze,omitempty" jsonschema:"stop it"`
			Populate *bool    `json:"populate,omitempty" jsonschema:"whether the world's people act on the way"`
		}]("/sim/clock"))),
	newTool("mine", "Make blocks",
		"Makes blocks on an EVM chain with the transactions that wait in its pool, and returns the number of the newest.",
		func(ctx context.Context, w *world, in *struct {
			Chain  string `json:"chain,omitempty" jsonschema:"as in call_rpc; default: mainnet's C-Chain"`
			Blocks int    `json:"blocks,omitempty" jsonschema:"default: 1; at most 1000"`
		}) (string, error) {
			n := max(in.Blocks, 1)
			if in.Blocks < 0 || n > 1000 {
				return "", errors.New("blocks must be from 1 to 1000")
			}
			path, err := w.chainPath(ctx, in.Chain)
			if err != nil {
				return "", err
			}
			if _, err := w.rpc(ctx, path, "anvil_mine", fmt.Appendf(nil, `["0x%x"]`, n)); err != nil {
				return "", err
			}
			return w.rpc(ctx, path, "eth_blockNumber", nil)
		}),
	lasting(newTool("take_snapshot", "Take a snapshot",
		"Saves the whole world as it is now, and returns the id of the snapshot.",
		posting[struct {
			Name string `json:"name,omitempty" jsonschema:"for people"`
		}]("/sim/snapshots"))),
	lasting(undoing(newTool("revert", "Revert to a snapshot",
		"Returns the world to where it was when the snapshot was taken, and deletes later snapshots. To return to the freshly generated world, call_api POST /sim/reset.",
		func(ctx context.Context, w *world, in *struct {
			ID string `json:"id" jsonschema:"of the snapshot"`
		}) (string, error) {
			return w.request(ctx, http.MethodPost, "/sim/snapshots/"+url.PathEscape(in.ID)+":revert", "", nil)
		}))),
	newTool("add_fault", "Make responses fail",
		`Adds a fault rule, such as match {"operation":"getChain"}, action {"status":429}, times {"first":2}; match {"rpcMethod":"eth_call"}, action {"delay":"2s"}. The page faults has everything.`,
		posting[struct {
			ID     string `json:"id,omitempty" jsonschema:"names the rule; replaces a rule with the same name"`
			Match  object `json:"match,omitzero" jsonschema:"which requests, by operation, rpcMethod, path, chain, network, address and so on; default: all"`
			Action object `json:"action" jsonschema:"what happens: status, rpcError, delay and so on"`
			Times  object `json:"times,omitzero" jsonschema:"how often: first, every, after, for, probability; default: always"`
		}]("/sim/faults")),
	undoing(newTool("delete_faults", "Delete fault rules",
		"Deletes a fault rule, or all of them.",
		func(ctx context.Context, w *world, in *struct {
			ID string `json:"id,omitempty" jsonschema:"of the rule; default: all rules"`
		}) (string, error) {
			path := "/sim/faults"
			if in.ID != "" {
				path += "/" + url.PathEscape(in.ID)
			}
			return w.request(ctx, http.MethodDelete, path, "", nil)
		})),
	reading(newTool("list_requests", "Read the journal of requests",
		"The latest requests from clients, newest first, or one request with its bodies and headers.",
		listRequests)),
	newTool("request_funds", "Pay an account from the faucet",
		"Pays any account on any chain with an ordinary transaction: AVAX, the L1's coin, an ERC-20, or on P and X an asset of the X-Chain.",
		posting[struct {
			Address string `json:"address" jsonschema:"0x… on an EVM chain, P-avax1…, X-fuji1… and so on"`
			Chain   string `json:"chain,omitempty" jsonschema:"C, P or X, or with a network as in fuji/C, or an L1's name or EVM chain id; default: the address's own"`
			Token   string `json:"token,omitempty" jsonschema:"role, symbol or address of an ERC-20, or on P and X id, symbol or name of an asset of the X-Chain; default: the chain's coin"`
			Amount  string `json:"amount,omitempty" jsonschema:"in whole coins or tokens, such as 2.5; default: 1"`
		}]("/sim/faucet")),
}

// chainPath returns the path of a chain's JSON-RPC.
func (w *world) chainPath(ctx context.Context, chain string) (string, error) {
	network, name, found := strings.Cut(chain, "/")
	if !found {
		network, name = "mainnet", chain
	}
	switch name {
	case "", "C":
		return "/" + network + "/ext/bc/C/rpc", nil
	case "P", "X":
		return "/" + network + "/ext/bc/" + name, nil
	}
	text, err := w.get(ctx, "/sim/world/chains")
	if err != nil {
		return "", err
	}
	var chains []struct{ Name, ChainID, BlockchainID string }
	if err := json.Unmarshal([]byte(text), &chains); err != nil {
		return "", err
	}
	var names []string
	for _, c := range chains {
		if chain == c.Name || chain == c.ChainID || chain == c.BlockchainID {
			return "/ext/bc/" + c.BlockchainID + "/rpc", nil
		}
		names = append(names, c.ChainID)
	}
	return "", fmt.Errorf("there is no chain %.80q, only C, P, X, fuji/C, fuji/P, fuji/X and %s", chain, strings.Join(names, ", "))
}

// describeWorld returns one section of the world, or an overview.
func describeWorld(ctx context.Context, w *world, in *struct {
	Section string `json:"section,omitempty" jsonschema:"personas, chains, networks, contracts or another section of the overview"`
}) (string, error) {
	if in.Section != "" {
		return w.get(ctx, "/sim/world/"+url.PathEscape(in.Section)+"?expected=false")
	}
	text, err := w.get(ctx, "/sim/world?expected=false")
	if err != nil {
		return "", err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return "", err
	}
	base := w.base()
	overview := map[string]any{"urls": map[string]string{
		"web": base + "/", "data": base + "/v1", "metrics": base + "/v2", "cChain": base + "/ext/bc/C/rpc", "pChain": base + "/ext/bc/P", "xChain": base + "/ext/bc/X", "fuji": base + "/fuji/ext", "simulator": base + "/sim",
	}}
	for _, name := range []string{"version", "seed", "profile", "digest", "clock", "counts"} {
		overview[name] = all[name]
	}
	var sections []string
	for _, name := range []string{"networks", "chains", "personas", "contracts", "tokens", "endpoints", "counts"} {
		if _, found := all[name]; found || name == "contracts" {
			sections = append(sections, name)
		}
	}
	overview["sections"] = sections
	for name, keep := range map[string][]string{
		"networks": {"name", "url", "networkId", "hrp", "upgrade", "pHeight", "xHeight", "validators", "delegators", "l1Validators"},
		"chains":   {"chainId", "name", "network", "blockchainId", "subnetId", "rpcUrl", "wsUrl", "networkToken", "height", "transactions"},
		"personas": {"name", "purpose", "address"},
	} {
		if overview[name], err = parts(all[name], keep); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(overview)
	return string(raw), err
}

// parts keeps only some members of each object in a list.
func parts(list json.RawMessage, keep []string) ([]map[string]json.RawMessage, error) {
	var all []map[string]json.RawMessage
	err := json.Unmarshal(list, &all)
	for i, whole := range all {
		all[i] = map[string]json.RawMessage{}
		for _, name := range keep {
			if part, found := whole[name]; found {
				all[i][name] = part
			}
		}
	}
	return all, err
}

// explainTransaction merges what two operations return about a transaction.
func explainTransaction(ctx context.Context, w *world, in *struct {
	Hash string `json:"hash" jsonschema:"of the transaction"`
}) (string, error) {
	path := "/sim/transactions/" + url.PathEscape(in.Hash)
	trace, err := w.get(ctx, path+"/trace")
	if err != nil {
		return "", err
	}
	gas, err := w.get(ctx, path)
	if err != nil {
		return "", err
	}
	return `{"gas":` + gas + `,"execution":` + trace + `}`, nil
}

// listRequests reads the journal.
func listRequests(ctx context.Context, w *world, in *struct {
	ID        int    `json:"id,omitempty" jsonschema:"of one request, in place of filters"`
	Interface string `json:"interface,omitempty" jsonschema:"data, metrics, node, etherscan, sourcify or sim"`
	Operation string `json:"operation,omitempty" jsonschema:"an operation, or a JSON-RPC method"`
	Path      string `json:"path,omitempty" jsonschema:"a path, or a pattern with *"`
	Status    int    `json:"status,omitempty" jsonschema:"of the response"`
	Client    string `json:"client,omitempty" jsonschema:"address of the client, or a part of its user agent"`
	Failed    *bool  `json:"failed,omitempty" jsonschema:"whether it failed"`
	Limit     int    `json:"limit,omitempty" jsonschema:"default: 20; at most 500"`
}) (string, error) {
	if in.ID != 0 {
		return w.get(ctx, "/sim/requests/"+strconv.Itoa(in.ID))
	}
	q := url.Values{"pageSize": {"20"}}
	for name, text := range map[string]string{"interface": in.Interface, "operation": in.Operation, "path": in.Path, "client": in.Client} {
		if text != "" {
			q.Set(name, text)
		}
	}
	for name, n := range map[string]int{"status": in.Status, "pageSize": in.Limit} {
		if n != 0 {
			q.Set(name, strconv.Itoa(n))
		}
	}
	if in.Failed != nil {
		q.Set("failed", strconv.FormatBool(*in.Failed))
	}
	return w.get(ctx, "/sim/requests?"+q.Encode())
}
