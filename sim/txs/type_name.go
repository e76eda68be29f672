package txs

// TypeName returns the network's name of a transaction's type. Atomic transactions have the names of the other chains' types.
func (tx *Tx) TypeName() string {
	switch tx.Unsigned.(type) {
	case *BaseTx:
		return "BaseTx"
	case *ImportTx, *AtomicImportTx:
		return "ImportTx"
	case *ExportTx, *AtomicExportTx:
		return "ExportTx"
	case *CreateAssetTx:
		return "CreateAssetTx"
	case *OperationTx:
		return "OperationTx"
	}
	if name := stakingName(tx.Unsigned); name != "" {
		return name
	}
	return subnetName(tx.Unsigned)
}

func stakingName(unsigned Unsigned) string {
	switch unsigned.(type) {
	case *AddValidatorTx:
		return "AddValidatorTx"
	case *AddDelegatorTx:
		return "AddDelegatorTx"
	case *AddPermissionlessValidatorTx:
		return "AddPermissionlessValidatorTx"
	case *AddPermissionlessDelegatorTx:
		return "AddPermissionlessDelegatorTx"
	case *RewardValidatorTx:
		return "RewardValidatorTx"
	case *AddAutoRenewedValidatorTx:
		return "AddAutoRenewedValidatorTx"
	case *SetAutoRenewedValidatorConfigTx:
		return "SetAutoRenewedValidatorConfigTx"
	case *RewardAutoRenewedValidatorTx:
		return "RewardAutoRenewedValidatorTx"
	}
	return ""
}

func subnetName(unsigned Unsigned) string {
	switch unsigned.(type) {
	case *CreateSubnetTx:
		return "CreateSubnetTx"
	case *CreateChainTx:
		return "CreateChainTx"
	case *AddSubnetValidatorTx:
		return "AddSubnetValidatorTx"
	case *RemoveSubnetValidatorTx:
		return "RemoveSubnetValidatorTx"
	case *TransferSubnetOwnershipTx:
		return "TransferSubnetOwnershipTx"
	case *ConvertSubnetToL1Tx:
		return "ConvertSubnetToL1Tx"
	case *RegisterL1ValidatorTx:
		return "RegisterL1ValidatorTx"
	case *SetL1ValidatorWeightTx:
		return "SetL1ValidatorWeightTx"
	case *IncreaseL1ValidatorBalanceTx:
		return "IncreaseL1ValidatorBalanceTx"
	case *DisableL1ValidatorTx:
		return "DisableL1ValidatorTx"
	}
	return ""
}

// TypeName returns the network's name of a block's type.
func (b *Block) TypeName() string {
	switch b.Body.(type) {
	case *GenesisBlock:
		return "Genesis"
	case *ProposalBlock:
		return "Proposal"
	case *CommitBlock:
		return "Commit"
	case *AbortBlock:
		return "Abort"
	}
	return "Standard"
}
