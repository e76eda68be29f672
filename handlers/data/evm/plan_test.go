package evm_test

import (
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestNoStatementScansATable checks the query plan of every statement that the operations prepared.
func TestNoStatementScansATable(t *testing.T) {
	g := datatest.Open(t, 1)
	visit(t, g)
	datatest.ScansNothing(t, g.DB)
}

// visit calls every operation.
func visit(t *testing.T, g *datatest.Globe) {
	t.Helper()
	for _, c := range g.Chains {
		alice := g.Persona(t, "alice")
		for _, l := range addressLists {
			g.Get(t, datatest.Path(c, "addresses", alice, l.path))
		}
		g.Get(t, datatest.Path(c, "transactions?status=failed"))
		g.Get(t, datatest.Path(c, "transactions?status=success"))
		block := g.Get(t, datatest.Path(c, "blocks"))
		g.Get(t, datatest.Path(c, "blocks", datatest.Dig(block, "blocks", 0, "blockHash").(string)))
		g.Get(t, datatest.Path(c, "blocks", datatest.Dig(block, "blocks", 0, "blockNumber").(string), "transactions"))
		tx := g.Get(t, datatest.Path(c, "transactions"))
		g.Get(t, datatest.Path(c, "transactions", datatest.Dig(tx, "transactions", 0, "txHash").(string)))
		g.Get(t, datatest.Path(c, "addresses", alice, "balances:getNative"))
		g.Get(t, datatest.Path(c, "nfts/collections", g.Contract(t, c, "collection"), "tokens"))
		g.Get(t, datatest.Path(c, "nfts/collections", g.Contract(t, c, "collection"), "tokens/1"))
		g.Get(t, datatest.Path(c, "tokens", g.Contract(t, c, "usdx"), "transfers"))
		g.Get(t, datatest.Path(c, "addresses", g.Contract(t, c, "usdx")))
		g.Get(t, datatest.Path(c, "contracts", g.Contract(t, c, "usdx"), "transactions:getDeployment"))
		g.Get(t, datatest.Path(c, "contracts", g.Persona(t, "deployer"), "deployments"))
	}
	for _, p := range []string{"/v1/chains", "/v1/blocks", "/v1/transactions",
		"/v1/address/" + g.Persona(t, "alice") + "/chains"} {
		g.Get(t, p)
	}
}
