package signing

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// PChainMessage is a message of the P-Chain about an L1 (ACP-77). The validators of that L1 sign it: every node validates the
// P-Chain.
type PChainMessage struct {
	Message       *warp.UnsignedMessage
	Justification []byte // needed by a node to verify the message
	Subnet        ids.ID
}

// ErrNoPChainMessage means that no P-Chain message follows from a transaction.
var ErrNoPChainMessage = errors.New("carries no L1 message: only ConvertSubnetToL1Tx, RegisterL1ValidatorTx, SetL1ValidatorWeightTx and DisableL1ValidatorTx of the P-Chain do")

// PChainMessageOf returns the message that follows from a P-Chain transaction. The error is store.ErrNotFound for a hash unknown to the
// network, and wraps ErrNoPChainMessage for another type of transaction.
func PChainMessageOf(ctx context.Context, n *sim.Network, hash ids.ID) (*PChainMessage, error) {
	for chain := txs.PChain; chain <= txs.CChain; chain++ {
		row, err := n.DB.PrimaryTxByHash(ctx, n.Chain(chain), hash[:])
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case chain != txs.PChain:
			return nil, fmt.Errorf("it is a transaction of the %s-Chain (%s) and %w", chain, row.Type, ErrNoPChainMessage)
		}
		return messageOfTx(ctx, n, row)
	}
	return nil, store.ErrNotFound
}

func messageOfTx(ctx context.Context, n *sim.Network, row *store.PrimaryTx) (*PChainMessage, error) {
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	switch u := tx.Unsigned.(type) {
	case *txs.ConvertSubnetToL1Tx:
		id, err := u.ConversionID()
		if err != nil {
			return nil, err
		}
		m, err := eventMessage(n, &warp.SubnetToL1Conversion{ID: id})
		return &PChainMessage{m, u.SubnetID[:], u.SubnetID}, err
	case *txs.RegisterL1ValidatorTx:
		return messageToManager(ctx, n, u.Message)
	case *txs.SetL1ValidatorWeightTx:
		return messageToManager(ctx, n, u.Message)
	case *txs.DisableL1ValidatorTx:
		// A disabled validator stays registered with its weight (ACP-77), so the message is the same as for a registration.
		return validatorMessage(ctx, n, u.ValidationID, &warp.L1ValidatorRegistration{ValidationID: u.ValidationID, Registered: true})
	}
	return nil, fmt.Errorf("it is of type %s and %w", row.Type, ErrNoPChainMessage)
}

// messageToManager acknowledges a validator manager's request in a signed message. A weight of 0 removes the validator, and
// L1ValidatorWeight cannot be verified without one, so the acknowledgement states that it is not registered.
func messageToManager(ctx context.Context, n *sim.Network, message []byte) (*PChainMessage, error) {
	m, err := warp.ParseMessage(message)
	if err != nil {
		return nil, err
	}
	_, event, err := m.L1Message()
	if err != nil {
		return nil, err
	}
	switch e := event.(type) {
	case *warp.RegisterL1Validator:
		id, err := e.ValidationID()
		if err != nil {
			return nil, err
		}
		return validatorMessage(ctx, n, id, &warp.L1ValidatorRegistration{ValidationID: id, Registered: true})
	case *warp.L1ValidatorWeight:
		if e.Weight == 0 {
			return validatorMessage(ctx, n, e.ValidationID, &warp.L1ValidatorRegistration{ValidationID: e.ValidationID})
		}
		return validatorMessage(ctx, n, e.ValidationID, e)
	}
	return nil, fmt.Errorf("%T from a manager: %w", event, ErrNoPChainMessage)
}

// validatorMessage returns a message about an L1 validator, current or removed.
func validatorMessage(ctx context.Context, n *sim.Network, validation ids.ID, e warp.L1Message) (*PChainMessage, error) {
	v, err := l1Validator(ctx, n, validation)
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", validation, err)
	}
	justification, err := justificationOf(ctx, n, v)
	if err != nil {
		return nil, err
	}
	m, err := eventMessage(n, e)
	return &PChainMessage{m, justification.Bytes(), ids.ID(v.Subnet)}, err
}

// justificationOf names an L1 validator by the transaction that made it one: its index in the conversion, or the request that
// registered it.
func justificationOf(ctx context.Context, n *sim.Network, v *store.L1ValidatorView) (*warp.Justification, error) {
	row, err := n.DB.PrimaryTx(ctx, v.Tx)
	if err != nil {
		return nil, err
	}
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	switch u := tx.Unsigned.(type) {
	case *txs.ConvertSubnetToL1Tx:
		j := &warp.Justification{SubnetID: u.SubnetID}
		for warp.ConversionValidationID(u.SubnetID, j.Index) != ids.ID(v.Validation) && int(j.Index) < len(u.Validators) {
			j.Index++
		}
		return j, nil
	case *txs.RegisterL1ValidatorTx:
		m, err := warp.ParseMessage(u.Message)
		if err != nil {
			return nil, err
		}
		_, request, err := warp.ParseAddressedCall(m.Payload)
		return &warp.Justification{Request: request}, err
	}
	return nil, fmt.Errorf("validator %x began with a %s", v.Validation, row.Type)
}

func l1Validator(ctx context.Context, n *sim.Network, validation ids.ID) (*store.L1ValidatorView, error) {
	height, err := n.PHeight(ctx)
	if err != nil {
		return nil, err
	}
	v, err := n.DB.L1Validator(ctx, validation[:], height)
	if err == nil && v.ID.Chain() != n.Chain(txs.PChain) {
		err = store.ErrNotFound
	}
	return v, err
}
