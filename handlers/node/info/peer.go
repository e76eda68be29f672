package info

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/json"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/platform"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Requests and replies about peers.
type (
	// PeersArgs selects peers; no node ids means all.
	PeersArgs struct {
		NodeIDs []ids.NodeID `json:"nodeIDs"`
	}
	// PeersReply lists connected nodes.
	PeersReply struct {
		NumPeers jsonrpc.Uint64 `json:"numPeers"`
		Peers    []Peer         `json:"peers"`
		encoded  []byte
	}
	// Peer is a connected node.
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
	// UptimeReply is the validators' view of the answering node.
	UptimeReply struct {
		RewardingStakePercentage  json.Float64 `json:"rewardingStakePercentage"`
		WeightedAveragePercentage json.Float64 `json:"weightedAveragePercentage"`
	}
	// ACPsReply lists the validators' votes on proposals, by their numbers.
	ACPsReply struct {
		ACPs map[uint32]*ACPVotes `json:"acps"`
	}
	// ACPVotes lists the validators for and against a proposal, with their weights in nAVAX.
	ACPVotes struct {
		SupportWeight jsonrpc.Uint64 `json:"supportWeight"`
		Supporters    []ids.NodeID   `json:"supporters"`
		ObjectWeight  jsonrpc.Uint64 `json:"objectWeight"`
		Objectors     []ids.NodeID   `json:"objectors"`
		AbstainWeight jsonrpc.Uint64 `json:"abstainWeight"`
	}
)

// peers holds all connected nodes by node id, and the encoded response that lists all.
type peers struct {
	all     []Peer
	encoded []byte
}

// peersOf is the cache key of peers.
type peersOf struct {
	version query.StakerVersion
	benched string
}

// EncodedJSON returns the response if it was encoded before.
func (r *PeersReply) EncodedJSON() []byte { return r.encoded }

var errNotValidator = errors.New("couldn't get node uptime: node is not a validator")

// Peers lists connected nodes: the validators of any subnet whose nodes are up.
func (a *Service) Peers(r *http.Request, args *PeersArgs, reply *PeersReply) error {
	known, err := a.peers(r)
	if err != nil {
		return err
	}
	if len(args.NodeIDs) == 0 {
		reply.encoded = known.encoded
		return nil
	}
	reply.Peers = []Peer{}
	for _, node := range args.NodeIDs {
		if i, found := slices.BinarySearchFunc(known.all, node, func(p Peer, id ids.NodeID) int { return p.NodeID.Compare(id) }); found {
			reply.Peers = append(reply.Peers, known.all[i])
		}
	}
	reply.NumPeers = jsonrpc.Uint64(len(reply.Peers))
	return nil
}

// peers rebuilds the list after a block, a move of the clock or a change of benched nodes.
func (a *Service) peers(r *http.Request) (*peers, error) {
	index, err := a.platform.Stakers(r.Context())
	if err != nil {
		return nil, err
	}
	benched := a.network.Trouble.Now().Benched
	of := peersOf{index.Version(), fmt.Sprint(benched)}
	return a.known.Of(of, func() (*peers, error) {
		all, err := a.connected(r, index, benched)
		if err != nil {
			return nil, err
		}
		encoded, err := stdjson.Marshal(&PeersReply{NumPeers: jsonrpc.Uint64(len(all)), Peers: all})
		return &peers{all, encoded}, err
	})
}

