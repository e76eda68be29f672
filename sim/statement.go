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

// Statement is a message by which the P-chain speaks of an L1. That L1's validators sign it, since it is they who check
// what the P-chain says.
type Statement struct {
	Message       *warp.UnsignedMessage
	Justification []byte // with which the P-chain signs it
	Subnet        ids.ID
}

// ErrNoStatement says that the P-chain has nothing to say to an L1 about a transaction.
var ErrNoStatement = errors.New("carries no L1 message: only ConvertSubnetToL1Tx, RegisterL1ValidatorTx, SetL1ValidatorWeightTx and DisableL1ValidatorTx of the P-Chain do")

// StatementOf is what the P-chain says to an L1 about a transaction. The error is store.ErrNotFound for a hash that no
// chain of the network knows, and wraps ErrNoStatement for another kind of transaction.
func (l *Ledger) StatementOf(ctx context.Context, hash ids.ID) (*Statement, error) {
	for chain := primary.PChain; chain <= primary.CChain; chain++ {
		row, err := l.DB.PrimaryTxByHash(ctx, l.Chain(chain), hash[:])
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case chain != primary.PChain:
			return nil, fmt.Errorf("it is a transaction of the %s-Chain (%s) and %w", chain, row.Type, ErrNoStatement)
		}
		return l.platformStatement(ctx, row)
	}
	return nil, store.ErrNotFound
}

func (l *Ledger) platformStatement(ctx context.Context, row *store.PrimaryTx) (*Statement, error) {
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
		m, err := l.speak(&warp.SubnetToL1Conversion{ID: id})
		return &Statement{m, u.SubnetID[:], u.SubnetID}, err
	case *primary.RegisterL1ValidatorTx:
		return l.answer(ctx, u.Message)
	case *primary.SetL1ValidatorWeightTx:
		return l.answer(ctx, u.Message)
	case *primary.DisableL1ValidatorTx:
		// A disabled validator stays registered, with its weight: that is all that the P-chain says of it.
		return l.stateOf(ctx, u.ValidationID, &warp.L1ValidatorRegistration{ValidationID: u.ValidationID, Registered: true})
	}
	return nil, fmt.Errorf("it is of type %s and %w", row.Type, ErrNoStatement)
}

// answer is what the P-chain says when it did what a manager asked for in a signed message. Whether a weight was set
// cannot be told of a validator that is gone, so for a weight of 0 it is that the validator is not registered.
func (l *Ledger) answer(ctx context.Context, message []byte) (*Statement, error) {
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
		return l.stateOf(ctx, id, &warp.L1ValidatorRegistration{ValidationID: id, Registered: true})
	case *warp.L1ValidatorWeight:
		if e.Weight == 0 {
			return l.stateOf(ctx, e.ValidationID, &warp.L1ValidatorRegistration{ValidationID: e.ValidationID})
		}
		return l.stateOf(ctx, e.ValidationID, e)
	}
	return nil, fmt.Errorf("%T from a manager: %w", event, ErrNoStatement)
}

// stateOf is a statement about a validator of an L1, which may be gone.
func (l *Ledger) stateOf(ctx context.Context, validation ids.ID, e warp.Event) (*Statement, error) {
	v, err := l.l1Validator(ctx, validation)
	if err != nil {
		return nil, fmt.Errorf("validator %s: %w", validation, err)
	}
	justification, err := l.origin(ctx, v)
	if err != nil {
		return nil, err
	}
	m, err := l.speak(e)
	return &Statement{m, justification.Bytes(), ids.ID(v.Subnet)}, err
}

// origin justifies what is said of a validator by the transaction that made it one.
func (l *Ledger) origin(ctx context.Context, v *store.L1) (*warp.Justification, error) {
	row, err := l.DB.PrimaryTx(ctx, v.Tx)
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

func (l *Ledger) l1Validator(ctx context.Context, validation ids.ID) (*store.L1, error) {
	height, err := l.PHeight(ctx)
	if err != nil {
		return nil, err
	}
	v, err := l.DB.L1Validator(ctx, validation[:], height)
	if err == nil && v.ID.Chain() != l.Chain(primary.PChain) {
		err = store.ErrNotFound
	}
	return v, err
}
