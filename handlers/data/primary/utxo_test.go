package primary_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/txs"
)

var (
	amountFields       = datatest.Fields{"assetId": "string", "name": "string", "symbol": "string", "denomination": "integer", "type": "string", "amount": "string"}
	platformUTXOFields = datatest.Fields{"addresses": "array", "asset": "object", "consumedOnChainId": "string", "consumingTxHash?": "string",
		"createdOnChainId": "string", "utxoId": "string", "utxoBytes": "string", "amount": "string", "assetId": "string", "blockNumber": "string",
		"blockTimestamp": "integer", "consumingBlockNumber?": "string", "consumingBlockTimestamp?": "integer", "platformLocktime?": "integer",
		"outputIndex": "integer", "rewardType?": "string", "stakeableLocktime?": "integer", "staked": "boolean", "threshold": "integer",
		"txHash": "string", "utxoEndTimestamp?": "integer", "utxoStartTimestamp?": "integer", "utxoType": "string"}
	utxoFields = datatest.Fields{"addresses": "array", "asset": "object", "consumedOnChainId": "string", "consumingTxHash?": "string", "createdOnChainId": "string",
		"utxoId": "string", "utxoBytes": "string", "consumingTxTimestamp?": "integer", "creationTxHash": "string", "credentials?": "array",
		"groupId?": "integer", "locktime": "integer", "outputIndex": "string", "payload?": "string", "threshold": "integer", "timestamp": "integer", "utxoType": "string"}
	platformTxFields = datatest.Fields{"txHash": "string", "txType": "string", "blockTimestamp": "integer", "blockNumber": "string", "blockHash": "string",
		"consumedUtxos": "array", "emittedUtxos": "array", "sourceChain?": "string", "destinationChain?": "string", "value": "array",
		"amountBurned": "array", "amountStaked": "array", "amountL1ValidatorBalanceBurned": "array", "startTimestamp?": "integer",
		"endTimestamp?": "integer", "delegationFeePercent?": "string", "nodeId?": "string", "subnetId?": "string", "l1ValidatorManagerDetails?": "object",
		"l1ValidatorDetails?": "array", "estimatedReward?": "string", "rewardTxHash?": "string", "rewardAddresses?": "array", "memo?": "string",
		"stakingTxHash?": "string", "subnetOwnershipInfo?": "object", "blsCredentials?": "object", "blockchainInfo?": "object"}
	exchangeTxFields = datatest.Fields{"txHash": "string", "chainFormat": "string", "timestamp": "integer", "txType": "string", "memo": "string",
		"consumedUtxos": "array", "emittedUtxos": "array", "amountUnlocked": "array", "amountCreated": "array", "sourceChain?": "string",
		"destinationChain?": "string", "assetCreated?": "object", "blockHeight": "integer", "blockHash": "string"}
	atomicTxFields = datatest.Fields{"txHash": "string", "blockHeight": "integer", "blockHash": "string", "timestamp": "integer", "memo": "string",
		"amountUnlocked": "array", "amountCreated": "array", "sourceChain": "string", "destinationChain": "string", "txType": "string"}
	atomicTxParts = map[any]datatest.Fields{"ExportTx": {"evmInputs": "array", "emittedUtxos": "array"}, "ImportTx": {"evmOutputs": "array", "consumedUtxos": "array"}}
	// wanted lists the fields, beyond the common ones, that a type of P-Chain transaction must have.
	wanted = map[any][]string{
		"AddPermissionlessValidatorTx": {"startTimestamp", "endTimestamp", "delegationFeePercent", "nodeId", "subnetId", "estimatedReward", "rewardAddresses", "blsCredentials"},
		"AddPermissionlessDelegatorTx": {"startTimestamp", "endTimestamp", "nodeId", "subnetId", "estimatedReward", "rewardAddresses"},
		"AddSubnetValidatorTx":         {"startTimestamp", "endTimestamp", "nodeId", "subnetId"},
		"RemoveSubnetValidatorTx":      {"nodeId", "subnetId"},
		"RewardValidatorTx":            {"stakingTxHash", "nodeId", "rewardAddresses"},
		"CreateSubnetTx":               {"subnetId", "subnetOwnershipInfo"},
		"TransferSubnetOwnershipTx":    {"subnetId", "subnetOwnershipInfo"},
		"CreateChainTx":                {"subnetId", "blockchainInfo"},
		"ConvertSubnetToL1Tx":          {"subnetId", "l1ValidatorManagerDetails", "l1ValidatorDetails"},
		"RegisterL1ValidatorTx":        {"l1ValidatorDetails"}, "SetL1ValidatorWeightTx": {"l1ValidatorDetails"},
		"IncreaseL1ValidatorBalanceTx": {"l1ValidatorDetails"}, "DisableL1ValidatorTx": {"l1ValidatorDetails"},
		"ImportTx": {"sourceChain", "destinationChain"}, "ExportTx": {"sourceChain", "destinationChain"},
	}
)

