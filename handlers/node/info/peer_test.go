package info_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// peer is a connected node.
type peer struct {
	IP             string     `json:"ip"`
	PublicIP       string     `json:"publicIP"`
	NodeID         ids.NodeID `json:"nodeID"`
	Version        string     `json:"version"`
	UpgradeTime    int64      `json:"upgradeTime"`
	LastSent       time.Time  `json:"lastSent"`
	LastReceived   time.Time  `json:"lastReceived"`
	ObservedUptime uint64     `json:"observedUptime,string"`
	TrackedSubnets []ids.ID   `json:"trackedSubnets"`
	SupportedACPs  []uint32   `json:"supportedACPs"`
	ObjectedACPs   []uint32   `json:"objectedACPs"`
	Benched        []string   `json:"benched"`
}

// The proposals of the next upgrade, and the other open ones (avalanchego utils/constants/acps.go, which needs cgo).
var scheduled, unscheduled = []uint32{194, 236, 267, 273, 283, 285}, []uint32{224, 247}

func (n *node) peers() []peer {
	n.Helper()
	return rpctest.Get[struct{ Peers []peer }](n.Client, "info.peers", nil).Peers
}

// tracked returns the subnets of every validator, as platform.getCurrentValidators lists them.
func (n *node) tracked() map[ids.NodeID][]ids.ID {
	n.Helper()
	subnets := rpctest.Get[struct{ Subnets []struct{ ID ids.ID } }](n.Client, "platform.getSubnets", Object{}).Subnets
	slices.SortStableFunc(subnets, func(a, b struct{ ID ids.ID }) int { // the primary network is the first
		if a.ID == ids.Empty {
			return -1
		}
		return 0
	})
	tracked := map[ids.NodeID][]ids.ID{}
	for _, subnet := range append([]struct{ ID ids.ID }{{ids.Empty}}, subnets...) {
		current := rpctest.Get[struct{ Validators []struct{ NodeID ids.NodeID } }](n.Client, "platform.getCurrentValidators", Object{"subnetID": subnet.ID})
		for _, v := range current.Validators {
			all := tracked[v.NodeID]
			if all == nil {
				all = []ids.ID{ids.Empty}
			}
			if !slices.Contains(all, subnet.ID) {
				all = append(all, subnet.ID)
			}
			tracked[v.NodeID] = all
		}
	}
	return tracked
}

func (n *node) nodes() map[ids.NodeID]store.Node {
	n.Helper()
	rows, err := n.network.DB.Nodes(n.Context(), n.network.Rules.NetworkID)
	if err != nil {
		n.Fatal(err)
	}
	all := map[ids.NodeID]store.Node{}
	for _, row := range rows {
		all[ids.NodeID(row.Node)] = row
	}
	return all
}

// TestPeers: the peers are the validators of all subnets whose nodes are connected, without the node itself.
func TestPeers(t *testing.T) {
	onEach(t, func(t *testing.T, n *node) {
		tracked, nodes, now := n.tracked(), n.nodes(), n.network.Clock.Unix()
		wanted := map[ids.NodeID]bool{}
		for id := range tracked {
			if row, known := nodes[id]; known && row.Connected && id != n.network.LocalNode.ID() {
				wanted[id] = true
			}
		}
		all := n.peers()
		seen := map[string]bool{}
		for i, p := range all {
			row := nodes[p.NodeID]
			if !wanted[p.NodeID] || i > 0 && all[i-1].NodeID.Compare(p.NodeID) >= 0 {
				t.Errorf("%s is a peer", p.NodeID)
			}
			delete(wanted, p.NodeID)
			if p.PublicIP != row.IP || p.IP != sim.RemoteAddress(&row) || p.Version != row.Version || p.UpgradeTime != n.network.Rules.Upgrades.Helicon {
				t.Errorf("%+v, want %+v", p, row)
			}
			if sent, received := now-p.LastSent.Unix(), now-p.LastReceived.Unix(); sent < 0 || sent > 4 || received < 0 || received > 4 || p.LastSent.Location() != time.UTC {
				t.Errorf("at %d, %s was sent to at %s and received from at %s", now, p.NodeID, p.LastSent, p.LastReceived)
			} else {
				seen[fmt.Sprint("sent ", sent)], seen[fmt.Sprint("received ", received)] = true, true
			}
			if own := uint64(n.network.LocalNode.Uptime) / 10_000; p.ObservedUptime != own && p.ObservedUptime != own-1 {
				t.Errorf("%s observed an uptime of %d, it is %d", p.NodeID, p.ObservedUptime, own)
			}
			if !slices.Equal(p.TrackedSubnets, tracked[p.NodeID]) {
				t.Errorf("%s tracks %v, want %v", p.NodeID, p.TrackedSubnets, tracked[p.NodeID])
			}
			if !slices.Equal(p.SupportedACPs, scheduled) || p.ObjectedACPs == nil || len(p.ObjectedACPs) > 0 {
				t.Errorf("%s supports %v and objects to %v", p.NodeID, p.SupportedACPs, p.ObjectedACPs)
			}
			if benched := row.Role == "low-uptime"; benched != (len(p.Benched) == 1) || p.Benched == nil {
				t.Errorf("%s is benched on %v", p.NodeID, p.Benched)
			}
			seen[fmt.Sprint("subnets ", len(p.TrackedSubnets))] = true
		}
		if len(wanted) > 0 || len(all) < 10 || !seen["subnets 1"] || !seen["subnets 2"] || len(seen) < 10 {
			t.Errorf("of %d peers %v are missing; seen were only %v", len(all), wanted, seen)
		}
		n.Want(Object{"numPeers": fmt.Sprint(len(all)), "peers": all}, "info.peers", Object{"nodeIDs": []any{}})
	})
}

