// Part of TestDataAPIAgreesWithTheNode: blocks and outputs of P and X, read through both interfaces of one server.

package handlers_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
)

// compareBlocks compares every block of the P- and the X-Chain.
func (v *views) compareBlocks() {
	v.Helper()
	for chain, service := range map[string]string{"p": "platform", "x": "xvm"} {
		for _, have := range v.pages("/blockchains/"+chain+"-chain/blocks", "blocks") {
			if have["blockNumber"] == "0" {
				continue
			}
			args := map[string]any{"height": have["blockNumber"], "encoding": "json"}
			want := v.rpc("bc/"+strings.ToUpper(chain), service+".getBlockByHeight", args)["block"].(object)
			txs := objects(want["txs"])
			if tx, ok := want["tx"].(object); ok {
				txs = append(txs, tx)
			}
			hashes := []any{}
			for _, tx := range txs {
				hashes = append(hashes, tx["id"])
			}
			what := fmt.Sprint(chain, "-chain block ", have["blockNumber"])
			v.same(what, have["blockHash"], want["id"], have["parentHash"], want["parentID"], have["txCount"], len(txs), have["transactions"], hashes)
			if want["time"] != nil {
				v.same(what, have["blockTimestamp"], want["time"])
			}
		}
	}
}

// compareHistory replays every transaction of a network and compares the resulting outputs with the listed ones.
func (v *views) compareHistory() {
	v.Helper()
	made, spent := map[string]object{}, map[string]bool{}
	for _, chain := range []string{"p-chain", "x-chain", "c-chain"} {
		for _, tx := range v.pages("/blockchains/"+chain+"/transactions", "transactions") {
			one := v.get(fmt.Sprint("/blockchains/", chain, "/transactions/", tx["txHash"]))
			v.same(fmt.Sprint("transaction ", tx["txHash"]), fmt.Sprint(one), fmt.Sprint(tx))
			for _, u := range objects(tx["emittedUtxos"]) {
				if id := fmt.Sprint(u["utxoId"]); made[id] != nil {
					v.Errorf("output %s is made twice", id)
				} else {
					made[id] = u
				}
			}
			for _, u := range objects(tx["consumedUtxos"]) {
				id := fmt.Sprint(u["utxoId"])
				if spent[id] || u["consumingTxHash"] != tx["txHash"] {
					v.Errorf("output %s is spent twice, or by %v", id, u["consumingTxHash"])
				}
				spent[id] = true
			}
			v.conserved(chain, tx)
		}
	}
	for _, name := range []string{"alice", "bob", "whale", "hoarder", "traveller", "staker", "delegator", "committee", "locked", "ewoq"} {
		v.compareOutputs(v.owner(name), made, spent)
	}
}

// conserved checks that a transaction consumes exactly what it emits, burns and adds to balances.
func (v *views) conserved(chain string, tx object) {
	v.Helper()
	const avax = "Avalanche"
	sum := func(list any, signs ...int64) *big.Int {
		total := new(big.Int)
		for _, o := range objects(list) {
			asset := o
			if inner, ok := o["asset"].(object); ok {
				asset = inner
			}
			if asset["name"] == avax {
				n, _ := new(big.Int).SetString(fmt.Sprint(asset["amount"]), 10)
				total.Add(total, n)
			}
		}
		return total
	}
	what := fmt.Sprint("transaction ", tx["txHash"])
	switch {
	case tx["txType"] == "RewardValidatorTx":
	case chain == "p-chain":
		left := new(big.Int).Sub(sum(tx["consumedUtxos"]), sum(tx["emittedUtxos"]))
		left.Sub(left, sum(tx["amountBurned"]))
		for _, c := range objects(tx["l1ValidatorDetails"]) {
			if c["balanceChange"] != nil {
				left.Sub(left, big.NewInt(integer(c["balanceChange"])))
			}
		}
		if fee := tx["amountBurned"].([]any); left.Sign() != 0 && (len(fee) > 0 || tx["consumedUtxos"] != nil && len(tx["consumedUtxos"].([]any)) > 0) {
			v.Errorf("%s, a %v, leaves %s", what, tx["txType"], left)
		}
		v.same(what, sum(tx["value"]), sum(tx["emittedUtxos"]))
	case chain == "x-chain":
		v.same(what, sum(tx["amountUnlocked"]), sum(tx["consumedUtxos"]), sum(tx["amountCreated"]), sum(tx["emittedUtxos"]))
	default:
		v.same(what, sum(tx["amountUnlocked"]), new(big.Int).Add(sum(tx["consumedUtxos"]), sum(tx["evmInputs"])),
			sum(tx["amountCreated"]), new(big.Int).Add(sum(tx["emittedUtxos"]), sum(tx["evmOutputs"])))
	}
}

