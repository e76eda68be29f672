package platform

import (
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// L1Validator is a validator of an L1.
type L1Validator struct {
	NodeID                ids.NodeID     `json:"nodeID"`
	Weight                jsonrpc.Uint64 `json:"weight"`
	StartTime             jsonrpc.Uint64 `json:"startTime"`
	ValidationID          ids.ID         `json:"validationID"`
	PublicKey             jsonrpc.Hex    `json:"publicKey"`
	RemainingBalanceOwner *Owner         `json:"remainingBalanceOwner"`
	DeactivationOwner     *Owner         `json:"deactivationOwner"`
	MinNonce              jsonrpc.Uint64 `json:"minNonce"`
	Balance               jsonrpc.Uint64 `json:"balance"` // for the continuous fee, nAVAX; 0 if inactive
}

// L1ValidatorArgs names an L1 validator.
type L1ValidatorArgs struct {
	ValidationID ids.ID `json:"validationID"`
}

// L1ValidatorReply is an L1 validator as of the last block.
type L1ValidatorReply struct {
	L1Validator
	SubnetID ids.ID         `json:"subnetID"`
	Height   jsonrpc.Uint64 `json:"height"`
}

// GetL1Validator returns an L1 validator.
func (a *Service) GetL1Validator(r *http.Request, args *L1ValidatorArgs, reply *L1ValidatorReply) error {
	index, err := a.state.Stakers(r.Context())
	if err != nil {
		return err
	}
	v := index.L1ValidatorByID(args.ValidationID)
	if v == nil || v.Weight == 0 {
		return fmt.Errorf("fetching L1 validator %q failed: %w", args.ValidationID, store.ErrNotFound)
	}
	*reply = L1ValidatorReply{a.l1Validator(v, index), ids.ID(v.Subnet), jsonrpc.Uint64(index.Head.ID.Number())}
	return nil
}

// l1Validators adds an L1's validators.
func (a *Service) l1Validators(args *ValidatorsArgs, index *query.StakerIndex, reply *ValidatorsReply) {
	for _, v := range index.L1ValidatorsOf(args.SubnetID) {
		if args.wants(v.Node) {
			reply.Validators = append(reply.Validators, a.l1Validator(v, index))
		}
	}
}

func (a *Service) l1Validator(v *store.L1ValidatorView, index *query.StakerIndex) L1Validator {
	return L1Validator{
		NodeID: ids.NodeID(v.Node), Weight: jsonrpc.Uint64(v.Weight), StartTime: jsonrpc.Uint64(v.Start), ValidationID: ids.ID(v.Validation),
		PublicKey: v.BLS, RemainingBalanceOwner: a.owner(v.BalanceOwner), DeactivationOwner: a.owner(v.DeactivationOwner),
		MinNonce: jsonrpc.Uint64(v.Nonce), Balance: jsonrpc.Uint64(index.L1Balance(v)),
	}
}
