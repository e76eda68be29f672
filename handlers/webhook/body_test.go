package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

const (
	aNode, bNode = "NodeID-111111111111111111116DBWJs", "NodeID-6HgC8KRBEhXYbF4riJyJFLSHt37UNuRt"
	aSubnet      = "2bRCr6B4MiEfSjidDwxDpdCyviwnfUVqB2HGwhm947w9YYqb7r"
	aSignature   = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
)

// TestWebhooksShowWhatWasAskedFor creates webhooks of each kind and compares them with the body.
func TestWebhooksShowWhatWasAskedFor(t *testing.T) {
	w := open(t, inFile(t), false)
	address := primaryAddress(t, w.World)
	for _, c := range []struct {
		body object
		want string // without the common members
	}{
		{object{"eventType": "address_activity", "chainId": "43114", "name": "n", "description": "d", "includeInternalTxs": true,
			"metadata": object{"addresses": []string{bob, alice}, "eventSignatures": []string{aSignature}}},
			`{"chainId":"43114","description":"d","eventType":"address_activity","includeInternalTxs":true,"includeLogs":false,` +
				`"metadata":{"addresses":["` + bob + `","` + alice + `"],"eventSignatures":["` + aSignature + `"]},"name":"n"}`},
		{object{"eventType": "address_activity", "chainId": "43113", "includeLogs": true, "metadata": object{"addresses": []string{}}},
			`{"chainId":"43113","description":"","eventType":"address_activity","includeInternalTxs":false,"includeLogs":true,"metadata":{"addresses":[]},"name":""}`},
		{object{"eventType": "primary_network_address_activity", "network": "mainnet", "chainId": "x-chain",
			"metadata": object{"keyType": "addresses", "keys": []string{"X-" + address}, "subEvents": object{"addressActivitySubEvents": []string{"balance_change", "balance_change"}}}},
			`{"chainId":"x-chain","description":"","eventType":"primary_network_address_activity",` +
				`"metadata":{"keyType":"addresses","keys":["` + address + `"],"subEvents":{"addressActivitySubEvents":["balance_change"]}},"name":""}`},
		{object{"eventType": "primary_network_address_activity", "network": "mainnet", "chainId": "p-chain",
			"metadata": object{"keyType": "addresses", "keys": []string{address}, "balanceThresholdFilter": object{"balanceType": "locked", "balanceThreshold": "7"},
				"subEvents": object{"addressActivitySubEvents": []string{"reward_distribution", "balance_threshold"}}}},
			`{"chainId":"p-chain","description":"","eventType":"primary_network_address_activity","metadata":{"balanceThresholdFilter":{"balanceThreshold":"7","balanceType":"locked"},` +
				`"keyType":"addresses","keys":["` + address + `"],"subEvents":{"addressActivitySubEvents":["balance_threshold","reward_distribution"]}},"name":""}`},
		{object{"eventType": "validator_activity", "network": "fuji", "metadata": object{"keyType": "nodeId", "keys": []string{aNode}, "nodeIds": []string{bNode}, "subnetIds": []string{aSubnet},
			"subEvents": object{"validatorActivitySubEvents": []string{"validator_stake"}}}},
			`{"chainId":"p-chain","description":"","eventType":"validator_activity","metadata":{"keyType":"nodeId","keys":["` + aNode + `"],"nodeIds":["` + bNode + `"],` +
				`"subEvents":{"validatorActivitySubEvents":["validator_stake"]},"subnetIds":["` + aSubnet + `"]},"name":""}`},
		{object{"eventType": "validator_activity", "network": "mainnet", "metadata": object{"keyType": "subnetId", "keys": []string{aSubnet}, "l1ValidatorFeeBalanceThreshold": "18446744073709551615",
			"subEvents": object{"validatorActivitySubEvents": []string{"l1_validator_balance_threshold"}}}},
			`{"chainId":"p-chain","description":"","eventType":"validator_activity","metadata":{"keyType":"subnetId","keys":["` + aSubnet + `"],` +
				`"l1ValidatorFeeBalanceThreshold":"18446744073709551615","subEvents":{"validatorActivitySubEvents":["l1_validator_balance_threshold"]}},"name":""}`},
	} {
		c.body["url"] = "http://localhost:1/"
		made := w.ask("POST", "/v1/webhooks", "", text(c.body), 201)
		if shown := w.ask("GET", "/v1/webhooks/"+made["id"].(string), "", "", 200); text(shown) != text(made) {
			t.Errorf("%s was made, %s is shown", text(made), text(shown))
		}
		if made["status"] != "active" || made["url"] != c.body["url"] || made["createdAt"] != float64(w.Clock.UnixMilli()) {
			t.Errorf("made is %s", text(made))
		}
		for _, name := range []string{"id", "status", "url", "createdAt"} {
			delete(made, name)
		}
		if text(made) != c.want {
			t.Errorf("%s\nmakes %s\n want %s", text(c.body), text(made), c.want)
		}
	}
}

