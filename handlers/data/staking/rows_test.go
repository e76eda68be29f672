package staking_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// stakerRows is a network's stakers as its rows have them, without the joins of the index.
type stakerRows struct {
	t *testing.T
	*sim.Network
	g       *datatest.Globe
	now     int64
	stakers []store.Staker
	nodes   map[string]store.Node
	removed map[string]store.PrimaryTx // by node and subnet
}

func readLedger(t *testing.T, g *datatest.Globe, network string) *stakerRows {
	t.Helper()
	n := g.Network(t, network)
	l := &stakerRows{t, n, g, n.Clock.Unix(), nil, map[string]store.Node{}, map[string]store.PrimaryTx{}}
	chain := n.Chain(txs.PChain)
	head, err := n.DB.PrimaryHead(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	if l.stakers, err = n.DB.Stakers(t.Context(), chain); err != nil {
		t.Fatal(err)
	}
	for i := range l.stakers {
		l.stakers[i].PotentialReward = n.PotentialReward(&l.stakers[i], head)
	}
	nodes, err := n.DB.Nodes(t.Context(), n.Rules.NetworkID)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		l.nodes[string(node.Node)] = node
	}
	rows, err := n.DB.PrimaryTxsBetween(t.Context(), store.First(chain), store.Last(chain))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := tx.Unsigned.(*txs.RemoveSubnetValidatorTx); ok {
			l.removed[string(u.NodeID[:])+string(u.SubnetID[:])] = row
		}
	}
	return l
}

func (l *stakerRows) status(s *store.Staker) string {
	switch {
	case s.Status < store.StakerCompleted && s.End <= l.now:
		return "completed"
	case s.Status == store.StakerPending && s.Start <= l.now:
		return "active"
	}
	return statusNames[s.Status]
}

func (l *stakerRows) addresses(owners ...[]byte) []any {
	all := []any{}
	for _, o := range owners {
		for _, a := range store.ParseOutputOwners(o).Addresses {
			if text := l.Rules.Bech32(ids.ShortID(a)); !slices.Contains(all, any(text)) {
				all = append(all, text)
			}
		}
	}
	return all
}

// delegations returns the delegations in a validator's period: while it is active the active ones, afterwards all.
func (l *stakerRows) delegations(v *store.Staker) (all []store.Staker) {
	for _, d := range l.stakers {
		status := l.status(v)
		if d.Delegator && string(d.Node) == string(v.Node) && d.Start >= v.Start && d.End <= v.End &&
			(status == "completed" || status == "active" && l.status(&d) == "active") {
			all = append(all, d)
		}
	}
	return all
}

// validator returns the validator whose period contains a delegation.
func (l *stakerRows) validator(d *store.Staker) *store.Staker {
	for i := range l.stakers {
		if v := &l.stakers[i]; !v.Delegator && ids.ID(v.Subnet) == ids.Empty && string(d.Node) == string(v.Node) && d.Start >= v.Start && d.End <= v.End {
			return v
		}
	}
	l.t.Fatalf("delegation %s has no validator", ids.ID(d.Tx))
	return nil
}

func percent(millionths uint32) string { return big.NewRat(int64(millionths), 10_000).FloatString(16) }

// describe returns a validator in the shape of its status.
func (l *stakerRows) describe(v *store.Staker) datatest.Object {
	var delegated, fees, stake uint64
	delegations := []store.Staker{}
	if ids.ID(v.Subnet) == ids.Empty {
		delegations = l.delegations(v)
	}
	for _, d := range delegations {
		fee, _ := rules.SplitReward(uint64(d.PotentialReward), v.Shares)
		delegated, fees = delegated+uint64(d.Weight), fees+fee
	}
	for _, o := range l.stakers {
		if string(o.Subnet) == string(v.Subnet) && l.status(&o) == "active" {
			stake += uint64(o.Weight)
		}
	}
	status := l.status(v)
	validation, fee := uint64(v.PotentialReward), uint64(v.DelegateeReward)
	if status == "active" {
		fee += fees
	}
	if status == "completed" && !v.Rewarded {
		validation = 0
	}
	rewards := datatest.Object{"validationRewardAmount": fmt.Sprint(validation), "delegationRewardAmount": fmt.Sprint(fee), "rewardAddresses": l.addresses(v.Owner, v.FeeOwner)}
	if status == "completed" && v.RewardTx != nil {
		rewards["rewardTxHash"] = ids.ID(v.RewardTx).String()
	}
	o := datatest.Object{
		"txHash": ids.ID(v.Tx).String(), "nodeId": ids.NodeID(v.Node).String(), "subnetId": ids.ID(v.Subnet).String(), "amountStaked": fmt.Sprint(v.Weight),
		"amountDelegated": fmt.Sprint(delegated), "startTimestamp": v.Start, "endTimestamp": v.End, "delegatorCount": len(delegations),
		"rewards": rewards, "validationStatus": status,
	}
	if ids.ID(v.Subnet) == ids.Empty {
		o["delegationFee"] = percent(v.Shares)
	}
	if v.BLS != nil {
		o["blsCredentials"] = datatest.Object{"publicKey": hexutil.Encode(v.BLS), "proofOfPossession": hexutil.Encode(v.Proof)}
	}
	switch status {
	case "removed":
		tx := l.removed[string(v.Node)+string(v.Subnet)]
		block, err := l.DB.PrimaryBlock(l.t.Context(), tx.ID.Chain(), tx.ID.Number())
		if err != nil {
			l.t.Fatal(err)
		}
		o["removeTxHash"], o["removeTimestamp"] = ids.ID(tx.Hash).String(), block.Time
	case "active":
		l.describeActive(o, v, stake, delegated)
	}
	return o
}

