package txs

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
)

// testKey returns a key that is the same for the same number.
func testKey(t *testing.T, n byte) *Key {
	t.Helper()
	key, err := KeyFromBytes(append(make([]byte, 31), n))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func input(tx byte, index uint32) *TransferableInput {
	return &TransferableInput{UTXOID: UTXOID{ids.ID{tx}, index}, AssetID: ids.ID{9}, In: &TransferInput{Amount: 1, Input: Input{[]uint32{0}}}}
}

func output(amount uint64) *TransferableOutput {
	return NewTransferableOutput(ids.ID{9}, amount, owned(1))
}

// operations returns a transaction with an input and an output, then an operation on amounts, one on NFTs and one on properties.
func operations() *OperationTx {
	on := func(tx byte, op FxOperation) *Operation {
		return &Operation{AssetID: ids.ID{10 + tx}, UTXOIDs: []*UTXOID{{ids.ID{tx}, uint32(tx)}}, Op: op}
	}
	nobody := owned(2)
	return &OperationTx{
		BaseTx: BaseTx{Ins: []*TransferableInput{input(1, 1)}, Outs: []*TransferableOutput{output(7)}},
		Ops: []*Operation{
			on(2, &MintOperation{MintOutput: MintOutput{owned(1)}, TransferOutput: TransferOutput{Amount: 70, OutputOwners: owned(1)}}),
			on(3, &NFTMintOperation{GroupID: 5, Payload: HexBytes{6}, Outputs: []*OutputOwners{&nobody}}),
			on(4, &PropertyBurnOperation{}),
		},
	}
}

// TestSignedTransactions signs an input and three operations with two keys; the network refuses a credential of another kind, and a signature of
// another key.
func TestSignedTransactions(t *testing.T) {
	a, b := testKey(t, 1), testKey(t, 2)
	signers := [][]*Key{{a, b}, {a}, {b}, {a}, {b}} // one more than there are operations
	tx, err := NewSigned(XChain, operations(), signers...)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // signing again replaces the credentials
		var kinds []string
		for i, keys := range signers {
			kinds = append(kinds, strings.TrimPrefix(reflect.TypeOf(tx.Credentials[i]).String(), "*txs."))
			signatures := tx.Signatures(i)
			for j, key := range keys {
				who, known := tx.Signer(i, j)
				recovered, err := tx.Recover(signatures[j])
				if who != key.Address() || !known || err != nil || recovered != key.Address() {
					t.Errorf("signature %d of credential %d is by %s, %s, %v; want %s", j, i, who, recovered, err, key.Address())
				}
			}
			if _, known := tx.Signer(i, len(keys)); known || len(signatures) != len(keys) {
				t.Errorf("credential %d has %d signatures", i, len(signatures))
			}
		}
		if want := []string{"Credential", "Credential", "NFTCredential", "PropertyCredential", "Credential"}; !slices.Equal(kinds, want) {
			t.Errorf("credentials %v, want %v", kinds, want)
		}
		if _, known := tx.Signer(5, 0); known || tx.Signatures(5) != nil || !tx.SignedHere() {
			t.Error("there is a sixth credential, or nobody signed")
		}
		if err := tx.Sign(XChain, signers); err != nil {
			t.Fatal(err)
		}
	}
	read, err := ParseTx(XChain, tx.Bytes())
	if err != nil || read.ID() != tx.ID() || !bytes.Equal(read.UnsignedBytes(), tx.UnsignedBytes()) {
		t.Fatalf("read as %v, %v", read, err)
	}
	if _, known := read.Signer(0, 0); known || read.SignedHere() {
		t.Error("a transaction that came from elsewhere was signed here")
	}
	shown, err := ReadTx(XChain, tx.ID(), tx.Bytes())
	if err != nil || shown.ID() != tx.ID() || !reflect.DeepEqual(shown.Unsigned, read.Unsigned) {
		t.Errorf("shown as %+v, %v", shown, err)
	}
	alone, err := NewSigned(XChain, &OperationTx{Ops: operations().Ops[1:2]}, []*Key{a})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := alone.Credentials[0].(*NFTCredential); !ok {
		t.Errorf("the credential of an NFT is a %T", alone.Credentials[0])
	}
	if err := (&Tx{Unsigned: &OperationTx{Ops: []*Operation{{}}}}).Sign(XChain, nil); err == nil {
		t.Error("a transaction without content is signed")
	}
	if spent := tx.SpentOutputs(); len(spent) != 4 || spent[3].TxID != (ids.ID{4}) || !slices.Equal(spent[3].Signatures, tx.Signatures(3)) || !slices.Equal(spent[1].Signatures, tx.Signatures(1)) ||
		spent[0].TxID != (ids.ID{1}) || !slices.Equal(spent[0].Signatures, tx.Signatures(0)) || spent[3].Imported || spent[0].Imported {
		t.Errorf("spends %+v", spent)
	}
}

