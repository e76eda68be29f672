package usage

import "strings"

// Costs of requests in credits, by the weights of the live service's operations.
const (
	small  = 10
	medium = 20
	xl     = 100
	xxl    = 200
)

// weights lists the costs that are not medium, by path prefix. The first match counts.
var weights = []struct {
	path    string
	credits int64
}{
	{"/v1/avax/", 0}, {"/v1/health-check", 0}, {"/v1/live-check", 0}, {"/v2/health-check", 0}, {"/v2/live-check", 0},
	{"/v1/apiUsageMetrics", xxl}, {"/v1/apiLogs", xxl}, {"/v1/subnetRpc", xxl}, {"/v1/rpcUsage", xxl}, {"/v1/primaryNetworkRpc", xxl},
	{"/v1/networks/{network}/blockchains/{blockchainId}/blocks/", xl}, {"/v1/networks/{network}/blockchains/{blockchainId}/balances", xl},
	{"/v1/networks/{network}/blockchains/{blockchainId}/transactions", xl}, {"/v1/networks/{network}/blockchains/{blockchainId}/utxos", xl},
	{"/v1/networks/{network}/blockchains/{blockchainId}/assets", xl}, {"/v1/networks/{network}/blockchains/{blockchainId}/lastActivity", xl},
	{"/v1/networks/{network}/rewards", xl}, {"/v1/networks/{network}/addresses", xl},
	{"/v1/chains/{chainId}/blocks", small}, {"/v1/operations/{operationId}", small}, {"/v1/webhooks", small}, {"/v2/chains/{chainId}/metrics", small},
	{"/v2/chains/{chainId}/rolling", small}, {"/v2/networks", small},
}

// free lists the paths of operations that cost nothing.
var free = map[string]bool{
	"/v1/chains": true, "/v1/chains/{chainId}": true, "/v1/chains/address/{address}": true, "/v1/chains/allTransactions": true,
	"/v1/chains/allBlocks": true, "/v2/chains": true, "/v2/chains/{chainId}": true, "/v1/networks/{network}": false,
}

func creditsOf(d *Dimensions) int64 {
	switch {
	case free[d.Path]:
		return 0
	case d.RequestType == "rpc" && (strings.HasPrefix(d.Method, "debug_") || strings.HasPrefix(d.Method, "trace_")):
		return xxl
	case d.RequestType == "rpc":
		return medium
	}
	for _, w := range weights {
		if strings.HasPrefix(d.Path, w.path) {
			return w.credits
		}
	}
	return medium
}