func (l *stakerRows) describeActive(o datatest.Object, v *store.Staker, stake, delegated uint64) {
	node, known := l.nodes[string(v.Node)]
	if !known {
		l.t.Fatalf("node %s is not known", ids.NodeID(v.Node))
	}
	o["potentialRewards"], o["stakePercentage"], o["uptimePerformance"] = o["rewards"], 100*float64(v.Weight)/float64(stake), float64(node.Uptime)/10_000
	if ids.ID(v.Subnet) == ids.Empty {
		o["delegationCapacity"] = fmt.Sprint(min(5*uint64(v.Weight), l.Rules.BaseStaking.MaxValidatorStake) - uint64(v.Weight) - delegated)
	}
	reached, benched := 0, 100
	if node.Connected {
		o["avalancheGoVersion"], reached, benched = node.Version, 100, 0
	}
	o["validatorHealth"] = datatest.Object{"reachabilityPercent": reached, "benchedPChainRequestsPercent": benched, "benchedXChainRequestsPercent": benched,
		"benchedCChainRequestsPercent": benched}
	o["geolocation"] = datatest.Object{"city": node.City, "country": node.Country, "countryCode": node.Code,
		"latitude": float64(node.Latitude) / 1e6, "longitude": float64(node.Longitude) / 1e6}
}

// equal compares a list with what the rows say, whatever its order.
func equal(t *testing.T, what string, have []datatest.Object, want []datatest.Object) {
	t.Helper()
	texts := func(all []datatest.Object) (texts []string) {
		for _, o := range all {
			texts = append(texts, datatest.Encode(o))
		}
		slices.Sort(texts)
		return texts
	}
	datatest.Same(t, what, texts(have), texts(want))
}

// TestStakersAreTheirRows compares every member of every validator and delegation with what the rows say.
func TestStakersAreTheirRows(t *testing.T) {
	seen := map[string]bool{}
	for _, number := range []int64{1, 4} {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			l, base := readLedger(t, g, network), "/v1/networks/"+network
			var validators, delegators []datatest.Object
			for i := range l.stakers {
				s := &l.stakers[i]
				seen[fmt.Sprint(s.Delegator, " ", l.status(s), " ", s.Rewarded)] = true
				if !s.Delegator {
					validators = append(validators, l.describe(s))
					continue
				}
				shares := l.validator(s).Shares
				_, net := rules.SplitReward(uint64(s.PotentialReward), shares)
				o := datatest.Object{"txHash": ids.ID(s.Tx).String(), "nodeId": ids.NodeID(s.Node).String(), "rewardAddresses": l.addresses(s.Owner),
					"amountDelegated": fmt.Sprint(s.Weight), "delegationFee": percent(shares), "startTimestamp": s.Start, "endTimestamp": s.End,
					"grossReward": fmt.Sprint(s.PotentialReward), "netReward": fmt.Sprint(net), "delegationStatus": l.status(s)}
				if l.status(s) != "completed" {
					o["estimatedGrossReward"], o["estimatedNetReward"] = o["grossReward"], o["netReward"]
				} else if !s.Rewarded {
					o["grossReward"], o["netReward"] = "0", "0"
				}
				delegators = append(delegators, o)
			}
			equal(t, "validators", g.Pages(t, base+"/validators", "validators", 10), validators)
			equal(t, "delegators", g.Pages(t, base+"/delegators", "delegators", 10), delegators)
		}
	}
	for _, kind := range []string{"false removed false", "false completed false", "false completed true", "false active false", "false pending false",
		"true completed true", "true active false", "true pending false"} {
		if !seen[kind] {
			t.Errorf("nothing is %s: %v", kind, seen)
		}
	}
}

