package staking_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var (
	validatorFields = datatest.Fields{"txHash": "string", "nodeId": "string", "subnetId": "string", "amountStaked": "string", "delegationFee?": "string",
		"amountDelegated": "string", "startTimestamp": "integer", "endTimestamp": "integer", "blsCredentials?": "object",
		"delegatorCount": "integer", "rewards": "object", "validationStatus": "string"}
	activeFields = datatest.Fields{"stakePercentage": "number", "uptimePerformance": "number", "avalancheGoVersion?": "string", "delegationCapacity?": "string",
		"potentialRewards": "object", "validatorHealth": "object", "geolocation": "object"}
	removedFields   = datatest.Fields{"removeTxHash": "string", "removeTimestamp": "integer"}
	delegatorFields = datatest.Fields{"txHash": "string", "nodeId": "string", "rewardAddresses": "array", "amountDelegated": "string", "delegationFee": "string",
		"grossReward": "string", "netReward": "string", "startTimestamp": "integer", "endTimestamp": "integer", "delegationStatus": "string"}
	estimateFields = datatest.Fields{"estimatedGrossReward": "string", "estimatedNetReward": "string"}
	l1Fields       = datatest.Fields{"validationId": "string", "validationIdHex": "string", "nodeId": "string", "subnetId": "string", "weight": "integer",
		"remainingBalance": "integer", "creationTimestamp": "integer", "blsCredentials": "object", "remainingBalanceOwner": "object", "deactivationOwner": "object"}
)

func TestStakersHaveTheFieldsOfTheSpecification(t *testing.T) {
	g := datatest.Open(t, 1)
	seen := map[any]bool{}
	for _, network := range datatest.Networks {
		base := "/v1/networks/" + network
		for _, v := range g.Pages(t, base+"/validators", "validators", 7) {
			want := validatorFields
			switch v["validationStatus"] {
			case "active":
				want = want.With(activeFields)
			case "removed":
				want = want.With(removedFields)
			}
			want.Check(t, "validator", v)
			seen[v["validationStatus"]] = true
		}
		for _, d := range g.Pages(t, base+"/delegators", "delegators", 7) {
			want := delegatorFields
			if d["delegationStatus"] != "completed" {
				want = want.With(estimateFields)
			}
			want.Check(t, "delegator", d)
			seen["delegation "+d["delegationStatus"].(string)] = true
		}
		for _, v := range g.Pages(t, base+"/l1Validators?includeInactiveL1Validators=true", "validators", 2) {
			l1Fields.Check(t, "L1 validator", v)
		}
	}
	for _, status := range []string{"completed", "active", "pending", "removed", "delegation completed", "delegation active"} {
		if !seen[status] {
			t.Errorf("nobody is %s", status)
		}
	}
}

// naive is a validator, derived from the rows without the handlers' joins.
type naive struct {
	tx, node, subnet                    string
	raw                                 []byte
	status                              string
	height, end                         int64
	capacity, remaining, fee, uptimeMil int64 // -1 for none
}

var statusNames = []string{"pending", "active", "completed", "removed"}

