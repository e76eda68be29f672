// Stories over years of a world's clock, as seen through all interfaces.

package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// story holds views of mainnet in a world with a clock that the test moves.
type story struct{ *views }

func newStory(t *testing.T) *story {
	t.Helper()
	w := tinyWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &story{&views{t, w, h, w.Networks[0]}}
}

// ends verifies the world at the end of a story, and that the balances add up.
func (s *story) ends() {
	s.Helper()
	verifytest.Sound(s, s.world)
	s.wantSupplyHeld()
}

func (s *story) wantSupplyHeld() {
	s.Helper()
	total := s.decode("supply", ask(s.h, "GET", "/v1/avax/supply", ""))["totalSupply"].(string)
	if held := avax(holdings(s.T, s.l)); held != total {
		s.Errorf("at %s all together hold %s AVAX, and there are %s", s.world.Clock.Now(), held, total)
	}
}

// move moves the clock to a time in Unix seconds, and checks that all interfaces agree then.
func (s *story) move(unix int64) {
	s.Helper()
	body := fmt.Sprintf(`{"set":%q}`, time.Unix(unix, 0).UTC().Format(time.RFC3339))
	if now := s.decode(body, ask(s.h, http.MethodPost, "/sim/clock", body)); integer(now["unix"]) != unix {
		s.Fatalf("%s: %v", body, now)
	}
	s.compareStakers()
	s.compareNetwork()
}

// role returns the node of the network with a role.
func (s *story) role(name string) object {
	s.Helper()
	for _, n := range objects(s.decode("world", ask(s.h, http.MethodGet, "/sim/world", ""))["networks"]) {
		for _, node := range objects(n["nodes"]) {
			if n["name"] == s.l.Name && node["role"] == name {
				return node
			}
		}
	}
	s.Fatalf("no node is %s", name)
	return nil
}

// validation returns a node's first validation that a transaction began, from the Data API.
func (s *story) validation(node, tx any) object {
	s.Helper()
	for _, v := range s.pages(fmt.Sprint("/validators/", node), "validators") {
		if v["txHash"] == tx {
			return v
		}
	}
	s.Fatalf("%v is no validation of %v", tx, node)
	return nil
}

// wantStatus expects a validation to have a status in every interface, and the day's metrics to count so many validators and delegators.
func (s *story) wantStatus(node, tx any, status string, count, delegators int64) {
	s.Helper()
	if have := s.validation(node, tx)["validationStatus"]; have != status {
		s.Errorf("at %s the Data API says that %v is %v, want %s", s.world.Clock.Now(), node, have, status)
	}
	current := objects(s.rpc("bc/P", "platform.getCurrentValidators", map[string]any{"nodeIDs": []any{node}})["validators"])
	pending := objects(s.rpc("bc/P", "platform.getPendingValidators", map[string]any{"nodeIDs": []any{node}})["validators"])
	if len(current) > 0 != (status == "active") || len(pending) > 0 != (status == "pending") {
		s.Errorf("at %s %v is %s, the node lists it as current %d times and as pending %d times", s.world.Clock.Now(), node, status, len(current), len(pending))
	}
	peers := objects(s.rpc("info", "info.peers", map[string]any{"nodeIDs": []any{node}})["peers"])
	if validates := status == "active"; len(peers) > 0 && !validates {
		s.Errorf("at %s %v is %s, and a peer", s.world.Clock.Now(), node, status)
	}
	wallet := &wallet{s.views, nil}
	if n := wallet.newest("validatorCount"); n != count {
		s.Errorf("at %s the metrics count %d validators, want %d", s.world.Clock.Now(), n, count)
	}
	if n := wallet.newest("delegatorCount"); n != delegators {
		s.Errorf("at %s the metrics count %d delegators, want %d", s.world.Clock.Now(), n, delegators)
	}
}

// made adds up the P-Chain outputs of a transaction that any of some addresses may spend, in nAVAX.
func (s *story) made(tx any, addresses any) (sum uint64) {
	s.Helper()
	var named []string
	for _, a := range addresses.([]any) {
		named = append(named, "P-"+fmt.Sprint(a))
	}
	for _, text := range s.rpc("bc/P", "platform.getUTXOs", map[string]any{"addresses": named, "limit": 1024})["utxos"].([]any) {
		raw, err := formatting.Decode(formatting.Hex, text.(string))
		if err != nil {
			s.Fatal(err)
		}
		u, err := txs.ParseUTXO(txs.PChain, raw)
		if err != nil {
			s.Fatal(err)
		}
		if u.TxID.String() == tx {
			sum += u.Amount()
		}
	}
	return sum
}