// TestEveryProblemOfABodyIsNamed checks the whole error for each body, which lists all its problems.
func TestEveryProblemOfABodyIsNamed(t *testing.T) {
	w := open(t, inFile(t), false)
	address := primaryAddress(t, w.World)
	for want, c := range map[string]object{
		`chainId "p-chain" is not allowed: expected an EVM chain of GET /v1/chains; metadata.addresses is required`: {"eventType": "address_activity", "chainId": "p-chain", "metadata": object{}},
		`metadata.addresses[1] "f39Fd6e51aad88F6F4ce6aB8827279cffFb92266" is not allowed: expected 0x and 40 hexadecimal digits; ` +
			`metadata.eventSignatures[0] "0x" is not allowed: expected 0x and 64 hexadecimal digits; metadata.eventSignatures[2] "signature" is not allowed: expected 0x and 64 hexadecimal digits`: {
			"eventType": "address_activity", "chainId": "43114", "metadata": object{"addresses": []string{alice, alice[2:]}, "eventSignatures": []string{"0x", aSignature, "signature"}}},
		`network is required: one of mainnet, fuji, testnet`: {"eventType": "validator_activity", "metadata": object{}},
		`chainId "c-chain" is not allowed: expected p-chain or x-chain; metadata.keyType "nodeId" is not allowed: expected addresses; ` +
			`metadata.subEvents.addressActivitySubEvents is required: any of balance_change, balance_threshold, reward_distribution; metadata.keys is required`: {
			"eventType": "primary_network_address_activity", "network": "mainnet", "chainId": "c-chain", "metadata": object{"keyType": "nodeId"}},
		`metadata.balanceThresholdFilter is required for balance_threshold; metadata.keys[1] "` + aNode + `" is none of the kind addresses of mainnet`: {
			"eventType": "primary_network_address_activity", "network": "mainnet", "chainId": "p-chain", "metadata": object{"keyType": "addresses", "keys": []string{address, aNode},
				"subEvents": object{"addressActivitySubEvents": []string{"balance_threshold"}}}},
		`metadata.balanceThresholdFilter.balanceThreshold "18446744073709551616" is not allowed: expected an amount of nAVAX below 2^64`: {
			"eventType": "primary_network_address_activity", "network": "mainnet", "chainId": "p-chain", "metadata": object{"keyType": "addresses", "keys": []string{address},
				"balanceThresholdFilter": object{"balanceType": "locked", "balanceThreshold": "18446744073709551616"}, "subEvents": object{"addressActivitySubEvents": []string{"balance_threshold"}}}},
		`metadata.keyType "addresses" is not allowed: expected nodeId or subnetId; metadata.keys has 2 items: expected exactly one; ` +
			`metadata.subEvents.validatorActivitySubEvents is required: any of validator_stake, delegator_stake, reward_distribution, l1_validator_balance_increased, l1_validator_disabled, l1_validator_removed, l1_validator_balance_threshold; ` +
			`metadata.nodeIds[0] "node" is not a node id; metadata.subnetIds[0] "subnet" is not a subnet id`: {
			"eventType": "validator_activity", "network": "mainnet", "metadata": object{"keyType": "addresses", "keys": []string{address, address}, "nodeIds": []string{"node"}, "subnetIds": []string{"subnet"}}},
		`metadata.l1ValidatorFeeBalanceThreshold is required for l1_validator_balance_threshold; metadata.keys[0] "` + aSubnet + `" is none of the kind nodeId of mainnet`: {
			"eventType": "validator_activity", "network": "mainnet", "metadata": object{"keyType": "nodeId", "keys": []string{aSubnet},
				"subEvents": object{"validatorActivitySubEvents": []string{"l1_validator_balance_threshold"}}}},
		`metadata.keys[0] "` + aNode + `" is none of the kind subnetId of mainnet`: {
			"eventType": "validator_activity", "network": "mainnet", "metadata": object{"keyType": "subnetId", "keys": []string{aNode}, "subEvents": object{"validatorActivitySubEvents": []string{"validator_stake"}}}},
		`metadata.keys[0] "` + address + `" is none of the kind addresses of fuji`: {"eventType": "primary_network_address_activity", "network": "fuji", "chainId": "p-chain",
			"metadata": object{"keyType": "addresses", "keys": []string{address}, "subEvents": object{"addressActivitySubEvents": []string{"balance_change"}}}},
		`url "nowhere" is not allowed: expected an http or https URL`: {"url": "nowhere", "eventType": "address_activity", "chainId": "43114", "metadata": object{"addresses": []string{}}},
	} {
		if c["url"] == nil {
			c["url"] = "http://localhost:1/"
		}
		if answer := w.ask("POST", "/v1/webhooks", "", text(c), 400); answer["message"] != want {
			t.Errorf("%s\n says %s\n want %s", text(c), answer["message"], want)
		}
	}
	w.ask("POST", "/v1/webhooks", "", text(object{"url": "https://evil.example/", "eventType": "address_activity", "chainId": "43114", "metadata": object{"addresses": []string{}}}), 403)
	w.ask("POST", "/v1/webhooks", "", text(object{"url": "http://localhost:1/", "eventType": "platform_address_activity", "metadata": object{}}), 400)
	if all := w.ask("GET", "/v1/webhooks", "", "", 200)["webhooks"].([]any); len(all) > 0 {
		t.Errorf("made are %s", text(all))
	}
}