// TestSpentAndCreatedOutputs lists what each kind of transaction spends and creates, as explorers show it.
func TestSpentAndCreatedOutputs(t *testing.T) {
	base := BaseTx{Ins: []*TransferableInput{input(1, 1), input(2, 2)}, Outs: []*TransferableOutput{output(7), output(8)}}
	imported, exported := []*TransferableInput{input(3, 3)}, []*TransferableOutput{output(9), output(10)}
	ends := ids.ID{50}
	type amount struct {
		index uint32
		asset ids.ID // the zero id for the transaction itself
		n     uint64
	}
	avax := ids.ID{9}
	own := []amount{{0, avax, 7}, {1, avax, 8}}
	for _, c := range []struct {
		chain              Chain
		unsigned           Unsigned
		inputs, consumed   []byte // of which transactions
		imported           []byte
		produced, exported []amount
		destination        ids.ID
	}{
		{PChain, &base, []byte{1, 2}, []byte{1, 2}, nil, own, nil, ids.Empty},
		{XChain, &ImportTx{BaseTx: base, ImportedInputs: imported}, []byte{1, 2, 3}, []byte{1, 2}, []byte{3}, own, nil, ids.Empty},
		{XChain, &ExportTx{BaseTx: base, DestinationChain: ends, ExportedOutputs: exported}, []byte{1, 2}, []byte{1, 2}, nil, own, []amount{{2, avax, 9}, {3, avax, 10}}, ends},
		{CChain, &AtomicImportTx{ImportedInputs: imported}, []byte{3}, nil, []byte{3}, nil, nil, ids.Empty},
		{CChain, &AtomicExportTx{DestinationChain: ends, ExportedOutputs: exported}, nil, nil, nil, nil, []amount{{0, avax, 9}, {1, avax, 10}}, ends},
		{PChain, &RewardValidatorTx{}, nil, nil, nil, nil, nil, ids.Empty},
		{XChain, &CreateAssetTx{BaseTx: base, States: []*InitialState{{Outs: []Output{&MintOutput{}, &TransferOutput{Amount: 5}}}, {FxIndex: 1, Outs: []Output{&NFTMintOutput{}}}}},
			[]byte{1, 2}, []byte{1, 2}, nil, slices.Concat(own, []amount{{2, ids.Empty, 0}, {3, ids.Empty, 5}, {4, ids.Empty, 0}}), nil, ids.Empty},
		{XChain, operations(), []byte{1}, []byte{1, 2, 3, 4}, nil, []amount{{0, avax, 7}, {1, ids.ID{12}, 0}, {2, ids.ID{12}, 70}, {3, ids.ID{13}, 0}}, nil, ids.Empty},
	} {
		tx, err := NewTx(c.chain, c.unsigned)
		if err != nil {
			t.Fatal(err)
		}
		var inputs, fromElsewhere []byte
		for _, in := range tx.Inputs() {
			inputs = append(inputs, in.TxID[0])
		}
		for _, o := range tx.SpentOutputs() {
			if o.Imported {
				fromElsewhere = append(fromElsewhere, o.TxID[0])
			}
		}
		var consumed []ids.ID
		for _, n := range c.consumed {
			consumed = append(consumed, UTXOID{ids.ID{n}, uint32(n)}.InputID())
		}
		amounts := func(utxos []*UTXO) (all []amount) {
			for _, u := range utxos {
				if u.TxID != tx.ID() {
					t.Errorf("%T creates an output of %s", c.unsigned, u.TxID)
				}
				asset := u.AssetID
				if asset == tx.ID() {
					asset = ids.Empty
				}
				all = append(all, amount{u.OutputIndex, asset, u.Amount()})
			}
			return all
		}
		destination, out := tx.Exported()
		if !bytes.Equal(inputs, c.inputs) || !slices.Equal(tx.Consumed(), consumed) || !bytes.Equal(fromElsewhere, c.imported) {
			t.Errorf("%T has inputs %v, %v from elsewhere, and consumes %v; want %v, %v, %v", c.unsigned, inputs, fromElsewhere, tx.Consumed(), c.inputs, c.imported, consumed)
		}
		if got := amounts(tx.Produced()); !slices.Equal(got, c.produced) {
			t.Errorf("%T creates %v, want %v", c.unsigned, got, c.produced)
		}
		if got := amounts(out); !slices.Equal(got, c.exported) || destination != c.destination {
			t.Errorf("%T exports %v to %s, want %v to %s", c.unsigned, got, destination, c.exported, c.destination)
		}
	}
	nft := operations().Ops[1].Op.Outs()
	if want := (&NFTTransferOutput{GroupID: 5, Payload: HexBytes{6}, OutputOwners: owned(2)}); len(nft) != 1 || !reflect.DeepEqual(nft[0], want) {
		t.Errorf("mints %+v, want %+v", nft, want)
	}
}

