// Auto-renewed staking from a client to every interface of a server, through cycles that the clock ends.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// TestAutoRenewedStaking adds a validator that renews itself to each network, delegates to it, goes through three cycles, changes its configuration
// and lets it leave; another one misses the required uptime. Amounts add up in UTXOs, the node's API and the Data API.
func TestAutoRenewedStaking(t *testing.T) {
	t.Parallel()
	world := tinyWorld(t)
	h, err := handlers.New(world, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range world.Networks {
		if testing.Short() && i == 0 {
			t.Log("left out of a short run: mainnet")
			continue
		}
		w := (&views{t, world, h, n}).wallet("whale")
		w.renews()
		w.compareStakers()
	}
	verifytest.Sound(t, world)
}

// until moves the clock.
func (w *wallet) until(unix uint64) {
	w.Helper()
	if answer := ask(w.h, "POST", "/sim/clock", fmt.Sprintf(`{"set":%q}`, time.Unix(int64(unix), 0).UTC().Format(time.RFC3339))); !json.Valid([]byte(answer)) || uint64(w.world.Clock.Unix()) != unix {
		w.Fatalf("the clock is at %d, not at %d: %s", w.world.Clock.Unix(), unix, answer)
	}
}

func (w *wallet) autoRenewed(name string, period uint64, restaked uint32) *txs.AddAutoRenewedValidatorTx {
	w.Helper()
	node, proof := w.proof(name)
	stake := max(w.l.Rules.BaseStaking.MinValidatorStake, 100*nAVAX)
	return &txs.AddAutoRenewedValidatorTx{
		BaseTx: w.spend(txs.PChain, stake), ValidatorNodeID: node.Bytes(), Signer: proof, StakeOuts: []*txs.TransferableOutput{w.output(stake)},
		ValidationOwner: w.owner(), DelegationOwner: w.owner(), ValidatorAuthority: w.owner(),
		DelegationShares: 100_000, AutoCompoundRewardShares: restaked, Period: period,
	}
}

func (w *wallet) config(added *txs.Tx, period uint64, restaked uint32) *txs.SetAutoRenewedValidatorConfigTx {
	w.Helper()
	return &txs.SetAutoRenewedValidatorConfigTx{BaseTx: w.spend(txs.PChain, 0), TxID: added.ID(), Auth: firstOwner, AutoCompoundRewardShares: restaked, Period: period}
}

// current returns a node from platform.getCurrentValidators, nil if it does not validate.
func (w *wallet) current(node ids.NodeID) object {
	w.Helper()
	if all := objects(w.rpc("bc/P", "platform.getCurrentValidators", map[string]any{"nodeIDs": []any{node}})["validators"]); len(all) == 1 {
		return all[0]
	}
	return nil
}

// rewards adds up what a reward transaction paid, according to the node and to the Data API.
func (w *wallet) rewards(tx string) (paid int64) {
	w.Helper()
	shown := w.get("/blockchains/p-chain/transactions/" + tx)
	var inData, ofNode []int64
	for _, u := range objects(shown["emittedUtxos"]) {
		inData = append(inData, integer(dig(u, "asset", "amount")))
	}
	for _, encoded := range w.rpc("bc/P", "platform.getRewardUTXOs", map[string]any{"txID": tx})["utxos"].([]any) {
		b, err := formatting.Decode(formatting.Hex, encoded.(string))
		if err != nil {
			w.Fatal(err)
		}
		u, err := txs.ParseUTXO(txs.PChain, b)
		if err != nil {
			w.Fatal(err)
		}
		amount := int64(u.Out.(*txs.TransferOutput).Amount)
		ofNode, paid = append(ofNode, amount), paid+amount
	}
	w.same("type of "+tx, shown["txType"], "RewardAutoRenewedValidatorTx")
	w.same("outputs of "+tx, fmt.Sprint(inData), fmt.Sprint(ofNode))
	return paid
}

func (w *wallet) renews() {
	w.Helper()
	node, _ := w.proof("renewed")
	period := w.l.Rules.StakingAt(uint64(w.world.Clock.Unix())).MinDelegationDuration + 3600
	added := w.issue(txs.PChain, w.autoRenewed("renewed", period, 500_000))
	first := w.current(node)
	w.same("the configuration", first["nextPeriod"], fmt.Sprint(period), first["autoCompoundRewardShares"], "500000", first["restakedValidationRewards"], "0",
		fmt.Sprint(dig(first, "validatorAuthority", "addresses")), "["+w.address(txs.PChain)+"]", integer(first["endTime"])-integer(first["startTime"]), int64(period))
	w.issue(txs.PChain, w.delegator(node, (period-3600)/(24*3600), w.output(25*nAVAX)))

	short := w.l.Rules.StakingAt(uint64(w.world.Clock.Unix())).MinValidationDuration
	w.issue(txs.PChain, w.config(added, short, 500_000), w.key) // from the next cycle on

	staked, restaked := integer(first["weight"]), int64(0)
	for cycle := range 3 {
		before := w.current(node)
		w.until(uint64(integer(before["endTime"])))
		now := w.current(node)
		w.same(fmt.Sprintf("cycle %d", cycle), now["txID"], added.ID().String(), now["startTime"], before["endTime"], integer(now["endTime"])-integer(now["startTime"]), int64(short))
		restaked = integer(now["restakedValidationRewards"]) + integer(now["restakedDelegateeRewards"])
		w.same("the weight", integer(now["weight"]), staked+restaked)
		ended := w.validations(node)
		w.same("the cycles", len(ended), cycle+2, ended[0]["validationStatus"], "active", ended[1]["validationStatus"], "completed", ended[1]["amountStaked"], before["weight"])
		rewardTx := dig(ended[1], "rewards", "rewardTxHash").(string)
		earned := integer(before["potentialReward"]) + integer(before["accruedDelegateeReward"])
		if cycle == 0 {
			earned += integer(dig(ended[1], "rewards", "delegationRewardAmount"))
		}
		grown := integer(now["weight"]) - integer(before["weight"])
		w.same("what was earned", w.rewards(rewardTx)+grown, earned)
	}

	w.until(uint64(w.world.Clock.Unix()) + 60)
	w.page(node, map[string]string{"mainnet": `for <span title="172,800 seconds">2 d</span>, and restakes 50.00 %`, "fuji": `for <span title="43,200 seconds">12 h</span>, and restakes 50.00 %`}[w.l.Name], "done", "done", "done", "rest", "done")
	w.issue(txs.PChain, w.config(added, 0, 1_000_000), w.key)
	w.page(node, "Leaves ", "done", "done", "done", "rest", "done")
	last := w.current(node)
	w.same("the configuration", last["nextPeriod"], "0", last["autoCompoundRewardShares"], "1000000")
	w.until(uint64(integer(last["endTime"])))
	if left := w.current(node); left != nil {
		w.Errorf("the validator stays: %v", left)
	}
	w.same("the end", w.rewards(dig(w.validations(node)[0], "rewards", "rewardTxHash").(string)), restaked+integer(last["potentialReward"]))
	w.page(node, "Left ", "done", "done", "done", "done")
	w.faultIsNoRefusal(node, w.config(added, short, 0))

	failing, _ := w.proof("failing")
	w.issue(txs.PChain, w.autoRenewed("failing", short, 1_000_000))
	w.until(uint64(integer(w.current(failing)["endTime"])))
	second := w.current(failing)
	ask(w.h, "POST", "/sim/node", fmt.Sprintf(`{"network":%q,"uptimes":[{"nodeId":%q,"percent":85}]}`, w.l.Name, failing))
	w.same("the uptime", w.current(failing)["uptime"], "85.0000")
	w.until(uint64(integer(second["endTime"])))
	if left := w.current(failing); left != nil {
		w.Errorf("a validator that was not up stays: %v", left)
	}
	w.same("what it restaked", w.rewards(dig(w.validations(failing)[0], "rewards", "rewardTxHash").(string)), integer(second["restakedValidationRewards"]))
	w.page(failing, "Left ", "done", "lost")

	ordinary := w.get("/validators?pageSize=1&sortOrder=asc&validationStatus=completed&subnetId=" + ids.Empty.String())
	if page := ask(w.h, "GET", "/p/"+w.l.Name+"/node/"+objects(ordinary["validators"])[0]["nodeId"].(string), ""); strings.Contains(page, "Cycles") || !strings.Contains(page, "percent of the time have passed") {
		w.Errorf("the page of a validator that does not renew itself shows cycles, or no time: %s", page)
	}
}

// faultIsNoRefusal issues a configuration for a validator that has left while its transaction cannot be read, and again once it can.
func (w *wallet) faultIsNoRefusal(node ids.NodeID, late *txs.SetAutoRenewedValidatorConfigTx) {
	w.Helper()
	w.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, "FROM primary_tx WHERE substr(hash") })
	tx := w.sign(txs.PChain, late, w.key)
	said := w.say(txs.PChain, tx)
	w.world.DB.FailStatements(nil)
	w.same("a fault", said, "internal error: the simulator's log has the cause", w.rpc("bc/P", "platform.getTxStatus", map[string]any{"txID": tx.ID()})["status"], "Unknown")
	w.refused(fmt.Sprintf("{tx}getting validator %s from state: not found", node), late, w.key)
}

