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

// weiPerNano converts between the C-chain's unit and that of the other chains.
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

// Bridge is the C-chain's side of shared memory: it verifies atomic transactions and moves their outputs. Balances and
// nonces belong to the EVM, which learns from the Diff what to do to them and refuses what an account cannot pay.
type Bridge struct {
	State
	Strict bool
}

// NewBridge connects the C-chain to a network's shared memory.
func NewBridge(n *Network, shared *SharedMemory) *Bridge {
	return &Bridge{State: newState(n, CChain, shared, nil)}
}

// AtomicGas is the gas that an atomic transaction uses in its block.
func AtomicGas(tx *Tx) uint64 {
	gas := uint64(atomicFixedGas + len(tx.unsignedBytes))
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
func (b *Bridge) Accept(txs []*Tx, baseFee *big.Int, time uint64) ([]*Diff, error) {
	b.begin()
	set(&b.journal, &b.time, time)
	diffs := make([]*Diff, len(txs))
	for i, tx := range txs {
		diff, err := b.apply(tx, baseFee)
		if err != nil {
			b.revert()
			return nil, fmt.Errorf("atomic transaction %s: %w", tx.ID(), err)
		}
		diffs[i] = diff
	}
	return diffs, nil
}

func (b *Bridge) apply(tx *Tx, baseFee *big.Int) (*Diff, error) {
	var (
		f     flow
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
	f.produce(b.Network.AVAXAssetID, fee)
	if err := f.balanced(func(uint64, ids.ID) error { return ErrInsufficientFunds }); err != nil {
		return nil, err
	}
	diff := b.start(tx.ID())
	diff.Burned = f.burned(b.Network.AVAXAssetID) + fee
	diff.Accounts = tx.AccountChanges()
	b.settle(tx, spent)
	return diff, nil
}

// AccountChanges are what an atomic transaction does to accounts of the C-chain.
func (tx *Tx) AccountChanges() []AccountChange {
	var changes []AccountChange
	switch u := tx.Unsigned.(type) {
	case *AtomicImportTx:
		for _, out := range u.Outs {
			changes = append(changes, AccountChange{Address: out.Address, Amount: out.Amount})
		}
	case *AtomicExportTx:
		for _, in := range u.Ins {
			changes = append(changes, AccountChange{Address: in.Address, Amount: in.Amount, Debit: true, Nonce: in.Nonce})
		}
	}
	return changes
}

// here checks network, chain and peer.
func (b *Bridge) here(networkID uint32, blockchainID, peer ids.ID) error {
	switch {
	case networkID != b.Network.NetworkID:
		return ErrWrongNetwork
	case blockchainID != b.Network.CChainID:
		return ErrWrongChain
	}
	return b.isPeer(peer)
}

func (b *Bridge) verifyImport(tx *Tx, u *AtomicImportTx, f *flow) ([]*UTXO, error) {
	if err := b.here(u.NetworkID, u.BlockchainID, u.SourceChain); err != nil {
		return nil, err
	}
	switch {
	case len(u.ImportedInputs) == 0:
		return nil, ErrNoImports
	case !sortedUnique(u.ImportedInputs, compareInputs):
		return nil, ErrInputsNotSorted
	case len(u.Outs) == 0:
		return nil, errNoEVMOutputs
	case !sortedUnique(u.Outs, compareEVMOutputs):
		return nil, errEVMOutputsOrder
	case len(tx.Credentials) != len(u.ImportedInputs):
		return nil, ErrWrongCredentials
	}
	for _, out := range u.Outs {
		if err := b.account(out.Amount, out.AssetID); err != nil {
			return nil, err
		}
		f.produce(out.AssetID, out.Amount)
	}
	return b.spendImports(tx, u, f)
}

func (b *Bridge) spendImports(tx *Tx, u *AtomicImportTx, f *flow) ([]*UTXO, error) {
	spent, err := b.inputs(tx)
	if err != nil {
		return nil, err
	}
	w, err := witnessesOf(tx, b.time, b.Strict)
	if err != nil {
		return nil, err
	}
	for i, in := range u.ImportedInputs {
		if err := w.transfer(i, in, spent[i]); err != nil {
			return nil, fmt.Errorf("import tx transfer failed verification: %w", err)
		}
		f.consume(in.AssetID, spent[i].Amount())
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

func (b *Bridge) verifyExport(tx *Tx, u *AtomicExportTx, f *flow) error {
	if err := b.here(u.NetworkID, u.BlockchainID, u.DestinationChain); err != nil {
		return err
	}
	switch {
	case len(u.ExportedOutputs) == 0:
		return ErrNoExports
	case !sortedUnique(u.Ins, compareEVMInputs):
		return errEVMInputsOrder
	case len(tx.Credentials) != len(u.Ins):
		return ErrWrongCredentials
	}
	if err := b.outputsWellFormed(u.ExportedOutputs); err != nil {
		return err
	}
	f.produceOutputs(u.ExportedOutputs)
	for i, in := range u.Ins {
		if err := b.account(in.Amount, in.AssetID); err != nil {
			return err
		}
		if err := signedBy(tx, i, in.Address); err != nil {
			return err
		}
		f.consume(in.AssetID, in.Amount)
	}
	return nil
}

// signedBy checks that credential i is the signature of an account.
func signedBy(tx *Tx, i int, account common.Address) error {
	sigs := tx.Credentials[i].signatures()
	if len(sigs) != 1 {
		return ErrSignerMismatch
	}
	key, err := recoverKey(hashing.ComputeHash256(tx.unsignedBytes), sigs[0])
	if err != nil {
		return err
	}
	if crypto.PubkeyToAddress(*key) != account {
		return fmt.Errorf("%w: %s", errAccountSignature, account)
	}
	return nil
}
