package platform

import (
	"net/http"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
)

// PendingValidator is a validator whose staking period has not begun.
type PendingValidator struct {
	Staker
	DelegationFee *jsonrpc.Float32 `json:"delegationFee,omitempty"` // percent; nil on a permissioned subnet
	Connected     bool             `json:"connected"`
	Signer        *Signer          `json:"signer,omitempty"`
}

// GetPendingValidators lists a subnet's stakers whose staking period has not begun.
func (a *Service) GetPendingValidators(r *http.Request, args *ValidatorsArgs, reply *PendingValidatorsReply) error {
	reply.Validators, reply.Delegators = []any{}, []any{}
	index, err := a.state.Stakers(r.Context())
	if err != nil {
		return err
	}
	for _, d := range index.DelegatorsOf(args.SubnetID, store.StakerPending) {
		if args.wants(d.Node) {
			reply.Delegators = append(reply.Delegators, staker(&d.Staker))
		}
	}
	for _, entry := range index.ValidatorsOf(args.SubnetID, store.StakerPending) {
		if !args.wants(entry.Node) {
			continue
		}
		v := a.validator(entry, index)
		pending := PendingValidator{Staker: v.Staker, Connected: v.Connected, Signer: v.Signer}
		if entry.FeeOwner != nil {
			pending.DelegationFee = &v.DelegationFee
		}
		reply.Validators = append(reply.Validators, pending)
	}
	return nil
}
