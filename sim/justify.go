package sim

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// ErrUnjustified says that validators refuse to sign, and wraps why.
var ErrUnjustified = errors.New("the validators refuse to sign")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnjustified, fmt.Sprintf(format, args...))
}

// Conclude makes the message that a justification alone asks for: of a converted subnet by its id, or of an L1 validator
// by its place in the conversion or the request that registered it. The error wraps ErrUnjustified when the P-chain has
// nothing to say about it.
func (l *Ledger) Conclude(ctx context.Context, justification []byte) (*warp.UnsignedMessage, error) {
	if len(justification) == ids.IDLen {
		subnet, err := l.converted(ctx, ids.ID(justification))
		if err != nil {
			return nil, err
		}
		return l.speak(&warp.SubnetToL1Conversion{ID: ids.ID(subnet.State.Conversion)})
	}
	j, err := warp.ParseJustification(justification)
	if err != nil {
		return nil, refuse("it is neither a subnet's id nor the justification of an L1 validator: %v", err)
	}
	validation, err := j.ValidationID()
	if err != nil {
		return nil, refuse("%v", err)
	}
	registered, err := l.registered(ctx, validation)
	if err != nil {
		return nil, err
	}
	if !registered {
		if err := l.never(ctx, j, validation); err != nil {
			return nil, err
		}
	}
	return l.speak(&warp.L1ValidatorRegistration{ValidationID: validation, Registered: registered})
}

func (l *Ledger) speak(e warp.Event) (*warp.UnsignedMessage, error) {
	return warp.NewEventMessage(l.Rules.NetworkID, ids.Empty, nil, e)
}

// Justify refuses what a node of the network would not sign. It signs what its chain really sent, the hash of a block that
// its chain accepted, and of the P-chain what is true by its state.
func (l *Ledger) Justify(ctx context.Context, m *warp.UnsignedMessage, justification []byte) error {
	if m.SourceChainID == ids.Empty {
		return l.justifyStatement(ctx, m, justification)
	}
	sent, err := l.sent(ctx, m)
	if err == nil && !sent {
		err = refuse("chain %s did not send the message", m.SourceChainID)
	}
	return err
}

// justifyStatement is the P-chain's own check.
func (l *Ledger) justifyStatement(ctx context.Context, m *warp.UnsignedMessage, justification []byte) error {
	sender, event, err := m.Event()
	if err != nil {
		return refuse("%v", err)
	}
	if len(sender) > 0 {
		return refuse("source address should be empty")
	}
	switch e := event.(type) {
	case *warp.SubnetToL1Conversion:
		return l.justifyConversion(ctx, e, justification)
	case *warp.L1ValidatorRegistration:
		return l.justifyRegistration(ctx, e, justification)
	case *warp.L1ValidatorWeight:
		return l.justifyWeight(ctx, e)
	}
	return refuse("unsupported warp addressed call payload type")
}

func (l *Ledger) justifyConversion(ctx context.Context, e *warp.SubnetToL1Conversion, justification []byte) error {
	id, err := ids.ToID(justification)
	if err != nil {
		return refuse("failed to parse justification: %v", err)
	}
	subnet, err := l.converted(ctx, id)
	if err == nil && ids.ID(subnet.State.Conversion) != e.ID {
		err = refuse("provided conversionID %q != expected conversionID %q", e.ID, ids.ID(subnet.State.Conversion))
	}
	return err
}

func (l *Ledger) converted(ctx context.Context, id ids.ID) (*store.SubnetNow, error) {
	subnet, err := l.DB.Subnet(ctx, l.Chain(primary.PChain), id[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && subnet.State.Conversion == nil {
		err = refuse("subnet %q has not been converted", id)
	}
	return subnet, err
}

func (l *Ledger) justifyRegistration(ctx context.Context, e *warp.L1ValidatorRegistration, justification []byte) error {
	registered, err := l.registered(ctx, e.ValidationID)
	switch {
	case err != nil:
		return err
	case e.Registered && !registered:
		return refuse("validation %q does not exist", e.ValidationID)
	case e.Registered:
		return nil
	case registered:
		return refuse("validation %q exists", e.ValidationID)
	}
	j, err := warp.ParseJustification(justification)
	if err != nil {
		return refuse("failed to parse justification: %v", err)
	}
	if id, err := j.ValidationID(); err != nil || id != e.ValidationID {
		return refuse("validationID %q != justificationID %q", e.ValidationID, id)
	}
	return l.never(ctx, j, e.ValidationID)
}

// never refuses to say of a validator that is not registered that it never will be, while that may still happen.
func (l *Ledger) never(ctx context.Context, j *warp.Justification, validation ids.ID) error {
	if j.Request == nil {
		_, err := l.converted(ctx, j.SubnetID)
		return err
	}
	request, err := j.Registration()
	if err != nil {
		return refuse("failed to parse RegisterL1Validator justification: %v", err)
	}
	if request.Expiry <= uint64(l.Clock.Unix()) {
		return nil
	}
	_, err = l.l1Validator(ctx, validation)
	if errors.Is(err, store.ErrNotFound) {
		err = refuse("validation %q can be registered until %d", validation, request.Expiry)
	}
	return err
}

func (l *Ledger) registered(ctx context.Context, validation ids.ID) (bool, error) {
	v, err := l.l1Validator(ctx, validation)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && v.Weight > 0, err
}

func (l *Ledger) justifyWeight(ctx context.Context, e *warp.L1ValidatorWeight) error {
	if e.Nonce == math.MaxUint64 {
		return refuse("impossible nonce")
	}
	v, err := l.l1Validator(ctx, e.ValidationID)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && v.Weight == 0:
		return refuse("validation %q does not exist", e.ValidationID)
	case err != nil:
		return err
	case e.Nonce+1 != uint64(v.Nonce):
		return refuse("provided nonce %d != expected nonce (%d - 1)", e.Nonce, v.Nonce)
	case e.Weight != uint64(v.Weight):
		return refuse("provided weight %d != expected weight %d", e.Weight, v.Weight)
	}
	return nil
}
