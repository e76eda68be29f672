package pchain

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/xchain"
)

// acceptX accepts transactions in the next X-Chain block.
func (w *world) acceptX(transactions ...*txs.Tx) []*xchain.Diff {
	w.t.Helper()
	diffs, err := w.tryAcceptX(w.x.Time()+1, transactions...)
	return must(w.t, diffs, err)
}

func (w *world) tryAcceptX(time uint64, transactions ...*txs.Tx) ([]*xchain.Diff, error) {
	w.t.Helper()
	b, err := w.x.BuildBlock(time, transactions)
	if err != nil {
		w.t.Fatal(err)
	}
	// If the chain accepts a transaction, it must also accept its bytes alone.
	parsed, err := txs.ParseBlock(txs.XChain, b.Bytes())
	if err != nil {
		w.t.Fatal(err)
	}
	return w.x.Accept(parsed)
}

func (w *world) xChainTx(key *txs.Key, outs ...*txs.TransferableOutput) *txs.Tx {
	w.t.Helper()
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 0, outs...)
	tx, err := txs.NewSigned(txs.XChain, &base, signers(base, key)...)
	return must(w.t, tx, err)
}

func TestTransferMovesValueAndBurnsTheFee(t *testing.T) {
	w := newWorld(t)
	tx := w.xChainTx(w.keys[0], txs.NewTransferableOutput(local.AVAXAssetID, 5*nAVAX, txs.NewOwner(w.keys[1].Address())))
	diff := w.acceptX(tx)[0]
	if diff.Burned != local.TxFee || len(diff.Spent) != 1 || len(diff.Created) != 2 {
		t.Errorf("burned %d, spent %d, created %d", diff.Burned, len(diff.Spent), len(diff.Created))
	}
	if got := len(funds(&w.x.UTXOState, w.keys[1], local.AVAXAssetID)); got != 2 {
		t.Errorf("the receiver has %d outputs", got)
	}
	_, err := w.tryAcceptX(w.x.Time()+1, tx)
	wantError(t, err, utxo.ErrNotFound)
}

func TestMultisigAndLocktime(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.keys[0], w.keys[1], w.keys[2]
	multisig := txs.NewOutputOwners(0, 2, a.Address(), b.Address(), c.Address())
	locked := txs.NewOutputOwners(start+1000, 1, a.Address())
	tx := w.xChainTx(a, txs.NewTransferableOutput(local.AVAXAssetID, 5*nAVAX, multisig), txs.NewTransferableOutput(local.AVAXAssetID, 6*nAVAX, locked))
	w.acceptX(tx)
	var shared, later *txs.UTXO
	for _, u := range tx.Produced() {
		switch u.Amount() {
		case 5 * nAVAX:
			shared = u
		case 6 * nAVAX:
			later = u
		}
	}
	byAddress := map[ids.ShortID]*txs.Key{a.Address(): a, b.Address(): b, c.Address(): c}
	owners := shared.Owners().Addresses
	first, second, third := byAddress[owners[0]], byAddress[owners[1]], byAddress[owners[2]]
	spend := func(u *txs.UTXO, indices []uint32, keys ...*txs.Key) *txs.Tx {
		base := &txs.BaseTx{NetworkID: 12345, BlockchainID: local.XChainID, Ins: []*txs.TransferableInput{spending(u, indices...)}}
		base.Outs = []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, u.Amount()-local.TxFee, txs.NewOwner(a.Address()))}
		tx, err := txs.NewSigned(txs.XChain, base, keys)
		return must(t, tx, err)
	}
	for want, tx := range map[error]*txs.Tx{
		utxo.ErrTooFewSigners:     spend(shared, []uint32{0}, first),
		utxo.ErrTooManySigners:    spend(shared, []uint32{0, 1, 2}, first, second, third),
		utxo.ErrWrongSignature:    spend(shared, []uint32{0, 1}, second, first),
		utxo.ErrNoSuchOwner:       spend(shared, []uint32{0, 3}, first, third),
		utxo.ErrSignerMismatch:    spend(shared, []uint32{0, 1}, first),
		txs.ErrSigIndicesUnsorted: spend(shared, []uint32{1, 0}, second, first),
		utxo.ErrTimelocked:        spend(later, []uint32{0}, a),
	} {
		_, err := w.tryAcceptX(start+10, tx)
		wantError(t, err, want)
	}
	w.acceptX(spend(shared, []uint32{0, 2}, first, third))
	_, err := w.tryAcceptX(start+1000, spend(later, []uint32{0}, a))
	wantError(t, err, nil)
}

