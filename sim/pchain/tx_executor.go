package pchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// The reasons why a P-Chain transaction is refused, in the node's words.
var (
	errFlowCheck    = errors.New("flow check failed")
	errUnauthorized = errors.New("unauthorized modification")
	errCredentials  = errors.New("wrong number of credentials")
)

// txExecutor verifies one transaction at the chain's time and executes it, as avalanchego's txs/executor: there is a
// method for each type of transaction that makes its execution.
type txExecutor struct {
	*State
	tx *txs.Tx
}

// execution is what a P-Chain transaction does beyond consuming and producing outputs. The method that makes
// one verifies the rules of the transaction's type.
type execution struct {
	stake   []*txs.TransferableOutput // locked until the staker ends
	deposit uint64                    // moved into the balances of L1 validators
	auth    *txs.Input                // further signatures that are needed
	owners  *txs.OutputOwners         // and whose
	run     func()                    // executes what was verified; it cannot fail
}

// execute verifies the transaction, which must pay at least this gas price, and executes it.
func (e *txExecutor) execute(price uint64) (*Diff, error) {
	if err := e.SyntacticVerify(e.tx); err != nil {
		return nil, err
	}
	complexity, err := rules.ComplexityOf(e.tx.Unsigned)
	if err != nil {
		return nil, err
	}
	exec, err := e.verify()
	if err != nil {
		return nil, err
	}
	gas := e.Network.Fees.Gas(complexity)
	spent, burned, err := e.verifySpend(exec, gas*price)
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

// verify checks the rules of the transaction's type.
func (e *txExecutor) verify() (*execution, error) {
	switch u := e.tx.Unsigned.(type) {
	case *txs.BaseTx, *txs.ImportTx, *txs.ExportTx:
		return &execution{run: func() {}}, nil
	case *txs.AddPermissionlessValidatorTx:
		return e.addPermissionlessValidatorTx(u)
	case *txs.AddPermissionlessDelegatorTx:
		return e.addPermissionlessDelegatorTx(u)
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
	}
	return e.verifyL1()
}

// verifyL1 is verify for the transactions about L1 validators.
func (e *txExecutor) verifyL1() (*execution, error) {
	switch u := e.tx.Unsigned.(type) {
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

// verifySpend finds what the transaction spends and burns, checks its signatures and that it pays for what it does.
func (e *txExecutor) verifySpend(exec *execution, fee uint64) ([]*txs.UTXO, uint64, error) {
	spent, err := e.Inputs(e.tx)
	if err != nil {
		return nil, 0, err
	}
	if err := e.verifyCredentials(exec, spent); err != nil {
		return nil, 0, err
	}
	burned, err := e.verifyFlow(exec, spent, fee)
	if err != nil && exec.stake != nil {
		err = fmt.Errorf("%w: %w", errFlowCheck, err)
	}
	return spent, burned, err
}

func (e *txExecutor) verifyCredentials(exec *execution, spent []*txs.UTXO) error {
	ins := e.tx.Inputs()
	want := len(ins)
	if exec.auth != nil {
		want++
	}
	if len(e.tx.Credentials) != want {
		return fmt.Errorf("%w: %d inputs != %d credentials", errCredentials, len(ins), len(e.tx.Credentials))
	}
	credentials, err := utxo.NewCredentials(e.tx, e.Time(), e.Strict)
	if err != nil {
		return err
	}
	if exec.auth != nil {
		if err := credentials.VerifyPermission(len(ins), exec.auth, exec.owners); err != nil {
			return fmt.Errorf("%w: %w", errUnauthorized, err)
		}
	}
	for i, in := range ins {
		if err := credentials.VerifyTransfer(i, in, spent[i]); err != nil {
			return fmt.Errorf("failed to verify transfer: %w", err)
		}
	}
	return nil
}

// verifyFlow adds up inputs, outputs, stake, deposits and the fee.
func (e *txExecutor) verifyFlow(exec *execution, spent []*txs.UTXO, fee uint64) (uint64, error) {
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

// trusted tells whether the signatures and proofs in the transaction need no checking because this process made them.
func (e *txExecutor) trusted() bool { return !e.Strict && e.tx.SignedHere() }
