package webhook_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func ownersOf(n *sim.Network, raw []byte) (all []string) {
	for _, address := range store.ParseOutputOwners(raw).Addresses {
		all = append(all, n.Rules.Bech32(ids.ShortID(address)))
	}
	return all
}

func (w *world) about(url, event, network string, metadata object) string {
	w.Helper()
	return w.ask("POST", "/v1/webhooks", "", text(object{"eventType": event, "url": url, "network": network, "chainId": "p-chain", "metadata": metadata}), 201)["id"].(string)
}

// TestAValidatorsEndIsTold moves the clock past the ends of validators: the node and the owner of each rewarded one get one message.
func TestAValidatorsEndIsTold(t *testing.T) {
	w := open(t, inFile(t), true)
	n, chain := w.NetworkNamed("mainnet"), w.NetworkNamed("mainnet").Chain(txs.PChain)
	stakers, err := w.DB.Stakers(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	stakers = slices.DeleteFunc(stakers, func(s store.Staker) bool {
		return s.Status != store.StakerActive || s.Delegator || ids.ID(s.Subnet) != ids.Empty
	})
	slices.SortFunc(stakers, func(a, b store.Staker) int { return int(a.End - b.End) })
	first := stakers[:3]
	nodes, owners := newReceiver(t), newReceiver(t)
	var addresses []string
	for _, s := range first {
		addresses = append(addresses, ownersOf(n, s.Owner)...)
		w.about(nodes.URL, "validator_activity", "mainnet", object{"keyType": "nodeId", "keys": []string{ids.NodeID(s.Node).String()},
			"subEvents": object{"validatorActivitySubEvents": []string{"reward_distribution"}}})
	}
	w.about(owners.URL, "primary_network_address_activity", "mainnet", object{"keyType": "addresses", "keys": addresses,
		"subEvents": object{"addressActivitySubEvents": []string{"reward_distribution", "balance_change"}}})
	head, err := w.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	before := int64(head.ID.Number())
	if err := w.Advance(t.Context(), time.Unix(first[2].End+1, 0)); err != nil {
		t.Fatal(err)
	}
	now, err := w.DB.Stakers(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	var want, ofOwners []string // reward transactions
	restaked, rewarded, earned := map[string]bool{}, map[string]store.Staker{}, map[string]uint64{}
	for _, s := range now {
		i := slices.IndexFunc(first, func(v store.Staker) bool { return bytes.Equal(v.Node, s.Node) && ids.ID(s.Subnet) == ids.Empty })
		if i < 0 || !s.Rewarded || *s.Ended <= before {
			continue
		}
		hash := ids.ID(s.RewardTx).String()
		want = append(want, hash)
		restaked[hash], rewarded[hash], earned[hash] = s.AutoCompoundRewardShares == 1_000_000, s, uint64(s.PotentialReward+s.DelegateeReward)
		if s.Delegator {
			_, earned[hash] = rules.SplitReward(uint64(s.PotentialReward), first[i].Shares)
		}
		if bytes.Equal(s.Tx, first[i].Tx) && !restaked[hash] {
			ofOwners = append(ofOwners, hash)
		}
	}
	if len(want) == 0 {
		t.Fatal("nobody is rewarded")
	}
	until(t, "the nodes are told", func() bool { return nodes.tried() >= len(want) })
	until(t, "the owners are told", func() bool { return w.settled() })
	var told []string
	for _, message := range nodes.got {
		event := message["event"].(object)
		tx := dig(event, "transaction", "txHash")
		told = append(told, tx)
		rewards, _ := event["rewards"].([]any)
		if dig(event, "eventType") != "reward_distribution" || !strings.HasPrefix(dig(event, "transaction", "txType"), "Reward") || (len(rewards) == 0) != restaked[tx] {
			t.Errorf("the event is %s", text(event))
		}
		s, paid := rewarded[tx], uint64(0)
		for _, reward := range rewards {
			amount, _ := strconv.ParseUint(dig(reward, "amount"), 10, 64)
			paid += amount
			if text(reward.(object)["addresses"]) != text(ownersOf(n, s.Owner)) {
				t.Errorf("%s is paid, not %v", text(reward), ownersOf(n, s.Owner))
			}
		}
		if !s.AutoRenewed() && paid != earned[tx] || dig(event, "nodeId") != ids.NodeID(s.Node).String() ||
			dig(event, "stakingTxHash") != ids.ID(s.Tx).String() || dig(event, "subnetId") != ids.Empty.String() || dig(event, "weight") != itoa(uint64(s.Weight)) {
			t.Errorf("of a reward of %d, %d are told: %s", earned[tx], paid, text(event))
		}
	}
	slices.Sort(told)
	slices.Sort(want)
	same(t, "rewards", told, want)
	kinds := map[string]int{}
	for _, message := range owners.got {
		event := message["event"].(object)
		kinds[dig(event, "eventType")+dig(event, "transaction", "txHash")]++
		if len(event["addresses"].([]any)) == 0 || event["balance"] == nil {
			t.Errorf("the event is %s", text(event))
		}
		if isReward := dig(event, "eventType") == "reward_distribution"; isReward != (event["nodeId"] != nil) || isReward && dig(event, "stakingTxHash") == "" {
			t.Errorf("the event is %s", text(event))
		}
	}
	for _, hash := range ofOwners {
		if kinds["reward_distribution"+hash] != 1 || kinds["balance_change"+hash] != 1 {
			t.Errorf("of %s the owners are told %v", hash, kinds)
		}
	}
}

// settled expects that no message waits.
func (w *world) settled() bool {
	for _, hook := range w.ask("GET", "/v1/webhooks?pageSize=100", "", "", 200)["webhooks"].([]any) {
		for _, d := range w.deliveries(dig(hook, "id")) {
			if d["status"] == "pending" {
				return false
			}
		}
	}
	return true
}

// TestL1ValidatorsAreTold lets an L1 validator run out of balance: first below the threshold, finally inactive.
func TestL1ValidatorsAreTold(t *testing.T) {
	w := open(t, inFile(t), true)
	n := w.NetworkNamed("mainnet")
	chain := n.Chain(txs.PChain)
	head, err := w.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	validators, err := w.DB.L1Validators(t.Context(), chain, head.ID.Number())
	if err != nil {
		t.Fatal(err)
	}
	validators = slices.DeleteFunc(validators, func(v store.L1ValidatorView) bool { return v.Weight == 0 || v.EndAccumulatedFee == 0 })
	slices.SortFunc(validators, func(a, b store.L1ValidatorView) int { return int(a.EndAccumulatedFee) - int(b.EndAccumulatedFee) })
	v := &validators[0]
	balance := v.Balance(n.AccruedAt(head, w.Clock.Unix()))
	r := newReceiver(t)
	w.about(r.URL, "validator_activity", "mainnet", object{"keyType": "subnetId", "keys": []string{ids.ID(v.Subnet).String()}, "nodeIds": []string{ids.NodeID(v.Node).String()},
		"subEvents":                      object{"validatorActivitySubEvents": []string{"l1_validator_disabled", "l1_validator_balance_threshold"}},
		"l1ValidatorFeeBalanceThreshold": itoa(balance / 2)})
	due, err := w.NextDue(t.Context())
	for range 200 {
		if err != nil || r.tried() >= 2 {
			break
		}
		if err = w.Advance(t.Context(), due); err == nil {
			due, err = w.NextDue(t.Context())
			until(t, "nothing is pending", w.settled)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(r.got) != 2 {
		t.Fatalf("%d messages", len(r.got))
	}
	for i, want := range []string{"l1_validator_balance_threshold", "l1_validator_disabled"} {
		event := r.got[i]["event"].(object)
		if dig(event, "eventType") != want || dig(event, "validationId") != ids.ID(v.Validation).String() || dig(event, "nodeId") != ids.NodeID(v.Node).String() ||
			dig(event, "subnetId") != ids.ID(v.Subnet).String() || dig(event, "weight") != itoa(uint64(v.Weight)) {
			t.Errorf("told %s: want %s", text(event), want)
		}
	}
	below, disabled := r.got[0]["event"].(object), r.got[1]["event"].(object)
	left, err := strconv.ParseUint(dig(below, "remainingBalance"), 10, 64)
	if err != nil || left == 0 || left >= balance/2 || dig(below, "balanceThreshold") != itoa(balance/2) {
		t.Errorf("below %d it is told %s", balance/2, text(below))
	}
	if dig(disabled, "remainingBalance") != "0" || disabled["balanceThreshold"] != nil || below["blockTimestamp"].(float64) >= disabled["blockTimestamp"].(float64) {
		t.Errorf("at the end it is told %s after %s", text(disabled), text(below))
	}
}

// TestThePastCanBeTold sends each kind of event about a transaction of the generated history.
func TestThePastCanBeTold(t *testing.T) {
	w := open(t, inFile(t), true)
	n := w.NetworkNamed("mainnet")
	chain := n.Chain(txs.PChain)
	r := newReceiver(t)
	stakers, err := w.DB.Stakers(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, delegator := range []bool{false, true} {
		i := slices.IndexFunc(stakers, func(s store.Staker) bool {
			return s.Delegator == delegator && ids.ID(s.Subnet) == ids.Empty && s.ID.Number() > 0
		})
		s := &stakers[i]
		event := map[bool]string{false: "validator_stake", true: "delegator_stake"}[delegator]
		id := w.about(r.URL, "validator_activity", "mainnet", object{"keyType": "nodeId", "keys": []string{ids.NodeID(s.Node).String()},
			"subEvents": object{"validatorActivitySubEvents": []string{event}}})
		sent := w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+ids.ID(s.Tx).String()+`"}`, 200)
		told++
		until(t, "it is told", func() bool { return r.tried() == told })
		if got := r.got[told-1]; got["messageId"] != sent["messageId"] || dig(got, "event", "eventType") != event || dig(got, "event", "transaction", "txHash") != ids.ID(s.Tx).String() {
			t.Errorf("told %s", text(got))
		}
	}
	owner := ownersOf(n, stakers[len(stakers)-1].Owner)
	id := w.about(r.URL, "primary_network_address_activity", "mainnet", object{"keyType": "addresses", "keys": owner,
		"balanceThresholdFilter": object{"balanceType": "unlockedUnstaked", "balanceThreshold": "18446744073709551615"},
		"subEvents":              object{"addressActivitySubEvents": []string{"balance_change", "balance_threshold"}}})
	hash := ids.ID(stakers[len(stakers)-1].Tx).String()
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+hash+`","event":"balance_threshold"}`, 200)
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+hash+`"}`, 200)
	until(t, "it is told", func() bool { return r.tried() == told+1 })
	if d := w.deliveries(id); d[1]["status"] != "void" || dig(r.got[told], "event", "eventType") != "balance_change" {
		t.Errorf("deliveries are %v", d)
	}
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"nothing"}`, 400)
	w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+hash+`","event":"reward_distribution"}`, 400)
	w.ask("POST", "/sim/webhooks/"+w.create(r.URL, nil, bob)+":test", "", `{"txHash":"0x`+ids.Empty.Hex()+`"}`, 404)
}

func itoa(n uint64) string { return text(n) }

// TestAThresholdIsCrossedDownwards sends a past transaction that lowered a balance, with thresholds around the balances before and after it: only a
// threshold at most the former and above the latter is crossed.
func TestAThresholdIsCrossedDownwards(t *testing.T) {
	w := open(t, inFile(t), true)
	n := w.NetworkNamed("mainnet")
	r := newReceiver(t)
	stakers, err := w.DB.Stakers(t.Context(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	s := &stakers[len(stakers)-1]
	owners, hash := ownersOf(n, s.Owner), ids.ID(s.Tx).String()
	send := func(event, threshold string) object {
		t.Helper()
		id := w.about(r.URL, "primary_network_address_activity", "mainnet", object{"keyType": "addresses", "keys": owners,
			"balanceThresholdFilter": object{"balanceType": "unlockedUnstaked", "balanceThreshold": threshold},
			"subEvents":              object{"addressActivitySubEvents": []string{"balance_change", "balance_threshold"}}})
		w.ask("POST", "/sim/webhooks/"+id+":test", "", `{"txHash":"`+hash+`","event":"`+event+`"}`, 200)
		until(t, "nothing is pending", w.settled)
		if w.deliveries(id)[0]["status"] == "void" {
			return nil
		}
		return r.got[len(r.got)-1]["event"].(object)
	}
	changed := send("balance_change", "1")
	sum := func(of any, list string) (n uint64) {
		for _, amount := range of.(object)[list].([]any) {
			more, _ := strconv.ParseUint(dig(amount, "amount"), 10, 64)
			n += more
		}
		return n
	}
	after := sum(changed["balance"], "unlockedUnstaked")
	before := after + sum(changed["transaction"], "amountStaked") + sum(changed["transaction"], "amountBurned")
	for _, threshold := range []uint64{after, after + 1, before, before + 1} {
		told := after < threshold && threshold <= before
		event := send("balance_threshold", itoa(threshold))
		if (event != nil) != told {
			t.Errorf("of %d it is told: %t", threshold, event != nil)
		}
		if told && (dig(event, "balanceBefore") != itoa(before) || dig(event, "balanceAfter") != itoa(after) || dig(event, "balanceThreshold") != itoa(threshold) ||
			dig(event, "balanceType") != "unlockedUnstaked" || text(event["addresses"]) != text(owners)) {
			t.Errorf("of %d it is told %s", threshold, text(event))
		}
	}
	owners = []string{n.Rules.Bech32(ids.ShortID{1})} // an owner that took no part
	if event := send("balance_threshold", itoa(before)); event != nil {
		t.Errorf("a stranger is told %s", text(event))
	}
	if event := send("balance_change", "1"); event["addresses"] != nil {
		t.Errorf("a stranger takes part: %s", text(event))
	}
}