// TestTransactionsHaveTheirFields compares every transaction, and every output in it, with the live service's models.
func TestTransactionsHaveTheirFields(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		for _, chain := range datatest.Chains {
			seen := map[any]bool{}
			for _, tx := range g.Pages(t, "/v1/networks/"+network+"/blockchains/"+chain+"/transactions", "transactions", 50) {
				kind := tx["txType"]
				seen[kind] = true
				want, of := exchangeTxFields, utxoFields
				switch chain {
				case "p-chain":
					want, of = platformTxFields, platformUTXOFields
					for _, name := range wanted[kind] {
						if tx[name] == nil {
							t.Errorf("%v %v has no %s", kind, tx["txHash"], name)
						}
					}
				case "c-chain":
					want = atomicTxFields.With(atomicTxParts[kind])
				}
				want.Check(t, fmt.Sprint(chain, " ", kind), tx)
				for _, name := range []string{"consumedUtxos", "emittedUtxos"} {
					list, _ := tx[name].([]any)
					for _, u := range list {
						of.Check(t, "output", u)
						amountFields.Check(t, "asset of an output", datatest.Dig(u, "asset"))
					}
				}
			}
			if chain == "p-chain" && len(seen) < len(wanted) {
				t.Errorf("%s has only transactions %v", network, seen)
			}
		}
	}
}

// TestBodiesAskLikeQueries compares both forms, with duplicates and every prefix.
func TestBodiesAskLikeQueries(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		traveller, alice := g.Owner(t, network, "traveller"), g.Owner(t, network, "alice")
		for _, chain := range datatest.Chains {
			base := "/v1/networks/" + network + "/blockchains/" + chain
			for _, path := range []string{"/utxos", "/lastActivityTimestampByAddresses"} {
				if chain == "c-chain" && path != "/utxos" {
					continue
				}
				asked := g.Get(t, base+path+"?addresses="+traveller+","+alice)
				delete(asked, "nextPageToken") // belongs to its query
				for _, list := range []string{traveller + "," + alice, "P-" + traveller + ", X-" + alice + ",C-" + traveller} {
					told := g.Post(t, base+path, `{"addresses":"`+list+`"}`, 200)
					delete(told, "nextPageToken")
					if datatest.Encode(told) != datatest.Encode(asked) {
						t.Errorf("POST %s answers %v: want %v", base+path, told, asked)
					}
				}
			}
			g.Post(t, base+"/utxos", `{"addresses":""}`, 400)
			g.Post(t, base+"/utxos", `{}`, 400)
			g.Post(t, base+"/utxos", `{"addresses":"`+strings.Repeat(traveller+",", 1024)+alice+`"}`, 400)
			g.Post(t, base+"/utxos?pageSize=1025", `{"addresses":"`+traveller+`"}`, 400)
		}
	}
}

