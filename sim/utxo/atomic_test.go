package utxo

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

const (
	now    = 1000
	amount = 5_000_000_000
)

var (
	network = rules.Mainnet
	avax    = network.AVAXAssetID
	baseFee = big.NewInt(25_000_000_000)
	another = ids.ID{0xa}
)

func key(t testing.TB, n byte) *txs.Key {
	t.Helper()
	k, err := txs.KeyFromBytes([]byte{31: n})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// output returns an amount that the n-th transaction left for these owners.
func output(n byte, asset ids.ID, amount uint64, owners txs.OutputOwners) *txs.UTXO {
	return &txs.UTXO{UTXOID: txs.UTXOID{TxID: ids.ID{n}, OutputIndex: uint32(n)}, AssetID: asset, Out: &txs.TransferOutput{Amount: amount, OutputOwners: owners}}
}

func spending(u *txs.UTXO, indices ...uint32) *txs.TransferableInput {
	return &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: indices}}}
}

func signed(t *testing.T, c txs.Chain, unsigned txs.Unsigned, signers ...[]*txs.Key) *txs.Tx {
	t.Helper()
	tx, err := txs.NewSigned(c, unsigned, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// cChain returns a C-Chain to which the X-Chain exported some of a key's outputs.
func cChain(t *testing.T, outputs ...*txs.UTXO) *AtomicBackend {
	t.Helper()
	shared := NewSharedMemory()
	shared.SubnetOf = func(id ids.ID) (ids.ID, error) {
		if id == another {
			return ids.ID{0x5}, nil
		}
		return ids.Empty, ErrNotFound
	}
	for _, u := range outputs {
		shared.Put(network.XChainID, network.CChainID, u)
	}
	return NewAtomicBackend(network, shared)
}

// TestAtomicGas recomputes the gas of Apricot phase 5: 10,000, one per byte, and 1,000 per signature.
func TestAtomicGas(t *testing.T) {
	k := key(t, 1)
	one, two := output(1, avax, amount, txs.NewOwner(k.Address())), output(2, avax, amount, txs.NewOwner(k.Address()))
	imports := &txs.AtomicImportTx{ImportedInputs: []*txs.TransferableInput{spending(one, 0, 1), spending(two, 0)}}
	exports := &txs.AtomicExportTx{Ins: []txs.EVMInput{{Amount: 1}, {Amount: 2}}}
	for _, c := range []struct {
		tx         txs.Unsigned
		signatures int
	}{{imports, 3}, {exports, 2}} {
		tx := signed(t, txs.CChain, c.tx)
		if got, want := AtomicGas(tx), uint64(10_000+len(tx.UnsignedBytes())+1000*c.signatures); got != want {
			t.Errorf("%T takes %d gas, want %d", c.tx, got, want)
		}
	}
	for _, c := range []struct{ gas, wei, nano uint64 }{{0, 25e9, 0}, {1, 1, 1}, {1, 1e9, 1}, {1, 1e9 + 1, 2}, {11_000, 25e9, 275_000}, {10_000, 150_001, 2}, {10_000, 200_000, 2}} {
		if got := AtomicFee(c.gas, new(big.Int).SetUint64(c.wei)); got != c.nano {
			t.Errorf("%d gas at %d wei cost %d nAVAX, want %d", c.gas, c.wei, got, c.nano)
		}
	}
}

// importing imports a key's outputs from the X-Chain, paying exactly the fee.
func importing(k *txs.Key, outputs ...*txs.UTXO) *txs.AtomicImportTx {
	tx := &txs.AtomicImportTx{NetworkID: network.NetworkID, BlockchainID: network.CChainID, SourceChain: network.XChainID}
	var total uint64
	for _, u := range outputs {
		tx.ImportedInputs = append(tx.ImportedInputs, spending(u, 0))
		total += u.Amount()
	}
	tx.Outs = []txs.EVMOutput{{Address: k.EVMAddress(), Amount: total, AssetID: avax}}
	bare, _ := txs.NewTx(txs.CChain, tx)
	tx.Outs[0].Amount -= AtomicFee(AtomicGas(bare), baseFee)
	return tx
}

func TestImportIntoAccounts(t *testing.T) {
	k, stranger := key(t, 1), key(t, 2)
	one, two := output(1, avax, amount, txs.NewOwner(k.Address())), output(2, avax, amount, txs.NewOutputOwners(now, 1, k.Address()))
	late := output(3, avax, amount, txs.NewOutputOwners(now+1, 1, k.Address()))
	other := output(4, another, amount, txs.NewOwner(k.Address()))
	for _, c := range []struct {
		name    string
		change  func(*txs.AtomicImportTx)
		signers []*txs.Key
		want    error
	}{
		{"exactly the fee", func(*txs.AtomicImportTx) {}, nil, nil},
		{"more than the fee", func(u *txs.AtomicImportTx) { u.Outs[0].Amount-- }, nil, nil},
		{"less than the fee", func(u *txs.AtomicImportTx) { u.Outs[0].Amount++ }, nil, ErrInsufficientFunds},
		{"no inputs", func(u *txs.AtomicImportTx) { u.ImportedInputs = nil }, nil, errAtomicNoImports},
		{"no outputs", func(u *txs.AtomicImportTx) { u.Outs = nil }, nil, errNoEVMOutputs},
		{"another network", func(u *txs.AtomicImportTx) { u.NetworkID++ }, nil, errAtomicNetwork},
		{"for another chain", func(u *txs.AtomicImportTx) { u.BlockchainID = network.XChainID }, nil, ErrWrongChain},
		{"from itself", func(u *txs.AtomicImportTx) { u.SourceChain = network.CChainID }, nil, ErrWrongChain},
		{"from an L1", func(u *txs.AtomicImportTx) { u.SourceChain = another }, nil, ErrWrongChain},
		{"from where nothing was exported", func(u *txs.AtomicImportTx) { u.SourceChain = ids.Empty }, nil, ErrNotFound},
		{"no amount", func(u *txs.AtomicImportTx) { u.Outs[0].Amount = 0 }, nil, txs.ErrNoValueOutput},
		{"no asset out", func(u *txs.AtomicImportTx) { u.Outs[0].AssetID = ids.Empty }, nil, ErrEmptyAssetID},
		{"another asset out", func(u *txs.AtomicImportTx) { u.Outs[0].AssetID = another }, nil, errImportOutput},
		{"no asset in", func(u *txs.AtomicImportTx) { u.ImportedInputs[0].AssetID = ids.Empty }, nil, ErrEmptyAssetID},
		{"another asset in", func(u *txs.AtomicImportTx) { u.ImportedInputs[0].AssetID = another }, nil, errImportInput},
		{"an input twice", func(u *txs.AtomicImportTx) { u.ImportedInputs[1] = u.ImportedInputs[0] }, nil, txs.ErrInputsNotSorted},
		{"outputs out of order", func(u *txs.AtomicImportTx) {
			u.Outs = []txs.EVMOutput{{Address: common.Address{2}, Amount: 1, AssetID: avax}, {Address: common.Address{1}, Amount: 1, AssetID: avax}}
		}, nil, errEVMOutputsOrder},
		{"an output twice", func(u *txs.AtomicImportTx) {
			u.Outs = []txs.EVMOutput{{Address: common.Address{2}, Amount: 1, AssetID: avax}, {Address: common.Address{2}, Amount: 1, AssetID: avax}}
		}, nil, errEVMOutputsOrder},
		{"another amount than there is", func(u *txs.AtomicImportTx) { u.ImportedInputs[0].In.(*txs.TransferInput).Amount++ }, nil, ErrMismatchedAmounts},
		{"an output of another asset", func(u *txs.AtomicImportTx) { u.ImportedInputs[1].UTXOID = other.UTXOID }, nil, ErrAssetMismatch},
		{"before its time", func(u *txs.AtomicImportTx) { u.ImportedInputs[1].UTXOID = late.UTXOID }, nil, ErrTimelocked},
		{"one credential", func(*txs.AtomicImportTx) {}, []*txs.Key{k}, errAtomicCredentials},
		{"three credentials", func(*txs.AtomicImportTx) {}, []*txs.Key{k, k, k}, errAtomicCredentials},
		{"the key of another", func(*txs.AtomicImportTx) {}, []*txs.Key{k, stranger}, ErrWrongSignature},
	} {
		b := cChain(t, one, two, late, other)
		u := importing(k, one, two)
		c.change(u)
		if c.signers == nil {
			c.signers = []*txs.Key{k, k}[:len(u.ImportedInputs)]
		}
		var signers [][]*txs.Key
		for _, k := range c.signers {
			signers = append(signers, []*txs.Key{k})
		}
		tx := signed(t, txs.CChain, u, signers...)
		before := b.Exported()
		wantError(t, c.name+", verified", b.VerifyTx(tx, baseFee, now), c.want)
		if !slices.Equal(b.Exported(), before) || b.Time() != 0 {
			t.Errorf("%s: verifying changed something", c.name)
		}
		diffs, err := b.Accept([]*txs.Tx{tx}, baseFee, now)
		wantError(t, c.name, err, c.want)
		if err != nil {
			if !slices.Equal(b.Exported(), before) || b.Time() != 0 {
				t.Errorf("%s: the refused transaction changed something", c.name)
			}
			continue
		}
		if d := diffs[0]; d.TxID != tx.ID() || d.Burned != 2*amount-u.Outs[0].Amount || d.Peer != network.XChainID || !slices.Equal(d.Imported, []*txs.UTXO{one, two}) ||
			!slices.Equal(d.Accounts, []txs.AccountChange{{Address: k.EVMAddress(), Amount: u.Outs[0].Amount}}) {
			t.Errorf("%s: %+v", c.name, d)
		}
		if len(b.Exported()) != len(before)-2 || b.Time() != now {
			t.Errorf("%s: %d outputs are left", c.name, len(b.Exported()))
		}
		_, err = b.Accept([]*txs.Tx{tx}, baseFee, now)
		wantError(t, c.name+", again", err, ErrNotFound)
	}
}

// Exported lists the X-Chain's exports to the C-Chain.
func (b *AtomicBackend) Exported() []*txs.UTXO {
	return b.shared.Exported(network.XChainID, network.CChainID)
}

// TestStrictness: strict verification trusts only signatures, not results noted when signing.
func TestStrictness(t *testing.T) {
	k := key(t, 1)
	one := output(1, avax, amount, txs.NewOwner(k.Address()))
	tx := signed(t, txs.CChain, importing(k, one), []*txs.Key{k})
	tx.Credentials[0].(*txs.Credential).Signatures[0][3] ^= 1
	b := cChain(t, one)
	wantError(t, "as signed", b.VerifyTx(tx, baseFee, now), nil)
	b.Strict = true
	if err := b.VerifyTx(tx, baseFee, now); err == nil {
		t.Error("strict verification believes a damaged signature")
	}
}

func exporting(k *txs.Key, destination ids.ID) *txs.AtomicExportTx {
	tx := &txs.AtomicExportTx{NetworkID: network.NetworkID, BlockchainID: network.CChainID, DestinationChain: destination}
	tx.Ins = []txs.EVMInput{{Address: k.EVMAddress(), Amount: amount, AssetID: avax, Nonce: 7}}
	tx.ExportedOutputs = []*txs.TransferableOutput{txs.NewTransferableOutput(avax, amount, txs.NewOwner(k.Address()))}
	bare, _ := txs.NewTx(txs.CChain, tx)
	tx.ExportedOutputs[0].Out.(*txs.TransferOutput).Amount -= AtomicFee(AtomicGas(bare), baseFee)
	return tx
}

func TestExportFromAccounts(t *testing.T) {
	k, stranger := key(t, 1), key(t, 2)
	for _, c := range []struct {
		name    string
		change  func(*txs.AtomicExportTx)
		signers [][]*txs.Key
		want    error
	}{
		{"exactly the fee", func(*txs.AtomicExportTx) {}, [][]*txs.Key{{k}}, nil},
		{"to the P-Chain", func(u *txs.AtomicExportTx) { u.DestinationChain = ids.Empty }, [][]*txs.Key{{k}}, nil},
		{"less than the fee", func(u *txs.AtomicExportTx) { u.Ins[0].Amount-- }, [][]*txs.Key{{k}}, ErrInsufficientFunds},
		{"no outputs", func(u *txs.AtomicExportTx) { u.ExportedOutputs = nil }, [][]*txs.Key{{k}}, errAtomicNoExports},
		{"another network", func(u *txs.AtomicExportTx) { u.NetworkID++ }, [][]*txs.Key{{k}}, errAtomicNetwork},
		{"to itself", func(u *txs.AtomicExportTx) { u.DestinationChain = network.CChainID }, [][]*txs.Key{{k}}, ErrWrongChain},
		{"no amount in", func(u *txs.AtomicExportTx) { u.Ins[0].Amount = 0 }, [][]*txs.Key{{k}}, txs.ErrNoValueInput},
		{"no asset in", func(u *txs.AtomicExportTx) { u.Ins[0].AssetID = ids.Empty }, [][]*txs.Key{{k}}, ErrEmptyAssetID},
		{"another asset in", func(u *txs.AtomicExportTx) { u.Ins[0].AssetID = another }, [][]*txs.Key{{k}}, errExportInput},
		{"no amount out", func(u *txs.AtomicExportTx) { u.ExportedOutputs[0].Out.(*txs.TransferOutput).Amount = 0 }, [][]*txs.Key{{k}}, txs.ErrNoValueOutput},
		{"another asset out", func(u *txs.AtomicExportTx) { u.ExportedOutputs[0].AssetID = another }, [][]*txs.Key{{k}}, errExportOutput},
		{"another asset to the P-Chain", func(u *txs.AtomicExportTx) {
			u.DestinationChain, u.ExportedOutputs[0].AssetID = ids.Empty, another
		}, [][]*txs.Key{{k}}, ErrWrongChain},
		{"an input twice", func(u *txs.AtomicExportTx) { u.Ins = append(u.Ins, u.Ins[0]) }, [][]*txs.Key{{k}, {k}}, txs.ErrInputsNotSorted},
		{"outputs out of order", func(u *txs.AtomicExportTx) {
			u.ExportedOutputs = []*txs.TransferableOutput{txs.NewTransferableOutput(avax, 2, txs.NewOwner(k.Address())), txs.NewTransferableOutput(avax, 1, txs.NewOwner(k.Address()))}
		}, [][]*txs.Key{{k}}, errExportOrder},
		{"no credential", func(*txs.AtomicExportTx) {}, nil, errAtomicCredentials},
		{"two credentials", func(*txs.AtomicExportTx) {}, [][]*txs.Key{{k}, {k}}, errAtomicCredentials},
		{"two signatures", func(*txs.AtomicExportTx) {}, [][]*txs.Key{{k, k}}, errAtomicSignatures},
		{"the key of another", func(*txs.AtomicExportTx) {}, [][]*txs.Key{{stranger}}, ErrAccountSignature},
	} {
		b := cChain(t)
		u := exporting(k, network.XChainID)
		c.change(u)
		tx := signed(t, txs.CChain, u, c.signers...)
		diffs, err := b.Accept([]*txs.Tx{tx}, baseFee, now)
		wantError(t, c.name, err, c.want)
		there := b.shared.Exported(network.CChainID, u.DestinationChain)
		if err != nil {
			if len(there) > 0 {
				t.Errorf("%s: the refused transaction exported", c.name)
			}
			continue
		}
		if len(there) != 1 || there[0].TxID != tx.ID() || there[0].Amount() != txs.AmountOf(u.ExportedOutputs[0].Out) || diffs[0].Peer != u.DestinationChain || !slices.Equal(diffs[0].Exported, there) ||
			diffs[0].Burned != amount-there[0].Amount() || !slices.Equal(diffs[0].Accounts, []txs.AccountChange{{Address: k.EVMAddress(), Amount: amount, Debit: true, Nonce: 7}}) {
			t.Errorf("%s: %d exported, %+v", c.name, len(there), diffs[0])
		}
		b.journal.Revert()
		if len(b.shared.Exported(network.CChainID, u.DestinationChain)) > 0 || b.Time() != 0 {
			t.Errorf("%s: what was exported is there after a rollback", c.name)
		}
	}
}

// TestABlockIsAllOrNothing: if the second transaction of a block is refused, the first has no effect, and the block before stays.
func TestABlockIsAllOrNothing(t *testing.T) {
	k := key(t, 1)
	one, two := output(1, avax, amount, txs.NewOwner(k.Address())), output(2, avax, amount, txs.NewOwner(k.Address()))
	b := cChain(t, one, two)
	first, second := signed(t, txs.CChain, importing(k, one), []*txs.Key{k}), signed(t, txs.CChain, importing(k, two), []*txs.Key{k})
	_, err := b.Accept([]*txs.Tx{first, first}, baseFee, now)
	wantError(t, "the same twice", err, ErrNotFound)
	if len(b.Exported()) != 2 {
		t.Errorf("%d outputs are left of 2", len(b.Exported()))
	}
	if _, err := b.Accept([]*txs.Tx{first}, baseFee, now); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Accept([]*txs.Tx{second}, baseFee, now+1); err != nil {
		t.Fatal(err)
	}
	b.journal.Revert()
	b.journal.Revert() // once after each block
	if left := b.Exported(); len(left) != 1 || left[0] != two || b.Time() != now {
		t.Errorf("after a rollback of the second block %d outputs are left at time %d", len(left), b.Time())
	}
	if _, err := b.Accept([]*txs.Tx{second}, baseFee, now+1); err != nil {
		t.Fatal(err)
	}
	wantError(t, "the second, verified", b.VerifyTx(second, baseFee, now), ErrNotFound)
	if len(b.Exported()) != 0 {
		t.Error("verifying took the block before back")
	}
	wantError(t, "a transaction of another chain", b.VerifyTx(signed(t, txs.PChain, &txs.BaseTx{}), baseFee, now), ErrWrongTxType)
}

// TestBoundsOfAtomicTransactions: a client's transaction may have 40 KiB and 100,000 gas.
func TestBoundsOfAtomicTransactions(t *testing.T) {
	k := key(t, 1)
	filled := func(outputs, indices int) *txs.Tx {
		in := spending(output(1, avax, amount, txs.NewOwner(k.Address())), make([]uint32, indices)...)
		u := &txs.AtomicImportTx{ImportedInputs: []*txs.TransferableInput{in}, Outs: make([]txs.EVMOutput, outputs)}
		return signed(t, txs.CChain, u, []*txs.Key{k, k}) // two signatures, so that four divides the size
	}
	size := func(bytes int) *txs.Tx {
		left := bytes - len(filled(0, 0).Bytes())
		tx := filled(left/60, left%60/4)
		if len(tx.Bytes()) != bytes {
			t.Fatalf("%d bytes instead of %d", len(tx.Bytes()), bytes)
		}
		return tx
	}
	most := (100_000 - int(AtomicGas(filled(0, 0)))) / 1004 // an index has 4 bytes and costs 1,000
	b := cChain(t)
	for _, c := range []struct {
		name string
		tx   *txs.Tx
		want string
	}{
		{"40 KiB", size(40960), errAtomicNetwork.Error()},
		{"more than 40 KiB", size(40964), "tx size (40964) exceeds total atomic txs size target (40960)"},
		{"nearly 100,000 gas", filled(0, most), errAtomicNetwork.Error()},
		{"more than 100,000 gas", filled(0, most+1), "exceeds maximum allowed mempool gas usage (100000)"},
	} {
		if err := b.VerifyTx(c.tx, baseFee, now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