// TestValidationsOfANodeAreThoseOfTheList filters the list of all validators, in both orders.
func TestValidationsOfANodeAreThoseOfTheList(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		base := "/v1/networks/" + network + "/validators"
		all := g.Pages(t, base, "validators", 100)
		for _, one := range all {
			node, status := one["nodeId"].(string), one["validationStatus"].(string)
			for query, passes := range map[string]func(datatest.Object) bool{
				"?":                                 func(datatest.Object) bool { return true },
				"?validationStatus=" + status + "&": func(o datatest.Object) bool { return o["validationStatus"] == status },
			} {
				want := slices.DeleteFunc(slices.Clone(all), func(o datatest.Object) bool { return o["nodeId"] != node || !passes(o) })
				if have := g.Pages(t, base+"/"+node+query, "validators", 1); datatest.Encode(have) != datatest.Encode(want) {
					t.Errorf("validations of %s%s are %v: want %v", node, query, have, want)
				}
				slices.Reverse(want)
				if have := g.Pages(t, base+"/"+node+query+"sortOrder=asc", "validators", 2); datatest.Encode(have) != datatest.Encode(want) {
					t.Errorf("validations of %s%s, the oldest first, are %v: want %v", node, query, have, want)
				}
			}
		}
	}
}

// TestL1ValidatorsAreTheirRows compares every member of every L1 validator with its row, and the height with the chain's.
func TestL1ValidatorsAreTheirRows(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n, base := g.Network(t, network), "/v1/networks/"+network+"/l1Validators?includeInactiveL1Validators=true"
		head, err := n.DB.PrimaryHead(t.Context(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := n.DB.L1Validators(t.Context(), n.Chain(txs.PChain), head.ID.Number())
		if err != nil || len(rows) < 2 {
			t.Fatal(rows, err)
		}
		owner := func(raw []byte) datatest.Object {
			o, all := store.ParseOutputOwners(raw), []any{}
			for _, a := range o.Addresses {
				all = append(all, n.Rules.Bech32(ids.ShortID(a)))
			}
			return datatest.Object{"addresses": all, "threshold": o.Threshold}
		}
		var want []datatest.Object
		for _, v := range slices.Backward(rows) {
			balance := uint64(0)
			if left, accrued := uint64(v.EndAccumulatedFee), uint64(n.Accrued(head)); v.Weight > 0 && left > accrued {
				balance = left - accrued
			}
			want = append(want, datatest.Object{"validationId": ids.ID(v.Validation).String(), "validationIdHex": hexutil.Encode(v.Validation), "nodeId": ids.NodeID(v.Node).String(),
				"subnetId": ids.ID(v.Subnet).String(), "weight": v.Weight, "remainingBalance": balance, "creationTimestamp": v.Start,
				"blsCredentials": datatest.Object{"publicKey": hexutil.Encode(v.BLS)}, "remainingBalanceOwner": owner(v.BalanceOwner), "deactivationOwner": owner(v.DeactivationOwner)})
		}
		if have := g.Pages(t, base, "validators", 1); datatest.Encode(have) != datatest.Encode(want) {
			t.Errorf("%s has\n%s\nwant\n%s", network, datatest.Encode(have), datatest.Encode(want))
		}
		if have := g.Get(t, base)["blockHeight"]; have != fmt.Sprint(head.ID.Number()) {
			t.Errorf("height is %v: want %d", have, head.ID.Number())
		}
	}
}

// TestNetworkDetailsAreTheRows adds up the rows.
func TestNetworkDetailsAreTheRows(t *testing.T) {
	offline := 0
	for _, number := range []int64{1, 4} {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			l := readLedger(t, g, network)
			amounts, counts := map[string]uint64{}, map[string]int{}
			var delegators int
			var staked, delegated, rewards uint64
			for _, s := range l.stakers {
				if l.status(&s) != "active" || ids.ID(s.Subnet) != ids.Empty {
					continue
				}
				rewards += uint64(s.PotentialReward)
				if s.Delegator {
					delegators, delegated = delegators+1, delegated+uint64(s.Weight)
					continue
				}
				version := "offline"
				if node := l.nodes[string(s.Node)]; node.Connected {
					version = node.Version
				}
				amounts[version], counts[version], staked = amounts[version]+uint64(s.Weight), counts[version]+1, staked+uint64(s.Weight)
			}
			var shares []any
			count := 0
			for version, n := range counts {
				count += n
				shares = append(shares, datatest.Object{"version": version, "amountStaked": fmt.Sprint(amounts[version]), "validatorCount": n})
			}
			slices.SortFunc(shares, func(a, b any) int {
				return strings.Compare(a.(datatest.Object)["version"].(string), b.(datatest.Object)["version"].(string))
			})
			head, err := l.DB.PrimaryHead(t.Context(), l.Chain(txs.PChain))
			if err != nil {
				t.Fatal(err)
			}
			ratio := new(big.Rat).SetFrac(new(big.Int).SetUint64(staked+delegated), new(big.Int).SetUint64(uint64(head.Supply)))
			want := datatest.Object{
				"validatorDetails": datatest.Object{"validatorCount": count, "totalAmountStaked": fmt.Sprint(staked), "estimatedAnnualStakingReward": fmt.Sprint(rewards),
					"stakingDistributionByVersion": shares, "stakingRatio": ratio.FloatString(20)},
				"delegatorDetails": datatest.Object{"delegatorCount": delegators, "totalAmountStaked": fmt.Sprint(delegated)},
			}
			if have := g.Get(t, "/v1/networks/"+network); datatest.Encode(have) != datatest.Encode(want) {
				t.Errorf("%s is %s: want %s", network, datatest.Encode(have), datatest.Encode(want))
			}
			offline += counts["offline"]
		}
	}
	if offline == 0 {
		t.Error("every node answers")
	}
}