// TestSomePeers asks for peers by their ids, more than once, and for nodes that are none.
func TestSomePeers(t *testing.T) {
	onEach(t, func(_ *testing.T, n *node) {
		all := n.peers()
		for i, p := range all {
			other := all[(i+1)%len(all)]
			n.Want(Object{"numPeers": "1", "peers": []peer{p}}, "info.peers", Object{"nodeIDs": []ids.NodeID{p.NodeID}})
			n.Want(Object{"numPeers": "3", "peers": []peer{other, p, other}}, "info.peers", Object{"nodeIDs": []ids.NodeID{other.NodeID, {1}, p.NodeID, n.network.LocalNode.ID(), other.NodeID}})
		}
		n.Want(Object{"numPeers": "0", "peers": []peer{}}, "info.peers", Object{"nodeIDs": []ids.NodeID{n.network.LocalNode.ID()}})
		n.Refuses(rpctest.Malformed, "info.peers", Object{"nodeIDs": "NodeID-1"})
	})
}

// TestBenchedPeers: a client benches peers and lets them go again.
func TestBenchedPeers(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w.Networks[0], false)
	before := n.peers()
	benched := before[3].NodeID
	n.network.Trouble.Set(sim.Troubles{Benched: []ids.NodeID{benched}})
	after := n.peers()
	n.network.Trouble.Set(sim.Troubles{})
	again := n.peers()
	for i, p := range after {
		want := before[i].Benched
		if p.NodeID == benched {
			want = []string{"C"}
		}
		if !slices.Equal(p.Benched, want) || !slices.Equal(again[i].Benched, before[i].Benched) {
			t.Errorf("%s is benched on %v, afterwards on %v", p.NodeID, p.Benched, again[i].Benched)
		}
	}
}

// weights returns the validators of a subnet with their delegators' weight, as platform.getValidatorsAt lists them.
func (n *node) weights(subnet ids.ID) map[ids.NodeID]uint64 {
	n.Helper()
	height := rpctest.Get[struct{ Height string }](n.Client, "platform.getHeight", nil).Height
	reply := rpctest.Get[map[ids.NodeID]struct {
		Weight uint64 `json:",string"`
	}](n.Client, "platform.getValidatorsAt", Object{"height": height, "subnetID": subnet})
	weights := map[ids.NodeID]uint64{}
	for node, v := range reply {
		weights[node] = v.Weight
	}
	return weights
}