// connected returns all connected nodes by node id.
func (a *Service) connected(r *http.Request, index *query.StakerIndex, benched []ids.NodeID) ([]Peer, error) {
	nodes, err := a.network.DB.Nodes(r.Context(), a.network.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	tracked, err := a.tracked(r, index)
	if err != nil {
		return nil, err
	}
	all := []Peer{}
	for i := range nodes {
		id := ids.NodeID(nodes[i].Node)
		if subnets := tracked[id]; nodes[i].Connected && subnets != nil && id != a.network.LocalNode.ID() {
			all = append(all, a.peer(&nodes[i], subnets, benched, a.network.Rules.Upgrades.Helicon, index.Unix))
		}
	}
	return all, nil
}

func (a *Service) peer(n *store.Node, subnets []ids.ID, benched []ids.NodeID, upgraded, now int64) Peer {
	id := ids.NodeID(n.Node)
	sent, received := sim.SecondsSinceContact(id)
	return Peer{
		IP: sim.RemoteAddress(n), PublicIP: n.IP, NodeID: id, Version: n.Version, UpgradeTime: uint64(upgraded),
		LastSent: utc(now - sent), LastReceived: utc(now - received), ObservedUptime: jsonrpc.Uint32(a.network.ObservedBy(id)),
		TrackedSubnets: subnets, SupportedACPs: fixtures.ScheduledACPs, ObjectedACPs: []uint32{}, Benched: sim.BenchedOn(n, benched),
	}
}

// tracked lists what each node validates: the primary network, which every node follows, and subnets. It includes L1 validators without
// balance, because their L1 still relies on them.
func (a *Service) tracked(r *http.Request, index *query.StakerIndex) (map[ids.NodeID][]ids.ID, error) {
	subnets, err := a.platform.Subnets(r.Context())
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

// Uptime returns how the validators of a subnet see the answering node: the share of stake that would reward it, and its average observed
// uptime. A node that is not connected has observed nothing.
func (a *Service) Uptime(r *http.Request, args *platform.SubnetArgs, reply *UptimeReply) error {
	members, err := a.platform.ValidatorsNow(r.Context(), args.SubnetID)
	if err != nil {
		return fmt.Errorf("couldn't get validators: %w", err)
	}
	known, err := a.peers(r)
	if err != nil {
		return err
	}
	own := members[a.network.LocalNode.ID()]
	if own == nil {
		return errNotValidator
	}
	required, err := a.uptimeRequirement(r.Context())
	if err != nil {
		return err
	}
	rewarding, seen := own.Weight, 100*float64(own.Weight) // the sum of whole stakes in hundredths would overflow
	for _, p := range known.all {
		if m := members[p.NodeID]; m != nil {
			seen += float64(m.Weight) * float64(p.ObservedUptime)
			if uint32(p.ObservedUptime)*rules.Percent >= required {
				rewarding += m.Weight
			}
		}
	}
	total := float64(members.Weight())
	reply.RewardingStakePercentage = json.Float64(100 * float64(rewarding) / total)
	reply.WeightedAveragePercentage = json.Float64(seen / total)
	return nil
}

// uptimeRequirement returns the share of its time, of a million, that the local node must be up for a reward: avalanchego's
// network.NodeUptime.
func (a *Service) uptimeRequirement(ctx context.Context) (uint32, error) {
	id := a.network.LocalNode.ID()
	stakers, err := a.network.DB.StakersOfNode(ctx, a.network.Chain(txs.PChain), id[:])
	if err != nil {
		return 0, err
	}
	var start int64
	for _, s := range stakers {
		if !s.Delegator && query.OnPrimaryNetwork(s.Subnet) && s.Status == store.StakerActive {
			start = s.Start
		}
	}
	return a.network.Rules.StakingAt(uint64(start)).UptimeRequirement, nil
}

// Acps returns validators' votes on open proposals. Every peer supports those of Helicon; the local node's own weight abstains, since a node
// counts only its peers.
func (a *Service) Acps(r *http.Request, _ *jsonrpc.NoArgs, reply *ACPsReply) error {
	members, err := a.platform.ValidatorsNow(r.Context(), ids.Empty)
	if err != nil {
		return err
	}
	known, err := a.peers(r)
	if err != nil {
		return err
	}
	supported := ACPVotes{Supporters: []ids.NodeID{}, Objectors: []ids.NodeID{}}
	for _, p := range known.all {
		if m := members[p.NodeID]; m != nil {
			supported.Supporters = append(supported.Supporters, p.NodeID)
			supported.SupportWeight += jsonrpc.Uint64(m.Weight)
		}
	}
	slices.SortFunc(supported.Supporters, func(a, b ids.NodeID) int { return strings.Compare(a.String(), b.String()) })
	total := jsonrpc.Uint64(members.Weight())
	supported.AbstainWeight = total - supported.SupportWeight
	reply.ACPs = map[uint32]*ACPVotes{}
	for _, number := range fixtures.ScheduledACPs {
		reply.ACPs[number] = &supported
	}
	for _, number := range fixtures.UnscheduledACPs {
		reply.ACPs[number] = &ACPVotes{Supporters: supported.Objectors, Objectors: supported.Objectors, AbstainWeight: total}
	}
	return nil
}
