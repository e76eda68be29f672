package xchain

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

const (
	start  = 1_770_000_000
	amount = 5_000_000_000
)

var (
	network = rules.Mainnet
	avax    = network.AVAXAssetID
	// fixed is an asset of amounts, unknown one that does not exist.
	fixed, unknown = ids.ID{0xf}, ids.ID{0xff}
)

func testKey(t testing.TB, n byte) *txs.Key {
	t.Helper()
	k, err := txs.KeyFromBytes([]byte{31: n})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is an X-Chain with some outputs of a key, and another key.
type world struct {
	*Chain
	t          *testing.T
	key, other *txs.Key
	owner      txs.OutputOwners
	avax       []*txs.UTXO
	tokens     *txs.UTXO // of fixed
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, key: testKey(t, 1), other: testKey(t, 2)}
	w.owner = txs.NewOwner(w.key.Address())
	for n := range uint32(3) {
		w.avax = append(w.avax, &txs.UTXO{UTXOID: txs.UTXOID{OutputIndex: n}, AssetID: avax, Out: &txs.TransferOutput{Amount: amount, OutputOwners: w.owner}})
	}
	w.tokens = &txs.UTXO{UTXOID: txs.UTXOID{OutputIndex: 9}, AssetID: fixed, Out: &txs.TransferOutput{Amount: 100, OutputOwners: w.owner}}
	shared := utxo.NewSharedMemory()
	shared.SubnetOf = func(ids.ID) (ids.ID, error) { return ids.Empty, utxo.ErrNotFound }
	assets := []*Asset{{ID: avax, Name: "Avalanche", Symbol: "AVAX", Denomination: 9, Fxs: []uint32{0}}, {ID: fixed, Name: "Fixed", Symbol: "FIX", Fxs: []uint32{0}}}
	w.Chain = New(network, shared, assets, append(slices.Clone(w.avax), w.tokens))
	w.SetTip(ids.ID{1}, 7, start)
	return w
}

func spending(u *txs.UTXO) *txs.TransferableInput {
	return &txs.TransferableInput{UTXOID: u.UTXOID, AssetID: u.AssetID, In: &txs.TransferInput{Amount: u.Amount(), Input: txs.Input{SigIndices: []uint32{0}}}}
}

// base spends outputs and returns all AVAX except a fee.
func (w *world) base(fee uint64, spent ...*txs.UTXO) txs.BaseTx {
	b := txs.BaseTx{NetworkID: network.NetworkID, BlockchainID: network.XChainID, Memo: txs.HexBytes{}}
	var total uint64
	for _, u := range spent {
		b.Ins = append(b.Ins, spending(u))
		if u.AssetID == avax {
			total += u.Amount()
		}
	}
	if total > fee {
		b.Outs = []*txs.TransferableOutput{txs.NewTransferableOutput(avax, total-fee, w.owner)}
	}
	return b
}

// sign signs each input and operation with the key.
func (w *world) sign(u txs.Unsigned) *txs.Tx {
	w.t.Helper()
	tx := &txs.Tx{Unsigned: u}
	var signers [][]*txs.Key
	ops, _ := u.(*txs.OperationTx)
	for range len(tx.Inputs()) + numberOf(ops) {
		signers = append(signers, []*txs.Key{w.key})
	}
	if err := tx.Sign(txs.XChain, signers); err != nil {
		w.t.Fatal(err)
	}
	return tx
}

func numberOf(tx *txs.OperationTx) int {
	if tx == nil {
		return 0
	}
	return len(tx.Ops)
}

// try accepts transactions in the next block, from their bytes.
func (w *world) try(transactions ...*txs.Tx) ([]*Diff, error) {
	w.t.Helper()
	b, err := w.BuildBlock(w.Time()+1, transactions)
	if err != nil {
		w.t.Fatal(err)
	}
	if b, err = txs.ParseBlock(txs.XChain, b.Bytes()); err != nil {
		w.t.Fatal(err)
	}
	return w.Accept(b)
}

func (w *world) accept(transactions ...*txs.Tx) []*Diff {
	w.t.Helper()
	diffs, err := w.try(transactions...)
	if err != nil {
		w.t.Fatal(err)
	}
	return diffs
}

