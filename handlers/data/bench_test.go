package data_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"snowglobe/handlers/data/datatest"
)

// discard is a client that ignores the response.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkOperations measures the operations without the network.
func BenchmarkOperations(b *testing.B) {
	g := datatest.Open(b, 1)
	c := g.Chains[0]
	alice, collector := g.Persona(b, "alice"), g.Persona(b, "collector")
	tx := g.Get(b, datatest.Path(c, "addresses", alice, "transactions:listErc20"))
	for _, o := range []struct{ name, path string }{
		{"chain", "/v1/chains/43114"},
		{"block", datatest.Path(c, "blocks/5")},
		{"blocks", datatest.Path(c, "blocks")},
		{"transaction", datatest.Path(c, "transactions", datatest.Dig(tx, "transactions", 0, "txHash").(string))},
		{"transactions", datatest.Path(c, "transactions")},
		{"native", datatest.Path(c, "addresses", alice, "transactions:listNative")},
		{"internals", datatest.Path(c, "addresses", alice, "transactions:listInternals")},
		{"erc20", datatest.Path(c, "addresses", alice, "transactions:listErc20")},
		{"erc721", datatest.Path(c, "addresses", collector, "transactions:listErc721")},
		{"history", datatest.Path(c, "addresses", alice, "transactions")},
		{"getNative", datatest.Path(c, "addresses", alice, "balances:getNative")},
		{"balances", datatest.Path(c, "addresses", alice, "balances:listErc20")},
		{"collectibles", datatest.Path(c, "addresses", collector, "balances:listCollectibles")},
		{"nfts", datatest.Path(c, "nfts/collections", g.Contract(b, c, "collection"), "tokens")},
		{"contract", datatest.Path(c, "addresses", g.Contract(b, c, "usdx"))},
		{"deployment", datatest.Path(c, "contracts", g.Contract(b, c, "usdx"), "transactions:getDeployment")},
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
				g.Server.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest(http.MethodGet, o.path, nil))
			}
		})
	}
}