// TestAtomicTransactions: what they change on the C-Chain, and how its blocks carry them.
func TestAtomicTransactions(t *testing.T) {
	a, b := common.Address{1}, common.Address{2}
	credit, err := NewTx(CChain, &AtomicImportTx{Outs: []EVMOutput{{Address: a, Amount: 5}, {Address: b, Amount: 6}}})
	if err != nil {
		t.Fatal(err)
	}
	debit, err := NewTx(CChain, &AtomicExportTx{Ins: []EVMInput{{Address: a, Amount: 7, Nonce: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	transfer, err := NewTx(XChain, &BaseTx{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tx   *Tx
		want []AccountChange
	}{
		{credit, []AccountChange{{Address: a, Amount: 5}, {Address: b, Amount: 6}}},
		{debit, []AccountChange{{Address: a, Amount: 7, Debit: true, Nonce: 3}}},
		{transfer, nil},
	} {
		if got := c.tx.AccountChanges(); !slices.Equal(got, c.want) {
			t.Errorf("%T changes %+v, want %+v", c.tx.Unsigned, got, c.want)
		}
	}
	data, err := AtomicBatch([]*Tx{credit, debit})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := ParseAtomicBatch(data); err != nil || len(all) != 2 || all[0].ID() != credit.ID() || all[1].ID() != debit.ID() {
		t.Errorf("the block's transactions are %v, %v", all, err)
	}
	if data, err := AtomicBatch(nil); err != nil || data != nil {
		t.Errorf("a block without any carries %x, %v", data, err)
	}
	if all, err := ParseAtomicBatch([]byte{}); err != nil || all != nil {
		t.Errorf("in a block without any are %v, %v", all, err)
	}
	if _, err := ParseAtomicBatch([]byte{1}); err == nil || !strings.HasPrefix(err.Error(), "block extra data: ") {
		t.Errorf("a byte is read: %v", err)
	}
}

// TestLargestTransaction: two MiB fit into a message between nodes; one byte more is refused.
func TestLargestTransaction(t *testing.T) {
	empty, err := NewTx(PChain, &BaseTx{})
	if err != nil {
		t.Fatal(err)
	}
	room := 2<<20 - len(empty.Bytes())
	if tx, err := NewTx(PChain, &BaseTx{Memo: make(HexBytes, room)}); err != nil || len(tx.Bytes()) != 2<<20 {
		t.Errorf("the largest transaction: %v", err)
	}
	if _, err := NewTx(PChain, &BaseTx{Memo: make(HexBytes, room+1)}); err == nil || err.Error() != "transaction: longer than 2097152 bytes" {
		t.Errorf("a byte more: %v", err)
	}
}

// TestTypeNames lists the names that the index and the metrics show for all types.
func TestTypeNames(t *testing.T) {
	for want, all := range map[string][]Unsigned{
		"BaseTx": {&BaseTx{}}, "ImportTx": {&ImportTx{}, &AtomicImportTx{}}, "ExportTx": {&ExportTx{}, &AtomicExportTx{}},
		"CreateAssetTx": {&CreateAssetTx{}}, "OperationTx": {&OperationTx{}},
		"AddValidatorTx": {&AddValidatorTx{}}, "AddDelegatorTx": {&AddDelegatorTx{}},
		"AddPermissionlessValidatorTx": {&AddPermissionlessValidatorTx{}}, "AddPermissionlessDelegatorTx": {&AddPermissionlessDelegatorTx{}},
		"RewardValidatorTx": {&RewardValidatorTx{}}, "AddAutoRenewedValidatorTx": {&AddAutoRenewedValidatorTx{}},
		"SetAutoRenewedValidatorConfigTx": {&SetAutoRenewedValidatorConfigTx{}}, "RewardAutoRenewedValidatorTx": {&RewardAutoRenewedValidatorTx{}},
		"CreateSubnetTx": {&CreateSubnetTx{}}, "CreateChainTx": {&CreateChainTx{}}, "AddSubnetValidatorTx": {&AddSubnetValidatorTx{}},
		"RemoveSubnetValidatorTx": {&RemoveSubnetValidatorTx{}}, "TransferSubnetOwnershipTx": {&TransferSubnetOwnershipTx{}},
		"ConvertSubnetToL1Tx": {&ConvertSubnetToL1Tx{}}, "RegisterL1ValidatorTx": {&RegisterL1ValidatorTx{}}, "SetL1ValidatorWeightTx": {&SetL1ValidatorWeightTx{}},
		"IncreaseL1ValidatorBalanceTx": {&IncreaseL1ValidatorBalanceTx{}}, "DisableL1ValidatorTx": {&DisableL1ValidatorTx{}},
	} {
		for _, unsigned := range all {
			if got := (&Tx{Unsigned: unsigned}).TypeName(); got != want {
				t.Errorf("%T is called %s", unsigned, got)
			}
		}
	}
	for want, body := range map[string]BlockBody{
		"Genesis": &GenesisBlock{}, "Standard": &StandardBlock{}, "Proposal": &ProposalBlock{}, "Commit": &CommitBlock{}, "Abort": &AbortBlock{},
	} {
		if got := (&Block{Body: body}).TypeName(); got != want {
			t.Errorf("%T is called %s", body, got)
		}
	}
	for _, c := range []struct {
		unsigned Unsigned
		staker   ids.ID
		is       bool
	}{
		{&RewardValidatorTx{TxID: ids.ID{1}}, ids.ID{1}, true}, {&RewardAutoRenewedValidatorTx{TxID: ids.ID{2}}, ids.ID{2}, true}, {&BaseTx{}, ids.Empty, false},
	} {
		if staker, is := Rewarded(c.unsigned); staker != c.staker || is != c.is {
			t.Errorf("%T rewards %s, %v", c.unsigned, staker, is)
		}
	}
}

// TestUnknownExtensionsAreShown: a client may ask for the JSON of a transaction that no chain accepts.
func TestUnknownExtensionsAreShown(t *testing.T) {
	for index, want := range map[uint32]string{2: FxIDs[2].String(), 3: ids.Empty.String()} {
		tx, err := NewTx(XChain, &CreateAssetTx{States: []*InitialState{{FxIndex: index}}})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := TxJSON(XChain, localHRP, tx); err != nil || !strings.Contains(string(text), `"fxID":"`+want+`"`) {
			t.Errorf("extension %d: %s, %v", index, text, err)
		}
	}
}
