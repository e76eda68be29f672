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

// The gas of an atomic transaction (Apricot phase 5): a fixed part, a unit a byte, and each signature.
const (
	atomicFixedGas     = 10_000
	atomicSignatureGas = 1_000
)

// weiPerNano converts between the C-Chain's unit and that of the other chains.
var weiPerNano = big.NewInt(1_000_000_000)

// The reasons why an atomic transaction is refused, in the node's words.
var (
	errNoEVMOutputs     = errors.New("tx has no EVM outputs")
	errEVMOutputsOrder  = errors.New("tx outputs not sorted")
	errEVMInputsOrder   = errors.New("tx inputs not sorted and unique")
	errEVMNoValue       = errors.New("input has no value")
	errOnlyAVAX         = errors.New("non-AVAX input/output")
	ErrAccountSignature = errors.New("signature does not match account")
)

// AtomicBackend is the C-Chain's side of shared memory, coreth's AtomicBackend: it verifies atomic transactions and moves their
// outputs. Balances and nonces belong to the EVM, which learns from the AtomicDiff what to do to them and refuses what an
// account cannot pay.
type AtomicBackend struct {
	UTXOState
	Strict  bool // recover every signature, even those that this process made
	journal *Journal
}

// AtomicDiff is what an atomic transaction changed: outputs, and balances of C-Chain accounts.
type AtomicDiff struct {
	Diff
	Accounts []txs.AccountChange
}

// NewAtomicBackend connects the C-Chain to a network's shared memory.
func NewAtomicBackend(n *rules.Network, shared *SharedMemory) *AtomicBackend {
	journal := &Journal{}
	return &AtomicBackend{UTXOState: NewUTXOState(n, txs.CChain, shared, journal, nil), journal: journal}
}

// AtomicGas is the gas that an atomic transaction uses in its block.
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

// AtomicFee is what gas costs in nAVAX at a base fee in wei, rounded up.
func AtomicFee(gas uint64, baseFee *big.Int) uint64 {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(gas), baseFee)
	fee.Add(fee, new(big.Int).Sub(weiPerNano, big.NewInt(1)))
	return fee.Div(fee, weiPerNano).Uint64()
}

// Accept verifies the atomic transactions of a block with this base fee and time, and applies them. On an error nothing
// has changed; if the EVM then refuses a debit, Rollback takes them back.
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

func (b *AtomicBackend) apply(tx *txs.Tx, baseFee *big.Int) (*AtomicDiff, error) {
	var (
		f     FlowChecker
		spent []*txs.UTXO
		err   error
	)
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
	fee := AtomicFee(AtomicGas(tx), baseFee)
	f.Produce(b.Network.AVAXAssetID, fee)
	if err := f.Verify(func(uint64, ids.ID) error { return ErrInsufficientFunds }); err != nil {
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
		return ErrWrongNetwork
	case blockchainID != b.Network.CChainID:
		return ErrWrongChain
	}
	return b.sameSubnet(peer)
}

func (b *AtomicBackend) verifyImport(tx *txs.Tx, u *txs.AtomicImportTx, f *FlowChecker) ([]*txs.UTXO, error) {
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.SourceChain); err != nil {
		return nil, err
	}
	switch {
	case len(u.ImportedInputs) == 0:
		return nil, ErrNoImports
	case !txs.SortedInputs(u.ImportedInputs):
		return nil, txs.ErrInputsNotSorted
	case len(u.Outs) == 0:
		return nil, errNoEVMOutputs
	case !txs.SortedEVMOutputs(u.Outs):
		return nil, errEVMOutputsOrder
	case len(tx.Credentials) != len(u.ImportedInputs):
		return nil, ErrWrongCredentials
	}
	for _, out := range u.Outs {
		if err := b.account(out.Amount, out.AssetID); err != nil {
			return nil, err
		}
		f.Produce(out.AssetID, out.Amount)
	}
	return b.spendImports(tx, u, f)
}

func (b *AtomicBackend) spendImports(tx *txs.Tx, u *txs.AtomicImportTx, f *FlowChecker) ([]*txs.UTXO, error) {
	spent, err := b.Inputs(tx)
	if err != nil {
		return nil, err
	}
	credentials, err := NewCredentials(tx, b.Time(), b.Strict)
	if err != nil {
		return nil, err
	}
	for i, in := range u.ImportedInputs {
		if err := credentials.VerifyTransfer(i, in, spent[i]); err != nil {
			return nil, fmt.Errorf("import tx transfer failed verification: %w", err)
		}
		f.Consume(in.AssetID, spent[i].Amount())
	}
	return spent, nil
}

// account checks an amount that enters or leaves an account.
func (b *AtomicBackend) account(amount uint64, assetID ids.ID) error {
	switch {
	case amount == 0:
		return errEVMNoValue
	case assetID != b.Network.AVAXAssetID:
		return errOnlyAVAX
	}
	return nil
}

func (b *AtomicBackend) verifyExport(tx *txs.Tx, u *txs.AtomicExportTx, f *FlowChecker) error {
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.DestinationChain); err != nil {
		return err
	}
	switch {
	case len(u.ExportedOutputs) == 0:
		return ErrNoExports
	case !txs.SortedEVMInputs(u.Ins):
		return errEVMInputsOrder
	case len(tx.Credentials) != len(u.Ins):
		return ErrWrongCredentials
	}
	if err := b.VerifyOutputs(u.ExportedOutputs); err != nil {
		return err
	}
	f.ProduceOutputs(u.ExportedOutputs)
	for i, in := range u.Ins {
		if err := b.account(in.Amount, in.AssetID); err != nil {
			return err
		}
		if err := signedBy(tx, i, in.Address); err != nil {
			return err
		}
		f.Consume(in.AssetID, in.Amount)
	}
	return nil
}

// signedBy checks that credential i is the signature of an account.
func signedBy(tx *txs.Tx, i int, account common.Address) error {
	sigs := tx.Signatures(i)
	if len(sigs) != 1 {
		return ErrSignerMismatch
	}
	key, err := txs.RecoverKey(hashing.ComputeHash256(tx.UnsignedBytes()), sigs[0])
	if err != nil {
		return err
	}
	if crypto.PubkeyToAddress(*key) != account {
		return fmt.Errorf("%w: %s", ErrAccountSignature, account)
	}
	return nil
}