func TestMalformedTransactionsAreRefused(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	cases := map[error]func(*txs.BaseTx){
		utxo.ErrWrongNetwork:      func(b *txs.BaseTx) { b.NetworkID = 1 },
		utxo.ErrWrongChain:        func(b *txs.BaseTx) { b.BlockchainID = local.CChainID },
		utxo.ErrMemoTooLarge:      func(b *txs.BaseTx) { b.Memo = txs.HexBytes("hi") },
		txs.ErrOutputsNotSorted:   func(b *txs.BaseTx) { b.Outs[0], b.Outs[1] = b.Outs[1], b.Outs[0] },
		txs.ErrNoValueOutput:      func(b *txs.BaseTx) { b.Outs[0].Out.(*txs.TransferOutput).Amount = 0 },
		txs.ErrInputsNotSorted:    func(b *txs.BaseTx) { b.Ins = append(b.Ins, b.Ins[0]) },
		utxo.ErrInsufficientFunds: func(b *txs.BaseTx) { b.Outs[1].Out.(*txs.TransferOutput).Amount += 1 },
		utxo.ErrMismatchedAmounts: func(b *txs.BaseTx) { b.Ins[0].In.(*txs.TransferInput).Amount += 1 },
	}
	for want, change := range cases {
		base := baseOf(&w.x.UTXOState, key, local.TxFee, 0, txs.NewTransferableOutput(local.AVAXAssetID, nAVAX, txs.NewOwner(key.Address())))
		change(&base)
		tx, err := txs.NewSigned(txs.XChain, &base, signers(base, key)...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.tryAcceptX(w.x.Time(), tx)
		wantError(t, err, want)
	}
	if w.x.Count() != 4 || w.x.Height() != 0 {
		t.Error("refused transactions changed the state")
	}
}

func TestAssetsAreCreatedAndMinted(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	owner := txs.NewOwner(key.Address())
	states := []*txs.InitialState{
		{FxIndex: 2, Outs: []txs.Output{&txs.PropertyMintOutput{OutputOwners: owner}}},
		{FxIndex: 1, Outs: []txs.Output{&txs.NFTMintOutput{GroupID: 7, OutputOwners: owner}}},
		{FxIndex: 0, Outs: []txs.Output{&txs.TransferOutput{Amount: 100, OutputOwners: owner}, &txs.MintOutput{OutputOwners: owner}}},
	}
	if err := txs.SortStates(states); err != nil {
		t.Fatal(err)
	}
	base := baseOf(&w.x.UTXOState, key, local.CreateAssetFee, 0)
	create, err := txs.NewSigned(txs.XChain, &txs.CreateAssetTx{BaseTx: base, Name: "Test Token", Symbol: "TEST", Denomination: 2, States: states}, signers(base, key)...)
	if err != nil {
		t.Fatal(err)
	}
	diff := w.acceptX(create)[0]
	if diff.Asset == nil || diff.Asset.Symbol != "TEST" || len(diff.Created) != 5 {
		t.Fatalf("asset %+v, %d outputs", diff.Asset, len(diff.Created))
	}
	mint := w.mint(key, create)
	diff = w.acceptX(mint)[0]
	if len(diff.Spent) != 4 {
		t.Errorf("minting spends %d outputs", len(diff.Spent))
	}
	var total uint64
	for _, u := range funds(&w.x.UTXOState, key, create.ID()) {
		total += u.Amount()
	}
	if total != 150 {
		t.Errorf("there are %d of 100 created and 50 minted", total)
	}
	_, err = w.tryAcceptX(w.x.Time(), mint)
	wantError(t, err, utxo.ErrNotFound)
}

// mint uses each minting right with which an asset was created.
func (w *world) mint(key *txs.Key, create *txs.Tx) *txs.Tx {
	w.t.Helper()
	owner := txs.NewOwner(key.Address())
	auth := txs.Input{SigIndices: []uint32{0}}
	var ops []*txs.Operation
	for _, u := range create.Produced() {
		op := &txs.Operation{AssetID: create.ID(), UTXOIDs: []*txs.UTXOID{&u.UTXOID}}
		switch out := u.Out.(type) {
		case *txs.MintOutput:
			op.Op = &txs.MintOperation{MintInput: auth, MintOutput: *out, TransferOutput: txs.TransferOutput{Amount: 50, OutputOwners: owner}}
		case *txs.NFTMintOutput:
			op.Op = &txs.NFTMintOperation{MintInput: auth, GroupID: out.GroupID, Payload: txs.HexBytes("picture"), Outputs: []*txs.OutputOwners{&owner}}
		case *txs.PropertyMintOutput:
			op.Op = &txs.PropertyMintOperation{MintInput: auth, MintOutput: *out, OwnedOutput: txs.PropertyOwnedOutput{OutputOwners: owner}}
		default:
			continue
		}
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b *txs.Operation) int {
		return bytes.Compare(must1(txs.XChain.Marshal(a)), must1(txs.XChain.Marshal(b)))
	})
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 0)
	one := []*txs.Key{key}
	tx, err := txs.NewSigned(txs.XChain, &txs.OperationTx{BaseTx: base, Ops: ops}, signers(base, key, one, one, one)...)
	return must(w.t, tx, err)
}