func naives(t *testing.T, network *sim.Network) []naive {
	t.Helper()
	ctx := context.Background()
	rows, err := network.DB.Stakers(ctx, network.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	now := network.Clock.Unix()
	var all []naive
	for _, s := range rows {
		if s.Delegator {
			continue
		}
		n := naive{ids.ID(s.Tx).String(), ids.NodeID(s.Node).String(), ids.ID(s.Subnet).String(), s.Tx, statusNames[s.Status], int64(s.ID.Number()), s.End, -1, -1, -1, -1}
		switch {
		case s.Status < store.StakerCompleted && s.End <= now:
			n.status = "completed"
		case s.Status == store.StakerPending && s.Start <= now:
			n.status = "active"
		}
		mine := n.subnet == ids.Empty.String()
		if mine {
			n.fee = int64(s.Shares)
		}
		if n.status == "active" || n.status == "pending" {
			n.remaining = s.End - now
		}
		if n.status == "active" {
			node, err := network.DB.Node(ctx, network.Rules.NetworkID, s.Node)
			if err != nil {
				t.Fatal(err)
			}
			n.uptimeMil = int64(node.Uptime)
			if mine {
				used := int64(s.Weight)
				for _, d := range rows {
					if d.Delegator && string(d.Node) == string(s.Node) && d.Status < store.StakerCompleted && d.Start <= now && now < d.End {
						used += int64(d.Weight)
					}
				}
				n.capacity = min(5*int64(s.Weight), int64(network.Rules.BaseStaking.MaxValidatorStake)) - used
			}
		}
		all = append(all, n)
	}
	return all
}

// question is a random query with the expected selection and order.
type question struct {
	query  url.Values
	passes []func(naive) bool
}

func (q *question) ask(name, value string, passes func(naive) bool) {
	q.query.Set(name, value)
	q.passes = append(q.passes, passes)
}

func (q *question) between(rng *rand.Rand, name string, limits [2]int64, scale, least, most int64, of func(naive) int64) {
	low, high := limits[0], limits[1]
	both, either := rng.IntN(4) == 0, rng.IntN(2) == 0
	write := func(n int64) string {
		if scale == 1 {
			return strconv.FormatInt(n, 10)
		}
		return strconv.FormatFloat(float64(n)/float64(scale), 'f', -1, 64)
	}
	a, b := least+rng.Int64N(most-least+1), least+rng.Int64N(most-least+1)
	if a > b {
		a, b = b, a
	}
	if both || either {
		q.query.Set("min"+name, write(a))
		low = a
	}
	if both || !either {
		q.query.Set("max"+name, write(b))
		high = b
	}
	q.passes = append(q.passes, func(n naive) bool { return of(n) >= 0 && of(n) >= low && of(n) <= high })
}

// TestFiltersAreWhatARowByRowEvaluationSays requests random combinations of all filters, up to the last page.
func TestFiltersAreWhatARowByRowEvaluationSays(t *testing.T) {
	for _, number := range []int64{1, 2, 3}[:datatest.Times(t, 3)] {
		filterValidators(t, datatest.Open(t, number), rand.New(rand.NewPCG(uint64(number), 5)))
	}
}

func filterValidators(t *testing.T, g *datatest.Globe, rng *rand.Rand) {
	t.Helper()
	for round := range datatest.Times(t, 500) {
		network := datatest.Networks[round%2]
		l := g.Network(t, network)
		all := naives(t, l)
		one := all[rng.IntN(len(all))]
		q := &question{query: url.Values{}}
		if rng.IntN(3) == 0 {
			status := []string{"completed", "active", "pending", "removed"}[rng.IntN(4)]
			q.ask("validationStatus", status, func(n naive) bool { return n.status == status })
		}
		if rng.IntN(4) == 0 {
			part := one.node[7+rng.IntN(8) : 16+rng.IntN(8)]
			short := all[rng.IntN(len(all))].node[9:10]
			q.ask("nodeIds", part+","+short, func(n naive) bool { return strings.Contains(n.node, part) || strings.Contains(n.node, short) })
		}
		by := ""
		if rng.IntN(3) > 0 {
			by = []string{"blockIndex", "delegationCapacity", "timeRemaining", "uptimePerformance", "delegationFee"}[rng.IntN(5)]
			q.query.Set("sortBy", by)
		}
		if rng.IntN(4) == 0 || by == "delegationFee" {
			subnet := one.subnet
			if by == "delegationFee" {
				subnet = ids.Empty.String()
			}
			q.ask("subnetId", subnet, func(n naive) bool { return n.subnet == subnet })
		}
		if rng.IntN(3) == 0 {
			q.between(rng, "FeePercentage", [2]int64{20_000, 1_000_000}, 10_000, 20_000, 150_000, func(n naive) int64 { return n.fee })
		}
		if rng.IntN(4) == 0 {
			q.between(rng, "UptimePerformance", [2]int64{900_000, 1_000_000}, 10_000, 600_000, 1_000_000, func(n naive) int64 { return n.uptimeMil })
		}
		if rng.IntN(4) == 0 {
			q.between(rng, "TimeRemaining", [2]int64{0, 1 << 40}, 1, 0, max(one.remaining, 10)*2, func(n naive) int64 { return n.remaining })
		}
		if rng.IntN(4) == 0 {
			q.between(rng, "DelegationCapacity", [2]int64{0, 1 << 62}, 1, 0, max(one.capacity, 10)*2, func(n naive) int64 { return n.capacity })
		}
		order := 1
		if rng.IntN(2) == 0 {
			order = -1
			q.query.Set("sortOrder", "asc")
		}
		path := "/v1/networks/" + network + "/validators?" + q.query.Encode()
		if by == "delegationFee" && network == "fuji" {
			g.Ask(t, path, 400)
			continue
		}
		have := datatest.Text(g.Pages(t, path, "validators", 1+rng.IntN(20)), "txHash")
		if want := answer(all, q, by, order); !slices.Equal(have, want) {
			t.Fatalf("GET %s:\nhave %v\nwant %v", path, have, want)
		}
	}
}

func answer(all []naive, q *question, by string, order int) []string {
	key := func(n naive) int64 {
		switch by {
		case "delegationCapacity":
			return n.capacity
		case "timeRemaining":
			return n.end
		case "uptimePerformance":
			return n.uptimeMil
		case "delegationFee":
			return n.fee
		}
		return n.height
	}
	slices.SortFunc(all, func(a, b naive) int {
		return order * cmp.Or(cmp.Compare(key(b), key(a)), slices.Compare(b.raw, a.raw))
	})
	want := []string{}
	for _, n := range all {
		if !slices.ContainsFunc(q.passes, func(passes func(naive) bool) bool { return !passes(n) }) {
			want = append(want, n.tx)
		}
	}
	return want
}

func TestBothNamesOfTheTestNetworkAnswerTheSame(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, p := range []string{"/validators?pageSize=100", "/delegators?pageSize=100", "/l1Validators?includeInactiveL1Validators=true"} {
		if a, b := g.Get(t, "/v1/networks/fuji"+p)["validators"], g.Get(t, "/v1/networks/testnet"+p)["validators"]; datatest.Encode(a) != datatest.Encode(b) {
			t.Errorf("%s differs between fuji and testnet", p)
		}
	}
}

// TestStatusesFollowTheClock sets the clock to one second before and after the end of a validation and of an L1 validator's balance.
func TestStatusesFollowTheClock(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 3))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	start := g.Clock.Now()
	next := g.Get(t, "/v1/networks/mainnet/validators?validationStatus=active&sortBy=timeRemaining&sortOrder=asc&pageSize=1")
	node, end := datatest.Dig(next, "validators", 0, "nodeId").(string), datatest.Dig(next, "validators", 0, "endTimestamp")
	unix, _ := strconv.ParseInt(fmt.Sprint(end), 10, 64)
	for after, want := range []string{"active", "completed", "completed"} {
		g.Clock.Set(time.Unix(unix+int64(after)-1, 0))
		if have := datatest.Dig(g.Get(t, "/v1/networks/mainnet/validators/"+node), "validators", 0, "validationStatus"); have != want {
			t.Errorf("%d seconds after its end the validator is %v: want %s", after-1, have, want)
		}
	}
	g.Clock.Set(start)
	least := map[string]any{}
	for _, v := range g.Pages(t, "/v1/networks/mainnet/l1Validators", "validators", 10) {
		left, _ := strconv.ParseInt(fmt.Sprint(v["remainingBalance"]), 10, 64)
		if old, _ := least["left"].(int64); least["left"] == nil || left < old {
			least["left"], least["id"] = left, v["validationId"]
		}
	}
	lasts := least["left"].(int64) / 512
	for _, seconds := range []int64{lasts - 1, lasts + 1} {
		want := 0
		if seconds < lasts {
			want = 1
		}
		g.Clock.Set(start.Add(time.Duration(seconds) * time.Second))
		list := g.Get(t, fmt.Sprint("/v1/networks/mainnet/l1Validators?l1ValidationId=", least["id"]))
		if have := len(list["validators"].([]any)); have != want {
			t.Errorf("after %d seconds %d L1 validators are active: want %d", seconds, have, want)
		}
	}
}