var (
	cycleRow    = regexp.MustCompile(`<tr>.*?</tr>`)
	cycleAmount = regexp.MustCompile(`class="amount" title="([0-9.]+) AVAX"`)
	cyclePart   = regexp.MustCompile(`<rect class="(done|rest|lost)"`)
)

// page compares a node's page with the node's API: the cycles, newest first; what comes next; and the timeline's segments, oldest first.
func (w *wallet) page(node ids.NodeID, next string, segments ...string) {
	w.Helper()
	page := ask(w.h, "GET", "/p/"+w.l.Name+"/node/"+node.String(), "")
	above, table, _ := strings.Cut(page, `aria-label="Cycles"`)
	table, _, _ = strings.Cut(table, "</table>")
	shown := cycleRow.FindAllString(table, -1)[1:] // without the head
	cycles := w.validations(node)
	w.same("cycles on the page", len(shown), len(cycles), strings.Contains(page, next), true)
	var drawn []string
	for _, part := range cyclePart.FindAllStringSubmatch(above, -1) {
		drawn = append(drawn, part[1])
	}
	w.same("the timeline", fmt.Sprint(drawn), fmt.Sprint(segments))
	for i, cycle := range cycles {
		w.same("the start", strings.Contains(shown[i], time.Unix(integer(cycle["startTimestamp"]), 0).UTC().Format(time.RFC3339)), true)
		want := []int64{integer(cycle["amountStaked"])}
		if cycle["validationStatus"] == "active" {
			current := w.current(node)
			w.same("the cycle", current["weight"], cycle["amountStaked"], strings.Contains(shown[i], strings.TrimSuffix(current["uptime"].(string), "00")+" %"), true)
		} else {
			restaked := int64(0)
			if i > 0 {
				restaked = integer(cycles[i-1]["amountStaked"]) - want[0]
			}
			want = append(want, restaked, w.rewards(dig(cycle, "rewards", "rewardTxHash").(string)))
			w.same("the result", strings.Contains(shown[i], ">rewarded<"), dig(cycle, "rewards", "validationRewardAmount") != "0")
		}
		var amounts []int64
		for _, amount := range cycleAmount.FindAllStringSubmatch(shown[i], -1) {
			whole, fraction, _ := strings.Cut(amount[1], ".")
			n, _ := strconv.ParseInt(whole+(fraction + "000000000")[:9], 10, 64) // digits
			amounts = append(amounts, n)
		}
		w.same("the amounts", fmt.Sprint(amounts), fmt.Sprint(want))
	}
}

// validations lists a node's cycles in the Data API, newest first.
func (w *wallet) validations(node ids.NodeID) []object {
	w.Helper()
	return w.pages("/validators/"+node.String(), "validators")
}
