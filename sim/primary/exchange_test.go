package primary

import (
	"math/big"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

// exchange accepts transactions in the next X-Chain block.
func (w *world) exchange(txs ...*Tx) []*ExchangeDiff {
	w.t.Helper()
	diffs, err := w.tryExchange(w.x.Time()+1, txs...)
	return must(w.t, diffs, err)
}

func (w *world) tryExchange(time uint64, txs ...*Tx) ([]*ExchangeDiff, error) {
	w.t.Helper()
	b, err := w.x.Build(time, txs)
	if err != nil {
		w.t.Fatal(err)
	}
	// What the chain accepts must also be accepted from bytes alone.
	parsed, err := ParseBlock(XChain, b.Bytes())
	if err != nil {
		w.t.Fatal(err)
	}
	return w.x.Accept(parsed)
}

func (w *world) exchangeTx(key *Key, outs ...*TransferableOutput) *Tx {
	w.t.Helper()
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 0, outs...)
	tx, err := NewSigned(XChain, &base, signers(base, key)...)
	return must(w.t, tx, err)
}

func TestTransferMovesValueAndBurnsTheFee(t *testing.T) {
	w := newWorld(t)
	tx := w.exchangeTx(w.keys[0], Pay(local.AVAXAssetID, 5*nAVAX, Owner(w.keys[1].Address())))
	diff := w.exchange(tx)[0]
	if diff.Burned != local.TxFee || len(diff.Spent) != 1 || len(diff.Created) != 2 {
		t.Errorf("burned %d, spent %d, created %d", diff.Burned, len(diff.Spent), len(diff.Created))
	}
	if got := len(funds(&w.x.UTXOState, w.keys[1], local.AVAXAssetID)); got != 2 {
		t.Errorf("the receiver has %d outputs", got)
	}
	_, err := w.tryExchange(w.x.Time()+1, tx)
	wantError(t, err, errNotFound)
}

func TestMultisigAndLocktime(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.keys[0], w.keys[1], w.keys[2]
	committee := NewOwners(0, 2, a.Address(), b.Address(), c.Address())
	locked := NewOwners(start+1000, 1, a.Address())
	tx := w.exchangeTx(a, Pay(local.AVAXAssetID, 5*nAVAX, committee), Pay(local.AVAXAssetID, 6*nAVAX, locked))
	w.exchange(tx)
	var shared, later *UTXO
	for _, u := range tx.Produced() {
		switch u.Amount() {
		case 5 * nAVAX:
			shared = u
		case 6 * nAVAX:
			later = u
		}
	}
	byAddress := map[ids.ShortID]*Key{a.Address(): a, b.Address(): b, c.Address(): c}
	owners := shared.Owners().Addresses
	first, second, third := byAddress[owners[0]], byAddress[owners[1]], byAddress[owners[2]]
	spend := func(u *UTXO, indices []uint32, keys ...*Key) *Tx {
		base := &BaseTx{NetworkID: 12345, BlockchainID: local.XChainID, Ins: []*TransferableInput{spending(u, indices...)}}
		base.Outs = []*TransferableOutput{Pay(local.AVAXAssetID, u.Amount()-local.TxFee, Owner(a.Address()))}
		tx, err := NewSigned(XChain, base, keys)
		return must(t, tx, err)
	}
	for want, tx := range map[error]*Tx{
		ErrTooFewSigners:      spend(shared, []uint32{0}, first),
		ErrTooManySigners:     spend(shared, []uint32{0, 1, 2}, first, second, third),
		ErrWrongSignature:     spend(shared, []uint32{0, 1}, second, first),
		ErrNoSuchOwner:        spend(shared, []uint32{0, 3}, first, third),
		ErrSignerMismatch:     spend(shared, []uint32{0, 1}, first),
		ErrSigIndicesUnsorted: spend(shared, []uint32{1, 0}, second, first),
		ErrTimelocked:         spend(later, []uint32{0}, a),
	} {
		_, err := w.tryExchange(start+10, tx)
		wantError(t, err, want)
	}
	w.exchange(spend(shared, []uint32{0, 2}, first, third))
	_, err := w.tryExchange(start+1000, spend(later, []uint32{0}, a))
	wantError(t, err, nil)
}

