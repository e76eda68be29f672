// Part of TestDataAPIAgreesWithTheNode: stakers, read through both interfaces of one server.

package handlers_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
)

// compareStakers compares active and pending validators of every subnet, and their delegations.
func (v *views) compareStakers() {
	v.Helper()
	subnets := v.pages("/subnets", "subnets")
	listed := v.pages("/validators", "validators")
	for _, s := range subnets {
		id := s["subnetId"]
		of := func(status string) map[string]object {
			return by(slices.DeleteFunc(slices.Clone(listed), func(o object) bool { return o["subnetId"] != id || o["validationStatus"] != status }), "txHash")
		}
		args := map[string]any{"subnetID": id}
		active, current := of("active"), by(objects(v.rpc("bc/P", "platform.getCurrentValidators", args)["validators"]), "txID")
		delete(current, "<nil>") // L1 validators have no transaction of their own
		v.same(fmt.Sprint("active validators of ", id), len(active), len(current))
		for tx, have := range active {
			v.compareValidator(have, current[tx], id == ids.Empty.String())
		}
		waiting := v.rpc("bc/P", "platform.getPendingValidators", args)
		pending := by(objects(waiting["validators"]), "txID")
		v.same(fmt.Sprint("pending validators of ", id), len(of("pending")), len(pending))
		for tx, have := range of("pending") {
			want := pending[tx]
			v.same("pending validator "+tx, have["nodeId"], want["nodeID"], have["endTimestamp"], want["endTime"], have["amountStaked"], want["weight"])
		}
		if id == ids.Empty.String() {
			v.same("pending delegations", len(v.pages("/delegators?delegationStatus=pending", "delegators")), len(objects(waiting["delegators"])))
		}
	}
	v.compareDelegators()
}

func (v *views) compareValidator(have, want object, primaryNetwork bool) {
	v.Helper()
	what := fmt.Sprint("validator ", have["txHash"])
	v.same(what, have["nodeId"], want["nodeID"], have["startTimestamp"], want["startTime"], have["endTimestamp"], want["endTime"],
		have["amountStaked"], want["weight"])
	if !primaryNetwork {
		return
	}
	potential := have["potentialRewards"]
	v.same(what, dig(potential, "validationRewardAmount"), want["potentialReward"], have["delegationFee"], want["delegationFee"],
		have["delegatorCount"], want["delegatorCount"], have["amountDelegated"], want["delegatorWeight"],
		dig(have, "blsCredentials", "publicKey"), dig(want, "signer", "publicKey"),
		dig(have, "blsCredentials", "proofOfPossession"), dig(want, "signer", "proofOfPossession"),
		have["uptimePerformance"], want["uptime"],
		have["avalancheGoVersion"] != nil, want["connected"], fmt.Sprint(dig(have, "validatorHealth", "reachabilityPercent")) == "100", want["connected"])
	weight := integer(want["weight"])
	most := min(5*weight, int64(v.l.Rules.BaseStaking.MaxValidatorStake))
	v.same(what, have["delegationCapacity"], most-min(weight+integer(want["delegatorWeight"]), most))
}

func (v *views) compareDelegators() {
	v.Helper()
	active := by(v.pages("/delegators?delegationStatus=active", "delegators"), "txHash")
	found := 0
	for _, s := range v.pages("/validators?validationStatus=active&subnetId="+ids.Empty.String(), "validators") {
		one := objects(v.rpc("bc/P", "platform.getCurrentValidators", map[string]any{"nodeIDs": []any{s["nodeId"]}})["validators"])
		if len(one) != 1 {
			v.Fatalf("platform.getCurrentValidators of %v lists %d", s["nodeId"], len(one))
		}
		var fees uint64
		shares := uint32(integer(strings.Replace(fmt.Sprint(one[0]["delegationFee"]), ".", "", 1))) // four decimal places: millionths
		for _, want := range objects(one[0]["delegators"]) {
			have := active[fmt.Sprint(want["txID"])]
			if have == nil {
				v.Errorf("delegation %v is not active at %d", want["txID"], v.world.Clock.Unix())
				continue
			}
			found++
			fee, rest := rules.SplitReward(uint64(integer(want["potentialReward"])), shares)
			fees += fee
			v.same("delegation "+fmt.Sprint(want["txID"]), have["nodeId"], want["nodeID"], have["startTimestamp"], want["startTime"],
				have["endTimestamp"], want["endTime"], have["amountDelegated"], want["weight"], have["estimatedGrossReward"], want["potentialReward"],
				have["estimatedNetReward"], rest)
		}
		v.same(fmt.Sprint("fees of ", s["nodeId"]), dig(s, "potentialRewards", "delegationRewardAmount"), fees+uint64(integer(one[0]["accruedDelegateeReward"])))
	}
	v.same("active delegations", len(active), found)
}