// TestBalancesOfThePast takes the times of every transaction of a persona and compares its balance then with its outputs.
func TestBalancesOfThePast(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		for _, name := range []string{"traveller", "staker"} {
			who := g.Owner(t, network, name)
			base := "/v1/networks/" + network + "/blockchains/p-chain"
			now := datatest.Encode(g.Get(t, base+"/balances?addresses="+who))
			for _, later := range []int64{g.Clock.Unix(), g.Clock.Unix() + 1, 1 << 40} {
				if have := datatest.Encode(g.Get(t, fmt.Sprint(base, "/balances?addresses=", who, "&blockTimestamp=", later))); have != now {
					t.Errorf("balance at %d is %s: want %s", later, have, now)
				}
			}
			outputs := g.Pages(t, base+"/utxos?includeSpent=true&addresses="+who, "utxos", 100)
			for _, tx := range g.Pages(t, base+"/transactions?addresses="+who, "transactions", 50) {
				for _, at := range []int64{datatest.Integer(tx["blockTimestamp"]) - 1, datatest.Integer(tx["blockTimestamp"])} {
					want := int64(0)
					for _, u := range outputs {
						if datatest.Integer(u["blockTimestamp"]) <= at && (u["consumingTxHash"] == nil || datatest.Integer(u["consumingBlockTimestamp"]) > at) {
							want += datatest.Integer(u["amount"])
						}
					}
					have := int64(0)
					balances := g.Get(t, fmt.Sprint(base, "/balances?addresses=", who, "&blockTimestamp=", at))["balances"]
					for _, list := range balances.(datatest.Object) {
						for _, sum := range datatest.Objects(list) {
							have += datatest.Integer(sum["amount"])
						}
					}
					if have != want {
						t.Errorf("%s had %d at %d: want %d", name, have, at, want)
					}
				}
			}
		}
	}
}

// TestListsHaveWhatIsStakedAndOnItsWay walks the present and past outputs of personas on each chain: active stakes are listed until their end,
// exports are in the lists of both chains with the importing transaction, and the fields are the live service's.
func TestListsHaveWhatIsStakedAndOnItsWay(t *testing.T) {
	g := datatest.Open(t, 1)
	seen := map[string]int{}
	for _, network := range datatest.Networks {
		now := g.Clock.Unix()
		for _, name := range []string{"traveller", "staker", "delegator", "locked", "alice"} {
			who, lists := g.Owner(t, network, name), map[string]map[any]datatest.Object{}
			for _, chain := range datatest.Chains {
				lists[chain] = map[any]datatest.Object{}
				list := g.Pages(t, "/v1/networks/"+network+"/blockchains/"+chain+"/utxos?includeSpent=true&pageSize=7&addresses="+who, "utxos", 7)
				for i, u := range list {
					lists[chain][u["utxoId"]] = u
					if i > 0 && u["blockTimestamp"] == list[i-1]["blockTimestamp"] && u["timestamp"] == list[i-1]["timestamp"] && fmt.Sprint(u["utxoId"]) >= fmt.Sprint(list[i-1]["utxoId"]) {
						t.Errorf("%v comes after %v on the %s", u["utxoId"], list[i-1]["utxoId"], chain)
					}
				}
			}
			for chain, list := range lists {
				for id, u := range list {
					from, to := chainOf(t, g, network, u["createdOnChainId"]), chainOf(t, g, network, u["consumedOnChainId"])
					if lists[from][id] == nil || lists[to][id] == nil {
						t.Errorf("%v goes from %s to %s and is not in both lists", id, from, to)
					}
					if from != to {
						seen["crossing"]++
						if u["platformLocktime"] != nil || lists[from][id]["consumingTxHash"] != lists[to][id]["consumingTxHash"] {
							t.Errorf("%v on the %s is %v", id, chain, u)
						}
						if u["consumingTxHash"] != nil {
							seen["imported"]++
							g.Get(t, "/v1/networks/"+network+"/blockchains/"+to+"/transactions/"+u["consumingTxHash"].(string))
						}
					}
					if chain != "p-chain" {
						continue
					}
					if u["rewardType"] != nil || (u["utxoType"] == "STAKE") != (u["stakeableLocktime"] != nil) {
						t.Errorf("%v is %v", id, u)
					}
					if u["utxoType"] == "STAKE" {
						seen["stakeable"]++
					}
					if u["staked"] == true {
						seen["staked"]++
						if u["consumingTxHash"] != nil || datatest.Integer(u["utxoEndTimestamp"]) <= now {
							t.Errorf("stake %v is %v", id, u)
						}
						tx := g.Get(t, "/v1/networks/"+network+"/blockchains/p-chain/transactions/"+u["txHash"].(string))
						if tx["blockNumber"] != u["blockNumber"] || !slices.ContainsFunc(datatest.Objects(tx["emittedUtxos"]), func(o datatest.Object) bool { return o["utxoId"] == id && o["utxoBytes"] == u["utxoBytes"] }) {
							t.Errorf("stake %v is not what %v emitted", id, u["txHash"])
						}
					}
				}
			}
		}
	}
	for _, kind := range []string{"crossing", "imported", "staked", "stakeable"} {
		if seen[kind] == 0 {
			t.Errorf("nobody has anything %s", kind)
		}
	}
}