// refused checks that a transaction is refused for a reason, and that nothing changed.
func (w *world) refused(what string, tx *txs.Tx, want error) {
	w.t.Helper()
	count, tip := w.Count(), w.Tip()
	if err := w.Check(tx, w.Time()+1); !errors.Is(err, want) {
		w.t.Errorf("%s: checking says %v, want %v", what, err, want)
	}
	_, err := w.try(tx)
	if !errors.Is(err, want) || err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("block %d of X: transaction %s: ", w.Height()+1, tx.ID())) {
		w.t.Errorf("%s: error %v, want %v", what, err, want)
	}
	if err == nil {
		w.journal.Revert()
	}
	if w.Count() != count || w.Tip() != tip || w.Time() != start && w.Height() == 7 {
		w.t.Errorf("%s: something changed", what)
	}
}

func TestTransfersBurnTheFee(t *testing.T) {
	w := newWorld(t)
	base := w.base(network.TxFee, w.avax[0], w.avax[1])
	diff := w.accept(w.sign(&base))[0]
	if diff.Burned != network.TxFee || len(diff.Spent) != 2 || len(diff.Created) != 1 || diff.Asset != nil || w.Count() != 3 || w.Height() != 8 || w.Time() != start+1 {
		t.Errorf("%+v, %d outputs at %d", diff, w.Count(), w.Height())
	}
	w.refused("again", w.sign(&base), utxo.ErrNotFound)
	more := w.base(network.TxFee+5, w.avax[2])
	if diff := w.accept(w.sign(&more))[0]; diff.Burned != network.TxFee+5 {
		t.Errorf("burned %d", diff.Burned)
	}
}

