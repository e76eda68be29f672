package utxo

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// Gas of an atomic transaction: a fixed part, a unit per byte, and a part per signature (coreth plugin/evm/upgrade/ap5,
// AtomicTxIntrinsicGas; plugin/evm/atomic.Tx.GasUsed; avalanchego vms/secp256k1fx, CostPerSignature).
const (
	atomicFixedGas     = 10_000
	atomicSignatureGas = 1_000
)

// weiPerNano converts between the C-Chain's unit and the other chains'.
var weiPerNano = big.NewInt(1_000_000_000)

// Reasons for refusing an atomic transaction (coreth plugin/evm/atomic and its vm/tx_semantic_verifier.go).
var (
	errAtomicNetwork     = errors.New("tx was issued with a different network ID")
	errAtomicNoImports   = errors.New("tx has no imported inputs")
	errAtomicNoExports   = errors.New("tx has no export outputs")
	errNoEVMOutputs      = errors.New("tx has no EVM outputs")
	errEVMOutputsOrder   = errors.New("outputs not sorted and unique")
	errImportInput       = errors.New("import input cannot contain non-AVAX in Banff")
	errImportOutput      = errors.New("import output cannot contain non-AVAX in Banff")
	errExportInput       = errors.New("export input cannot contain non-AVAX in Banff")
	errExportOutput      = errors.New("export output cannot contain non-AVAX in Banff")
	errExportOrder       = errors.New("tx outputs not sorted")
	errAtomicCredentials = errors.New("incorrect number of credentials")
	errAtomicSignatures  = errors.New("incorrect number of signatures")
	ErrAccountSignature  = errors.New("signature doesn't match public key")
)

// AtomicBackend is the C-Chain's side of shared memory, like coreth's AtomicBackend: it verifies atomic transactions and moves their
// outputs. Balances and nonces belong to the EVM, which applies the AtomicDiff and refuses debits that an account cannot pay.
type AtomicBackend struct {
	UTXOState
	Strict  bool // recover every signature, even those that this process made
	journal *Journal
}

// AtomicDiff holds an atomic transaction's changes of outputs, and of C-Chain accounts' balances.
type AtomicDiff struct {
	Diff
	Accounts []txs.AccountChange
}

// NewAtomicBackend connects the C-Chain to a network's shared memory.
func NewAtomicBackend(n *rules.Network, shared *SharedMemory) *AtomicBackend {
	journal := &Journal{}
	return &AtomicBackend{UTXOState: NewUTXOState(n, txs.CChain, shared, journal, nil), journal: journal}
}

// AtomicGas returns the gas that an atomic transaction uses in its block.
func AtomicGas(tx *txs.Tx) uint64 {
	gas := uint64(atomicFixedGas + len(tx.UnsignedBytes()))
	switch u := tx.Unsigned.(type) {
	case *txs.AtomicImportTx:
		for _, in := range u.ImportedInputs {
			gas += uint64(len(in.In.TransferInput().SigIndices)) * atomicSignatureGas
		}
	case *txs.AtomicExportTx:
		gas += uint64(len(u.Ins)) * atomicSignatureGas
	}
	return gas
}

// AtomicFee returns the price of gas in nAVAX at a base fee in wei, rounded up (coreth plugin/evm/atomic.CalculateDynamicFee).
func AtomicFee(gas uint64, baseFee *big.Int) uint64 {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(gas), baseFee)
	fee.Add(fee, new(big.Int).Sub(weiPerNano, big.NewInt(1)))
	return fee.Div(fee, weiPerNano).Uint64()
}

// Accept verifies the atomic transactions of a block with this base fee and time, and applies them. On an error nothing changes. If the EVM then
// refuses a debit, the caller restores the network's state from the file.
func (b *AtomicBackend) Accept(transactions []*txs.Tx, baseFee *big.Int, time uint64) ([]*AtomicDiff, error) {
	b.journal.Begin()
	b.SetTime(time)
	diffs := make([]*AtomicDiff, len(transactions))
	for i, tx := range transactions {
		diff, err := b.apply(tx, baseFee)
		if err != nil {
			b.journal.Revert()
			return nil, fmt.Errorf("atomic transaction %s: %w", tx.ID(), err)
		}
		diffs[i] = diff
	}
	return diffs, nil
}

