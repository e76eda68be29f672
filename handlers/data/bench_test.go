package data_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// discard is a client that ignores the response.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkOperations measures the operations without the network.
func BenchmarkOperations(b *testing.B) {
	g := open(b, 1)
	c := g.Chains[0]
	alice, collector := g.persona(b, "alice"), g.persona(b, "collector")
	tx := g.get(b, path(c, "addresses", alice, "transactions:listErc20"))
	for _, o := range []struct{ name, path string }{
		{"chain", "/v1/chains/43114"},
		{"block", path(c, "blocks/5")},
		{"blocks", path(c, "blocks")},
		{"transaction", path(c, "transactions", dig(tx, "transactions", 0, "txHash").(string))},
		{"transactions", path(c, "transactions")},
		{"native", path(c, "addresses", alice, "transactions:listNative")},
		{"internals", path(c, "addresses", alice, "transactions:listInternals")},
		{"erc20", path(c, "addresses", alice, "transactions:listErc20")},
		{"erc721", path(c, "addresses", collector, "transactions:listErc721")},
		{"history", path(c, "addresses", alice, "transactions")},
		{"getNative", path(c, "addresses", alice, "balances:getNative")},
		{"balances", path(c, "addresses", alice, "balances:listErc20")},
		{"collectibles", path(c, "addresses", collector, "balances:listCollectibles")},
		{"nfts", path(c, "nfts/collections", g.contract(b, c, "collection"), "tokens")},
		{"contract", path(c, "addresses", g.contract(b, c, "usdx"))},
		{"deployment", path(c, "contracts", g.contract(b, c, "usdx"), "transactions:getDeployment")},
		{"allBlocks", "/v1/blocks"},
		{"allTransactions", "/v1/transactions"},
		{"validators", "/v1/networks/mainnet/validators"},
		{"validatorsFiltered", "/v1/networks/mainnet/validators?validationStatus=active&minUptimePerformance=80&nodeIds=a,b"},
		{"validatorsSorted", "/v1/networks/mainnet/validators?sortBy=timeRemaining&sortOrder=asc"},
		{"delegators", "/v1/networks/mainnet/delegators"},
		{"l1Validators", "/v1/networks/mainnet/l1Validators"},
		{"platformBlocks", "/v1/networks/mainnet/blockchains/p-chain/blocks"},
		{"platformBlocksByTime", "/v1/networks/mainnet/blockchains/p-chain/blocks?startTimestamp=1782000000"},
		{"atomicBlocks", "/v1/networks/mainnet/blockchains/c-chain/blocks"},
	} {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.server.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest(http.MethodGet, o.path, nil))
			}
		})
	}
}