func TestTransfersThatAreRefused(t *testing.T) {
	change := func(change func(*world, *txs.BaseTx)) func(*world) *txs.Tx {
		return func(w *world) *txs.Tx {
			base := w.base(network.TxFee, w.avax[0])
			change(w, &base)
			return w.sign(&base)
		}
	}
	export := func(amount uint64) func(*world) *txs.Tx {
		return func(w *world) *txs.Tx {
			base := w.base(network.TxFee+amount, w.avax[0])
			return w.sign(&txs.ExportTx{BaseTx: base, DestinationChain: network.CChainID, ExportedOutputs: []*txs.TransferableOutput{txs.NewTransferableOutput(avax, 1000, w.owner)}})
		}
	}
	for _, c := range []struct {
		name string
		tx   func(*world) *txs.Tx
		want error
	}{
		{"a transfer", change(func(*world, *txs.BaseTx) {}), nil},
		{"one that pays too little", change(func(_ *world, b *txs.BaseTx) { b.Outs[0].Out.(*txs.TransferOutput).Amount++ }), utxo.ErrInsufficientFunds},
		{"one of another network", change(func(_ *world, b *txs.BaseTx) { b.NetworkID = 5 }), utxo.ErrWrongNetwork},
		{"one of tokens", change(func(w *world, b *txs.BaseTx) {
			b.Ins = append(b.Ins, spending(w.tokens))
			b.Outs = append(b.Outs, txs.NewTransferableOutput(fixed, 100, w.owner))
			txs.SortOutputs(txs.XChain, b.Outs)
		}), nil},
		{"one of more tokens than there are", change(func(w *world, b *txs.BaseTx) {
			b.Ins = append(b.Ins, spending(w.tokens))
			b.Outs = append(b.Outs, txs.NewTransferableOutput(fixed, 101, w.owner))
			txs.SortOutputs(txs.XChain, b.Outs)
		}), utxo.ErrInsufficientFunds},
		{"one of an asset that is not there", change(func(w *world, b *txs.BaseTx) {
			b.Ins[0].AssetID = unknown
			b.Outs = nil
			b.Ins = append(b.Ins, spending(w.avax[1]))
		}), utxo.ErrAssetMismatch},
		{"an export", export(1000), nil},
		{"an export of more", export(999), utxo.ErrInsufficientFunds},
		{"a transaction of the P-Chain's", func(w *world) *txs.Tx {
			u := w.base(network.TxFee, w.avax[0])
			tx := w.sign(&u)
			tx.Unsigned = &txs.CreateSubnetTx{BaseTx: u}
			return tx
		}, utxo.ErrWrongTxType},
	} {
		w := newWorld(t)
		tx := c.tx(w)
		if c.want == utxo.ErrWrongTxType {
			if err := w.Check(tx, start); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		w.refused(c.name, tx, c.want)
	}
	w := newWorld(t)
	base := w.base(network.TxFee, w.avax[0])
	for _, signers := range [][][]*txs.Key{{}, {{w.key}, {w.key}}} {
		tx, err := txs.NewSigned(txs.XChain, &base, signers...)
		if err != nil {
			t.Fatal(err)
		}
		w.refused("credentials that are too many or too few", tx, utxo.ErrWrongCredentials)
	}
	tx, err := txs.NewSigned(txs.XChain, &base, []*txs.Key{w.other})
	if err != nil {
		t.Fatal(err)
	}
	w.refused("another's signature", tx, utxo.ErrWrongSignature)
	damaged := w.sign(&base)
	damaged.Credentials[0].(*txs.Credential).Signatures[0][3] ^= 1
	if w.Strict = true; w.Check(damaged, start) == nil {
		t.Error("strict verification believes a damaged signature")
	}
}

func TestBlocksThatAreRefused(t *testing.T) {
	w := newWorld(t)
	if _, err := w.try(); err != nil {
		t.Error(err)
	}
	one, two := w.base(network.TxFee, w.avax[0]), w.base(network.TxFee, w.avax[1])
	first := w.sign(&one)
	if _, err := w.try(w.sign(&two), first, first); !errors.Is(err, utxo.ErrNotFound) || w.Count() != 4 {
		t.Errorf("%v, %d outputs", err, w.Count())
	}
	b, err := txs.NewBlock(txs.XChain, &txs.XChainBlock{ParentID: ids.ID{9}, Height: w.Height() + 1, Time: w.Time()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Accept(b); err == nil || w.Tip() == b.ID() {
		t.Error("a block of another parent is accepted")
	}
	if b, err = txs.NewBlock(txs.PChain, &txs.StandardBlock{Time: start}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Accept(b); !errors.Is(err, errBlockType) {
		t.Error(err)
	}
}

// create returns an asset with an amount and a right to mint of each kind.
func (w *world) create(change func(*txs.CreateAssetTx)) *txs.Tx {
	w.t.Helper()
	states := []*txs.InitialState{
		{FxIndex: 0, Outs: []txs.Output{&txs.TransferOutput{Amount: 100, OutputOwners: w.owner}, &txs.MintOutput{OutputOwners: w.owner}}},
		{FxIndex: 1, Outs: []txs.Output{&txs.NFTMintOutput{GroupID: 7, OutputOwners: w.owner}}},
		{FxIndex: 2, Outs: []txs.Output{&txs.PropertyMintOutput{OutputOwners: w.owner}}},
	}
	if err := txs.SortStates(states); err != nil {
		w.t.Fatal(err)
	}
	tx := &txs.CreateAssetTx{BaseTx: w.base(network.CreateAssetFee, w.avax[0]), Name: "Test Token 2", Symbol: "TEST", Denomination: 32, States: states}
	change(tx)
	return w.sign(tx)
}

func TestAssetsAreCreated(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*txs.CreateAssetTx)
		want   error
	}{
		{"an asset", func(*txs.CreateAssetTx) {}, nil},
		{"one with the longest name", func(u *txs.CreateAssetTx) { u.Name = strings.Repeat("N", 128) }, nil},
		{"one with the shortest names", func(u *txs.CreateAssetTx) { u.Name, u.Symbol = "n", "A" }, nil},
		{"one with all letters", func(u *txs.CreateAssetTx) { u.Name, u.Symbol = "az AZ 09", "AZ" }, nil},
		{"one that pays too little", func(u *txs.CreateAssetTx) { u.Outs[0].Out.(*txs.TransferOutput).Amount++ }, utxo.ErrInsufficientFunds},
		{"without a name", func(u *txs.CreateAssetTx) { u.Name = "" }, errNameTooShort},
		{"with a longer name", func(u *txs.CreateAssetTx) { u.Name = strings.Repeat("N", 129) }, errNameTooLong},
		{"with a space before its name", func(u *txs.CreateAssetTx) { u.Name = " N" }, errWhitespace},
		{"with a sign in its name", func(u *txs.CreateAssetTx) { u.Name = "N-1" }, errNameCharacter},
		{"without a symbol", func(u *txs.CreateAssetTx) { u.Symbol = "" }, errSymbolTooShort},
		{"with a longer symbol", func(u *txs.CreateAssetTx) { u.Symbol = "ABCDE" }, errSymbolTooLong},
		{"with small letters", func(u *txs.CreateAssetTx) { u.Symbol = "Ab" }, errSymbolCase},
		{"with a digit as symbol", func(u *txs.CreateAssetTx) { u.Symbol = "A1" }, errSymbolCase},
		{"with a bracket as symbol", func(u *txs.CreateAssetTx) { u.Symbol = "[" }, errSymbolCase},
		{"with more digits", func(u *txs.CreateAssetTx) { u.Denomination = 33 }, errDenomination},
		{"of nothing", func(u *txs.CreateAssetTx) { u.States = nil }, errNoFxs},
		{"with states out of order", func(u *txs.CreateAssetTx) { u.States[0], u.States[1] = u.States[1], u.States[0] }, errStateOrder},
		{"with outputs of another extension", func(u *txs.CreateAssetTx) { u.States[0].FxIndex, u.States = 1, u.States[:1] }, nil},
		{"with an extension that there is not", func(u *txs.CreateAssetTx) { u.States = []*txs.InitialState{{FxIndex: 3, Outs: u.States[2].Outs}} }, errUnknownFx},
		{"with an amount of nothing", func(u *txs.CreateAssetTx) {
			u.States = []*txs.InitialState{{Outs: []txs.Output{&txs.TransferOutput{OutputOwners: txs.OutputOwners{}}}}}
		}, txs.ErrNoValueOutput},
	} {
		w := newWorld(t)
		w.refused(c.name, w.create(c.change), c.want)
	}
	w := newWorld(t)
	tx := w.create(func(*txs.CreateAssetTx) {})
	diff := w.accept(tx)[0]
	want := Asset{ID: tx.ID(), Name: "Test Token 2", Symbol: "TEST", Denomination: 32, Fxs: []uint32{0, 1, 2}}
	if diff.Asset == nil || fmt.Sprint(*diff.Asset) != fmt.Sprint(want) || len(diff.Created) != 5 || diff.Burned != network.CreateAssetFee {
		t.Fatalf("%+v, %d outputs", diff.Asset, len(diff.Created))
	}
	if a, found := w.Asset(tx.ID()); !found || a != diff.Asset {
		t.Error("the asset is not there")
	}
	w.journal.Revert()
	if _, found := w.Asset(tx.ID()); found {
		t.Error("the asset is there after a rollback")
	}
}

// operation returns one that uses an output, as far as the key may.
func (w *world) operation(u *txs.UTXO) *txs.Operation {
	auth := txs.Input{SigIndices: []uint32{0}}
	op := &txs.Operation{AssetID: u.AssetID, UTXOIDs: []*txs.UTXOID{{TxID: u.TxID, OutputIndex: u.OutputIndex}}}
	switch out := u.Out.(type) {
	case *txs.MintOutput:
		op.Op = &txs.MintOperation{MintInput: auth, MintOutput: *out, TransferOutput: txs.TransferOutput{Amount: 50, OutputOwners: w.owner}}
	case *txs.NFTMintOutput:
		op.Op = &txs.NFTMintOperation{MintInput: auth, GroupID: out.GroupID, Payload: txs.HexBytes("picture"), Outputs: []*txs.OutputOwners{&w.owner}}
	case *txs.NFTTransferOutput:
		op.Op = &txs.NFTTransferOperation{Input: auth, Output: *out}
	case *txs.PropertyMintOutput:
		op.Op = &txs.PropertyMintOperation{MintInput: auth, MintOutput: *out, OwnedOutput: txs.PropertyOwnedOutput{OutputOwners: w.owner}}
	case *txs.PropertyOwnedOutput:
		op.Op = &txs.PropertyBurnOperation{Input: auth}
	default:
		return nil
	}
	return op
}

func (w *world) marshal(op *txs.Operation) []byte {
	w.t.Helper()
	b, err := txs.XChain.Marshal(op)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// operate uses outputs with an operation each.
func (w *world) operate(change func([]*txs.Operation), outputs ...*txs.UTXO) *txs.Tx {
	w.t.Helper()
	var ops []*txs.Operation
	for _, u := range outputs {
		if op := w.operation(u); op != nil {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *txs.Operation) int { return bytes.Compare(w.marshal(a), w.marshal(b)) })
	change(ops)
	var fee *txs.UTXO
	for u := range w.UTXOs() {
		if u.AssetID == avax && (fee == nil || u.UTXOID.Compare(fee.UTXOID) < 0) {
			fee = u
		}
	}
	return w.sign(&txs.OperationTx{BaseTx: w.base(network.TxFee, fee), Ops: ops})
}

func TestMintingMovingAndBurning(t *testing.T) {
	nothing := func([]*txs.Operation) {}
	w := newWorld(t)
	created := w.accept(w.create(func(*txs.CreateAssetTx) {}))[0]
	asset := created.TxID
	mint := w.operate(nothing, created.Created...)
	minted := w.accept(mint)[0]
	if len(minted.Spent) != 4 || len(minted.Created) != 6 { // spent are the fee's output and the rights to mint; created are change, two rights, an amount, an NFT and a property
		t.Errorf("minting spends %d outputs and makes %d", len(minted.Spent), len(minted.Created))
	}
	w.refused("minting again", mint, utxo.ErrNotFound)
	var nft, property, right, nftRight *txs.UTXO
	for u := range w.UTXOs() {
		switch u.Out.(type) {
		case *txs.NFTTransferOutput:
			nft = u
		case *txs.PropertyOwnedOutput:
			property = u
		case *txs.MintOutput:
			right = u
		case *txs.PropertyMintOutput:
			nftRight = u
		}
	}
	one := func(change func(*txs.Operation)) func([]*txs.Operation) {
		return func(ops []*txs.Operation) { change(ops[0]) }
	}
	for _, c := range []struct {
		name   string
		change func([]*txs.Operation)
		on     []*txs.UTXO
		want   error
	}{
		{"minting", nothing, []*txs.UTXO{right}, nil},
		{"moving an NFT", nothing, []*txs.UTXO{nft}, nil},
		{"burning", nothing, []*txs.UTXO{property}, nil},
		{"nothing", nothing, nil, errNoOperations},
		{"two out of order", func(ops []*txs.Operation) { slices.Reverse(ops) }, []*txs.UTXO{nft, property}, errOperationOrder},
		{"none of the outputs", one(func(o *txs.Operation) { o.UTXOIDs = nil }), []*txs.UTXO{nft}, errNumberOfFxUTXOs},
		{"an output that is not there", one(func(o *txs.Operation) { o.UTXOIDs[0].OutputIndex += 100 }), []*txs.UTXO{nft}, utxo.ErrNotFound},
		{"an output of another asset", one(func(o *txs.Operation) { o.AssetID = fixed }), []*txs.UTXO{nft}, utxo.ErrAssetMismatch},
		{"an NFT with another picture", one(func(o *txs.Operation) { o.Op.(*txs.NFTTransferOperation).Output.Payload = txs.HexBytes("other") }), []*txs.UTXO{nft}, errPayload},
		{"an NFT of another group", one(func(o *txs.Operation) { o.Op.(*txs.NFTTransferOperation).Output.GroupID++ }), []*txs.UTXO{nft}, errGroup},
		{"minting to other owners of the right", one(func(o *txs.Operation) {
			o.Op.(*txs.MintOperation).MintOutput.OutputOwners = txs.NewOwner(w.other.Address())
		}), []*txs.UTXO{right}, errWrongMint},
		{"minting nothing", one(func(o *txs.Operation) { o.Op.(*txs.MintOperation).TransferOutput.Amount = 0 }), []*txs.UTXO{right}, txs.ErrNoValueOutput},
		{"burning a right", one(func(o *txs.Operation) { o.Op = &txs.PropertyBurnOperation{Input: txs.Input{SigIndices: []uint32{0}}} }), []*txs.UTXO{nftRight}, utxo.ErrWrongUTXOType},
		{"minting from an NFT", one(func(o *txs.Operation) { o.Op = w.operation(right).Op }), []*txs.UTXO{nft}, utxo.ErrWrongUTXOType},
		{"minting properties from an NFT", one(func(o *txs.Operation) { o.Op = w.operation(nftRight).Op }), []*txs.UTXO{nft}, utxo.ErrWrongUTXOType},
		{"an NFT from a right", one(func(o *txs.Operation) { o.Op = w.operation(nft).Op }), []*txs.UTXO{right}, utxo.ErrWrongUTXOType},
		{"a picture from a right", one(func(o *txs.Operation) {
			o.Op = &txs.NFTMintOperation{MintInput: txs.Input{SigIndices: []uint32{0}}, Outputs: []*txs.OutputOwners{&w.owner}}
		}), []*txs.UTXO{right}, utxo.ErrWrongUTXOType},
		{"of an owner that there is not", one(func(o *txs.Operation) { o.Op.(*txs.NFTTransferOperation).Input.SigIndices = []uint32{1} }), []*txs.UTXO{nft}, utxo.ErrNoSuchOwner},
	} {
		w.refused(c.name, w.operate(c.change, c.on...), c.want)
	}
	// An operation must not use what an input, or another, uses.
	op := w.operation(right)
	twice := w.operate(nothing, nft, property)
	twice.Unsigned.(*txs.OperationTx).Ops[0].UTXOIDs[0], twice.Unsigned.(*txs.OperationTx).Ops[1].UTXOIDs[0] = op.UTXOIDs[0], op.UTXOIDs[0]
	w.refused("one output twice", w.sign(twice.Unsigned), errDoubleSpend)
	spent := w.operate(nothing, nft)
	spent.Unsigned.(*txs.OperationTx).Ops[0].UTXOIDs[0] = &spent.Unsigned.(*txs.OperationTx).Ins[0].UTXOID
	w.refused("what an input spends", w.sign(spent.Unsigned), errDoubleSpend)
	// AVAX cannot be minted, and each operation needs its own kind of credential.
	plain := w.operate(nothing, nft)
	plain.Credentials[1] = plain.Credentials[0]
	if err := w.Check(plain, start+1); !errors.Is(err, utxo.ErrWrongCredential) {
		t.Error(err)
	}
	moved := w.accept(w.operate(nothing, nft, property))[0]
	if len(moved.Spent) != 3 || len(moved.Created) != 2 {
		t.Errorf("moving and burning spends %d and makes %d", len(moved.Spent), len(moved.Created))
	}
	if _, err := w.UTXO(property.InputID()); err == nil {
		t.Error("what was burned is there")
	}
	var total uint64
	for u := range w.UTXOs() {
		if u.AssetID == asset {
			total += u.Amount()
		}
	}
	if total != 150 {
		t.Errorf("there are %d of 100 created and 50 minted", total)
	}
	// An asset with only amounts has no NFTs.
	w.put(&txs.UTXO{UTXOID: txs.UTXOID{OutputIndex: 77}, AssetID: fixed, Out: &txs.NFTMintOutput{OutputOwners: w.owner}})
	u, _ := w.UTXO(txs.UTXOID{OutputIndex: 77}.InputID())
	w.refused("an NFT of an asset of amounts", w.operate(nothing, u), errIncompatibleFx)
}

// put puts an output that no transaction made into the state.
func (x *Chain) put(u *txs.UTXO) {
	x.SetDiff(&utxo.Diff{})
	x.AddUTXO(u)
}

func TestGenesis(t *testing.T) {
	owner := txs.NewOwner(testKey(t, 1).Address())
	u := func(n uint32, asset ids.ID, amount uint64) *txs.UTXO {
		return &txs.UTXO{UTXOID: txs.UTXOID{OutputIndex: n}, AssetID: asset, Out: &txs.TransferOutput{Amount: amount, OutputOwners: owner}}
	}
	g := &XChainGenesis{ParentID: ids.ID{3}, Timestamp: start, Assets: []*GenesisAsset{{avax, "Avalanche", "AVAX", 9}, {fixed, "Fixed", "FIX", 2}}, UTXOs: []*txs.UTXO{u(0, avax, 1), u(1, fixed, 2), u(2, avax, 3)}}
	b, err := g.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseXChainGenesis(b)
	if err != nil || back.Timestamp != start || len(back.UTXOs) != 3 || *back.Assets[1] != *g.Assets[1] {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := ParseXChainGenesis(b[:10]); err == nil || !strings.HasPrefix(err.Error(), "X-Chain genesis: ") {
		t.Error(err)
	}
	block, err := g.Block()
	if err != nil || block.Parent() != g.ParentID || block.Height() != 0 || block.Time() != start {
		t.Errorf("%+v, %v", block, err)
	}
	if got := fmt.Sprint(*g.State()[1]); got != fmt.Sprint(Asset{ID: fixed, Name: "Fixed", Symbol: "FIX", Denomination: 2, Fxs: []uint32{0}}) {
		t.Error(got)
	}
	made := g.CreateAssetTxs(5)
	if len(made) != 2 || made[0].NetworkID != 5 || made[0].Symbol != "AVAX" || len(made[0].States[0].Outs) != 2 || txs.AmountOf(made[0].States[0].Outs[1]) != 3 || txs.AmountOf(made[1].States[0].Outs[0]) != 2 {
		t.Errorf("%+v", made)
	}
	all, err := g.NetworkBytes(5)
	if err != nil {
		t.Fatal(err)
	}
	var read networkGenesis
	if err := txs.XChain.Unmarshal(all, &read); err != nil || len(read.Txs) != 2 || read.Txs[1].Alias != "FIX" || read.Txs[1].Name != "Fixed" {
		t.Errorf("%+v, %v", read, err)
	}
}