// TestAWebhookHasAtMostTenThousandAddresses: one address too many changes nothing.
func TestAWebhookHasAtMostTenThousandAddresses(t *testing.T) {
	w := open(t, inFile(t), false)
	addresses := make([]string, 10_001)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040x", i+1)
	}
	body := func(addresses []string) string {
		return text(object{"eventType": "address_activity", "url": "http://localhost:1/", "chainId": "43114", "metadata": object{"addresses": addresses}})
	}
	const many = "a webhook has at most 10000 addresses"
	if answer := w.ask("POST", "/v1/webhooks", "", body(addresses), 400); answer["message"] != many {
		t.Errorf("too many: %v", answer)
	}
	made := w.ask("POST", "/v1/webhooks", "", body(addresses[1:]), 201)
	if n := len(made["metadata"].(object)["addresses"].([]any)); n != 10_000 {
		t.Errorf("%d addresses", n)
	}
	path := "/v1/webhooks/" + made["id"].(string) + "/addresses"
	if answer := w.ask("PATCH", path, "", text(object{"addresses": addresses[:1]}), 400); answer["message"] != many {
		t.Errorf("one too many: %v", answer)
	}
	w.ask("PATCH", path, "", text(object{"addresses": addresses[1:2]}), 200)
	if answer := w.ask("PATCH", path, "", `{"addresses":["0x1"]}`, 400); answer["message"] != `addresses[0] "0x1" is not allowed: expected 0x and 40 hexadecimal digits` {
		t.Errorf("no address: %v", answer)
	}
	if n := w.ask("GET", path+"?pageSize=1", "", "", 200)["totalAddresses"]; n != 10_000. {
		t.Errorf("it has %v", n)
	}
	list := w.ask("DELETE", path, "", text(object{"addresses": addresses[3:]}), 200)
	if found := text(list["metadata"]); !strings.EqualFold(found, `{"addresses":["`+addresses[1]+`","`+addresses[2]+`"]}`) {
		t.Errorf("left are %s", found)
	}
}

// TestOnlyWebhooksAboutEVMChainsHaveAddresses: of others, neither addresses nor what to include can be changed, but everything else.
func TestOnlyWebhooksAboutEVMChainsHaveAddresses(t *testing.T) {
	w := open(t, inFile(t), false)
	path := "/v1/webhooks/" + w.about("http://localhost:1/", "validator_activity", "mainnet", object{"keyType": "nodeId", "keys": []string{ids.EmptyNodeID.String()},
		"subEvents": object{"validatorActivitySubEvents": []string{"validator_stake"}}})
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		body := ""
		if method != "GET" {
			body = `{"addresses":["` + alice + `"]}`
		}
		if answer := w.ask(method, path+"/addresses", "", body, 400); answer["message"] != "only webhooks about address_activity have addresses that can be changed" {
			t.Errorf("%s: %v", method, answer)
		}
	}
	for _, body := range []string{`{"includeLogs":true}`, `{"includeInternalTxs":false}`} {
		if answer := w.ask("PATCH", path, "", body, 400); answer["message"] != "includeInternalTxs and includeLogs are for webhooks about address_activity" {
			t.Errorf("%s: %v", body, answer)
		}
	}
	if changed := w.ask("PATCH", path, "", `{"description":"d","status":"inactive"}`, 200); changed["description"] != "d" || changed["status"] != "inactive" {
		t.Errorf("changed is %v", changed)
	}
}
