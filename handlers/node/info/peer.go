package info

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/json"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/platform"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// Requests and answers about peers.
type (
	// PeersArgs choose peers; without node ids it is all of them.
	PeersArgs struct {
		NodeIDs []ids.NodeID `json:"nodeIDs"`
	}
	// PeersReply are those who are connected.
	PeersReply struct {
		NumPeers jsonrpc.Uint64 `json:"numPeers"`
		Peers    []Peer         `json:"peers"`
	}
	// Peer is a node that the answering one is connected to.
	Peer struct {
		IP             string         `json:"ip"`
		PublicIP       string         `json:"publicIP"`
		NodeID         ids.NodeID     `json:"nodeID"`
		Version        string         `json:"version"`
		UpgradeTime    uint64         `json:"upgradeTime"`
		LastSent       time.Time      `json:"lastSent"`
		LastReceived   time.Time      `json:"lastReceived"`
		ObservedUptime jsonrpc.Uint32 `json:"observedUptime"` // of the answering node, in percent
		TrackedSubnets []ids.ID       `json:"trackedSubnets"`
		SupportedACPs  []uint32       `json:"supportedACPs"`
		ObjectedACPs   []uint32       `json:"objectedACPs"`
		Benched        []string       `json:"benched"`
	}
	// UptimeReply is how the validators see the answering node.
	UptimeReply struct {
		RewardingStakePercentage  json.Float64 `json:"rewardingStakePercentage"`
		WeightedAveragePercentage json.Float64 `json:"weightedAveragePercentage"`
	}
	// ACPsReply is what validators think of proposals: of none.
	ACPsReply struct {
		ACPs struct{} `json:"acps"`
	}
)

var errNotValidator = errors.New("couldn't get node uptime: node is not a validator")

// Peers answers who is connected: the validators of any subnet whose nodes are up.
func (a *Service) Peers(r *http.Request, args *PeersArgs, reply *PeersReply) error {
	all, err := a.peers(r)
	if err != nil {
		return err
	}
	reply.Peers = all
	if len(args.NodeIDs) > 0 {
		reply.Peers = []Peer{}
	}
	for _, node := range args.NodeIDs {
		if i := slices.IndexFunc(all, func(p Peer) bool { return p.NodeID == node }); i >= 0 {
			reply.Peers = append(reply.Peers, all[i])
		}
	}
	reply.NumPeers = jsonrpc.Uint64(len(reply.Peers))
	return nil
}

// peers are all who are connected, by node id.
func (a *Service) peers(r *http.Request) ([]Peer, error) {
	upgrades, err := a.schedule()
	if err != nil {
		return nil, err
	}
	nodes, err := a.network.DB.Nodes(r.Context(), a.network.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	tracked, err := a.tracked(r)
	if err != nil {
		return nil, err
	}
	all := []Peer{}
	for i := range nodes {
		id := ids.NodeID(nodes[i].Node)
		if subnets := tracked[id]; nodes[i].Connected && subnets != nil && id != a.network.LocalNode.ID() {
			all = append(all, a.peer(&nodes[i], subnets, upgrades.Granite))
		}
	}
	return all, nil
}

func (a *Service) peer(n *store.Node, subnets []ids.ID, upgraded int64) Peer {
	id, now := ids.NodeID(n.Node), a.network.Clock.Unix()
	sent, received := sim.SecondsSinceContact(id)
	return Peer{
		IP: sim.RemoteAddress(n), PublicIP: n.IP, NodeID: id, Version: n.Version, UpgradeTime: uint64(upgraded),
		LastSent: utc(now - sent), LastReceived: utc(now - received), ObservedUptime: jsonrpc.Uint32(a.network.ObservedBy(id)),
		TrackedSubnets: subnets, SupportedACPs: []uint32{}, ObjectedACPs: []uint32{}, Benched: a.network.BenchedOn(n),
	}
}

// tracked tells what each validator validates: the primary network, which everyone follows, and subnets. L1 validators without
// balance are among them, as their L1 still counts on them.
func (a *Service) tracked(r *http.Request) (map[ids.NodeID][]ids.ID, error) {
	subnets, err := a.platform.Subnets(r.Context())
	if err != nil {
		return nil, err
	}
	index, err := a.platform.Stakers(r.Context())
	if err != nil {
		return nil, err
	}
	tracked := map[ids.NodeID][]ids.ID{}
	add := func(node ids.NodeID, subnet ids.ID) {
		if tracked[node] == nil {
			tracked[node] = []ids.ID{ids.Empty}
		}
		if !slices.Contains(tracked[node], subnet) {
			tracked[node] = append(tracked[node], subnet)
		}
	}
	for _, subnet := range subnets {
		for _, v := range index.ValidatorsOf(subnet, store.StakerActive) {
			add(ids.NodeID(v.Node), subnet)
		}
		for _, v := range index.L1ValidatorsOf(subnet) {
			add(ids.NodeID(v.Node), subnet)
		}
	}
	return tracked, nil
}

// Uptime answers how the validators of a subnet see the answering node: what share of the stake would reward it, and for
// how much of the time they saw it on average. Who is not connected has seen nothing.
func (a *Service) Uptime(r *http.Request, args *platform.SubnetArgs, reply *UptimeReply) error {
	members, err := a.platform.ValidatorsNow(r.Context(), args.SubnetID)
	if err != nil {
		return fmt.Errorf("couldn't get validators: %w", err)
	}
	peers, err := a.peers(r)
	if err != nil {
		return err
	}
	own := members[a.network.LocalNode.ID()]
	if own == nil {
		return errNotValidator
	}
	rewarding, seen := own.Weight, 100*float64(own.Weight) // the sum of whole stakes in hundredths would not fit
	for _, p := range peers {
		if m := members[p.NodeID]; m != nil {
			seen += float64(m.Weight) * float64(p.ObservedUptime)
			if uint32(p.ObservedUptime)*rules.Percent >= a.network.Rules.Staking.UptimeRequirement {
				rewarding += m.Weight
			}
		}
	}
	total := float64(members.Weight())
	reply.RewardingStakePercentage = json.Float64(100 * float64(rewarding) / total)
	reply.WeightedAveragePercentage = json.Float64(seen / total)
	return nil
}

// Acps answers what validators think of proposals. The version that runs here knows of none to vote on.
func (a *Service) Acps(*http.Request, *jsonrpc.NoArgs, *ACPsReply) error { return nil }
