package info_test

import (
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// TestInfoKnowsTheChainsThatRunHere asks for every chain of the P-Chain: a node knows the ones it runs.
func TestInfoKnowsTheChainsThatRunHere(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0], false)
	rows, err := w.DB.Blockchains(t.Context(), n.network.Chain(txs.PChain))
	if err != nil || len(rows) < 2 {
		t.Fatal(rows, err)
	}
	elsewhere := 0
	for _, row := range rows {
		chain := ids.ID(row.Hash).String()
		if w.ChainByBlockchainID(ids.ID(row.Hash)) == nil {
			elsewhere++
			n.Refuses("there is no ID with alias: "+chain, "info.getBlockchainID", Object{"alias": chain})
			n.Refuses("there is no chain with alias/ID '"+chain+"'", "info.isBootstrapped", Object{"chain": chain})
			continue
		}
		n.Want(Object{"blockchainID": chain}, "info.getBlockchainID", Object{"alias": chain})
		n.Want(Object{"isBootstrapped": true}, "info.isBootstrapped", Object{"chain": chain})
	}
	if elsewhere == 0 {
		t.Error("every chain runs here")
	}
	for alias, id := range map[string]ids.ID{"P": ids.Empty, "X": n.network.Rules.XChainID, "C": n.network.Rules.CChainID} {
		n.Want(Object{"blockchainID": id}, "info.getBlockchainID", Object{"alias": alias})
		n.Want(Object{"isBootstrapped": true}, "info.isBootstrapped", Object{"chain": alias})
	}
	n.Refuses("argument 'chain' not given", "info.isBootstrapped", Object{})
	n.Refuses("there is no ID with alias: ", "info.getBlockchainID", Object{})
	n.network.Trouble.Set(sim.Troubles{NotBootstrapped: []ids.ID{n.network.Rules.CChainID}})
	n.Want(Object{"isBootstrapped": false}, "info.isBootstrapped", Object{"chain": "C"})
	n.Want(Object{"isBootstrapped": true}, "info.isBootstrapped", Object{"chain": "X"})
}
