package pchain

import (
	"errors"
	"fmt"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing a P-Chain transaction, in the node's words.
var (
	errFlowCheck        = errors.New("flow check failed")
	errUnauthorized     = errors.New("unauthorized modification")
	errCredentials      = errors.New("wrong number of credentials")
	errNoAuthCredential = errors.New("should have the same number of credentials as inputs")
	errAssetMismatch    = errors.New("input asset ID does not match UTXO asset ID")
	errGasCapacity      = errors.New("tx exceeds current gas capacity")
)

// txExecutor verifies one transaction at the chain's time and executes it, following avalanchego's txs/executor: for each type of
// transaction, a method returns its execution.
type txExecutor struct {
	*State
	tx          *txs.Tx
	credentials *utxo.Credentials
	inputs      int // the number of credentials that are left for inputs, without that of an authorization
}

func newTxExecutor(s *State, tx *txs.Tx) *txExecutor {
	return &txExecutor{s, tx, utxo.NewCredentials(tx, s.Time(), s.Strict), len(tx.Credentials)}
}

// execution is a P-Chain transaction's effect beyond consuming and producing outputs. The method that returns it verifies the rules of the
// transaction's type.
type execution struct {
	stake   []*txs.TransferableOutput // locked until the staker ends
	deposit uint64                    // moved into the balances of L1 validators
	run     func()                    // executes what was verified; it cannot fail
}

// execute verifies the transaction, which must pay at least this gas price, and executes it.
func (e *txExecutor) execute(price uint64) (*Diff, error) {
	diff, err := e.standardTx(price)
	if err != nil {
		return nil, fmt.Errorf("standard tx %s failed execution: %w", e.tx.ID(), err)
	}
	return diff, nil
}

func (e *txExecutor) standardTx(price uint64) (*Diff, error) {
	complexity, err := rules.ComplexityOf(e.tx.Unsigned)
	if err != nil {
		return nil, err
	}
	if err := e.beforeSyntax(); err != nil {
		return nil, err
	}
	if err := e.syntacticVerify(); err != nil {
		return nil, err
	}
	gas := e.Network.Fees.Gas(complexity)
	exec, spent, burned, err := e.verifyAll(gas * price)
	if err != nil {
		return nil, err
	}
	if err := e.consumeGas(gas); err != nil {
		return nil, err
	}
	diff := e.record(e.tx.ID())
	diff.Burned = burned
	e.MoveUTXOs(e.tx, spent)
	exec.run()
	return diff, nil
}

// verifyAll checks the rules of the transaction's type and what it spends. Like the node, it checks the amounts before an L1's message, or
// before it looks up the validator whose balance increases.
func (e *txExecutor) verifyAll(fee uint64) (exec *execution, spent []*txs.UTXO, burned uint64, err error) {
	switch u := e.tx.Unsigned.(type) {
	case *txs.RegisterL1ValidatorTx:
		spent, burned, err = e.verifySpend(&execution{deposit: u.Balance}, fee)
	case *txs.IncreaseL1ValidatorBalanceTx:
		if spent, burned, err = e.verifySpend(&execution{deposit: u.Balance}, fee); u.Balance > math.MaxUint64-fee {
			err = fmt.Errorf("adding fee: %w", err)
		}
	case *txs.SetL1ValidatorWeightTx:
		spent, burned, err = e.verifySpend(&execution{}, fee)
	default:
		if exec, err = e.verify(); err == nil {
			spent, burned, err = e.verifySpend(exec, fee)
		}
		return exec, spent, burned, err
	}
	if err == nil {
		exec, err = e.verify()
	}
	return exec, spent, burned, err
}

func (e *txExecutor) verify() (*execution, error) {
	switch u := e.tx.Unsigned.(type) {
	case *txs.BaseTx:
		return &execution{run: func() {}}, nil
	case *txs.ImportTx:
		return &execution{run: func() {}}, e.SameSubnet(u.SourceChain)
	case *txs.ExportTx:
		return &execution{run: func() {}}, e.SameSubnet(u.DestinationChain)
	case *txs.AddPermissionlessValidatorTx:
		return e.addPermissionlessValidatorTx(u)
	case *txs.AddPermissionlessDelegatorTx:
		return e.addPermissionlessDelegatorTx(u)
	case *txs.AddAutoRenewedValidatorTx:
		return e.addAutoRenewedValidatorTx(u)
	case *txs.SetAutoRenewedValidatorConfigTx:
		return e.setAutoRenewedValidatorConfigTx(u)
	case *txs.AddSubnetValidatorTx:
		return e.addSubnetValidatorTx(u)
	case *txs.RemoveSubnetValidatorTx:
		return e.removeSubnetValidatorTx(u)
	case *txs.CreateSubnetTx:
		return e.createSubnetTx(u)
	case *txs.CreateChainTx:
		return e.createChainTx(u)
	case *txs.TransferSubnetOwnershipTx:
		return e.transferSubnetOwnershipTx(u)
	case *txs.ConvertSubnetToL1Tx:
		return e.convertSubnetToL1Tx(u)
	case *txs.RegisterL1ValidatorTx:
		return e.registerL1ValidatorTx(u)
	case *txs.SetL1ValidatorWeightTx:
		return e.setL1ValidatorWeightTx(u)
	case *txs.IncreaseL1ValidatorBalanceTx:
		return e.increaseL1ValidatorBalanceTx(u)
	case *txs.DisableL1ValidatorTx:
		return e.disableL1ValidatorTx(u)
	}
	return nil, utxo.ErrWrongTxType
}

// verifyAuthorization demands the signatures of owners, by the transaction's last credential: avalanchego's verifyAuthorization.
func (e *txExecutor) verifyAuthorization(auth txs.Auth, owners *txs.OutputOwners) error {
	if e.inputs == 0 {
		return errNoAuthCredential
	}
	e.inputs--
	if err := e.credentials.VerifyPermission(e.inputs, auth.Authorization(), owners); err != nil {
		return fmt.Errorf("%w: %w", errUnauthorized, err)
	}
	return nil
}

// verifySpend finds what the transaction spends and burns, and checks its inputs' signatures and its fee.
func (e *txExecutor) verifySpend(exec *execution, fee uint64) ([]*txs.UTXO, uint64, error) {
	if exec.deposit > math.MaxUint64-fee {
		return nil, 0, utxo.ErrOverflow
	}
	spent, burned, err := e.verifyFlow(exec, fee)
	if err != nil {
		return nil, 0, flowError(e.tx, err)
	}
	return spent, burned, nil
}

// flowError returns avalanchego's error for a fault of inputs and outputs in the transaction's type.
func flowError(tx *txs.Tx, err error) error {
	switch tx.Unsigned.(type) {
	case *txs.AddPermissionlessValidatorTx, *txs.AddPermissionlessDelegatorTx, *txs.AddSubnetValidatorTx, *txs.RemoveSubnetValidatorTx,
		*txs.TransferSubnetOwnershipTx, *txs.AddAutoRenewedValidatorTx, *txs.SetAutoRenewedValidatorConfigTx:
		return fmt.Errorf("%w: %w", errFlowCheck, err)
	case *txs.ExportTx:
		return fmt.Errorf("failed verifySpend: %w", err)
	}
	return err
}

// verifyFlow follows avalanchego's utxo.Verifier.VerifySpend.
func (e *txExecutor) verifyFlow(exec *execution, fee uint64) ([]*txs.UTXO, uint64, error) {
	spent, err := e.Inputs(e.tx)
	if err != nil {
		return nil, 0, err
	}
	ins := e.tx.Inputs()
	if e.inputs != len(ins) {
		return nil, 0, fmt.Errorf("%w: %d inputs != %d credentials", errCredentials, len(ins), e.inputs)
	}
	for i, in := range ins {
		if in.AssetID != spent[i].AssetID {
			return nil, 0, fmt.Errorf("%w: %s != %s", errAssetMismatch, in.AssetID, spent[i].AssetID)
		}
		switch err := e.credentials.VerifyTransfer(i, in, spent[i]); {
		case errors.Is(err, utxo.ErrLockedNotMarked), errors.Is(err, utxo.ErrLocktimeMismatch):
			return nil, 0, err
		case err != nil:
			return nil, 0, fmt.Errorf("failed to verify transfer: %w", err)
		}
	}
	burned, err := e.verifyAmounts(exec, spent, fee)
	return spent, burned, err
}

// verifyAmounts adds up inputs, outputs, stake, deposits and the fee.
func (e *txExecutor) verifyAmounts(exec *execution, spent []*txs.UTXO, fee uint64) (uint64, error) {
	var f utxo.FlowChecker
	for _, u := range spent {
		f.ConsumeUTXO(u, e.Time())
	}
	f.ProduceOutputs(e.tx.Unsigned.Base().Outs)
	f.ProduceOutputs(exec.stake)
	if export, ok := e.tx.Unsigned.(*txs.ExportTx); ok {
		f.ProduceOutputs(export.ExportedOutputs)
	}
	f.Produce(e.Network.AVAXAssetID, exec.deposit)
	f.Produce(e.Network.AVAXAssetID, fee)
	err := f.Verify(func(need uint64, asset ids.ID) error {
		return fmt.Errorf("%w: needs %d more %s", utxo.ErrInsufficientUnlockedFunds, need, asset)
	})
	return f.Burned(e.Network.AVAXAssetID) + fee, err
}

// consumeGas counts the transaction's gas against the block's capacity.
func (e *txExecutor) consumeGas(gas uint64) error {
	fees, err := e.fees.Consume(gas)
	if err != nil {
		return err
	}
	utxo.Set(e.journal, &e.fees, fees)
	return nil
}

// trusted reports whether this process made the transaction's signatures and proofs, which then need no check.
func (e *txExecutor) trusted() bool { return !e.Strict && e.tx.SignedHere() }
