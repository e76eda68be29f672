package primary

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// The reasons why a P-chain transaction is refused, in the node's words.
var (
	errFlowCheck    = errors.New("flow check failed")
	errUnauthorized = errors.New("unauthorized modification")
	errCredentials  = errors.New("wrong number of credentials")
)

// plan is what a P-chain transaction does beyond moving outputs. Making one verifies what is particular to the type.
type plan struct {
	stake   []*TransferableOutput // locked until the staker ends
	deposit uint64                // moved into the balances of L1 validators
	auth    *Input                // further signatures that are needed
	owners  *OutputOwners         // and whose
	act     func() error          // carries it out; it can no longer be refused for what the sender did
}

// apply verifies a transaction at the chain's time and carries it out, for at least this gas price.
func (p *Platform) apply(tx *Tx, price uint64) (*Diff, error) {
	if err := p.wellFormed(tx); err != nil {
		return nil, err
	}
	complexity, err := ComplexityOf(tx.Unsigned)
	if err != nil {
		return nil, err
	}
	do, err := p.plan(tx)
	if err != nil {
		return nil, err
	}
	gas := p.Network.Fees.Gas(complexity)
	spent, burned, err := p.afford(tx, do, gas*price)
	if err != nil {
		return nil, err
	}
	if err := p.consumeGas(gas); err != nil {
		return nil, err
	}
	diff := p.start(tx.ID())
	diff.Burned = burned
	p.settle(tx, spent)
	return diff, do.act()
}

// plan verifies what is particular to a transaction's type.
func (p *Platform) plan(tx *Tx) (*plan, error) {
	switch u := tx.Unsigned.(type) {
	case *BaseTx, *ImportTx, *ExportTx:
		return &plan{act: nothing}, nil
	case *AddPermissionlessValidatorTx:
		return p.planValidator(tx, u)
	case *AddPermissionlessDelegatorTx:
		return p.planDelegator(tx, u)
	case *AddSubnetValidatorTx:
		return p.planSubnetValidator(tx, u)
	case *RemoveSubnetValidatorTx:
		return p.planRemoval(u)
	case *CreateSubnetTx:
		return p.planSubnet(tx, u)
	case *CreateChainTx:
		return p.planChain(tx, u)
	case *TransferSubnetOwnershipTx:
		return p.planTransfer(u)
	}
	return p.planL1(tx)
}

// planL1 is plan for the transactions about L1 validators.
func (p *Platform) planL1(tx *Tx) (*plan, error) {
	switch u := tx.Unsigned.(type) {
	case *ConvertSubnetToL1Tx:
		return p.planConversion(tx, u)
	case *RegisterL1ValidatorTx:
		return p.planRegistration(tx, u)
	case *SetL1ValidatorWeightTx:
		return p.planWeight(tx, u)
	case *IncreaseL1ValidatorBalanceTx:
		return p.planBalance(u)
	case *DisableL1ValidatorTx:
		return p.planDisabling(tx, u)
	}
	return nil, ErrWrongTxType
}

func nothing() error { return nil }

// afford finds what a transaction spends and burns, checks its signatures and that it pays for what it does.
func (p *Platform) afford(tx *Tx, do *plan, fee uint64) ([]*UTXO, uint64, error) {
	spent, err := p.inputs(tx)
	if err != nil {
		return nil, 0, err
	}
	if err := p.authorized(tx, do, spent); err != nil {
		return nil, 0, err
	}
	burned, err := p.balanced(tx, do, spent, fee)
	if err != nil && do.stake != nil {
		err = fmt.Errorf("%w: %w", errFlowCheck, err)
	}
	return spent, burned, err
}

func (p *Platform) authorized(tx *Tx, do *plan, spent []*UTXO) error {
	ins := tx.Inputs()
	want := len(ins)
	if do.auth != nil {
		want++
	}
	if len(tx.Credentials) != want {
		return fmt.Errorf("%w: %d inputs != %d credentials", errCredentials, len(ins), len(tx.Credentials))
	}
	w, err := witnessesOf(tx, p.time, p.Strict)
	if err != nil {
		return err
	}
	if do.auth != nil {
		if err := w.permit(len(ins), do.auth, do.owners); err != nil {
			return fmt.Errorf("%w: %w", errUnauthorized, err)
		}
	}
	for i, in := range ins {
		if err := w.transfer(i, in, spent[i]); err != nil {
			return fmt.Errorf("failed to verify transfer: %w", err)
		}
	}
	return nil
}

// balanced adds up inputs, outputs, stake, deposits and the fee.
func (p *Platform) balanced(tx *Tx, do *plan, spent []*UTXO, fee uint64) (uint64, error) {
	var f flow
	for _, u := range spent {
		f.consumeUTXO(u, p.time)
	}
	f.produceOutputs(tx.Unsigned.Base().Outs)
	f.produceOutputs(do.stake)
	if export, ok := tx.Unsigned.(*ExportTx); ok {
		f.produceOutputs(export.ExportedOutputs)
	}
	f.produce(p.Network.AVAXAssetID, do.deposit)
	f.produce(p.Network.AVAXAssetID, fee)
	err := f.balanced(func(need uint64, asset ids.ID) error {
		return fmt.Errorf("%w: needs %d more %s", ErrInsufficientUnlockedFunds, need, asset)
	})
	return f.burned(p.Network.AVAXAssetID) + fee, err
}

// Fee is what a transaction must burn in a block of this time. Inputs and outputs count, amounts do not, so that it can be
// asked for before the change is known.
func (p *Platform) Fee(unsigned Unsigned, time uint64) (uint64, error) {
	complexity, err := ComplexityOf(unsigned)
	if err != nil {
		return 0, err
	}
	fees := p.fees.Advance(&p.Network.Fees, time-min(time, p.time))
	return p.Network.Fees.Gas(complexity) * fees.Price(&p.Network.Fees), nil
}

// trusts tells whether proofs in a transaction need no checking because this process made them.
func (p *Platform) trusts(tx *Tx) bool { return !p.Strict && tx.signers != nil }