func TestDelegatorsAndL1ValidatorsByFilter(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		base := "/v1/networks/" + network
		all := g.Pages(t, base+"/delegators", "delegators", 3)
		for _, d := range all {
			node, owner, status := d["nodeId"].(string), datatest.Dig(d, "rewardAddresses", 0).(string), d["delegationStatus"].(string)
			for _, prefix := range []string{"", "P-", "X-"} {
				path := base + "/delegators?sortOrder=asc&nodeIds=" + node + "&rewardAddresses=" + prefix + owner + "&delegationStatus=" + status
				have := datatest.Text(g.Pages(t, path, "delegators", 2), "txHash")
				var want []string
				for _, o := range slices.Backward(all) {
					if o["nodeId"] == node && o["delegationStatus"] == status && slices.Contains(o["rewardAddresses"].([]any), any(owner)) {
						want = append(want, o["txHash"].(string))
					}
				}
				if !slices.Equal(have, want) {
					t.Fatalf("GET %s: %v: want %v", path, have, want)
				}
			}
		}
		every := g.Pages(t, base+"/l1Validators?includeInactiveL1Validators=true", "validators", 2)
		active := datatest.Text(g.Pages(t, base+"/l1Validators", "validators", 2), "validationId")
		for _, v := range every {
			if (fmt.Sprint(v["remainingBalance"]) != "0") != slices.Contains(active, v["validationId"].(string)) {
				t.Errorf("L1 validator %v with balance %v is in the wrong list", v["validationId"], v["remainingBalance"])
			}
			for name, value := range map[string]any{"l1ValidationId": v["validationId"], "nodeId": v["nodeId"], "subnetId": v["subnetId"]} {
				key := map[string]string{"l1ValidationId": "validationId"}[name]
				if key == "" {
					key = name
				}
				have := g.Pages(t, fmt.Sprint(base, "/l1Validators?includeInactiveL1Validators=true&", name, "=", value), "validators", 2)
				want := slices.DeleteFunc(slices.Clone(every), func(o datatest.Object) bool { return o[key] != value })
				if datatest.Encode(have) != datatest.Encode(want) {
					t.Errorf("L1 validators with %s %v are wrong", name, value)
				}
			}
			hex := g.Get(t, fmt.Sprint(base, "/l1Validators?includeInactiveL1Validators=true&l1ValidationId=", v["validationIdHex"]))
			if datatest.Encode(datatest.Dig(hex, "validators", 0)) != datatest.Encode(v) {
				t.Errorf("L1 validator %v is another by its id in hex", v["validationId"])
			}
		}
	}
}

