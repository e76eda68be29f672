package rules

import (
	"errors"

	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// Sizes in bytes of the parts of transactions. ACP-103 (and ACP-77 for L1 transactions) assigns the complexities below; the network prices
// by these tables, not by measuring.
const (
	shortLen     = 2
	intLen       = 4
	longLen      = 8
	idLen        = 32
	addressLen   = 20
	nodeIDLen    = 20
	signatureLen = 65
)

const (
	baseBandwidth      = shortLen + intLen + intLen + idLen + 4*intLen // version, type, network, chain, four lengths
	validatorBandwidth = nodeIDLen + 3*longLen
	authBandwidth      = 2 * intLen // type ids of the authorization and of its credential
	ownersBandwidth    = longLen + 2*intLen

	signatureCompute  = 200
	blsVerifyCompute  = 1000
	blsSumCompute     = 5
	possessionCompute = 50 + blsVerifyCompute

	warpReads = 3 + 20 // the chain's subnet, the differences of weights and keys, and the reads to apply them
)

// Reasons why a transaction has no fee, in the node's words.
var (
	ErrUnsupportedTx   = errors.New("unsupported transaction type") // of a type that the network no longer accepts, or never accepts from users
	errUnsupportedAuth = errors.New("unsupported auth type")
)

// ComplexityOf returns the complexity of a P-Chain transaction (avalanchego's fee.TxComplexity).
func ComplexityOf(unsigned txs.Unsigned) (Complexity, error) {
	base := unsigned.Base()
	if base == nil {
		return Complexity{}, ErrUnsupportedTx
	}
	specific, err := specificComplexity(unsigned)
	if err != nil {
		return Complexity{}, err
	}
	fixed := Complexity{Bandwidth: baseBandwidth + uint64(len(base.Memo))}
	return fixed.plus(specific, outputsComplexity(base.Outs), inputsComplexity(base.Ins)), nil
}

// specificComplexity returns the complexity that a type adds to its base.
func specificComplexity(unsigned txs.Unsigned) (Complexity, error) {
	switch tx := unsigned.(type) {
	case *txs.BaseTx:
		return Complexity{}, nil
	case *txs.ImportTx:
		return Complexity{Bandwidth: idLen + intLen}.plus(inputsComplexity(tx.ImportedInputs)), nil
	case *txs.ExportTx:
		return Complexity{Bandwidth: idLen + intLen}.plus(outputsComplexity(tx.ExportedOutputs)), nil
	case *txs.AddPermissionlessValidatorTx:
		return addValidatorComplexity(tx), nil
	case *txs.AddAutoRenewedValidatorTx:
		return addAutoRenewedComplexity(tx), nil
	case *txs.AddPermissionlessDelegatorTx:
		own := Complexity{Bandwidth: validatorBandwidth + idLen + 2*intLen, Reads: 1, Writes: 2}
		return own.plus(ownersComplexity(tx.RewardsOwner), outputsComplexity(tx.StakeOuts)), nil
	}
	own, auth, err := subnetComplexity(unsigned)
	if err != nil || auth == nil {
		return own, err
	}
	signatures, err := authComplexity(auth)
	return own.plus(signatures), err
}

func addValidatorComplexity(tx *txs.AddPermissionlessValidatorTx) Complexity {
	own := Complexity{Bandwidth: validatorBandwidth + idLen + 5*intLen, Reads: 1, Writes: 3}
	if tx.Signer.Key() != nil {
		own = own.plus(possessionComplexity())
	}
	return own.plus(outputsComplexity(tx.StakeOuts), ownersComplexity(tx.ValidationOwner), ownersComplexity(tx.DelegationOwner))
}

func addAutoRenewedComplexity(tx *txs.AddAutoRenewedValidatorTx) Complexity {
	own := Complexity{Bandwidth: intLen + nodeIDLen + 7*intLen + longLen, Writes: 3}
	if tx.Signer.Key() != nil {
		own = own.plus(possessionComplexity())
	}
	return own.plus(outputsComplexity(tx.StakeOuts), ownersComplexity(tx.ValidationOwner), ownersComplexity(tx.DelegationOwner), ownersComplexity(tx.ValidatorAuthority))
}

// subnetComplexity covers the transactions that need an authorization, of which most are about subnets, without the authorization that it returns.
func subnetComplexity(unsigned txs.Unsigned) (own Complexity, auth txs.Auth, err error) {
	switch tx := unsigned.(type) {
	case *txs.AddSubnetValidatorTx:
		return Complexity{Bandwidth: validatorBandwidth + idLen + authBandwidth, Reads: 3, Writes: 3}, tx.SubnetAuth, nil
	case *txs.RemoveSubnetValidatorTx:
		return Complexity{Bandwidth: nodeIDLen + idLen + authBandwidth, Reads: 1, Writes: 3}, tx.SubnetAuth, nil
	case *txs.CreateSubnetTx:
		return Complexity{Bandwidth: intLen, Writes: 1}.plus(ownersComplexity(tx.Owner)), nil, nil
	case *txs.CreateChainTx:
		size := len(tx.FxIDs)*idLen + len(tx.ChainName) + len(tx.GenesisData)
		return Complexity{Bandwidth: idLen + shortLen + idLen + 2*intLen + authBandwidth + uint64(size), Reads: 3, Writes: 1}, tx.SubnetAuth, nil
	case *txs.TransferSubnetOwnershipTx:
		own := Complexity{Bandwidth: idLen + intLen + authBandwidth, Reads: 1, Writes: 1}
		return own.plus(ownersComplexity(tx.Owner)), tx.SubnetAuth, nil
	case *txs.ConvertSubnetToL1Tx:
		return conversionComplexity(tx), tx.SubnetAuth, nil
	case *txs.SetAutoRenewedValidatorConfigTx:
		return Complexity{Bandwidth: idLen + authBandwidth + intLen + longLen, Reads: 1, Writes: 1}, tx.Auth, nil
	case *txs.DisableL1ValidatorTx:
		return Complexity{Bandwidth: idLen + authBandwidth, Reads: 1, Writes: 6}, tx.DisableAuth, nil
	}
	own, err = l1Complexity(unsigned)
	return own, nil, err
}

// l1Complexity covers the transactions about L1 validators that need no authorization.
func l1Complexity(unsigned txs.Unsigned) (Complexity, error) {
	switch tx := unsigned.(type) {
	case *txs.RegisterL1ValidatorTx:
		own := Complexity{Bandwidth: longLen + warp.SignatureLen + intLen, Reads: 5, Writes: 6, Compute: possessionCompute}
		message, err := messageComplexity(tx.Message)
		return own.plus(message), err
	case *txs.SetL1ValidatorWeightTx:
		message, err := messageComplexity(tx.Message)
		return Complexity{Bandwidth: intLen, Reads: 3, Writes: 5}.plus(message), err
	case *txs.IncreaseL1ValidatorBalanceTx:
		return Complexity{Bandwidth: idLen + longLen, Reads: 1, Writes: 5}, nil
	}
	return Complexity{}, ErrUnsupportedTx
}

func conversionComplexity(tx *txs.ConvertSubnetToL1Tx) Complexity {
	own := Complexity{Bandwidth: 2*idLen + 2*intLen + authBandwidth + uint64(len(tx.Address)), Reads: 3, Writes: 2}
	for _, v := range tx.Validators {
		addresses := len(v.RemainingBalanceOwner.Addresses) + len(v.DeactivationOwner.Addresses)
		size := intLen + 2*longLen + 4*intLen + len(v.NodeID) + addresses*addressLen
		own = own.plus(Complexity{Bandwidth: uint64(size), Writes: 4}, possessionComplexity())
	}
	return own
}

func outputsComplexity(outs []*txs.TransferableOutput) Complexity {
	var total Complexity
	for _, out := range outs {
		size := idLen + intLen + longLen + ownersBandwidth + len(out.Out.Owners().Addresses)*addressLen
		if _, locked := out.Out.(*txs.StakeableLockOut); locked {
			size += longLen + intLen
		}
		total = total.plus(Complexity{Bandwidth: uint64(size), Writes: 1})
	}
	return total
}

func inputsComplexity(ins []*txs.TransferableInput) Complexity {
	var total Complexity
	for _, in := range ins {
		size := idLen + intLen + idLen + 2*intLen + longLen
		if _, locked := in.In.(*txs.StakeableLockIn); locked {
			size += longLen + intLen
		}
		own := Complexity{Bandwidth: uint64(size), Reads: 1, Writes: 1}
		total = total.plus(own, signaturesComplexity(&in.In.TransferInput().Input))
	}
	return total
}

// signaturesComplexity returns the complexity of a list of signature indices with its credential.
func signaturesComplexity(in *txs.Input) Complexity {
	each := Complexity{Bandwidth: intLen + signatureLen, Compute: signatureCompute}
	return Complexity{Bandwidth: 2 * intLen}.plus(each.times(len(in.SigIndices)))
}

func authComplexity(a txs.Auth) (Complexity, error) {
	in, ok := a.(*txs.Input)
	if !ok { // others embed an input and so decode in its place
		return Complexity{}, errUnsupportedAuth
	}
	return signaturesComplexity(in), nil
}

func ownersComplexity(a txs.Owner) Complexity {
	return Complexity{Bandwidth: ownersBandwidth + uint64(len(a.Owners().Addresses))*addressLen}
}

func possessionComplexity() Complexity {
	return Complexity{Bandwidth: warp.PublicKeyLen + warp.SignatureLen, Compute: possessionCompute}
}

func messageComplexity(b []byte) (Complexity, error) {
	m, err := warp.ParseMessage(b)
	if err != nil {
		return Complexity{}, err
	}
	signers, err := warp.SignerIndices(m.Signature.Signers)
	if err != nil {
		return Complexity{}, err
	}
	return Complexity{
		Bandwidth: uint64(len(b)),
		Reads:     warpReads,
		Compute:   uint64(len(signers))*blsSumCompute + blsVerifyCompute,
	}, nil
}