func (s *story) counted() (validators, delegators int64) {
	s.Helper()
	w := &wallet{s.views, nil}
	return w.newest("validatorCount"), w.newest("delegatorCount")
}

// TestTheLifeOfAValidator follows a pending validator until it validates, an expiring one until it is rewarded, and one with a low uptime that gets
// no reward, one second before and after each change.
func TestTheLifeOfAValidator(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.rewarded("expiring", true)
	waiting := s.role("pending")
	begins := integer(s.validation(waiting["nodeId"], waiting["txId"])["startTimestamp"])
	s.move(begins - 1)
	count, delegators := s.counted()
	s.wantStatus(waiting["nodeId"], waiting["txId"], "pending", count, delegators)
	s.move(begins)
	s.wantStatus(waiting["nodeId"], waiting["txId"], "active", count+1, delegators)
	s.move(begins + 1)
	s.wantStatus(waiting["nodeId"], waiting["txId"], "active", count+1, delegators)
	low := s.role("low-uptime")
	shown := s.validation(low["nodeId"], low["txId"])
	if u, _ := shown["uptimePerformance"].(fmt.Stringer); u == nil || u.String() >= "80" || shown["validationStatus"] != "active" {
		t.Errorf("low-uptime is %v", shown)
	}
	s.rewarded("low-uptime", false)
	s.ends()
}

// rewarded follows the node with a role past the end of its validation.
func (s *story) rewarded(role string, rewarded bool) {
	s.Helper()
	node := s.role(role)
	v := s.validation(node["nodeId"], node["txId"])
	end, stake := integer(v["endTimestamp"]), uint64(integer(v["amountStaked"]))
	reward := uint64(integer(dig(v, "potentialRewards", "validationRewardAmount")))
	addresses := dig(v, "potentialRewards", "rewardAddresses")
	s.move(end - 1)
	count, delegators := s.counted()
	gone := s.ending(end, "delegators", "delegationStatus=active")
	s.wantStatus(node["nodeId"], node["txId"], "active", count, delegators)
	before, supply := s.made(node["txId"], addresses), integer(s.rpc("bc/P", "platform.getCurrentSupply", nil)["supply"])
	s.move(end)
	s.wantStatus(node["nodeId"], node["txId"], "completed", count-s.ended(end), delegators-gone)
	status, want := "Aborted", stake
	if rewarded {
		status, want = "Committed", stake+reward
	}
	done := s.validation(node["nodeId"], node["txId"])
	paid := uint64(integer(dig(done, "rewards", "validationRewardAmount")))
	if rewarded && (reward == 0 || paid != reward) || !rewarded && paid != 0 {
		s.Errorf("%s is paid %d, %d was to be expected", role, paid, reward)
	}
	if have := s.rpc("bc/P", "platform.getTxStatus", map[string]any{"txID": dig(done, "rewards", "rewardTxHash")})["status"]; have != status {
		s.Errorf("the reward of %s is %v, want %s", role, have, status)
	}
	if home := s.made(node["txId"], addresses) - before; home != want {
		s.Errorf("%d came home to %s, want %d", home, role, want)
	}
	fees := uint64(integer(dig(done, "rewards", "delegationRewardAmount")))
	wants := 0
	if rewarded {
		wants++
		if fees > 0 {
			wants++
		}
	}
	if outs := s.rpc("bc/P", "platform.getRewardUTXOs", map[string]any{"txID": node["txId"]}); integer(outs["numFetched"]) != int64(wants) {
		s.Errorf("%s has %v reward outputs, want %d", role, outs["numFetched"], wants)
	}
	if after := integer(s.rpc("bc/P", "platform.getCurrentSupply", nil)["supply"]); rewarded == (after < supply) {
		s.Errorf("the supply was %d and is %d", supply, after)
	}
	s.move(end + 1)
	s.wantStatus(node["nodeId"], node["txId"], "completed", count-s.ended(end), delegators-gone)
}

// ending counts the primary network's stakers that end at a time.
func (s *story) ending(end int64, list, filter string) (n int64) {
	s.Helper()
	for _, o := range s.pages("/"+list+"?"+filter, list) {
		if integer(o["endTimestamp"]) == end && (o["subnetId"] == nil || o["subnetId"] == ids.Empty.String()) {
			n++
		}
	}
	return n
}

