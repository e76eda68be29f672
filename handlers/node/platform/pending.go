package platform

import (
	"net/http"

	"snowglobe/handlers/node/jsonrpc"
)

// PendingValidator is a validator that waits to begin.
type PendingValidator struct {
	Staker
	DelegationFee *jsonrpc.Float32 `json:"delegationFee,omitempty"` // percent; none on a permissioned subnet
	Connected     bool             `json:"connected"`
	Signer        *Signer          `json:"signer,omitempty"`
}

// GetPendingValidators lists who waits to begin to validate a subnet, or to delegate there.
func (a *Service) GetPendingValidators(r *http.Request, args *ValidatorsArgs, reply *PendingValidatorsReply) error {
	reply.Validators, reply.Delegators = []any{}, []any{}
	waiting, err := a.state.Stakers(r.Context(), args.SubnetID, args.NodeIDs, a.state.pending)
	if err != nil {
		return err
	}
	nodes, err := a.state.Nodes(r.Context())
	for i := range waiting {
		s := &waiting[i]
		if s.Delegator {
			reply.Delegators = append(reply.Delegators, staker(s))
			continue
		}
		v := a.validator(s, nodes)
		pending := PendingValidator{Staker: v.Staker, Connected: v.Connected, Signer: v.Signer}
		if s.FeeOwner != nil {
			pending.DelegationFee = &v.DelegationFee
		}
		reply.Validators = append(reply.Validators, pending)
	}
	return err
}
