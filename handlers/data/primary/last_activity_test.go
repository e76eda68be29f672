package primary_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestLastActivityIsTheNewestTransaction compares with each persona's newest transaction that touched one of its outputs, or with its genesis outputs
// if there is none.
func TestLastActivityIsTheNewestTransaction(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		for _, chain := range datatest.Chains {
			base := "/v1/networks/" + network + "/blockchains/" + chain
			for _, name := range []string{"alice", "traveller", "hoarder", "delegator", "staker", "committee", "locked", "nobody"} {
				who := g.Owner(t, network, name)
				want := newestMove(g.Pages(t, base+"/transactions?addresses="+who, "transactions", 20), who)
				outputs := g.Pages(t, base+"/utxos?includeSpent=true&addresses="+who, "utxos", 100)
				if want == nil && len(outputs) > 0 && chain != "c-chain" {
					first := outputs[0]
					want = datatest.Object{"utxoId": first["utxoId"], "isConsumed": false, "txHash": first["txHash"]}
					if chain == "x-chain" {
						want["txHash"] = first["creationTxHash"]
					}
				}
				if want == nil {
					g.Ask(t, base+"/lastActivityTimestampByAddresses?addresses="+who, 404)
					continue
				}
				have := g.Get(t, base+"/lastActivityTimestampByAddresses?addresses="+who)
				for field, value := range want {
					if have[field] != value {
						t.Errorf("%s of %s on %s is %v: want %v", field, name, chain, have[field], value)
					}
				}
			}
		}
	}
}

// newestMove returns the newest transaction's effect on an owner's outputs, nil if none has any.
func newestMove(transactions []datatest.Object, who string) (move datatest.Object) {
	for _, tx := range transactions {
		for _, kind := range []string{"consumedUtxos", "emittedUtxos"} {
			list, _ := tx[kind].([]any)
			for _, u := range list {
				if datatest.Holds(datatest.Dig(u, "addresses"), who) {
					move = datatest.Object{"txHash": tx["txHash"], "utxoId": datatest.Dig(u, "utxoId"), "isConsumed": kind == "consumedUtxos"}
				}
			}
		}
		if move != nil {
			return move
		}
	}
	return nil
}

// TestOwnersOfTheGenesisAreKnown asks about every owner in a genesis: it has interacted with each such chain, was last active at the genesis or
// later, and its remaining outputs are in both lists of balances.
func TestOwnersOfTheGenesisAreKnown(t *testing.T) {
	g := datatest.Open(t, 1)
	quiet := 0 // owners that have done nothing since
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			chain := n.Chain(kind)
			base := "/v1/networks/" + network + "/blockchains/" + datatest.Chains[kind]
			made, err := n.DB.UTXOsOfBlock(t.Context(), chain, 0)
			if err != nil || len(made) == 0 {
				t.Fatal(len(made), err)
			}
			began := g.Get(t, base+"/blocks/0")["blockTimestamp"]
			owners := ownersOf(t, n.Rules, kind, made)
			for i, who := range slices.Sorted(maps.Keys(owners)) {
				if testing.Short() && i%4 != 0 {
					continue
				}
				outputs := owners[who]
				seen := g.Get(t, "/v1/networks/"+network+"/addresses:listChainIds?addresses="+who)
				if !datatest.Holds(datatest.Dig(seen, "addresses", 0, "blockchainIds"), n.Rules.BlockchainID(kind).String()) {
					t.Errorf("%s has outputs of the %s's genesis: it was seen on %v", who, datatest.Chains[kind], seen)
				}
				last := g.Get(t, base+"/lastActivityTimestampByAddresses?addresses="+who)
				if datatest.Integer(last["timestamp"]) < datatest.Integer(began) {
					t.Errorf("%s was last active at %v, before the genesis", who, last["timestamp"])
				}
				left := g.Pages(t, base+"/utxos?addresses="+who, "utxos", 100)
				if len(g.Pages(t, base+"/transactions?addresses="+who, "transactions", 100)) > 0 {
					continue
				}
				quiet++
				want := datatest.Object{"timestamp": began, "blockNumber": "0", "utxoId": outputs[len(outputs)-1], "isConsumed": false,
					"txHash": last["txHash"], "chainName": datatest.Chains[kind], "network": network}
				if datatest.Encode(last) != datatest.Encode(want) {
					t.Errorf("%s was last active %v: want %v", who, last, want)
				}
				if !slices.Contains(datatest.Text(left, "utxoId"), outputs[len(outputs)-1]) {
					t.Errorf("%s has no output %s", who, outputs[len(outputs)-1])
				}
			}
		}
	}
	if quiet == 0 {
		t.Error("everybody did something: nothing is tested")
	}
}

// ownersOf returns the owners of outputs, each with the ids of its outputs in order.
func ownersOf(t *testing.T, networkRules *rules.Network, kind txs.Chain, made []store.UTXO) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, u := range made {
		parsed, err := txs.ParseUTXO(kind, u.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range parsed.Owners().Addresses {
			who := networkRules.Bech32(address)
			all[who] = append(all[who], ids.ID(u.Hash).String())
		}
	}
	return all
}
