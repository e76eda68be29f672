package icm_test

import (
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestNoMessageStatementScansATable requests cross-chain messages in every way, and signatures of some, and checks the query plan of every statement.
func TestNoMessageStatementScansATable(t *testing.T) {
	g := datatest.Open(t, 1)
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
	datatest.ScansNothing(t, g.DB)
}