// TestBalancesSayWhatIsOnItsWay: an export from the P-Chain that is not imported is its pendingExport, an output that it can import its
// pendingImport. Both are shared with the other chain, which has the same amounts.
func TestBalancesSayWhatIsOnItsWay(t *testing.T) {
	g := datatest.Open(t, 1)
	seen := map[any]int{}
	for _, network := range datatest.Networks {
		for _, name := range []string{"traveller", "alice", "bob", "whale", "committee"} {
			who, base := g.Owner(t, network, name), "/v1/networks/"+network+"/blockchains/"
			type share struct{ chain, other, status any }
			want, have := map[share][2]int64{}, map[share][2]int64{}
			for _, chain := range datatest.Chains {
				for _, u := range g.Pages(t, base+chain+"/utxos?addresses="+who, "utxos", 100) {
					s := share{chain, u["consumedOnChainId"], "pendingExport"}
					if chainOf(t, g, network, s.other) == chain {
						s.other, s.status = u["createdOnChainId"], "pendingImport"
					}
					if u["createdOnChainId"] == u["consumedOnChainId"] {
						continue
					}
					if chain != "p-chain" { // X and C have no status
						s.status = nil
					}
					seen[s.status]++
					sum := want[s]
					want[s] = [2]int64{sum[0] + datatest.Integer(datatest.Dig(u, "asset", "amount")), sum[1] + 1}
				}
				balances := g.Get(t, base+chain+"/balances?addresses="+who)["balances"]
				for _, list := range []string{"atomicMemoryUnlocked", "atomicMemoryLocked"} {
					for _, b := range datatest.Objects(datatest.Dig(balances, list)) {
						s := share{chain, b["sharedWithChainId"], b["status"]}
						sum := have[s]
						have[s] = [2]int64{sum[0] + datatest.Integer(b["amount"]), sum[1] + datatest.Integer(b["utxoCount"])}
					}
				}
			}
			if !reflect.DeepEqual(have, want) {
				t.Errorf("%s on %s has %v on the way: want %v", name, network, have, want)
			}
		}
	}
	if seen["pendingExport"] == 0 { // what the P-Chain can import, a client's transactions leave
		t.Errorf("nobody has anything on the way: %v", seen)
	}
}

// chainOf returns the alias of a chain.
func chainOf(t *testing.T, g *datatest.Globe, network string, id any) string {
	t.Helper()
	n := g.Network(t, network)
	for i, alias := range datatest.Chains {
		if n.Rules.BlockchainID(txs.Chain(i)).String() == id {
			return alias
		}
	}
	t.Fatalf("%v is no primary chain", id)
	return ""
}
