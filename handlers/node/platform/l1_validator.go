package platform

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
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
	Balance               jsonrpc.Uint64 `json:"balance"` // for the continuous fee, nAVAX; 0 when inactive
}

// L1ValidatorArgs name a validator of an L1.
type L1ValidatorArgs struct {
	ValidationID ids.ID `json:"validationID"`
}

// L1ValidatorReply is a validator of an L1 at the last block.
type L1ValidatorReply struct {
	L1Validator
	SubnetID ids.ID         `json:"subnetID"`
	Height   jsonrpc.Uint64 `json:"height"`
}

// GetL1Validator answers a validator of an L1.
func (a *Service) GetL1Validator(r *http.Request, args *L1ValidatorArgs, reply *L1ValidatorReply) error {
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	row, err := a.Network.DB.L1Validator(r.Context(), args.ValidationID[:], head.ID.Number())
	if err == nil && (row.Weight == 0 || row.ID.Chain() != a.StoreChain()) {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("fetching L1 validator %q failed: %w", args.ValidationID, err)
	}
	*reply = L1ValidatorReply{a.l1Validator(row, head), ids.ID(row.Subnet), jsonrpc.Uint64(head.ID.Number())}
	return nil
}

// l1Validators adds the validators of an L1.
func (a *Service) l1Validators(r *http.Request, args *ValidatorsArgs, reply *ValidatorsReply) error {
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	rows, err := a.Network.DB.L1ValidatorsOfSubnet(r.Context(), args.SubnetID[:], head.ID.Number())
	if err != nil {
		return fmt.Errorf("failed to get L1 validators: %w", err)
	}
	for i := range rows {
		if v := &rows[i]; v.Weight > 0 && (len(args.NodeIDs) == 0 || slices.Contains(args.NodeIDs, ids.NodeID(v.Node))) {
			reply.Validators = append(reply.Validators, a.l1Validator(v, head))
		}
	}
	return nil
}

func (a *Service) l1Validator(v *store.L1ValidatorView, head *store.PrimaryBlock) L1Validator {
	return L1Validator{
		NodeID: ids.NodeID(v.Node), Weight: jsonrpc.Uint64(v.Weight), StartTime: jsonrpc.Uint64(v.Start), ValidationID: ids.ID(v.Validation),
		PublicKey: v.BLS, RemainingBalanceOwner: a.owner(v.BalanceOwner), DeactivationOwner: a.owner(v.DeactivationOwner),
		MinNonce: jsonrpc.Uint64(v.Nonce), Balance: a.state.Balance(v, head),
	}
}
