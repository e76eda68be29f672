package txs

import (
	"errors"

	"github.com/ava-labs/avalanchego/codec"
	"github.com/ava-labs/avalanchego/codec/linearcodec"
)

const (
	codecVersion = 0
	versionBytes = 2
)

// MaxBytes is the size of the largest message between nodes, and so of the largest block.
const MaxBytes = 2 << 20

// codecs is indexed by Chain. Type ids are positions in the order of registration; gaps are ids of the real network's types that no
// Snowglobe world contains.
var codecs = [...]codec.Manager{
	newCodec(pChainTypes),
	newCodec(xChainTypes),
	newCodec(atomicTypes),
}

// gap stands for n unused type ids in a table of types.
type gap int

var xChainTypes = []any{
	&BaseTx{}, &CreateAssetTx{}, &OperationTx{}, &ImportTx{}, &ExportTx{},
	&TransferInput{}, &MintOutput{}, &TransferOutput{}, &MintOperation{}, &Credential{},
	&NFTMintOutput{}, &NFTTransferOutput{}, &NFTMintOperation{}, &NFTTransferOperation{}, &NFTCredential{},
	&PropertyMintOutput{}, &PropertyOwnedOutput{}, &PropertyMintOperation{}, &PropertyBurnOperation{}, &PropertyCredential{},
	&XChainBlock{},
}

var pChainTypes = []any{
	gap(2), &GenesisBlock{}, gap(2),
	&TransferInput{}, gap(1), &TransferOutput{}, gap(1), &Credential{}, &Input{}, &OutputOwners{},
	&AddValidatorTx{}, &AddSubnetValidatorTx{}, &AddDelegatorTx{}, &CreateChainTx{}, &CreateSubnetTx{}, &ImportTx{}, &ExportTx{},
	&AdvanceTimeTx{}, &RewardValidatorTx{}, &StakeableLockIn{}, &StakeableLockOut{},
	&RemoveSubnetValidatorTx{}, &TransformSubnetTx{}, &AddPermissionlessValidatorTx{}, &AddPermissionlessDelegatorTx{},
	&EmptySigner{}, &ProofOfPossession{},
	&ProposalBlock{}, &AbortBlock{}, &CommitBlock{}, &StandardBlock{},
	&TransferSubnetOwnershipTx{}, &BaseTx{},
	&ConvertSubnetToL1Tx{}, &RegisterL1ValidatorTx{}, &SetL1ValidatorWeightTx{}, &IncreaseL1ValidatorBalanceTx{}, &DisableL1ValidatorTx{},
	&AddAutoRenewedValidatorTx{}, &SetAutoRenewedValidatorConfigTx{}, &RewardAutoRenewedValidatorTx{},
}

var atomicTypes = []any{
	&AtomicImportTx{}, &AtomicExportTx{}, gap(3),
	&TransferInput{}, gap(1), &TransferOutput{}, gap(1), &Credential{}, &Input{}, &OutputOwners{},
}

// newCodec builds a manager from a table of types. A mistake in a table leaves a manager without a codec version, so every
// use of it fails.
func newCodec(types []any) codec.Manager {
	c := linearcodec.NewDefault()
	var errs []error
	for _, t := range types {
		if n, ok := t.(gap); ok {
			c.SkipRegistrations(int(n))
			continue
		}
		errs = append(errs, c.RegisterType(t))
	}
	manager := codec.NewManager(MaxBytes)
	if errors.Join(errs...) == nil {
		_ = manager.RegisterCodec(codecVersion, c)
	}
	return manager
}

// Marshal encodes v behind the codec's version.
func (c Chain) Marshal(v any) ([]byte, error) { return c.codec().Marshal(codecVersion, v) }

// Unmarshal decodes v from b, which must hold nothing else.
func (c Chain) Unmarshal(b []byte, v any) error {
	_, err := c.codec().Unmarshal(b, v)
	return err
}

// Chain is one of the three chains of the primary network. Each has its own table of type ids.
type Chain uint8

// Chains of the primary network.
const (
	PChain Chain = iota
	XChain
	CChain
)

// String returns the chain's primary alias, "P", "X" or "C", which begins its addresses.
func (c Chain) String() string { return [...]string{"P", "X", "C"}[c] }

// codec returns the manager with the chain's type ids.
func (c Chain) codec() codec.Manager { return codecs[c] }
