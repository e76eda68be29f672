package data_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// allowed lists scans that read no table, only results that a statement made itself.
var allowed = regexp.MustCompile(`^SCAN (held|kept|found|k|item|\(subquery-\d+\)|CONSTANT ROW|\d+ CONSTANT ROWS?)$`)

var wasteful = regexp.MustCompile(`^SCAN |TEMP B-TREE|MULTI-INDEX`)

// TestNoStatementScansATable checks the query plan of every statement that the operations prepared.
func TestNoStatementScansATable(t *testing.T) {
	g := open(t, 1)
	visit(t, g)
	few := regexp.MustCompile(`FROM (chain|persona|primary_network)\b`) // a handful of rows, read completely
	for _, text := range g.DB.Statements() {
		plan, err := g.DB.Explain(context.Background(), text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, step := range plan {
			if wasteful.MatchString(step) && !allowed.MatchString(step) && !few.MatchString(text) {
				t.Errorf("%s in\n%s\n%q", step, text, plan)
			}
		}
	}
}

// visit calls every operation.
func visit(t *testing.T, g *globe) {
	t.Helper()
	for _, c := range g.Chains {
		alice := g.persona(t, "alice")
		for _, l := range addressLists {
			g.get(t, path(c, "addresses", alice, l.path))
		}
		g.get(t, path(c, "transactions?status=failed"))
		g.get(t, path(c, "transactions?status=success"))
		block := g.get(t, path(c, "blocks"))
		g.get(t, path(c, "blocks", dig(block, "blocks", 0, "blockHash").(string)))
		g.get(t, path(c, "blocks", dig(block, "blocks", 0, "blockNumber").(string), "transactions"))
		tx := g.get(t, path(c, "transactions"))
		g.get(t, path(c, "transactions", dig(tx, "transactions", 0, "txHash").(string)))
		g.get(t, path(c, "addresses", alice, "balances:getNative"))
		g.get(t, path(c, "nfts/collections", g.contract(t, c, "collection"), "tokens"))
		g.get(t, path(c, "nfts/collections", g.contract(t, c, "collection"), "tokens/1"))
		g.get(t, path(c, "tokens", g.contract(t, c, "usdx"), "transfers"))
		g.get(t, path(c, "addresses", g.contract(t, c, "usdx")))
		g.get(t, path(c, "contracts", g.contract(t, c, "usdx"), "transactions:getDeployment"))
		g.get(t, path(c, "contracts", g.persona(t, "deployer"), "deployments"))
	}
	for _, p := range []string{"/v1/chains", "/v1/blocks", "/v1/transactions", "/v1/health-check", "/v1/live-check",
		"/v1/address/" + g.persona(t, "alice") + "/chains"} {
		g.get(t, p)
	}
	visitPrimary(t, g)
}

// visitPrimary calls every operation of the primary network.
func visitPrimary(t *testing.T, g *globe) {
	t.Helper()
	base := "/v1/networks/mainnet"
	node := dig(g.get(t, base+"/validators"), "validators", 0, "nodeId").(string)
	address := ledger(t, g, "mainnet").Rules.Bech32([20]byte{})
	for _, p := range []string{"", "/subnets", "/blockchains", "/rewards?nodeIds=" + node, "/rewards:listPending?nodeIds=" + node,
		"/blockchains/x-chain/assets/" + ledger(t, g, "mainnet").Rules.AVAXAssetID.String(), "/validators/" + node, "/delegators", "/l1Validators", "/addresses:listChainIds?addresses=" + address} {
		g.get(t, base+p)
	}
	for _, chain := range []string{"p-chain", "x-chain", "c-chain"} {
		block := g.get(t, base+"/blockchains/"+chain+"/blocks?startTimestamp=1&endTimestamp=9999999999")
		g.get(t, base+"/blockchains/"+chain+"/blocks/"+dig(block, "blocks", 0, "blockHash").(string))
		g.get(t, base+"/blockchains/"+chain+"/nodes/"+node+"/blocks")
		visitOwners(t, g, base+"/blockchains/"+chain)
	}
	g.get(t, "/v1/avax/supply")
}

// visitOwners calls every operation about transactions and outputs.
func visitOwners(t *testing.T, g *globe, base string) {
	t.Helper()
	owner := owner(t, g, "mainnet", "traveller")
	validation := dig(g.get(t, "/v1/networks/mainnet/l1Validators"), "validators", 0, "validationId").(string)
	asset := ledger(t, g, "mainnet").Rules.AVAXAssetID.String()
	for _, order := range []string{"asc", "desc"} {
		for _, filter := range []string{"", "&txTypes=ImportTx,ExportTx"} {
			for _, about := range []string{"", "&addresses=" + owner, "&l1ValidationId=" + validation, "&l1ValidationId=" + validation + "&addresses=" + owner} {
				if !strings.Contains(about, "l1") || strings.Contains(base, "p-chain") {
					g.get(t, base+"/transactions?sortOrder="+order+filter+about)
				}
			}
		}
		g.get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&sortBy=amount&sortOrder="+order)
	}
	page := g.get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&pageSize=1")
	if next, more := page["nextPageToken"].(string); more {
		g.get(t, base+"/utxos?addresses="+owner+"&includeSpent=true&pageSize=1&pageToken="+next)
	}
	g.get(t, base+"/balances?addresses="+owner)
	g.get(t, base+"/balances?blockTimestamp=1782000000&addresses="+owner)
	g.get(t, base+"/utxos?addresses="+owner)
	g.get(t, base+"/lastActivityTimestampByAddresses?addresses="+owner)
	if strings.Contains(base, "p-chain") {
		g.get(t, base+"/transactions:listStaking?addresses="+owner)
		g.get(t, base+"/transactions:listStaking")
	}
	if strings.Contains(base, "x-chain") {
		g.get(t, base+"/assets/"+asset+"/transactions")
	}
	visitMessages(t, g)
}

// visitMessages requests cross-chain messages in every way, and signatures of some.
func visitMessages(t *testing.T, g *globe) {
	t.Helper()
	all := g.get(t, "/v1/icm/messages")
	first := dig(all, "messages", 0).(object)
	g.get(t, "/v1/icm/messages/"+first["messageId"].(string))
	for _, filter := range []string{
		"", "sourceBlockchainId=43114", "destinationBlockchainId=43114", "blockchainId=43114", "network=mainnet", "from=" + first["from"].(string),
		"to=" + first["to"].(string), "from=" + first["from"].(string) + "&blockchainId=43114&network=mainnet", "blockchainId=43114&sourceBlockchainId=43114",
	} {
		g.get(t, "/v1/icm/messages?"+filter)
	}
	g.get(t, "/v1/icm/addresses/"+first["from"].(string)+"/messages")
	g.get(t, "/v1/icm/addresses/"+first["from"].(string)+"/messages?network=mainnet")
	known := serveKnown(t, g.World)
	n := ledger(t, g, "mainnet")
	known.post(t, aggregator("mainnet"), askFor("message", hexOf(t, spoken(t, n, n.Rules.CChainID, "unsent"))), 503)
}