func TestMalformedTransactionsAreRefused(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	cases := map[error]func(*BaseTx){
		ErrWrongNetwork:      func(b *BaseTx) { b.NetworkID = 1 },
		ErrWrongChain:        func(b *BaseTx) { b.BlockchainID = local.CChainID },
		ErrMemoTooLarge:      func(b *BaseTx) { b.Memo = HexBytes("hi") },
		ErrOutputsNotSorted:  func(b *BaseTx) { b.Outs[0], b.Outs[1] = b.Outs[1], b.Outs[0] },
		ErrNoValueOutput:     func(b *BaseTx) { b.Outs[0].Out.(*TransferOutput).Amount = 0 },
		ErrInputsNotSorted:   func(b *BaseTx) { b.Ins = append(b.Ins, b.Ins[0]) },
		ErrInsufficientFunds: func(b *BaseTx) { b.Outs[1].Out.(*TransferOutput).Amount += 1 },
		ErrMismatchedAmounts: func(b *BaseTx) { b.Ins[0].In.(*TransferInput).Amount += 1 },
	}
	for want, spoil := range cases {
		base := baseOf(&w.x.UTXOState, key, local.TxFee, 0, Pay(local.AVAXAssetID, nAVAX, Owner(key.Address())))
		spoil(&base)
		tx, err := NewSigned(XChain, &base, signers(base, key)...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.tryExchange(w.x.Time(), tx)
		wantError(t, err, want)
	}
	if w.x.Count() != 4 || w.x.Height() != 0 {
		t.Error("refused transactions left traces")
	}
}

func TestAssetsAreCreatedAndMinted(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	owner := Owner(key.Address())
	states := []*InitialState{
		{FxIndex: 2, Outs: []Output{&PropertyMintOutput{OutputOwners: owner}}},
		{FxIndex: 1, Outs: []Output{&NFTMintOutput{GroupID: 7, OutputOwners: owner}}},
		{FxIndex: 0, Outs: []Output{&TransferOutput{Amount: 100, OutputOwners: owner}, &MintOutput{OutputOwners: owner}}},
	}
	if err := SortStates(states); err != nil {
		t.Fatal(err)
	}
	base := baseOf(&w.x.UTXOState, key, local.CreateAssetFee, 0)
	create, err := NewSigned(XChain, &CreateAssetTx{BaseTx: base, Name: "Test Token", Symbol: "TEST", Denomination: 2, States: states}, signers(base, key)...)
	if err != nil {
		t.Fatal(err)
	}
	diff := w.exchange(create)[0]
	if diff.Asset == nil || diff.Asset.Symbol != "TEST" || len(diff.Created) != 5 {
		t.Fatalf("asset %+v, %d outputs", diff.Asset, len(diff.Created))
	}
	mint := w.mint(key, create)
	diff = w.exchange(mint)[0]
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
	_, err = w.tryExchange(w.x.Time(), mint)
	wantError(t, err, errNotFound)
}

// mint uses each right to mint that an asset was created with.
func (w *world) mint(key *Key, create *Tx) *Tx {
	w.t.Helper()
	owner := Owner(key.Address())
	auth := Input{SigIndices: []uint32{0}}
	var ops []*Operation
	for _, u := range create.Produced() {
		op := &Operation{AssetID: create.ID(), UTXOIDs: []*UTXOID{&u.UTXOID}}
		switch out := u.Out.(type) {
		case *MintOutput:
			op.Op = &MintOperation{MintInput: auth, MintOutput: *out, TransferOutput: TransferOutput{Amount: 50, OutputOwners: owner}}
		case *NFTMintOutput:
			op.Op = &NFTMintOperation{MintInput: auth, GroupID: out.GroupID, Payload: HexBytes("picture"), Outputs: []*OutputOwners{&owner}}
		case *PropertyMintOutput:
			op.Op = &PropertyMintOperation{MintInput: auth, MintOutput: *out, OwnedOutput: PropertyOwnedOutput{OutputOwners: owner}}
		default:
			continue
		}
		ops = append(ops, op)
	}
	if err := SortOperations(ops); err != nil {
		w.t.Fatal(err)
	}
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 0)
	one := []*Key{key}
	tx, err := NewSigned(XChain, &OperationTx{BaseTx: base, Ops: ops}, signers(base, key, one, one, one)...)
	return must(w.t, tx, err)
}

