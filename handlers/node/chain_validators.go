package node

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/parse"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// validatorsAPI lists the validators of a chain's subnet: subnet-evm's plugin/evm.ValidatorsAPI. One instance serves every chain; the
// request's context names the chain.
type validatorsAPI struct{ stakers *query.StakerIndexes }

// validatedChain is the chain that a request for validators names.
type validatedChain struct {
	network *sim.Network
	subnet  ids.ID
}

type validatedChainKey struct{}

// CurrentValidatorsArgs selects validators; no node ids means all.
type CurrentValidatorsArgs struct {
	NodeIDs []ids.NodeID `json:"nodeIDs"`
}

// CurrentValidatorsReply lists the validators of a subnet.
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

// validatorsOf serves bc/{blockchainID}/validators. It looks the chain up for each request, because a running node can create chains;
// chains of the primary network have no such path.
func (t *router) validatorsOf(id ids.ID) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subnet, err := t.subnetOf(r.Context(), id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			http.NotFound(w, r)
		case err != nil:
			lookupFailed(t.log, err).ServeHTTP(w, r)
		default:
			ctx := context.WithValue(r.Context(), validatedChainKey{}, validatedChain{t.network, subnet})
			t.validators.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// chainOfValidators finds the chain that a path bc/{blockchainID}/validators names.
func chainOfValidators(path string) (ids.ID, bool) {
	name, found := strings.CutSuffix(strings.TrimPrefix(path, "bc/"), "/validators")
	if !found {
		return ids.Empty, false
	}
	id, err := parse.ID(name)
	return id, err == nil
}

// GetCurrentValidators returns the current validators of the chain's subnet, including L1 validators whose balance ran out.
func (a *validatorsAPI) GetCurrentValidators(r *http.Request, args *CurrentValidatorsArgs, reply *CurrentValidatorsReply) error {
	chain, _ := r.Context().Value(validatedChainKey{}).(validatedChain)
	index, err := a.stakers.Of(r.Context(), chain.network)
	if err != nil {
		return err
	}
	reply.Validators = []CurrentValidator{}
	add := func(v CurrentValidator) {
		if len(args.NodeIDs) == 0 || slices.Contains(args.NodeIDs, v.NodeID) {
			v.observe(chain.network, index.Node(v.NodeID))
			reply.Validators = append(reply.Validators, v)
		}
	}
	for _, s := range index.ValidatorsOf(chain.subnet, store.StakerActive) {
		add(CurrentValidator{ValidationID: ids.ID(s.Tx), NodeID: ids.NodeID(s.Node), Weight: uint64(s.Weight),
			StartTimestamp: uint64(s.Start), IsActive: true})
	}
	for _, v := range index.L1ValidatorsOf(chain.subnet) {
		add(CurrentValidator{ValidationID: ids.ID(v.Validation), NodeID: ids.NodeID(v.Node), Weight: uint64(v.Weight),
			StartTimestamp: uint64(v.Start), IsActive: index.L1Balance(v) > 0, IsL1Validator: true})
	}
	return nil
}

// observe adds the answering node's observations of a validator.
func (v *CurrentValidator) observe(network *sim.Network, node store.Node) {
	v.IsConnected = node.Connected || v.NodeID == network.LocalNode.ID()
	v.UptimePercentage = float32(node.Uptime) / rules.Percent
	elapsed := max(network.Clock.Unix()-int64(v.StartTimestamp), 0)
	v.UptimeSeconds = uint64(elapsed) * uint64(node.Uptime) / rules.PercentDenominator
}
