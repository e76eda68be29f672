package txs

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/warp"
)

// owned returns owners of the addresses 1, 2, 3 and so on, who all must sign.
func owned(addresses ...byte) OutputOwners {
	o := OutputOwners{Threshold: uint32(len(addresses))}
	for _, a := range addresses {
		o.Addresses = append(o.Addresses, ids.ShortID{a})
	}
	return o
}

// TestPartsAreRefusedInTheNodesWords checks parts of transactions that the network refuses whatever its state. The words are those of
// avalanchego's secp256k1fx, nftfx, propertyfx and stakeable.
func TestPartsAreRefusedInTheNodesWords(t *testing.T) {
	one := owned(1)
	loose := OutputOwners{Threshold: 0, Addresses: one.Addresses}
	locked := func(o Output) *StakeableLockOut { return &StakeableLockOut{Locktime: 9, Output: o} }
	lockedIn := func(in TransferableIn) *StakeableLockIn { return &StakeableLockIn{Locktime: 9, Input: in} }
	unsorted, sorted := Input{[]uint32{1, 0}}, Input{[]uint32{0, 1}}
	nft := func(bytes int, owners ...*OutputOwners) *NFTMintOperation {
		return &NFTMintOperation{MintInput: unsorted, Payload: make(HexBytes, bytes), Outputs: owners}
	}
	plain := TransferOutput{Amount: 1, OutputOwners: one}
	for _, c := range []struct {
		name string
		part interface{ Verify() error }
		want string
	}{
		{"nobody, who may always spend", &OutputOwners{}, ""},
		{"one owner", &one, ""},
		{"one of two", &OutputOwners{Threshold: 1, Addresses: owned(1, 2).Addresses}, ""},
		{"two of one", &OutputOwners{Threshold: 2, Addresses: one.Addresses}, "output is unspendable"},
		{"one of nobody", &OutputOwners{Threshold: 1}, "output is unspendable"},
		{"none of one", &loose, "output representation should be optimized"},
		{"owners in another order", &OutputOwners{Threshold: 1, Addresses: owned(2, 1).Addresses}, "addresses not sorted and unique"},
		{"an owner twice", &OutputOwners{Threshold: 1, Addresses: owned(1, 1).Addresses}, "addresses not sorted and unique"},
		{"an amount", &plain, ""},
		{"no amount", &TransferOutput{OutputOwners: one}, "output has no value"},
		{"no amount, of nobody at all", &TransferOutput{OutputOwners: loose}, "output has no value"},
		{"an amount of loose owners", &TransferOutput{Amount: 1, OutputOwners: loose}, "output representation should be optimized"},
		{"a locked amount", locked(&plain), ""},
		{"no lock", &StakeableLockOut{Output: &plain}, "invalid locktime"},
		{"a lock in a lock", locked(locked(&plain)), "shouldn't nest stakeable locks"},
		{"a locked nothing", locked(&TransferOutput{OutputOwners: one}), "output has no value"},
		{"a full NFT", &NFTTransferOutput{Payload: make(HexBytes, 1024), OutputOwners: one}, ""},
		{"an NFT that is too large", &NFTTransferOutput{Payload: make(HexBytes, 1025), OutputOwners: one}, "payload too large"},
		{"an NFT of loose owners", &NFTTransferOutput{OutputOwners: loose}, "output representation should be optimized"},
		{"an input", &TransferInput{Amount: 1, Input: sorted}, ""},
		{"an input of nothing", &TransferInput{Input: unsorted}, "input has no value"},
		{"an input with unsorted signatures", &TransferInput{Amount: 1, Input: unsorted}, "address indices not sorted and unique"},
		{"an input with a signature twice", &Input{[]uint32{1, 1}}, "address indices not sorted and unique"},
		{"a locked input", lockedIn(&TransferInput{Amount: 1}), ""},
		{"a locked input without a lock", &StakeableLockIn{Input: &TransferInput{Amount: 1}}, "invalid locktime"},
		{"a locked locked input", lockedIn(lockedIn(&TransferInput{Amount: 1})), "shouldn't nest stakeable locks"},
		{"a locked input of nothing", lockedIn(&TransferInput{}), "input has no value"},
		{"a mint", &MintOperation{sorted, MintOutput{one}, plain}, ""},
		{"a mint with unsorted signatures", &MintOperation{unsorted, MintOutput{loose}, plain}, "address indices not sorted and unique"},
		{"a mint for loose owners", &MintOperation{sorted, MintOutput{loose}, TransferOutput{}}, "output representation should be optimized"},
		{"a mint of nothing", &MintOperation{sorted, MintOutput{one}, TransferOutput{}}, "output has no value"},
		{"an NFT minted too large", nft(1025, &loose), "payload too large"},
		{"an NFT minted for loose owners", nft(1024, &one, &loose), "output representation should be optimized"},
		{"an NFT minted with unsorted signatures", nft(1024, &one), "address indices not sorted and unique"},
		{"an NFT minted", &NFTMintOperation{MintInput: sorted, Outputs: []*OutputOwners{&one}}, ""},
		{"an NFT moved", &NFTTransferOperation{sorted, NFTTransferOutput{OutputOwners: one}}, ""},
		{"an NFT moved with unsorted signatures", &NFTTransferOperation{unsorted, NFTTransferOutput{OutputOwners: loose}}, "address indices not sorted and unique"},
		{"an NFT moved to loose owners", &NFTTransferOperation{sorted, NFTTransferOutput{OutputOwners: loose}}, "output representation should be optimized"},
		{"a property for loose owners", &PropertyMintOperation{sorted, PropertyMintOutput{one}, PropertyOwnedOutput{loose}}, "output representation should be optimized"},
		{"a property for loose minters", &PropertyMintOperation{sorted, PropertyMintOutput{loose}, PropertyOwnedOutput{one}}, "output representation should be optimized"},
		{"a property burnt", &PropertyBurnOperation{sorted}, ""},
		{"a property burnt with unsorted signatures", &PropertyBurnOperation{unsorted}, "address indices not sorted and unique"},
	} {
		if err := c.part.Verify(); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSortedUnique(t *testing.T) {
	for _, c := range []struct {
		list []int
		want bool
	}{
		{nil, true}, {[]int{5}, true}, {[]int{1, 2}, true}, {[]int{2, 1}, false}, {[]int{1, 1}, false}, {[]int{1, 2, 3}, true}, {[]int{1, 3, 2}, false}, {[]int{1, 2, 2}, false},
	} {
		if got := SortedUnique(c.list, cmp.Compare); got != c.want {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}

// TestSameOwners: owners are the same only if all three parts are.
func TestSameOwners(t *testing.T) {
	o := NewOutputOwners(5, 2, ids.ShortID{3}, ids.ShortID{1})
	if !slices.Equal(o.Addresses, []ids.ShortID{{1}, {3}}) || o.Locktime != 5 || o.Threshold != 2 {
		t.Errorf("owners are %+v", o)
	}
	for _, c := range []struct {
		other OutputOwners
		want  bool
	}{
		{NewOutputOwners(5, 2, ids.ShortID{1}, ids.ShortID{3}), true},
		{NewOutputOwners(6, 2, ids.ShortID{1}, ids.ShortID{3}), false},
		{NewOutputOwners(5, 1, ids.ShortID{1}, ids.ShortID{3}), false},
		{NewOutputOwners(5, 2, ids.ShortID{1}, ids.ShortID{2}), false},
		{NewOutputOwners(6, 1, ids.ShortID{1}, ids.ShortID{3}), false},
	} {
		if o.Equals(&c.other) != c.want {
			t.Errorf("%+v is the same: %v", c.other, !c.want)
		}
	}
	if got := FormatBech32("avax", ids.ShortEmpty); got != "avax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqxpdk7q" {
		t.Errorf("the zero address is %s", got)
	}
}

// TestNetworksOrder sorts what wallets must sort before they send it.
func TestNetworksOrder(t *testing.T) {
	amount := func(asset byte, n uint64) *TransferableOutput {
		return NewTransferableOutput(ids.ID{asset}, n, owned(1))
	}
	a, b, c, d := amount(1, 5), amount(1, 6), amount(2, 1), &TransferableOutput{AssetID: ids.ID{1}, Out: &StakeableLockOut{1, &TransferOutput{Amount: 1}}}
	outs := []*TransferableOutput{c, d, b, a}
	if SortedOutputs(PChain, outs) {
		t.Error("outputs are sorted before")
	}
	if err := SortOutputs(PChain, outs); err != nil || !slices.Equal(outs, []*TransferableOutput{a, b, d, c}) || !SortedOutputs(PChain, outs) {
		t.Errorf("outputs are sorted to %v, %v", outs, err)
	}
	if !SortedOutputs(PChain, []*TransferableOutput{a, a}) {
		t.Error("the same output twice is refused")
	}
	for _, broken := range []Output{nil, (*TransferOutput)(nil)} {
		outs := []*TransferableOutput{{Out: broken}}
		if err := SortOutputs(PChain, outs); err == nil || SortedOutputs(PChain, outs) {
			t.Errorf("an output without content is sorted: %v", err)
		}
		if _, err := (&UTXO{Out: broken}).OutBytes(PChain); err == nil {
			t.Error("an output without content has bytes")
		}
	}

	in := func(tx byte, index uint32) *TransferableInput {
		return &TransferableInput{UTXOID: UTXOID{ids.ID{tx}, index}}
	}
	ins := []*TransferableInput{in(2, 0), in(1, 7), in(1, 3)}
	if SortedInputs(ins) {
		t.Error("inputs are sorted before")
	}
	if SortInputs(ins); !SortedInputs(ins) || ins[0].OutputIndex != 3 || ins[2].TxID != (ids.ID{2}) {
		t.Errorf("inputs are sorted to %v", ins)
	}
	if SortedInputs([]*TransferableInput{ins[0], ins[0]}) {
		t.Error("the same input twice is accepted")
	}

	to := func(account, asset byte) EVMOutput {
		return EVMOutput{Address: common.Address{account}, AssetID: ids.ID{asset}}
	}
	from := func(account, asset byte) EVMInput {
		return EVMInput{Address: common.Address{account}, AssetID: ids.ID{asset}}
	}
	for _, c := range []struct {
		account, asset byte
		want           bool
	}{{1, 1, false}, {1, 2, true}, {2, 0, true}, {0, 2, false}, {1, 0, false}} { // after account 1 with asset 1
		if got := SortedEVMOutputs([]EVMOutput{to(1, 1), to(c.account, c.asset)}); got != c.want {
			t.Errorf("account %d with asset %d: %v", c.account, c.asset, got)
		}
		if got := SortedEVMInputs([]EVMInput{from(1, 1), from(c.account, c.asset)}); got != c.want {
			t.Errorf("account %d with asset %d: %v", c.account, c.asset, got)
		}
	}

	mint, transfer := &MintOutput{owned(1)}, &TransferOutput{Amount: 1, OutputOwners: owned(1)} // types 6 and 7
	states := []*InitialState{{FxIndex: 1}, {FxIndex: 0, Outs: []Output{transfer, mint}}}
	if SortedStates(states) || states[1].Sorted() {
		t.Error("states are sorted before")
	}
	if err := SortStates(states); err != nil || !SortedStates(states) || states[0].FxIndex != 0 || states[0].Outs[0] != mint || states[0].Outs[1] != transfer || !states[0].Sorted() {
		t.Errorf("states are sorted to %+v, %v", states, err)
	}
	if SortedStates([]*InitialState{{FxIndex: 1}, {FxIndex: 1}}) {
		t.Error("an extension twice is accepted")
	}
	if broken := (&InitialState{Outs: []Output{nil}}); SortStates([]*InitialState{broken}) == nil || broken.Sorted() {
		t.Error("a state with an output without content is sorted")
	}

	burn := func(asset byte) *Operation { return &Operation{AssetID: ids.ID{asset}, Op: &PropertyBurnOperation{}} }
	for _, c := range []struct {
		ops  []*Operation
		want bool
	}{
		{[]*Operation{burn(1), burn(2)}, true}, {[]*Operation{burn(2), burn(1)}, false}, {[]*Operation{burn(1), burn(1)}, false}, {[]*Operation{{}}, false},
	} {
		if got := SortedOperations(c.ops); got != c.want {
			t.Errorf("%+v: %v", c.ops, got)
		}
	}
}

// TestOutputsAreWrittenQuickly: up to 256 owners, an output is written without the codec, which allocates for each field; a world has millions of outputs.
func TestOutputsAreWrittenQuickly(t *testing.T) {
	for _, owners := range []int{0, 1, 2, 256} {
		var out Output = &TransferOutput{Amount: 1, OutputOwners: OutputOwners{Addresses: make([]ids.ShortID, owners)}}
		if n := testing.AllocsPerRun(20, func() { _, _ = marshalOutput(PChain, out) }); n > 2 {
			t.Errorf("%d owners: %v allocations", owners, n)
		}
	}
	u := &UTXO{Out: &TransferOutput{Amount: 258, OutputOwners: owned(9)}}
	b, err := u.OutBytes(XChain)
	const want = "\x00\x00\x00\x07" + "\x00\x00\x00\x00\x00\x00\x01\x02" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x01" + "\x09"
	if err != nil || string(b) != want+string(make([]byte, 19)) {
		t.Errorf("%x, %v", b, err)
	}
}

// TestStakeOfAutoRenewedValidators adds up plain and locked amounts.
func TestStakeOfAutoRenewedValidators(t *testing.T) {
	stake := func(amounts ...uint64) *AddAutoRenewedValidatorTx {
		tx := &AddAutoRenewedValidatorTx{}
		for i, n := range amounts {
			var out Output = &TransferOutput{Amount: n}
			if i%2 == 1 {
				out = &StakeableLockOut{Locktime: 77, Output: out}
			}
			tx.StakeOuts = append(tx.StakeOuts, &TransferableOutput{Out: out})
		}
		return tx
	}
	for _, c := range []struct {
		tx   *AddAutoRenewedValidatorTx
		want uint64
	}{{stake(), 0}, {stake(2, 3, 4), 9}, {stake(math.MaxUint64), math.MaxUint64}, {stake(math.MaxUint64, 1), 0}} {
		if got := c.tx.Weight(); got != c.want {
			t.Errorf("%d outputs weigh %d, want %d", len(c.tx.StakeOuts), got, c.want)
		}
	}
	tx := stake(1, 2)
	for i, until := range []uint64{0, 77} {
		if u := (&UTXO{Out: tx.StakeOuts[i].Out}); u.StakeableUntil() != until || u.Amount() != uint64(i+1) {
			t.Errorf("%d until %d, want %d", u.Amount(), u.StakeableUntil(), until)
		}
	}
	if node := (&AddAutoRenewedValidatorTx{ValidatorNodeID: HexBytes{19: 5}}).NodeID(); node != (ids.NodeID{19: 5}) {
		t.Errorf("the node is %s", node)
	}
}

// TestProofsOfPossession uses the keys and proofs of the recorded vectors.
func TestProofsOfPossession(t *testing.T) {
	keys := readVectors(t).BLS.Keys
	recordedProof := func(i int) ProofOfPossession {
		return ProofOfPossession{[48]byte(common.FromHex(keys[i].Compressed)), [96]byte(common.FromHex(keys[i].Proof))}
	}
	own, other := recordedProof(0), recordedProof(1)
	if err := own.Verify(); err != nil {
		t.Error(err)
	}
	swapped := ProofOfPossession{own.PublicKey, other.ProofOfPossession}
	if err := swapped.Verify(); !errors.Is(err, ErrInvalidPossession) || err.Error() != "invalid proof of possession" {
		t.Errorf("another key's proof: %v", err)
	}
	for _, c := range []struct {
		proof ProofOfPossession
		want  string
	}{
		{ProofOfPossession{PublicKey: own.PublicKey}, "couldn't decompress signature"},
		{ProofOfPossession{ProofOfPossession: own.ProofOfPossession}, "couldn't decompress public key"},
	} {
		if err := c.proof.Verify(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	secret := warp.NewSecretKey([32]byte(common.FromHex(keys[0].Secret)))
	if made, err := NewProofOfPossession(secret); err != nil || *made != own {
		t.Errorf("made %+v, %v", made, err)
	}
	if (&EmptySigner{}).Key() != nil || own.Key() != &own {
		t.Error("a signer has another key")
	}
}

// TestConversionID compares with the id of the recorded conversion.
func TestConversionID(t *testing.T) {
	v := readVectors(t)
	data := common.FromHex(v.ACP77.Conversion.Data)
	tx := &ConvertSubnetToL1Tx{ // the data without its lengths: version, subnet, chain, address, and one validator with node, key and weight
		SubnetID: ids.ID(data[2:34]), ChainID: ids.ID(data[34:66]), Address: data[70:90],
		Validators: []*ConversionValidator{{NodeID: data[98:118], Signer: ProofOfPossession{PublicKey: [48]byte(data[118:166])}, Weight: 77, Balance: 5}},
	}
	if id, err := tx.ConversionID(); err != nil || id.String() != v.ACP77.Conversion.ID {
		t.Errorf("%s, %v; want %s", id, err, v.ACP77.Conversion.ID)
	}
}