// TestRewardsAreTheirRows compares every member of every paid and pending reward with the rows of stakers and outputs.
func TestRewardsAreTheirRows(t *testing.T) {
	kinds := map[any]int{}
	for _, number := range []int64{1, 4} {
		g := datatest.Open(t, number)
		for _, network := range datatest.Networks {
			l := readLedger(t, g, network)
			paid, pending := l.paid("eur"), l.pending()
			nodes := map[any]bool{}
			for _, s := range l.stakers {
				nodes[ids.NodeID(s.Node).String()] = true
			}
			var havePaid, havePending []datatest.Object
			for node := range nodes {
				havePaid = append(havePaid, g.Pages(t, fmt.Sprint("/v1/networks/", network, "/rewards?currency=eur&nodeIds=", node), "historicalRewards", 2)...)
				havePending = append(havePending, g.Pages(t, fmt.Sprint("/v1/networks/", network, "/rewards:listPending?nodeIds=", node), "pendingRewards", 2)...)
			}
			equal(t, "paid rewards", havePaid, paid)
			equal(t, "pending rewards", havePending, pending)
			for _, o := range paid {
				kinds[fmt.Sprint("paid ", o["rewardType"], " ", datatest.Dig(o, "reward", "historicalPrice") != nil)]++
			}
			for _, o := range pending {
				kinds[fmt.Sprint("pending ", o["rewardType"])]++
			}
			l.ofOwners(paid, pending)
		}
	}
	for _, kind := range []string{"paid VALIDATOR true", "paid DELEGATOR true", "paid VALIDATOR_FEE true", "pending VALIDATOR", "pending DELEGATOR", "pending VALIDATOR_FEE"} {
		if kinds[kind] == 0 {
			t.Errorf("there is no reward of the kind %s: %v", kind, kinds)
		}
	}
}

func (l *stakerRows) reward(s *store.Staker, owner []byte, kind string) datatest.Object {
	return datatest.Object{"addresses": l.addresses(owner), "txHash": ids.ID(s.Tx).String(), "amountStaked": fmt.Sprint(s.Weight), "nodeId": ids.NodeID(s.Node).String(),
		"startTimestamp": s.Start, "endTimestamp": s.End, "rewardType": kind}
}

func (l *stakerRows) avax(amount uint64) datatest.Object {
	return datatest.Object{"assetId": l.Rules.AVAXAssetID.String(), "name": "Avalanche", "symbol": "AVAX", "denomination": 9, "type": "secp256k1", "amount": fmt.Sprint(amount)}
}