// Limits of an atomic transaction from a client (coreth plugin/evm/atomic/vm, targetAtomicTxsSize and maxAtomicTxMempoolGas).
const (
	maxAtomicTxSize = 40 << 10
	maxAtomicTxGas  = 100_000
)

// VerifyTx returns the reason why a client's transaction cannot be in a block with this base fee and time (coreth
// plugin/evm/atomic/vm.VM.verifyTxAtTip). It changes nothing.
func (b *AtomicBackend) VerifyTx(tx *txs.Tx, baseFee *big.Int, time uint64) error {
	if size := len(tx.Bytes()); size > maxAtomicTxSize {
		return fmt.Errorf("tx size (%d) exceeds total atomic txs size target (%d)", size, maxAtomicTxSize)
	}
	if gas := AtomicGas(tx); gas > maxAtomicTxGas {
		return fmt.Errorf("tx gas usage (%d) exceeds maximum allowed mempool gas usage (%d)", gas, maxAtomicTxGas)
	}
	b.journal.Begin()
	defer b.journal.Revert()
	b.SetTime(time)
	_, err := b.apply(tx, baseFee)
	return err
}

func (b *AtomicBackend) apply(tx *txs.Tx, baseFee *big.Int) (*AtomicDiff, error) {
	var (
		f     FlowChecker
		spent []*txs.UTXO
		err   error
	)
	fee := AtomicFee(AtomicGas(tx), baseFee)
	f.Produce(b.Network.AVAXAssetID, fee)
	switch u := tx.Unsigned.(type) {
	case *txs.AtomicImportTx:
		spent, err = b.verifyImport(tx, u, &f)
	case *txs.AtomicExportTx:
		err = b.verifyExport(tx, u, &f)
	default:
		err = ErrWrongTxType
	}
	if err != nil {
		return nil, err
	}
	diff := &AtomicDiff{Diff: Diff{TxID: tx.ID(), Burned: f.Burned(b.Network.AVAXAssetID) + fee}, Accounts: tx.AccountChanges()}
	b.SetDiff(&diff.Diff)
	b.MoveUTXOs(tx, spent)
	return diff, nil
}

// verifyContext checks network, chain and peer.
func (b *AtomicBackend) verifyContext(networkID uint32, blockchainID, peer ids.ID) error {
	switch {
	case networkID != b.Network.NetworkID:
		return errAtomicNetwork
	case blockchainID != b.Network.CChainID, b.SameSubnet(peer) != nil:
		return ErrWrongChain
	}
	return nil
}

// verifyImport follows coreth's UnsignedImportTx.Verify and semanticVerifier.ImportTx.
func (b *AtomicBackend) verifyImport(tx *txs.Tx, u *txs.AtomicImportTx, f *FlowChecker) ([]*txs.UTXO, error) {
	if len(u.ImportedInputs) == 0 {
		return nil, errAtomicNoImports
	}
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.SourceChain); err != nil {
		return nil, err
	}
	if len(u.Outs) == 0 {
		return nil, errNoEVMOutputs
	}
	if err := b.verifyImportForm(u); err != nil {
		return nil, err
	}
	for _, out := range u.Outs {
		f.Produce(out.AssetID, out.Amount)
	}
	for _, in := range u.ImportedInputs {
		f.Consume(in.AssetID, in.In.TransferInput().Amount)
	}
	if err := f.Verify(insufficientFunds); err != nil {
		return nil, fmt.Errorf("import tx flow check failed due to: %w", err)
	}
	if len(tx.Credentials) != len(u.ImportedInputs) {
		return nil, fmt.Errorf("%w: (%d vs. %d)", errAtomicCredentials, len(u.ImportedInputs), len(tx.Credentials))
	}
	return b.spendImports(tx, u)
}

