package pchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing a transaction about an auto-renewed validator, in the node's words.
var (
	errHeliconNotActive = errors.New("attempting to use a Helicon-upgrade feature prior to activation")
	errInvalidStakerTx  = errors.New("invalid staker tx")
)

// beforeSyntax refuses what is not a transaction yet: avalanchego looks at that before it looks at the fields.
func (e *txExecutor) beforeSyntax() error {
	switch e.tx.Unsigned.(type) {
	case *txs.AddAutoRenewedValidatorTx, *txs.SetAutoRenewedValidatorConfigTx:
		return refuseIf(!e.Network.Active(rules.Helicon, e.Time()), errHeliconNotActive)
	}
	return nil
}

func (e *txExecutor) addAutoRenewedValidatorTx(u *txs.AddAutoRenewedValidatorTx) (*execution, error) {
	if err := e.verifyValidatorStake(u.Weight(), u.DelegationShares); err != nil {
		return nil, err
	}
	if err := e.verifyPeriod(u.Period); err != nil {
		return nil, err
	}
	if _, found := e.Validator(ids.Empty, u.NodeID()); found {
		return nil, fmt.Errorf("%w: %s", errDuplicate, u.NodeID())
	}
	s, err := NewStaker(e.tx, Active)
	if err != nil {
		return nil, err
	}
	s.Start, s.End = e.Time(), e.Time()+u.Period
	return &execution{stake: u.StakeOuts, run: func() { e.addStaker(s) }}, nil
}

func (e *txExecutor) verifyPeriod(period uint64) error {
	networkRules := e.staking()
	least, most := networkRules.MinValidationDuration, networkRules.MaxStakeDuration
	const advice = "a cycle of %d s; on %s it takes %d to %d hours"
	switch {
	case period < least:
		return advised(errStakeTooShort, advice, period, e.Network.Name, least/3600, most/3600)
	case period > most:
		return advised(errStakeTooLong, advice, period, e.Network.Name, least/3600, most/3600)
	}
	return nil
}

// setAutoRenewedValidatorConfigTx verifies that a validator's authority changes its configuration.
func (e *txExecutor) setAutoRenewedValidatorConfigTx(u *txs.SetAutoRenewedValidatorConfigTx) (*execution, error) {
	tx, err := e.accepted(u.TxID)
	if err != nil {
		return nil, fmt.Errorf("getting staker tx: %w", err)
	}
	added, ok := tx.Unsigned.(*txs.AddAutoRenewedValidatorTx)
	if !ok {
		return nil, fmt.Errorf("%w type: %T", errInvalidStakerTx, tx.Unsigned)
	}
	node := added.NodeID()
	validator, found := e.current.validators[stakerKey{ids.Empty, node}]
	switch {
	case !found:
		return nil, fmt.Errorf("getting validator %s from state: %w", node, utxo.ErrNotFound)
	case validator.TxID != u.TxID:
		return nil, fmt.Errorf("%w: wrong tx id", errInvalidStakerTx)
	}
	if u.Period > 0 {
		if err := e.verifyPeriod(u.Period); err != nil {
			return nil, err
		}
	}
	if err := e.verifyAuthorization(u.Auth, added.ValidatorAuthority.Owners()); err != nil {
		return nil, err
	}
	return &execution{run: func() {
		changed, renewal := *validator, *validator.Renewal
		renewal.NextPeriod, renewal.AutoCompoundRewardShares = u.Period, u.AutoCompoundRewardShares
		changed.Renewal = &renewal
		e.updateStaker(validator, &changed)
	}}, nil
}

// accepted finds an accepted transaction: a current validator's, or any if somebody keeps them.
func (e *txExecutor) accepted(txID ids.ID) (*txs.Tx, error) {
	for _, s := range e.current.queue {
		if s.TxID == txID {
			return s.Tx, nil
		}
	}
	if e.State.Tx == nil {
		return nil, utxo.ErrNotFound
	}
	return e.State.Tx(txID)
}