func TestAccountsImportFromTheXChain(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 10*nAVAX)
	export, err := txs.NewSigned(txs.XChain, &txs.ExportTx{BaseTx: base, DestinationChain: local.CChainID, ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, 10*nAVAX, txs.NewOwner(key.Address()))}}, signers(base, key)...)
	if err != nil {
		t.Fatal(err)
	}
	exported := w.acceptX(export)[0].Exported
	if len(exported) != 1 || exported[0].OutputIndex != 1 {
		t.Fatalf("exported %+v", exported)
	}
	baseFee := big.NewInt(30_000_000_000)
	in := &txs.AtomicImportTx{NetworkID: 12345, BlockchainID: local.CChainID, SourceChain: local.XChainID, ImportedInputs: []*txs.TransferableInput{spending(exported[0], 0)}}
	in.Outs = []txs.EVMOutput{{Address: key.EVMAddress(), Amount: 10*nAVAX - 400_000, AssetID: local.AVAXAssetID}}
	one := []*txs.Key{key}
	tx, err := txs.NewSigned(txs.CChain, in, one)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := w.c.Accept([]*txs.Tx{tx}, baseFee, start+5)
	if err != nil {
		t.Fatal(err)
	}
	if got := diffs[0].Accounts; len(got) != 1 || got[0].Debit || got[0].Amount != 10*nAVAX-400_000 {
		t.Errorf("accounts %+v", got)
	}
	_, err = w.c.Accept([]*txs.Tx{tx}, baseFee, start+5)
	wantError(t, err, utxo.ErrNotFound)
}

func TestAccountsExportToThePChain(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	baseFee := big.NewInt(30_000_000_000)
	out := &txs.AtomicExportTx{NetworkID: 12345, BlockchainID: local.CChainID, DestinationChain: ids.Empty, Ins: []txs.EVMInput{{Address: key.EVMAddress(), Amount: 3 * nAVAX, AssetID: local.AVAXAssetID, Nonce: 4}}}
	out.ExportedOutputs = []*txs.TransferableOutput{txs.NewTransferableOutput(local.AVAXAssetID, 2*nAVAX, txs.NewOwner(key.Address()))}
	forged, err := txs.NewSigned(txs.CChain, out, []*txs.Key{w.keys[1]})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.c.Accept([]*txs.Tx{forged}, baseFee, start+6)
	wantError(t, err, utxo.ErrAccountSignature)
	one := []*txs.Key{key}
	tx, err := txs.NewSigned(txs.CChain, out, one)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := w.c.Accept([]*txs.Tx{tx}, baseFee, start+6)
	if err != nil {
		t.Fatal(err)
	}
	exportedUTXO := diffs[0].Exported[0]
	imported := w.pChainTx(key, 0, func(base txs.BaseTx) txs.Unsigned {
		return &txs.ImportTx{BaseTx: base, SourceChain: local.CChainID, ImportedInputs: []*txs.TransferableInput{spending(exportedUTXO, 0)}}
	}, one)
	if got := w.accept(start+1, imported)[1]; len(got.Imported) != 1 || got.Peer != local.CChainID {
		t.Errorf("imported %+v", got)
	}
}