func TestErrorsOfStakersSayWhatIsWrong(t *testing.T) {
	g := datatest.Open(t, 1)
	const stranger = "NodeID-111111111111111111116DBWJs"
	fuji := g.Network(t, "fuji").Rules.Bech32(ids.ShortID{1})
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/v1/networks/devnet/validators", 400, "mainnet, fuji, testnet"},
		{"/v1/networks/mainnet/validators?sortBy=weight", 400, "blockIndex"},
		{"/v1/networks/mainnet/validators?sortBy=delegationFee", 400, "works only on mainnet"},
		{"/v1/networks/fuji/validators?sortBy=delegationFee&subnetId=11111111111111111111111111111111LpoYY", 400, "works only on mainnet"},
		{"/v1/networks/mainnet/validators?validationStatus=gone", 400, "completed, active, pending, removed"},
		{"/v1/networks/mainnet/validators?minFeePercentage=1.99", 400, "minFeePercentage"},
		{"/v1/networks/mainnet/validators?maxFeePercentage=100.1", 400, "maxFeePercentage"},
		{"/v1/networks/mainnet/validators?minUptimePerformance=-1", 400, "minUptimePerformance"},
		{"/v1/networks/mainnet/validators?minTimeRemaining=2147483648", 400, "2147483647"},
		{"/v1/networks/mainnet/validators?maxDelegationCapacity=720000000000000001", 400, "720000000000000000"},
		{"/v1/networks/mainnet/validators?minTimeRemaining=5&maxTimeRemaining=4", 400, "minTimeRemaining is above maxTimeRemaining: expected at most as much"},
		{"/v1/networks/mainnet/validators?subnetId=primary", 400, "subnetId"},
		{"/v1/networks/mainnet/validators/" + stranger, 404, "never validated"},
		{"/v1/networks/mainnet/validators/NodeID-x", 400, "nodeId"},
		{"/v1/networks/mainnet/delegators?rewardAddresses=P-" + fuji, 400, "avax1"},
		{"/v1/networks/mainnet/delegators?delegationStatus=removed", 400, "completed, active, pending"},
		{"/v1/networks/mainnet/l1Validators?l1ValidationId=0x12", 400, "l1ValidationId"},
		{"/v1/networks/mainnet/validators?sortBy=delegationFee&subnetId=11111111111111111111111111111111LpoYY,2p9nrg582nbtyRMDb1uYcnnu6mMLtTsi8HWgNQYZ9SezjMqWXn", 400, "works only on mainnet"},
		{"/v1/networks/mainnet/validators?minFeePercentage=5&maxFeePercentage=4.9", 400, "minFeePercentage is above maxFeePercentage"},
		{"/v1/networks/mainnet/validators?minUptimePerformance=5&maxUptimePerformance=4&minDelegationCapacity=2&maxDelegationCapacity=1", 400, "minDelegationCapacity is above"},
		{"/v1/networks/mainnet/validators?minTimeRemaining=1e3", 400, "minTimeRemaining"},
		{"/v1/networks/mainnet/validators?nodeIds=a%20b", 400, "nodeIds"},
		{"/v1/networks/mainnet/validators?nodeIds=a,,b", 400, "nodeIds"},
		{"/v1/networks/mainnet/validators?pageSize=101", 400, "from 1 to 100"},
		{"/v1/networks/mainnet/validators?pageToken=x", 400, "pageToken"},
		{"/v1/networks/mainnet/delegators?sortOrder=up", 400, "asc, desc"},
		{"/v1/networks/mainnet/l1Validators?includeInactiveL1Validators=yes", 400, "true or false"},
		{"/v1/networks/mainnet/l1Validators?nodeId=NodeID-1", 400, "nodeId"},
	} {
		if says := datatest.Encode(g.Ask(t, c.path, c.status)["message"]); !strings.Contains(says, c.says) {
			t.Errorf("GET %s says %s: want %q in it", c.path, says, c.says)
		}
	}
	for _, edge := range []string{"minTimeRemaining=0&maxTimeRemaining=2147483647", "minDelegationCapacity=0&maxDelegationCapacity=720000000000000000",
		"minFeePercentage=2&maxFeePercentage=100", "minUptimePerformance=0&maxUptimePerformance=100", "maxUptimePerformance=50", "pageToken=",
		"nodeIds=NodeID-,NodeID-", "sortBy=delegationFee&subnetId=" + ids.Empty.String() + "," + ids.Empty.String()} {
		g.Get(t, "/v1/networks/mainnet/validators?"+edge)
	}
}