// compareL1Validators compares each L1 validator on the P-Chain with the records of its own chain.
func (v *views) compareL1Validators() {
	v.Helper()
	head := v.rpc("bc/P", "platform.getHeight", nil)["height"]
	v.same("height", v.get("/l1Validators")["blockHeight"], head)
	every := by(v.pages("/l1Validators?includeInactiveL1Validators=true", "validators"), "validationId")
	active := by(v.pages("/l1Validators", "validators"), "validationId")
	subnets := map[string]int{}
	for id, have := range every {
		if integer(have["weight"]) == 0 {
			v.same("balance of removed "+id, have["remainingBalance"], 0)
			continue
		}
		subnets[fmt.Sprint(have["subnetId"])]++
		want := v.rpc("bc/P", "platform.getL1Validator", map[string]any{"validationID": id})
		v.same("L1 validator "+id, have["nodeId"], want["nodeID"], have["weight"], want["weight"], have["subnetId"], want["subnetID"],
			have["remainingBalance"], want["balance"], have["creationTimestamp"], want["startTime"], active[id] != nil, integer(want["balance"]) > 0,
			dig(have, "blsCredentials", "publicKey"), want["publicKey"],
			dig(have, "remainingBalanceOwner", "threshold"), dig(want, "remainingBalanceOwner", "threshold"),
			dig(have, "deactivationOwner", "threshold"), dig(want, "deactivationOwner", "threshold"))
	}
	for _, c := range v.pages("/blockchains", "blockchains") {
		if c["subnetId"] == ids.Empty.String() {
			continue
		}
		l1 := 0
		for _, own := range objects(v.rpc(fmt.Sprint("bc/", c["blockchainId"], "/validators"), "validators.getCurrentValidators", nil)["validators"]) {
			if own["isL1Validator"] != true {
				continue
			}
			l1++
			id := fmt.Sprint(own["validationID"])
			v.same("L1 validator "+id+" by its chain", every[id]["nodeId"], own["nodeID"], every[id]["weight"], own["weight"], active[id] != nil, own["isActive"])
		}
		v.same(fmt.Sprint("L1 validators of ", c["blockchainId"]), subnets[fmt.Sprint(c["subnetId"])], l1)
	}
}

// compareNetwork compares totals, and the nodes with the peers that the node sees.
func (v *views) compareNetwork() {
	v.Helper()
	details := v.get("")
	validators, delegators := details["validatorDetails"].(object), details["delegatorDetails"].(object)
	total := v.rpc("bc/P", "platform.getTotalStake", map[string]any{"subnetID": ids.Empty.String()})
	v.same("stake", integer(validators["totalAmountStaked"])+integer(delegators["totalAmountStaked"]), total["stake"])
	if v.l.Name == "mainnet" {
		supply := v.decode("supply", ask(v.h, "GET", "/v1/avax/supply", ""))
		whole := new(big.Rat).SetFrac64(integer(total["stake"]), 1_000_000_000).FloatString(9)
		v.same("staked supply", supply["totalStaked"], strings.TrimRight(strings.TrimRight(whole, "0"), "."))
	}
	block := objects(v.get("/blockchains/p-chain/blocks?pageSize=1")["blocks"])[0]
	v.same("supply", block["currentSupply"], v.rpc("bc/P", "platform.getCurrentSupply", nil)["supply"])
	active := map[string]object{}
	for _, s := range v.pages("/validators?validationStatus=active", "validators") {
		active[fmt.Sprint(s["nodeId"])] = s
	}
	for _, p := range objects(v.rpc("info", "info.peers", nil)["peers"]) {
		if have := active[fmt.Sprint(p["nodeID"])]; have != nil {
			v.same(fmt.Sprint("version of ", p["nodeID"]), have["avalancheGoVersion"], p["version"])
		}
	}
	for _, alias := range []string{"P", "X", "C"} {
		id := v.rpc("info", "info.getBlockchainID", map[string]any{"alias": alias})["blockchainID"]
		v.same(alias, v.get("/blockchains/" + map[string]string{"P": "p", "X": "x", "C": "c"}[alias] + "-chain")["blockchainId"], id)
	}
}
