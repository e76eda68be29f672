package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// Statement is a message of the P-Chain about an L1 (ACP-77). The validators of that L1 sign it: every node validates the
// P-Chain.
type Statement struct {
	Message       *warp.UnsignedMessage
	Justification []byte // which a node needs to verify the message
	Subnet        ids.ID
}

// ErrNoStatement says that no message of the P-Chain follows from a transaction.
var ErrNoStatement = errors.New("carries no L1 message: only ConvertSubnetToL1Tx, RegisterL1ValidatorTx, SetL1ValidatorWeightTx and DisableL1ValidatorTx of the P-Chain do")

// PChainMessageOf is the message that follows from a P-Chain transaction. The error is store.ErrNotFound for a hash that no
// chain of the network knows, and wraps ErrNoStatement for another type of transaction.
func PChainMessageOf(ctx context.Context, n *Ledger, hash ids.ID) (*Statement, error) {
	for chain := primary.PChain; chain <= primary.CChain; chain++ {
		row, err := n.DB.PrimaryTxByHash(ctx, n.Chain(chain), hash[:])
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case chain != primary.PChain:
			return nil, fmt.Errorf("it is a transaction of the %s-Chain (%s) and %w", chain, row.Type, ErrNoStatement)
		}
		return messageOfTx(ctx, n, row)
	}
	return nil, store.ErrNotFound
}

func messageOfTx(ctx context.Context, n *Ledger, row *store.PrimaryTx) (*Statement, error) {
	tx, err := primary.ParseTx(primary.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	switch u := tx.Unsigned.(type) {
	case *primary.ConvertSubnetToL1Tx:
		id, err := u.ConversionID()
		if err != nil {
			return nil, err
		}
		m, err := eventMessage(n, &warp.SubnetToL1Conversion{ID: id})
		return &Statement{m, u.SubnetID[:], u.SubnetID}, err
	case *primary.RegisterL1ValidatorTx:
		return messageToManager(ctx, n, u.Message)
	case *primary.SetL1ValidatorWeightTx:
		return messageToManager(ctx, n, u.Message)
	case *primary.DisableL1ValidatorTx:
		// A disabled validator stays registered with its weight (ACP-77), so the message is that of a registration.
		return validatorMessage(ctx, n, u.ValidationID, &warp.L1ValidatorRegistration{ValidationID: u.ValidationID, Registered: true})
	}
	return nil, fmt.Errorf("it is of type %s and %w", row.Type, ErrNoStatement)
}

// messageToManager acknowledges what a validator manager requested in a signed message. A weight of 0 removes the validator
// and L1ValidatorWeight cannot be verified without one, so the acknowledgement is that it is not registered.
func messageToManager(ctx context.Context, n *Ledger, message []byte) (*Statement, error) {
	m, err := warp.ParseMessage(message)
	if err != nil {
		return nil, err
	}
	_, event, err := m.Event()
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
	return nil, fmt.Errorf("%T from a manager: %w", event, ErrNoStatement)
}

// validatorMessage is a message about an L1 validator, current or removed.
func validatorMessage(ctx context.Context, n *Ledger, validation ids.ID, e warp.Event) (*Statement, error) {
	v, err := l1Validator(ctx, n, validation)
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", validation, err)
	}
	justification, err := justificationOf(ctx, n, v)
	if err != nil {
		return nil, err
	}
	m, err := eventMessage(n, e)
	return &Statement{m, justification.Bytes(), ids.ID(v.Subnet)}, err
}

// justificationOf names an L1 validator by the transaction that made it one: its index in the conversion, or the request that
// registered it.
func justificationOf(ctx context.Context, n *Ledger, v *store.L1) (*warp.Justification, error) {
	row, err := n.DB.PrimaryTx(ctx, v.Tx)
	if err != nil {
		return nil, err
	}
	tx, err := primary.ParseTx(primary.PChain, row.Bytes)
	if err != nil {
		return nil, err
	}
	switch u := tx.Unsigned.(type) {
	case *primary.ConvertSubnetToL1Tx:
		j := &warp.Justification{SubnetID: u.SubnetID}
		for warp.ConversionValidationID(u.SubnetID, j.Index) != ids.ID(v.Validation) && int(j.Index) < len(u.Validators) {
			j.Index++
		}
		return j, nil
	case *primary.RegisterL1ValidatorTx:
		m, err := warp.ParseMessage(u.Message)
		if err != nil {
			return nil, err
		}
		_, request, err := warp.ParseAddressedCall(m.Payload)
		return &warp.Justification{Request: request}, err
	}
	return nil, fmt.Errorf("validator %x began with a %s", v.Validation, row.Type)
}

func l1Validator(ctx context.Context, n *Ledger, validation ids.ID) (*store.L1, error) {
	height, err := n.PHeight(ctx)
	if err != nil {
		return nil, err
	}
	v, err := n.DB.L1Validator(ctx, validation[:], height)
	if err == nil && v.ID.Chain() != n.Chain(primary.PChain) {
		err = store.ErrNotFound
	}
	return v, err
}
