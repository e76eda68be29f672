package data_test

import (
	"strings"
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
	for _, p := range []string{"/v1/chains", "/v1/blocks", "/v1/transactions", "/v1/health-check", "/v1/live-check",
		"/v1/address/" + g.Persona(t, "alice") + "/chains"} {
		g.Get(t, p)
	}
	visitPrimary(t, g)
}

// visitPrimary calls every operation of the primary network.
func visitPrimary(t *testing.T, g *datatest.Globe) {
	t.Helper()
	base := "/v1/networks/mainnet"
	node := datatest.Dig(g.Get(t, base+"/validators"), "validators", 0, "nodeId").(string)
	address := g.Network(t, "mainnet").Rules.Bech32([20]byte{})
	for _, p := range []string{"", "/subnets", "/blockchains", "/rewards?nodeIds=" + node, "/rewards:listPending?nodeIds=" + node,
		"/blockchains/x-chain/assets/" + g.Network(t, "mainnet").Rules.AVAXAssetID.String(), "/validators/" + node, "/delegators", "/l1Validators", "/addresses:listChainIds?addresses=" + address} {
		g.Get(t, base+p)
	}
	for _, chain := range []string{"p-chain", "x-chain", "c-chain"} {
		block := g.Get(t, base+"/blockchains/"+chain+"/blocks?startTimestamp=1&endTimestamp=9999999999")
		g.Get(t, base+"/blockchains/"+chain+"/blocks/"+datatest.Dig(block, "blocks", 0, "blockHash").(string))
		g.Get(t, base+"/blockchains/"+chain+"/nodes/"+node+"/blocks")
		visitOwners(t, g, base+"/blockchains/"+chain)
	}
	g.Get(t, "/v1/avax/supply")
}

// visitOwners calls every operation about transactions and outputs.
func visitOwners(t *testing.T, g *datatest.Globe, base string) {
	t.Helper()
	owner := g.Owner(t, "mainnet", "traveller")
	validation := datatest.Dig(g.Get(t, "/v1/networks/mainnet/l1Validators"), "validators", 0, "validationId").(string)
	asset := g.Network(t, "mainnet").Rules.AVAXAssetID.String()
	for _, order := range []string{"asc", "desc"} {
		for _, filter := range []string{"", "&txTypes=ImportTx,ExportTx"} {
			for _, about := range []string{"", "&addresses=" + owner, "&l1ValidationId=" + validation, "&l1ValidationId=" + validation + "&addresses=" + owner} {
				if !strings.Contains(about, "l1") || strings.Contains(base, "p-chain") {
					g.Get(t, base+"/transactions?sortOrder="+order+filter+about)
				}
			}
		}
		g.Get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&sortBy=amount&sortOrder="+order)
	}
	page := g.Get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&pageSize=1")
	if next, more := page["nextPageToken"].(string); more {
		g.Get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&pageSize=1&pageToken="+next)
	}
	g.Get(t, base+"/balances?addresses="+owner)
	g.Get(t, base+"/balances?blockTimestamp=1782000000&addresses="+owner)
	g.Get(t, base+"/utxos?addresses="+owner)
	g.Get(t, base+"/lastActivityTimestampByAddresses?addresses="+owner)
	if strings.Contains(base, "p-chain") {
		g.Get(t, base+"/transactions:listStaking?addresses="+owner)
		g.Get(t, base+"/transactions:listStaking")
	}
	if strings.Contains(base, "x-chain") {
		g.Get(t, base+"/assets/"+asset+"/transactions")
	}
	visitMessages(t, g)
}

// visitMessages requests cross-chain messages in every way, and signatures of some.
func visitMessages(t *testing.T, g *datatest.Globe) {
	t.Helper()
	all := g.Get(t, "/v1/icm/messages")
	first := datatest.Dig(all, "messages", 0).(datatest.Object)
	g.Get(t, "/v1/icm/messages/"+first["messageId"].(string))
	for _, filter := range []string{
		"", "sourceBlockchainId=43114", "destinationBlockchainId=43114", "blockchainId=43114", "network=mainnet", "from=" + first["from"].(string),
		"to=" + first["to"].(string), "from=" + first["from"].(string) + "&blockchainId=43114&network=mainnet", "blockchainId=43114&sourceBlockchainId=43114",
	} {
		g.Get(t, "/v1/icm/messages?"+filter)
	}
	g.Get(t, "/v1/icm/addresses/"+first["from"].(string)+"/messages")
	g.Get(t, "/v1/icm/addresses/"+first["from"].(string)+"/messages?network=mainnet")
	known := serveKnown(t, g.World)
	n := g.Network(t, "mainnet")
	known.Post(t, aggregator("mainnet"), askFor("message", hexOf(t, spoken(t, n, n.Rules.CChainID, "unsent"))), 503)
}