// ended counts the primary network's validators that have ended by a time.
func (s *story) ended(end int64) int64 {
	return s.ending(end, "validators", "validationStatus=completed")
}

// TestTheLifeOfADelegator follows a delegation to its end, when the stake and the reward, less the node's fee, are paid.
func TestTheLifeOfADelegator(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	waiting := s.pages("/delegators?delegationStatus=pending", "delegators")
	if len(waiting) == 0 {
		t.Fatal("no delegator is pending")
	}
	delegation := func(tx any) object {
		for _, d := range s.pages("/delegators", "delegators") {
			if d["txHash"] == tx {
				return d
			}
		}
		t.Fatalf("there is no delegation %v", tx)
		return nil
	}
	d := waiting[0]
	begins := integer(d["startTimestamp"])
	for _, step := range []struct {
		at     int64
		status string
	}{{begins - 1, "pending"}, {begins, "active"}, {begins + 1, "active"}} {
		s.move(step.at)
		if have := delegation(d["txHash"])["delegationStatus"]; have != step.status {
			t.Errorf("%d seconds after its begin it is %v", step.at-begins, have)
		}
	}
	active := s.pages("/delegators?delegationStatus=active", "delegators")
	slices.SortStableFunc(active, func(a, b object) int { return int(integer(a["endTimestamp"]) - integer(b["endTimestamp"])) })
	d = active[0]
	end, addresses := integer(d["endTimestamp"]), d["rewardAddresses"]
	s.move(end - 1)
	if have := delegation(d["txHash"])["delegationStatus"]; have != "active" {
		t.Errorf("a second before its end it is %v", have)
	}
	before := s.made(d["txHash"], addresses)
	_, counted := s.counted()
	gone := s.ending(end, "delegators", "delegationStatus=active")
	for i := range int64(2) {
		s.move(end + i)
		done := delegation(d["txHash"])
		if done["delegationStatus"] != "completed" || done["netReward"] != d["estimatedNetReward"] {
			t.Errorf("%d seconds after its end it is %v, it was %v", i, done, d)
		}
		if home := s.made(d["txHash"], addresses) - before; home != uint64(integer(d["amountDelegated"])+integer(d["estimatedNetReward"])) {
			t.Errorf("%d came home of %v", home, d)
		}
		if _, n := s.counted(); n != counted-gone {
			t.Errorf("the metrics count %d delegators after %d, %d ended", n, counted, gone)
		}
	}
	s.ends()
}

// TestAnL1ValidatorRunsDryAndIsToppedUp follows a validator that runs out of balance and is active again after a top-up.
func TestAnL1ValidatorRunsDryAndIsToppedUp(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	id := s.role("l1-about-to-run-out")["validationId"]
	var dry int64
	for _, e := range objects(s.decode("events", ask(s.h, http.MethodGet, "/sim/clock/events", ""))["events"]) {
		if e["validationId"] == id {
			dry = integer(e["unix"])
		}
	}
	balance := func() int64 {
		return integer(s.rpc("bc/P", "platform.getL1Validator", map[string]any{"validationID": id})["balance"])
	}
	active := func() bool { return by(s.pages("/l1Validators", "validators"), "validationId")[fmt.Sprint(id)] != nil }
	paying := func() int64 {
		path := "/v2/validation/" + fmt.Sprint(id) + "/metrics/validationCumulativeFeesDaily"
		return integer(objects(s.decode(path, ask(s.h, http.MethodGet, path, ""))["results"])[0]["value"])
	}
	s.move(dry - 1)
	if b := balance(); b <= 0 || b > 512*60 || !active() {
		t.Errorf("a second before, %d are left and it is active: %v", b, active())
	}
	for i := range int64(2) {
		s.move(dry + i)
		if balance() != 0 || active() {
			t.Errorf("%d seconds after, %d are left and it is active: %v", i, balance(), active())
		}
		s.compareL1Validators()
	}
	paid := paying()
	s.move(dry + 3600)
	if more := paying(); more != paid {
		t.Errorf("without a balance it paid %d more", more-paid)
	}
	w := s.wallet("whale")
	validation, err := ids.FromString(fmt.Sprint(id))
	if err != nil {
		t.Fatal(err)
	}
	const top = nAVAX / 100
	w.issue(txs.PChain, &txs.IncreaseL1ValidatorBalanceTx{BaseTx: w.spend(txs.PChain, top), ValidationID: validation, Balance: top})
	now := s.world.Clock.Unix()
	if balance() != top || !active() {
		t.Errorf("topped up, %d are left and it is active: %v", balance(), active())
	}
	s.move(now + 1)
	if left := balance(); left >= top || left < top-512 || !active() {
		t.Errorf("a second later %d are left and it is active: %v", left, active())
	}
	s.compareL1Validators()
	s.decode("until", ask(s.h, http.MethodPost, "/sim/clock", `{"until":"next-l1-deactivation"}`))
	s.compareL1Validators()
	s.move(now + top) // more seconds than there are nAVAX
	if balance() != 0 || active() {
		t.Errorf("in the end %d are left and it is active: %v", balance(), active())
	}
	if all := paying(); all != paid+top {
		t.Errorf("it paid %d after %d and a balance of %d", all, paid, top)
	}
	s.ends()
}

