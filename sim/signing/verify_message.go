package signing

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// ErrRefused means that validators refuse to sign, and wraps the reason.
var ErrRefused = errors.New("the validators refuse to sign")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// MessageFromJustification returns the P-Chain message that a justification alone determines: SubnetToL1Conversion for the id of a
// converted subnet, L1ValidatorRegistration for an L1 validator named by its index in the conversion or by the request that registered it.
// The error wraps ErrRefused if the P-Chain's state has no such message.
func MessageFromJustification(ctx context.Context, n *sim.Network, justification []byte) (*warp.UnsignedMessage, error) {
	if len(justification) == ids.IDLen {
		subnet, err := convertedSubnet(ctx, n, ids.ID(justification))
		if err != nil {
			return nil, err
		}
		return eventMessage(n, &warp.SubnetToL1Conversion{ID: ids.ID(subnet.State.Conversion)})
	}
	j, err := warp.ParseJustification(justification)
	if err != nil {
		return nil, refuse("it is neither a subnet's id nor the justification of an L1 validator: %v", err)
	}
	validation, err := j.ValidationID()
	if err != nil {
		return nil, refuse("%v", err)
	}
	registered, err := isRegistered(ctx, n, validation)
	if err != nil {
		return nil, err
	}
	if !registered {
		if err := verifyCannotValidate(ctx, n, j, validation); err != nil {
			return nil, err
		}
	}
	return eventMessage(n, &warp.L1ValidatorRegistration{ValidationID: validation, Registered: registered})
}

// eventMessage returns an unsigned message of the P-Chain, whose blockchain id and sender are empty.
func eventMessage(n *sim.Network, e warp.L1Message) (*warp.UnsignedMessage, error) {
	return warp.NewL1Message(n.Rules.NetworkID, ids.Empty, nil, e)
}

// VerifyMessage refuses messages that a node of the network would not sign. A node signs messages that its chain sent through the warp
// precompile, hashes of blocks that its chain accepted, and P-Chain messages that agree with the P-Chain's state.
func VerifyMessage(ctx context.Context, n *sim.Network, m *warp.UnsignedMessage, justification []byte) error {
	if m.SourceChainID == ids.Empty {
		return verifyPChainMessage(ctx, n, m, justification)
	}
	sent, err := isSent(ctx, n, m)
	if err == nil && !sent {
		err = refuse("chain %s did not send the message", m.SourceChainID)
	}
	return err
}

// verifyPChainMessage follows signatureRequestVerifier of avalanchego's vms/platformvm/network/warp.go, with its error texts.
func verifyPChainMessage(ctx context.Context, n *sim.Network, m *warp.UnsignedMessage, justification []byte) error {
	sender, body, err := warp.ParseAddressedCall(m.Payload)
	if err != nil {
		return refuse("failed to parse warp addressed call: %v", err)
	}
	if len(sender) > 0 {
		return refuse("source address should be empty")
	}
	event, err := warp.ParseL1Message(body)
	if err != nil {
		return refuse("failed to parse warp addressed call payload: %v", err)
	}
	switch e := event.(type) {
	case *warp.SubnetToL1Conversion:
		return verifyConversion(ctx, n, e, justification)
	case *warp.L1ValidatorRegistration:
		return verifyRegistration(ctx, n, e, justification)
	case *warp.L1ValidatorWeight:
		return verifyWeight(ctx, n, e)
	}
	return refuse("unsupported warp addressed call payload type")
}

func verifyConversion(ctx context.Context, n *sim.Network, e *warp.SubnetToL1Conversion, justification []byte) error {
	id, err := ids.ToID(justification)
	if err != nil {
		return refuse("failed to parse justification: %v", err)
	}
	subnet, err := convertedSubnet(ctx, n, id)
	if err == nil && ids.ID(subnet.State.Conversion) != e.ID {
		err = refuse("provided conversionID %q != expected conversionID %q", e.ID, ids.ID(subnet.State.Conversion))
	}
	return err
}

func convertedSubnet(ctx context.Context, n *sim.Network, id ids.ID) (*store.SubnetView, error) {
	subnet, err := n.DB.Subnet(ctx, n.Chain(txs.PChain), id[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && subnet.State.Conversion == nil {
		err = refuse("subnet %q has not been converted", id)
	}
	return subnet, err
}

func verifyRegistration(ctx context.Context, n *sim.Network, e *warp.L1ValidatorRegistration, justification []byte) error {
	registered, err := isRegistered(ctx, n, e.ValidationID)
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
	return verifyCannotValidate(ctx, n, j, e.ValidationID)
}

// verifyCannotValidate refuses to sign that a validator is not registered while its registration may still be accepted: it
// must have been in a conversion, its request must have expired, or it must have been registered and removed.
func verifyCannotValidate(ctx context.Context, n *sim.Network, j *warp.Justification, validation ids.ID) error {
	if j.Request == nil {
		_, err := convertedSubnet(ctx, n, j.SubnetID)
		return err
	}
	request, err := j.Registration()
	if err != nil {
		return refuse("failed to parse RegisterL1Validator justification: %v", err)
	}
	if request.Expiry <= uint64(n.Clock.Unix()) {
		return nil
	}
	_, err = l1Validator(ctx, n, validation)
	if errors.Is(err, store.ErrNotFound) {
		err = refuse("validation %q can be registered until %d", validation, request.Expiry)
	}
	return err
}

func isRegistered(ctx context.Context, n *sim.Network, validation ids.ID) (bool, error) {
	v, err := l1Validator(ctx, n, validation)
	there, err := store.Found(err)
	return there && v.Weight > 0, err
}

func verifyWeight(ctx context.Context, n *sim.Network, e *warp.L1ValidatorWeight) error {
	if e.Nonce == math.MaxUint64 {
		return refuse("impossible nonce")
	}
	v, err := l1Validator(ctx, n, e.ValidationID)
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