func TestAccountsImportFromTheExchange(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	base := baseOf(&w.x.UTXOState, key, local.TxFee, 10*nAVAX)
	export, err := NewSigned(XChain, &ExportTx{BaseTx: base, DestinationChain: local.CChainID, ExportedOutputs: []*TransferableOutput{Pay(local.AVAXAssetID, 10*nAVAX, Owner(key.Address()))}}, signers(base, key)...)
	if err != nil {
		t.Fatal(err)
	}
	exported := w.exchange(export)[0].Exported
	if len(exported) != 1 || exported[0].OutputIndex != 1 {
		t.Fatalf("exported %+v", exported)
	}
	baseFee := big.NewInt(30_000_000_000)
	in := &AtomicImportTx{NetworkID: 12345, BlockchainID: local.CChainID, SourceChain: local.XChainID, ImportedInputs: []*TransferableInput{spending(exported[0], 0)}}
	in.Outs = []EVMOutput{{Address: key.EVMAddress(), Amount: 10*nAVAX - 400_000, AssetID: local.AVAXAssetID}}
	one := []*Key{key}
	tx, err := NewSigned(CChain, in, one)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := w.c.Accept([]*Tx{tx}, baseFee, start+5)
	if err != nil {
		t.Fatal(err)
	}
	if got := diffs[0].Accounts; len(got) != 1 || got[0].Debit || got[0].Amount != 10*nAVAX-400_000 {
		t.Errorf("accounts %+v", got)
	}
	_, err = w.c.Accept([]*Tx{tx}, baseFee, start+5)
	wantError(t, err, errNotFound)
}

func TestAccountsExportToThePlatform(t *testing.T) {
	w := newWorld(t)
	key := w.keys[0]
	baseFee := big.NewInt(30_000_000_000)
	out := &AtomicExportTx{NetworkID: 12345, BlockchainID: local.CChainID, DestinationChain: ids.Empty, Ins: []EVMInput{{Address: key.EVMAddress(), Amount: 3 * nAVAX, AssetID: local.AVAXAssetID, Nonce: 4}}}
	out.ExportedOutputs = []*TransferableOutput{Pay(local.AVAXAssetID, 2*nAVAX, Owner(key.Address()))}
	stolen, err := NewSigned(CChain, out, []*Key{w.keys[1]})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.c.Accept([]*Tx{stolen}, baseFee, start+6)
	wantError(t, err, errAccountSignature)
	one := []*Key{key}
	tx, err := NewSigned(CChain, out, one)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := w.c.Accept([]*Tx{tx}, baseFee, start+6)
	if err != nil {
		t.Fatal(err)
	}
	crossed := diffs[0].Exported[0]
	w.c.Rollback()
	if _, found := w.shared.UTXO(local.CChainID, ids.Empty, crossed.InputID()); found {
		t.Fatal("a rolled back export is still there")
	}
	if _, err := w.c.Accept([]*Tx{tx}, baseFee, start+6); err != nil {
		t.Fatal(err)
	}
	imported := w.platformTx(key, 0, func(base BaseTx) Unsigned {
		return &ImportTx{BaseTx: base, SourceChain: local.CChainID, ImportedInputs: []*TransferableInput{spending(crossed, 0)}}
	}, one)
	if got := w.accept(start+1, imported)[1]; len(got.Imported) != 1 || got.Peer != local.CChainID {
		t.Errorf("imported %+v", got)
	}
}