func (b *AtomicBackend) verifyImportForm(u *txs.AtomicImportTx) error {
	for _, out := range u.Outs {
		switch {
		case out.Amount == 0:
			return fmt.Errorf("EVM Output failed verification: %w", txs.ErrNoValueOutput)
		case out.AssetID == ids.Empty:
			return fmt.Errorf("EVM Output failed verification: %w", ErrEmptyAssetID)
		case out.AssetID != b.Network.AVAXAssetID:
			return errImportOutput
		}
	}
	for _, in := range u.ImportedInputs {
		if err := VerifyInput(in); err != nil {
			return fmt.Errorf("atomic input failed verification: %w", err)
		}
		if in.AssetID != b.Network.AVAXAssetID {
			return errImportInput
		}
	}
	switch {
	case !txs.SortedInputs(u.ImportedInputs):
		return txs.ErrInputsNotSorted
	case !txs.SortedEVMOutputs(u.Outs):
		return errEVMOutputsOrder
	}
	return nil
}

func insufficientFunds(uint64, ids.ID) error { return ErrInsufficientFunds }

func (b *AtomicBackend) spendImports(tx *txs.Tx, u *txs.AtomicImportTx) ([]*txs.UTXO, error) {
	spent, err := b.Inputs(tx)
	if err != nil {
		return nil, err
	}
	credentials := NewCredentials(tx, b.Time(), b.Strict)
	for i, in := range u.ImportedInputs {
		if in.AssetID != spent[i].AssetID {
			return nil, ErrAssetMismatch
		}
		if err := credentials.VerifyTransfer(i, in, spent[i]); err != nil {
			return nil, fmt.Errorf("import tx transfer failed verification: %w", err)
		}
	}
	return spent, nil
}

// verifyExport follows coreth's UnsignedExportTx.Verify and semanticVerifier.ExportTx.
func (b *AtomicBackend) verifyExport(tx *txs.Tx, u *txs.AtomicExportTx, f *FlowChecker) error {
	if len(u.ExportedOutputs) == 0 {
		return errAtomicNoExports
	}
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.DestinationChain); err != nil {
		return err
	}
	if err := b.verifyExportForm(u); err != nil {
		return err
	}
	f.ProduceOutputs(u.ExportedOutputs)
	for _, in := range u.Ins {
		f.Consume(in.AssetID, in.Amount)
	}
	if err := f.Verify(insufficientFunds); err != nil {
		return fmt.Errorf("export tx flow check failed due to: %w", err)
	}
	if len(tx.Credentials) != len(u.Ins) {
		return fmt.Errorf("export tx contained %w want %d got %d", errAtomicCredentials, len(u.Ins), len(tx.Credentials))
	}
	for i, in := range u.Ins {
		if err := signedBy(tx, i, in.Address); err != nil {
			return err
		}
	}
	return nil
}

func (b *AtomicBackend) verifyExportForm(u *txs.AtomicExportTx) error {
	for _, in := range u.Ins {
		switch {
		case in.Amount == 0:
			return txs.ErrNoValueInput
		case in.AssetID == ids.Empty:
			return ErrEmptyAssetID
		case in.AssetID != b.Network.AVAXAssetID:
			return errExportInput
		}
	}
	for _, out := range u.ExportedOutputs {
		if err := VerifyOutput(out); err != nil {
			return err
		}
		switch toPChain := u.DestinationChain == ids.Empty; {
		case out.AssetID != b.Network.AVAXAssetID && toPChain:
			return ErrWrongChain
		case out.AssetID != b.Network.AVAXAssetID:
			return errExportOutput
		}
	}
	switch {
	case !txs.SortedOutputs(txs.CChain, u.ExportedOutputs):
		return errExportOrder
	case !txs.SortedEVMInputs(u.Ins):
		return txs.ErrInputsNotSorted
	}
	return nil
}

// signedBy checks that credential i is an account's signature.
func signedBy(tx *txs.Tx, i int, account common.Address) error {
	sigs := tx.Signatures(i)
	if len(sigs) != 1 {
		return fmt.Errorf("%w want 1 signature for EVM Input Credential, but got %d", errAtomicSignatures, len(sigs))
	}
	key, err := txs.RecoverKey(hashing.ComputeHash256(tx.UnsignedBytes()), sigs[0])
	if err != nil {
		return err
	}
	if common.BytesToAddress(crypto.Keccak256(key[1:])) != account {
		return ErrAccountSignature
	}
	return nil
}
