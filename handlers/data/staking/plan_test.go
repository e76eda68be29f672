package staking_test

import (
	"testing"

	"snowglobe/handlers/data/datatest"
)

// TestNoStakingStatementScansATable checks the query plan of every statement that the operations prepared.
func TestNoStakingStatementScansATable(t *testing.T) {
	g := datatest.Open(t, 1)
	base := "/v1/networks/mainnet"
	node := datatest.Dig(g.Get(t, base+"/validators"), "validators", 0, "nodeId").(string)
	for _, p := range []string{"", "/rewards?nodeIds=" + node, "/rewards:listPending?nodeIds=" + node, "/validators/" + node, "/delegators", "/l1Validators"} {
		g.Get(t, base+p)
	}
	datatest.ScansNothing(t, g.DB)
}