// TestUptime adds up how the validators of every subnet see the node, for uptimes about the one that rewards need.
func TestUptime(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, network := range w.Networks {
		n := serve(t, network, false)
		id := network.LocalNode.ID()
		kinds := map[string]bool{}
		for _, uptime := range []uint32{1_000_000, 900_000, 910_000, 899_999, 810_000, 800_000, 799_999, 500_000, 0} {
			network.Trouble.Set(sim.Troubles{Uptimes: map[ids.NodeID]uint32{id: uptime}})
			observed := map[ids.NodeID]uint64{}
			for _, p := range n.peers() {
				observed[p.NodeID] = p.ObservedUptime
			}
			for _, subnet := range append([]ids.ID{ids.Empty}, n.tracked()[id]...) {
				kinds[n.checkUptime(subnet, observed, n.weights(subnet))] = true
			}
		}
		for _, subnet := range rpctest.Get[struct{ Subnets []struct{ ID ids.ID } }](n.Client, "platform.getSubnets", Object{}).Subnets {
			if !slices.Contains(n.tracked()[id], subnet.ID) {
				n.Refuses("couldn't get node uptime: node is not a validator", "info.uptime", Object{"subnetID": subnet.ID})
			}
		}
		n.Refuses(rpctest.Malformed, "info.uptime", Object{"subnetID": "nope"})
		if len(kinds) < 4 {
			t.Errorf("only %v were seen", kinds)
		}
	}
}

// checkUptime recomputes a subnet's view of the node, and returns it.
func (n *node) checkUptime(subnet ids.ID, observed, weights map[ids.NodeID]uint64) string {
	n.Helper()
	required := uint64(80)
	if n.since() >= n.network.Rules.Upgrades.Helicon {
		required = 90
	}
	total, rewarding, seen := 0.0, 0.0, 0.0
	for node, weight := range weights {
		total += float64(weight)
		percent, connected := observed[node]
		if node == n.network.LocalNode.ID() {
			percent, connected = 100, true
		}
		if !connected {
			continue
		}
		seen += float64(weight) * float64(percent)
		if percent >= required {
			rewarding += float64(weight)
		}
	}
	reply := rpctest.Get[struct {
		RewardingStakePercentage, WeightedAveragePercentage float64 `json:",string"`
	}](n.Client, "info.uptime", Object{"subnetID": subnet})
	if d := math.Abs(reply.RewardingStakePercentage - 100*rewarding/total); !(d < 1e-3) {
		n.Errorf("%s: %v of the stake rewards, want %v", subnet, reply.RewardingStakePercentage, 100*rewarding/total)
	}
	if d := math.Abs(reply.WeightedAveragePercentage - seen/total); !(d < 1e-3) {
		n.Errorf("%s: the average is %v, want %v", subnet, reply.WeightedAveragePercentage, seen/total)
	}
	return fmt.Sprintf("%.0f", reply.RewardingStakePercentage)
}

// since returns when the node's stake began.
func (n *node) since() int64 {
	n.Helper()
	current := rpctest.Get[struct {
		Validators []struct {
			StartTime int64 `json:",string"`
		}
	}](n.Client, "platform.getCurrentValidators", Object{"nodeIDs": []ids.NodeID{n.network.LocalNode.ID()}})
	return current.Validators[0].StartTime
}

// TestACPs: connected validators support the proposals of the next upgrade, and the others' weight abstains.
func TestACPs(t *testing.T) {
	onEach(t, func(_ *testing.T, n *node) {
		connected := map[ids.NodeID]bool{}
		for _, p := range n.peers() {
			connected[p.NodeID] = true
		}
		names, support, total := []string{}, uint64(0), uint64(0)
		for node, weight := range n.weights(ids.Empty) {
			if total += weight; connected[node] {
				names, support = append(names, node.String()), support+weight
			}
		}
		votes := Object{}
		for _, number := range slices.Concat(scheduled, unscheduled) {
			vote := Object{"supportWeight": "0", "supporters": []string{}, "objectWeight": "0", "objectors": []string{}, "abstainWeight": fmt.Sprint(total)}
			if slices.Contains(scheduled, number) {
				vote["supportWeight"], vote["supporters"], vote["abstainWeight"] = fmt.Sprint(support), slices.Sorted(slices.Values(names)), fmt.Sprint(total-support)
			}
			votes[fmt.Sprint(number)] = vote
		}
		n.Want(Object{"acps": votes}, "info.acps", nil)
		if support == 0 || support == total {
			n.Errorf("%d of %d support", support, total)
		}
	})
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, method := range []string{"peers", "uptime", "acps"} {
		rpctest.FailEach(t, w.DB, func() error {
			_, err := serve(t, w.Networks[0], false).Ask("info."+method, Object{})
			return err
		})
	}
}