// TestALockedOutputIsUnlocked checks the outputs of the persona locked before and after a locktime.
func TestALockedOutputIsUnlocked(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	owner := s.owner("locked")
	var at int64
	for _, u := range s.pages("/blockchains/p-chain/utxos?addresses="+owner, "utxos") {
		if lock := max(integer(u["platformLocktime"]), integer(u["stakeableLocktime"])); lock > s.world.Clock.Unix() && (at == 0 || lock < at) {
			at = lock
		}
	}
	if at == 0 {
		t.Fatal("nothing is locked")
	}
	unlocked := func() (node, data int64) {
		node = integer(s.rpc("bc/P", "platform.getBalance", map[string]any{"addresses": []string{"P-" + owner}})["unlocked"])
		balances := s.get("/blockchains/p-chain/balances?addresses=" + owner)["balances"].(object)
		for _, b := range objects(balances["unlockedUnstaked"]) {
			data += integer(b["amount"])
		}
		return node, data
	}
	s.move(at - 1)
	before, shown := unlocked()
	if before != shown {
		t.Errorf("before, %d are unlocked by the node and %d by the Data API", before, shown)
	}
	for i := range int64(2) {
		s.move(at + i)
		after, shown := unlocked()
		if after <= before || after != shown {
			t.Errorf("%d seconds after, %d are unlocked by the node and %d by the Data API, before %d", i, after, shown, before)
		}
		s.compareOwners()
	}
	s.ends()
}

// TestAYearOfMetrics has every hour and day, even those without activity, and counts stakers and fees on the day on which they ended.
func TestAYearOfMetrics(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	series := func(path string) (all []object) {
		for token := ""; ; {
			page := s.decode(path, ask(s.h, http.MethodGet, path+"&pageSize=2160&pageToken="+token, ""))
			all = append(all, objects(page["results"])...)
			next, more := page["nextPageToken"].(string)
			if !more {
				return all
			}
			token = next
		}
	}
	const hours, days, validators = "/v2/chains/43114/metrics/txCount?timeInterval=hour", "/v2/chains/total/metrics/cumulativeTxCount?timeInterval=day", "/v2/networks/mainnet/metrics/validatorCount?"
	before := map[string]int{}
	for _, path := range []string{hours, days, validators} {
		before[path] = len(series(path))
	}
	begun := s.world.Clock.Now()
	s.move(begun.AddDate(0, 0, 365).Unix() - 1)
	s.move(begun.AddDate(0, 0, 365).Unix())
	for path, more := range map[string]int{hours: 365 * 24, days: 365, validators: 365} {
		all := series(path)
		if n := len(all) - before[path]; n != more {
			t.Errorf("%s: %d more points in a year, want %d", path, n, more)
		}
		for i := 1; i < len(all); i++ {
			if integer(all[i]["timestamp"]) >= integer(all[i-1]["timestamp"]) {
				t.Fatalf("%s: %v comes after %v", path, all[i], all[i-1])
			}
		}
	}
	if newest, old := series(days)[0]["value"], series(days)[365]["value"]; newest != old || integer(old) == 0 {
		t.Errorf("transactions: %v, a year before %v", newest, old)
	}
	for _, p := range series(hours)[:365*24] {
		if integer(p["value"]) != 0 {
			t.Errorf("an hour in which nothing happened: %v", p)
		}
	}
	if newest, old := series(validators)[0]["value"], series(validators)[365]["value"]; integer(newest) >= integer(old) {
		t.Errorf("%v validators, a year before %v", newest, old)
	}
	s.compareL1Validators()
	s.compareOwners()
	s.ends()
}
