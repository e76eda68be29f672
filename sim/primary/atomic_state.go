package primary

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
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
	errAccountSignature = errors.New("signature does not match account")
)

// Bridge is the C-Chain's side of shared memory, coreth's AtomicBackend: it verifies atomic transactions and moves their
// outputs. Balances and nonces belong to the EVM, which learns from the AtomicDiff what to do to them and refuses what an
// account cannot pay.
type Bridge struct {
	UTXOState
	Strict  bool // recover every signature, even those that this process made
	journal *Journal
}

// AtomicDiff is what an atomic transaction changed: outputs, and balances of C-Chain accounts.
type AtomicDiff struct {
	Diff
	Accounts []AccountChange
}

// NewBridge connects the C-Chain to a network's shared memory.
func NewBridge(n *Network, shared *SharedMemory) *Bridge {
	journal := &Journal{}
	return &Bridge{UTXOState: NewUTXOState(n, CChain, shared, journal, nil), journal: journal}
}

// AtomicGas is the gas that an atomic transaction uses in its block.
func AtomicGas(tx *Tx) uint64 {
	gas := uint64(atomicFixedGas + len(tx.UnsignedBytes()))
	switch u := tx.Unsigned.(type) {
	case *AtomicImportTx:
		for _, in := range u.ImportedInputs {
			gas += uint64(len(in.In.transfer().SigIndices)) * atomicSignatureGas
		}
	case *AtomicExportTx:
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
func (b *Bridge) Accept(txs []*Tx, baseFee *big.Int, time uint64) ([]*AtomicDiff, error) {
	b.journal.Begin()
	b.SetTime(time)
	diffs := make([]*AtomicDiff, len(txs))
	for i, tx := range txs {
		diff, err := b.apply(tx, baseFee)
		if err != nil {
			b.journal.Revert()
			return nil, fmt.Errorf("atomic transaction %s: %w", tx.ID(), err)
		}
		diffs[i] = diff
	}
	return diffs, nil
}

func (b *Bridge) apply(tx *Tx, baseFee *big.Int) (*AtomicDiff, error) {
	var (
		f     FlowChecker
		spent []*UTXO
		err   error
	)
	switch u := tx.Unsigned.(type) {
	case *AtomicImportTx:
		spent, err = b.verifyImport(tx, u, &f)
	case *AtomicExportTx:
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
func (b *Bridge) verifyContext(networkID uint32, blockchainID, peer ids.ID) error {
	switch {
	case networkID != b.Network.NetworkID:
		return ErrWrongNetwork
	case blockchainID != b.Network.CChainID:
		return ErrWrongChain
	}
	return b.sameSubnet(peer)
}

func (b *Bridge) verifyImport(tx *Tx, u *AtomicImportTx, f *FlowChecker) ([]*UTXO, error) {
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.SourceChain); err != nil {
		return nil, err
	}
	switch {
	case len(u.ImportedInputs) == 0:
		return nil, ErrNoImports
	case !SortedInputs(u.ImportedInputs):
		return nil, ErrInputsNotSorted
	case len(u.Outs) == 0:
		return nil, errNoEVMOutputs
	case !SortedEVMOutputs(u.Outs):
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

func (b *Bridge) spendImports(tx *Tx, u *AtomicImportTx, f *FlowChecker) ([]*UTXO, error) {
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
func (b *Bridge) account(amount uint64, assetID ids.ID) error {
	switch {
	case amount == 0:
		return errEVMNoValue
	case assetID != b.Network.AVAXAssetID:
		return errOnlyAVAX
	}
	return nil
}

func (b *Bridge) verifyExport(tx *Tx, u *AtomicExportTx, f *FlowChecker) error {
	if err := b.verifyContext(u.NetworkID, u.BlockchainID, u.DestinationChain); err != nil {
		return err
	}
	switch {
	case len(u.ExportedOutputs) == 0:
		return ErrNoExports
	case !SortedEVMInputs(u.Ins):
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
func signedBy(tx *Tx, i int, account common.Address) error {
	sigs := tx.Signatures(i)
	if len(sigs) != 1 {
		return ErrSignerMismatch
	}
	key, err := RecoverKey(hashing.ComputeHash256(tx.UnsignedBytes()), sigs[0])
	if err != nil {
		return err
	}
	if crypto.PubkeyToAddress(*key) != account {
		return fmt.Errorf("%w: %s", errAccountSignature, account)
	}
	return nil
}
