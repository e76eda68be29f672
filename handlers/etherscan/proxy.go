package etherscan

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
)

var proxyActions = func() map[string]action {
	all := map[string]action{}
	for method := range methods {
		all["proxy."+method] = action{handle: proxied(method)}
	}
	return all
}()

// methods lists the methods of the module proxy with their parameters: names in the query, in the order of the call.
var methods = map[string][]string{
	"eth_blockNumber":                         nil,
	"eth_getBlockByNumber":                    {"tag", "boolean"},
	"eth_getUncleByBlockNumberAndIndex":       {"tag", "index"},
	"eth_getBlockTransactionCountByNumber":    {"tag"},
	"eth_getTransactionByHash":                {"txhash"},
	"eth_getTransactionByBlockNumberAndIndex": {"tag", "index"},
	"eth_getTransactionCount":                 {"address", "tag"},
	"eth_sendRawTransaction":                  {"hex"},
	"eth_getTransactionReceipt":               {"txhash"},
	"eth_call":                                {"{}", "tag"},
	"eth_getCode":                             {"address", "tag"},
	"eth_getStorageAt":                        {"address", "position", "tag"},
	"eth_gasPrice":                            nil,
	"eth_estimateGas":                         {"{}"},
}

// callFields lists the members of the object of eth_call and eth_estimateGas.
var callFields = []string{"from", "to", "data", "value", "gas", "gasPrice"}

// proxied forwards a call to the node, whose answer is sent as it is.
func proxied(method string) func(*request) (any, error) {
	return func(r *request) (any, error) {
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": r.params(methods[method])})
		if err != nil {
			return nil, err
		}
		path := "/ext/bc/" + ids.ID(r.chain.Row.BlockchainID).String() + "/rpc"
		call, err := http.NewRequestWithContext(rest.Inside(r.Context()), http.MethodPost, path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		call.Header = r.Header.Clone()
		call.Header.Set("Content-Type", "application/json")
		call.RemoteAddr, call.Host, call.TLS, call.RequestURI = r.RemoteAddr, r.Host, r.TLS, path
		w := rest.NewRecorder()
		r.api.options.Node.ServeHTTP(w, call)
		return raw{w.Status, bytes.TrimSpace(w.Body.Bytes())}, nil
	}
}

// params makes the parameters of a call. The tag defaults to latest.
func (r *request) params(names []string) []any {
	params := []any{}
	for _, name := range names {
		switch value := r.values[name]; {
		case name == "{}":
			object := map[string]string{}
			for _, field := range callFields {
				if value := r.values[strings.ToLower(field)]; value != "" {
					object[field] = value
				}
			}
			params = append(params, object)
		case name == "boolean":
			params = append(params, value == "true")
		case name == "tag" && value == "":
			params = append(params, "latest")
		default:
			params = append(params, value)
		}
	}
	return params
}
