package primary_test

import (
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestNoPrimaryStatementScansATable checks the query plan of every statement that the operations prepared.
func TestNoPrimaryStatementScansATable(t *testing.T) {
	g := datatest.Open(t, 1)
	visitPrimary(t, g)
	datatest.ScansNothing(t, g.DB)
}

// visitPrimary calls every operation of the primary network.
func visitPrimary(t *testing.T, g *datatest.Globe) {
	t.Helper()
	base := "/v1/networks/mainnet"
	node := datatest.Dig(g.Get(t, base+"/validators"), "validators", 0, "nodeId").(string)
	address := g.Network(t, "mainnet").Rules.Bech32([20]byte{})
	for _, p := range []string{"", "/subnets", "/blockchains", "/blockchains/x-chain/assets/" + g.Network(t, "mainnet").Rules.AVAXAssetID.String(), "/addresses:listChainIds?addresses=" + address} {
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
}
