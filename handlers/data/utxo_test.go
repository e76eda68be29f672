package data_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// owner returns a persona's address on a network.
func owner(t testing.TB, g *globe, network, name string) string {
	t.Helper()
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	networkRules := rules.Mainnet
	if network == "fuji" {
		networkRules = rules.Fuji
	}
	for _, p := range personas {
		if p.Name == name {
			key, err := txs.KeyFromBytes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			return networkRules.Bech32(key.Address())
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

var (
	amountFields       = fields{"assetId": "string", "name": "string", "symbol": "string", "denomination": "integer", "type": "string", "amount": "string"}
	platformUTXOFields = fields{"addresses": "array", "asset": "object", "consumedOnChainId": "string", "consumingTxHash?": "string",
		"createdOnChainId": "string", "utxoId": "string", "utxoBytes": "string", "amount": "string", "assetId": "string", "blockNumber": "string",
		"blockTimestamp": "integer", "consumingBlockNumber?": "string", "consumingBlockTimestamp?": "integer", "platformLocktime?": "integer",
		"outputIndex": "integer", "rewardType?": "string", "stakeableLocktime?": "integer", "staked": "boolean", "threshold": "integer",
		"txHash": "string", "utxoEndTimestamp?": "integer", "utxoStartTimestamp?": "integer", "utxoType": "string"}
	utxoFields = fields{"addresses": "array", "asset": "object", "consumedOnChainId": "string", "consumingTxHash?": "string", "createdOnChainId": "string",
		"utxoId": "string", "utxoBytes": "string", "consumingTxTimestamp?": "integer", "creationTxHash": "string", "credentials?": "array",
		"groupId?": "integer", "locktime": "integer", "outputIndex": "string", "payload?": "string", "threshold": "integer", "timestamp": "integer", "utxoType": "string"}
	platformTxFields = fields{"txHash": "string", "txType": "string", "blockTimestamp": "integer", "blockNumber": "string", "blockHash": "string",
		"consumedUtxos": "array", "emittedUtxos": "array", "sourceChain?": "string", "destinationChain?": "string", "value": "array",
		"amountBurned": "array", "amountStaked": "array", "amountL1ValidatorBalanceBurned": "array", "startTimestamp?": "integer",
		"endTimestamp?": "integer", "delegationFeePercent?": "string", "nodeId?": "string", "subnetId?": "string", "l1ValidatorManagerDetails?": "object",
		"l1ValidatorDetails?": "array", "estimatedReward?": "string", "rewardTxHash?": "string", "rewardAddresses?": "array", "memo?": "string",
		"stakingTxHash?": "string", "subnetOwnershipInfo?": "object", "blsCredentials?": "object", "blockchainInfo?": "object"}
	exchangeTxFields = fields{"txHash": "string", "chainFormat": "string", "timestamp": "integer", "txType": "string", "memo": "string",
		"consumedUtxos": "array", "emittedUtxos": "array", "amountUnlocked": "array", "amountCreated": "array", "sourceChain?": "string",
		"destinationChain?": "string", "assetCreated?": "object", "blockHeight": "integer", "blockHash": "string"}
	atomicTxFields = fields{"txHash": "string", "blockHeight": "integer", "blockHash": "string", "timestamp": "integer", "memo": "string",
		"amountUnlocked": "array", "amountCreated": "array", "sourceChain": "string", "destinationChain": "string", "txType": "string"}
	atomicTxParts = map[any]fields{"ExportTx": {"evmInputs": "array", "emittedUtxos": "array"}, "ImportTx": {"evmOutputs": "array", "consumedUtxos": "array"}}
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
	g := open(t, 1)
	for _, network := range networks {
		for _, chain := range chainAliases {
			seen := map[any]bool{}
			for _, tx := range g.pages(t, "/v1/networks/"+network+"/blockchains/"+chain+"/transactions", "transactions", 50) {
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
					want = atomicTxFields.with(atomicTxParts[kind])
				}
				want.check(t, fmt.Sprint(chain, " ", kind), tx)
				for _, name := range []string{"consumedUtxos", "emittedUtxos"} {
					list, _ := tx[name].([]any)
					for _, u := range list {
						of.check(t, "output", u)
						amountFields.check(t, "asset of an output", dig(u, "asset"))
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
	g := open(t, 1)
	for _, network := range networks {
		traveller, alice := owner(t, g, network, "traveller"), owner(t, g, network, "alice")
		for _, chain := range chainAliases {
			base := "/v1/networks/" + network + "/blockchains/" + chain
			for _, path := range []string{"/utxos", "/lastActivityTimestampByAddresses"} {
				if chain == "c-chain" && path != "/utxos" {
					continue
				}
				asked := g.get(t, base+path+"?addresses="+traveller+","+alice)
				delete(asked, "nextPageToken") // belongs to its query
				for _, list := range []string{traveller + "," + alice, "P-" + traveller + ", X-" + alice + ",C-" + traveller} {
					told := g.post(t, base+path, `{"addresses":"`+list+`"}`, 200)
					delete(told, "nextPageToken")
					if encode(told) != encode(asked) {
						t.Errorf("POST %s answers %v: want %v", base+path, told, asked)
					}
				}
			}
			g.post(t, base+"/utxos", `{"addresses":""}`, 400)
			g.post(t, base+"/utxos", `{}`, 400)
			g.post(t, base+"/utxos", `{"addresses":"`+strings.Repeat(traveller+",", 1024)+alice+`"}`, 400)
			g.post(t, base+"/utxos?pageSize=1025", `{"addresses":"`+traveller+`"}`, 400)
		}
	}
}

// TestBalancesOfThePast takes the times of every transaction of a persona and compares its balance then with its outputs.
func TestBalancesOfThePast(t *testing.T) {
	g := open(t, 1)
	for _, network := range networks {
		for _, name := range []string{"traveller", "staker"} {
			who := owner(t, g, network, name)
			base := "/v1/networks/" + network + "/blockchains/p-chain"
			now := encode(g.get(t, base+"/balances?addresses="+who))
			for _, later := range []int64{g.Clock.Unix(), g.Clock.Unix() + 1, 1 << 40} {
				if have := encode(g.get(t, fmt.Sprint(base, "/balances?addresses=", who, "&blockTimestamp=", later))); have != now {
					t.Errorf("balance at %d is %s: want %s", later, have, now)
				}
			}
			outputs := g.pages(t, base+"/utxos?includeSpent=true&addresses="+who, "utxos", 100)
			for _, tx := range g.pages(t, base+"/transactions?addresses="+who, "transactions", 50) {
				for _, at := range []int64{integer(tx["blockTimestamp"]) - 1, integer(tx["blockTimestamp"])} {
					want := int64(0)
					for _, u := range outputs {
						if integer(u["blockTimestamp"]) <= at && (u["consumingTxHash"] == nil || integer(u["consumingBlockTimestamp"]) > at) {
							want += integer(u["amount"])
						}
					}
					have := int64(0)
					balances := g.get(t, fmt.Sprint(base, "/balances?addresses=", who, "&blockTimestamp=", at))["balances"]
					for _, list := range balances.(object) {
						for _, sum := range objects(list) {
							have += integer(sum["amount"])
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
	g := open(t, 1)
	seen := map[string]int{}
	for _, network := range networks {
		now := g.Clock.Unix()
		for _, name := range []string{"traveller", "staker", "delegator", "locked", "alice"} {
			who, lists := owner(t, g, network, name), map[string]map[any]object{}
			for _, chain := range chainAliases {
				lists[chain] = map[any]object{}
				list := g.pages(t, "/v1/networks/"+network+"/blockchains/"+chain+"/utxos?includeSpent=true&pageSize=7&addresses="+who, "utxos", 7)
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
							g.get(t, "/v1/networks/"+network+"/blockchains/"+to+"/transactions/"+u["consumingTxHash"].(string))
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
						if u["consumingTxHash"] != nil || integer(u["utxoEndTimestamp"]) <= now {
							t.Errorf("stake %v is %v", id, u)
						}
						tx := g.get(t, "/v1/networks/"+network+"/blockchains/p-chain/transactions/"+u["txHash"].(string))
						if tx["blockNumber"] != u["blockNumber"] || !slices.ContainsFunc(objects(tx["emittedUtxos"]), func(o object) bool { return o["utxoId"] == id && o["utxoBytes"] == u["utxoBytes"] }) {
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
	g := open(t, 1)
	seen := map[any]int{}
	for _, network := range networks {
		for _, name := range []string{"traveller", "alice", "bob", "whale", "committee"} {
			who, base := owner(t, g, network, name), "/v1/networks/"+network+"/blockchains/"
			type share struct{ chain, other, status any }
			want, have := map[share][2]int64{}, map[share][2]int64{}
			for _, chain := range chainAliases {
				for _, u := range g.pages(t, base+chain+"/utxos?addresses="+who, "utxos", 100) {
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
					want[s] = [2]int64{sum[0] + integer(dig(u, "asset", "amount")), sum[1] + 1}
				}
				balances := g.get(t, base+chain+"/balances?addresses="+who)["balances"]
				for _, list := range []string{"atomicMemoryUnlocked", "atomicMemoryLocked"} {
					for _, b := range objects(dig(balances, list)) {
						s := share{chain, b["sharedWithChainId"], b["status"]}
						sum := have[s]
						have[s] = [2]int64{sum[0] + integer(b["amount"]), sum[1] + integer(b["utxoCount"])}
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
func chainOf(t *testing.T, g *globe, network string, id any) string {
	t.Helper()
	n := ledger(t, g, network)
	for i, alias := range chainAliases {
		if n.Rules.BlockchainID(txs.Chain(i)).String() == id {
			return alias
		}
	}
	t.Fatalf("%v is no primary chain", id)
	return ""
}

// objects returns the items of a list.
func objects(list any) (all []object) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, item.(object))
	}
	return all
}

// TestPageTokensAreShort follows each list of the primary network by pages of one: every token is one UUID.
func TestPageTokensAreShort(t *testing.T) {
	g := open(t, 1)
	const uuid = 36
	base := "/v1/networks/mainnet"
	hoarder := owner(t, g, "mainnet", "hoarder")
	node := dig(g.get(t, base+"/validators?sortOrder=asc"), "validators", 0, "nodeId").(string)
	for _, path := range []string{"/validators?", "/validators?sortBy=uptimePerformance&", "/delegators?", "/l1Validators?includeInactiveL1Validators=true&",
		"/subnets?", "/blockchains?", "/blockchains/p-chain/blocks?", "/blockchains/x-chain/transactions?", "/blockchains/x-chain/utxos?addresses=" + hoarder + "&",
		"/blockchains/x-chain/utxos?sortBy=amount&addresses=" + hoarder + "&", "/rewards?nodeIds=" + node + "&",
		"/../../icm/messages?", "/../../teleporter/messages?"} {
		page := g.get(t, strings.ReplaceAll(base+path, "/networks/mainnet/../..", "")+"pageSize=1")
		token, more := page["nextPageToken"].(string)
		if (more || !strings.HasPrefix(path, "/rewards")) && len(token) != uuid {
			t.Errorf("GET %s gives the token %q", path, token)
		}
	}
}