// compareOutputs compares an owner's outputs with those that transactions created and did not spend.
func (v *views) compareOutputs(owner string, made map[string]object, spent map[string]bool) {
	v.Helper()
	for chain, id := range map[string]ids.ID{"p-chain": ids.Empty, "x-chain": v.l.Rules.XChainID, "c-chain": v.l.Rules.CChainID} {
		var want []string
		for hash, u := range made {
			if own := u["createdOnChainId"] == id.String() || u["consumedOnChainId"] == id.String(); !spent[hash] && own && slices.Contains(u["addresses"].([]any), any(owner)) {
				want = append(want, hash)
			}
		}
		var have []string
		for _, u := range v.pages("/blockchains/"+chain+"/utxos?addresses="+owner, "utxos") {
			if u["txHash"] != ids.Empty.String() && u["creationTxHash"] != ids.Empty.String() { // nor does the P-Chain's genesis
				have = append(have, fmt.Sprint(u["utxoId"]))
			}
			if spent[fmt.Sprint(u["utxoId"])] || u["consumingTxHash"] != nil {
				v.Errorf("output %v is listed and spent", u["utxoId"])
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		v.same("outputs of "+owner+" on the "+chain, have, want)
		every := by(v.pages("/blockchains/"+chain+"/utxos?includeSpent=true&addresses="+owner, "utxos"), "utxoId")
		for hash, u := range made {
			if spent[hash] && (u["createdOnChainId"] == id.String() || u["consumedOnChainId"] == id.String()) && slices.Contains(u["addresses"].([]any), any(owner)) {
				v.same("spent output "+hash, every[hash]["consumingTxHash"] != nil, true)
			}
		}
	}
}

// compareOwners compares outputs and balances of personas.
func (v *views) compareOwners() {
	v.Helper()
	for _, name := range []string{"alice", "hoarder", "traveller", "staker", "delegator", "committee", "locked"} {
		owner := v.owner(name)
		for chain, service := range map[string]string{"P": "platform", "X": "xvm"} {
			var have []string
			for _, u := range v.pages("/blockchains/"+strings.ToLower(chain)+"-chain/utxos?addresses="+chain+"-"+owner, "utxos") {
				if u["createdOnChainId"] == u["consumedOnChainId"] && u["staked"] != true { // the node lists only what the chain itself can spend
					have = append(have, fmt.Sprint(u["utxoBytes"]))
				}
			}
			want := v.utxos(chain, service, owner)
			slices.Sort(have)
			slices.Sort(want)
			v.same(name+"'s outputs on "+chain, have, want)
		}
		v.comparePlatformBalance(owner)
		v.compareExchangeBalance(owner)
	}
}

// utxos returns everything that the node lists.
func (v *views) utxos(chain, service, owner string) (all []string) {
	args := map[string]any{"addresses": []string{chain + "-" + owner}, "limit": 1024}
	for {
		page := v.rpc("bc/"+chain, service+".getUTXOs", args)
		for _, u := range page["utxos"].([]any) {
			all = append(all, fmt.Sprint(u))
		}
		if integer(page["numFetched"]) < 1024 {
			return all
		}
		args["startIndex"] = page["endIndex"]
	}
}

func (v *views) comparePlatformBalance(owner string) {
	v.Helper()
	balances := v.get("/blockchains/p-chain/balances?addresses=" + owner)["balances"].(object)
	of := func(name string) any {
		if list := objects(balances[name]); len(list) > 0 {
			return list[0]["amount"]
		}
		return 0
	}
	args := map[string]any{"addresses": []string{"P-" + owner}}
	want := v.rpc("bc/P", "platform.getBalance", args)
	v.same("balance of "+owner, of("unlockedUnstaked"), want["unlocked"], of("lockedStakeable"), want["lockedStakeable"],
		of("lockedPlatform"), want["lockedNotStakeable"],
		integer(of("unlockedStaked"))+integer(of("lockedStaked"))+integer(of("pendingStaked")), v.rpc("bc/P", "platform.getStake", args)["staked"])
}

func (v *views) compareExchangeBalance(owner string) {
	v.Helper()
	balances := v.get("/blockchains/x-chain/balances?addresses=" + owner)["balances"].(object)
	have := map[string]int64{}
	for _, name := range []string{"unlocked", "locked"} {
		for _, b := range objects(balances[name]) {
			id := fmt.Sprint(b["assetId"])
			if id == v.l.Rules.AVAXAssetID.String() {
				id = "AVAX"
			}
			have[id] += integer(b["amount"])
		}
	}
	want := map[string]int64{}
	for _, b := range objects(v.rpc("bc/X", "xvm.getAllBalances", map[string]any{"address": "X-" + owner, "includePartial": true})["balances"]) {
		want[fmt.Sprint(b["asset"])] = integer(b["balance"])
	}
	v.same("balances of "+owner+" on X", have, want)
}