// paid returns the rewards that outputs paid.
func (l *stakerRows) paid(currency string) (all []datatest.Object) {
	outputs, err := l.DB.UTXOsMadeBy(l.t.Context(), l.Chain(txs.PChain))
	if err != nil {
		l.t.Fatal(err)
	}
	slices.SortFunc(outputs, func(a, b store.UTXO) int { return int(a.Output) - int(b.Output) })
	for i := range l.stakers {
		s := &l.stakers[i]
		if s.RewardTx == nil {
			continue
		}
		maker := s.Tx
		if s.AutoRenewed() {
			maker = s.RewardTx
		}
		part := 0
		for _, u := range outputs {
			parsed, err := txs.ParseUTXO(txs.PChain, u.Bytes())
			if err != nil {
				l.t.Fatal(err)
			}
			if !u.Reward || parsed.TxID != ids.ID(maker) {
				continue
			}
			kind, err := query.PaidKind(l.t.Context(), l.DB, s, part)
			if err != nil {
				l.t.Fatal(err)
			}
			part++
			o := l.reward(s, nil, kind)
			var owners []any
			for _, a := range parsed.Owners().Addresses {
				owners = append(owners, l.Rules.Bech32(a))
			}
			block, err := l.DB.PrimaryBlock(l.t.Context(), l.Chain(txs.PChain), u.ID.Height())
			if err != nil {
				l.t.Fatal(err)
			}
			amount := l.avax(uint64(u.Amount))
			if block.Time < l.now-24*60*60 {
				amount["historicalPrice"] = l.g.Price(l.t, l.CChain().Row.ID, common.Address{}, currency, block.Time)
			}
			o["addresses"], o["utxoId"], o["outputIndex"], o["reward"], o["rewardTxHash"] = owners, ids.ID(u.Hash).String(), u.Output, amount, ids.ID(s.RewardTx).String()
			all = append(all, o)
		}
	}
	return all
}

// pending returns the rewards that active stakers expect.
func (l *stakerRows) pending() (all []datatest.Object) {
	add := func(s *store.Staker, owner []byte, kind string, amount uint64) {
		if amount > 0 {
			o := l.reward(s, owner, kind)
			o["progress"], o["estimatedReward"] = 100*float64(l.now-s.Start)/float64(s.End-s.Start), l.avax(amount)
			all = append(all, o)
		}
	}
	for i := range l.stakers {
		s := &l.stakers[i]
		switch {
		case l.status(s) != "active" || ids.ID(s.Subnet) != ids.Empty:
		case s.Delegator:
			v := l.validator(s)
			fee, net := rules.SplitReward(uint64(s.PotentialReward), v.Shares)
			add(s, s.Owner, "DELEGATOR", net)
			add(s, v.FeeOwner, "VALIDATOR_FEE", fee)
		default:
			add(s, s.Owner, "VALIDATOR", uint64(s.PotentialReward))
		}
	}
	return all
}

// ofOwners asks for the rewards of each owner, and of each owner on one node.
func (l *stakerRows) ofOwners(paid, pending []datatest.Object) {
	for list, all := range map[string][]datatest.Object{"/rewards?currency=eur&": paid, "/rewards:listPending?": pending} {
		key := map[bool]string{true: "historicalRewards", false: "pendingRewards"}[strings.Contains(list, "currency")]
		path := "/v1/networks/" + l.Name + list
		done := map[string]bool{}
		for _, one := range all {
			owner, node := datatest.Dig(one, "addresses", 0).(string), one["nodeId"].(string)
			if done[owner+node] {
				continue
			}
			done[owner+node] = true
			ofThis := func(nodes ...string) (some []datatest.Object) {
				for _, o := range all {
					if datatest.Holds(o["addresses"], owner) && (len(nodes) == 0 || slices.Contains(nodes, o["nodeId"].(string))) {
						some = append(some, o)
					}
				}
				return some
			}
			equal(l.t, list+owner, l.g.Pages(l.t, path+"addresses=P-"+owner, key, 3), ofThis())
			equal(l.t, list+owner+node, l.g.Pages(l.t, path+"addresses="+owner+"&nodeIds="+node, key, 3), ofThis(node))
			newest := datatest.Encode(l.g.Pages(l.t, path+"addresses="+owner, key, 50))
			oldest := l.g.Pages(l.t, path+"sortOrder=asc&addresses="+owner, key, 50)
			if slices.Reverse(oldest); newest != datatest.Encode(oldest) {
				l.t.Errorf("%s%s is not the same in both orders", list, owner)
			}
		}
	}
}
