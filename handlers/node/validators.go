package node

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// validatorsAPI tells who validates the subnet of a chain.
type validatorsAPI struct {
	platform *platformAPI
	subnet   ids.ID
}

// CurrentValidatorsArgs choose validators; without node ids it is all of them.
type CurrentValidatorsArgs struct {
	NodeIDs []ids.NodeID `json:"nodeIDs"`
}

// CurrentValidatorsReply are the validators of a subnet.
type CurrentValidatorsReply struct {
	Validators []CurrentValidator `json:"validators"`
}

// CurrentValidator is a validator as a chain sees it.
type CurrentValidator struct {
	ValidationID     ids.ID     `json:"validationID"`
	NodeID           ids.NodeID `json:"nodeID"`
	Weight           uint64     `json:"weight"`
	StartTimestamp   uint64     `json:"startTimestamp"`
	IsActive         bool       `json:"isActive"`
	IsL1Validator    bool       `json:"isL1Validator"`
	IsConnected      bool       `json:"isConnected"`
	UptimePercentage float32    `json:"uptimePercentage"`
	UptimeSeconds    uint64     `json:"uptimeSeconds"`
}

// validators is the handler of a path bc/{blockchainID}/validators, or nil. Chains of the primary network have none. It
// is looked up anew each time, as chains can be created while the node runs.
func (n *Node) validators(network, path string) http.Handler {
	id, found := chainOfValidators(path)
	if !found {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := n.validatorsOf(r, network, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, "the chain could not be looked up", http.StatusInternalServerError)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// chainOfValidators is the chain that a path bc/{blockchainID}/validators names.
func chainOfValidators(path string) (ids.ID, bool) {
	name, found := strings.CutSuffix(strings.TrimPrefix(path, "bc/"), "/validators")
	if !found {
		return ids.Empty, false
	}
	id, err := ids.FromString(name)
	return id, err == nil
}

func (n *Node) validatorsOf(r *http.Request, network string, id ids.ID) (http.Handler, error) {
	validators, err := n.subnetOf(r, network, id)
	if err != nil {
		return nil, err
	}
	return newServices(n.options.MaxBody, Service{"validators", validators})
}

// subnetOf finds who validates a chain of a network; the primary network's chains are not found.
func (n *Node) subnetOf(r *http.Request, network string, id ids.ID) (*validatorsAPI, error) {
	l := n.ledger(network)
	if l == nil {
		return nil, store.ErrNotFound
	}
	subnet, err := l.SubnetOf(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if subnet == ids.Empty {
		return nil, store.ErrNotFound
	}
	return &validatorsAPI{newPlatform(l), subnet}, nil
}

func newPlatform(l *sim.Ledger) *platformAPI { return &platformAPI{primaryAPI{l, primary.PChain}} }

// GetCurrentValidators answers who validates the chain's subnet now, validators of an L1 whose balance ran out included.
func (a *validatorsAPI) GetCurrentValidators(r *http.Request, args *CurrentValidatorsArgs, reply *CurrentValidatorsReply) error {
	head, err := a.platform.head(r)
	if err != nil {
		return err
	}
	stakers, err := a.platform.stakers(r, &ValidatorsArgs{SubnetID: a.subnet}, a.platform.stakesNow)
	if err != nil {
		return err
	}
	l1, err := a.platform.DB.L1ValidatorsOfSubnet(r.Context(), a.subnet[:], head.ID.Number())
	if err != nil {
		return err
	}
	nodes, err := a.platform.nodes(r)
	if err != nil {
		return err
	}
	reply.Validators = []CurrentValidator{}
	add := func(v CurrentValidator) {
		if len(args.NodeIDs) == 0 || slices.Contains(args.NodeIDs, v.NodeID) {
			reply.Validators = append(reply.Validators, a.observed(v, nodes[v.NodeID]))
		}
	}
	for i := range stakers {
		s := &stakers[i]
		add(CurrentValidator{ValidationID: ids.ID(s.Tx), NodeID: ids.NodeID(s.Node), Weight: uint64(s.Weight),
			StartTimestamp: uint64(s.Start), IsActive: true})
	}
	for i := range l1 {
		if v := &l1[i]; v.Weight > 0 {
			add(CurrentValidator{ValidationID: ids.ID(v.Validation), NodeID: ids.NodeID(v.Node), Weight: uint64(v.Weight),
				StartTimestamp: uint64(v.Start), IsActive: a.platform.balance(v, head) > 0, IsL1Validator: true})
		}
	}
	return nil
}

// observed adds what the answering node saw of a validator.
func (a *validatorsAPI) observed(v CurrentValidator, node store.Node) CurrentValidator {
	const million = 1_000_000
	v.IsConnected = node.Connected || v.NodeID == a.platform.Self.ID()
	v.UptimePercentage = float32(node.Uptime) / percent
	elapsed := max(a.platform.Clock.Unix()-int64(v.StartTimestamp), 0)
	v.UptimeSeconds = uint64(elapsed) * uint64(node.Uptime) / million
	return v
}
