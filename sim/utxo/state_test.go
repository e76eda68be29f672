package utxo

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

func TestJournal(t *testing.T) {
	var j Journal
	n, m := 1, map[string]int{"kept": 1, "changed": 2, "gone": 3}
	before := maps.Clone(m)
	change := func() {
		Set(&j, &n, n+1)
		Set(&j, &n, n+1)
		Put(&j, m, "changed", 20)
		Put(&j, m, "changed", 21)
		Put(&j, m, "new", 4)
		Delete(&j, m, "gone")
		Delete(&j, m, "never there")
	}
	change()
	if n != 3 || !maps.Equal(m, map[string]int{"kept": 1, "changed": 21, "new": 4}) {
		t.Errorf("%d, %v", n, m)
	}
	j.Revert()
	if n != 1 || !maps.Equal(m, before) {
		t.Errorf("reverted: %d, %v", n, m)
	}
	n = 5
	j.Revert()
	if n != 5 {
		t.Error("what was reverted is reverted again")
	}
	if n = 1; !maps.Equal(m, before) {
		t.Errorf("reverted twice: %d, %v", n, m)
	}
	change()
	after := maps.Clone(m)
	j.Begin()
	Put(&j, m, "kept", 9)
	j.Revert()
	j.Revert()
	if n != 3 || !maps.Equal(m, after) {
		t.Errorf("what was before Begin went back: %d, %v", n, m)
	}
}

func TestSharedMemory(t *testing.T) {
	s, owner := NewSharedMemory(), txs.NewOwner(ids.ShortID{1})
	for n := range byte(8) {
		s.Put(ids.ID{1}, ids.ID{2}, output(n, avax, amount, owner))
	}
	s.Put(ids.ID{2}, ids.ID{1}, output(9, avax, amount, owner))
	all := s.Exported(ids.ID{1}, ids.ID{2})
	if len(all) != 8 || !slices.IsSortedFunc(all, func(a, b *txs.UTXO) int { return a.InputID().Compare(b.InputID()) }) {
		t.Errorf("%d outputs, or out of order", len(all))
	}
	if u, found := s.UTXO(ids.ID{2}, ids.ID{1}, output(9, avax, amount, owner).InputID()); !found || u.OutputIndex != 9 {
		t.Errorf("%+v", u)
	}
	if _, found := s.UTXO(ids.ID{1}, ids.ID{2}, output(9, avax, amount, owner).InputID()); found {
		t.Error("it was exported the other way")
	}
}

// state returns a chain with two outputs of its own and one that the C-Chain exported to it.
func state(t *testing.T, c txs.Chain) (*UTXOState, []*txs.UTXO) {
	t.Helper()
	owner := txs.NewOwner(key(t, 1).Address())
	all := []*txs.UTXO{output(1, avax, amount, owner), output(2, avax, amount, owner), output(3, avax, amount, owner)}
	shared := NewSharedMemory()
	shared.SubnetOf = func(id ids.ID) (ids.ID, error) {
		if id == another {
			return ids.ID{0x5}, nil
		}
		return ids.Empty, ErrNotFound
	}
	shared.Put(network.CChainID, network.BlockchainID(c), all[2])
	s := NewUTXOState(network, c, shared, new(Journal), all[:2])
	return &s, all
}

// base spends outputs into a single one.
func base(s *UTXOState, outputs ...*txs.UTXO) txs.BaseTx {
	b := txs.BaseTx{NetworkID: network.NetworkID, BlockchainID: network.BlockchainID(s.Chain())}
	for _, u := range outputs {
		b.Ins = append(b.Ins, spending(u, 0))
	}
	b.Outs = []*txs.TransferableOutput{txs.NewTransferableOutput(avax, amount, *outputs[0].Owners())}
	return b
}

func TestOutputsMove(t *testing.T) {
	s, all := state(t, txs.XChain)
	in := signed(t, txs.XChain, &txs.ImportTx{BaseTx: base(s, all[0]), SourceChain: network.CChainID, ImportedInputs: []*txs.TransferableInput{spending(all[2], 0)}})
	var d Diff
	s.SetDiff(&d)
	spent, err := s.Inputs(in)
	if err != nil || !slices.Equal(spent, []*txs.UTXO{all[0], all[2]}) {
		t.Fatalf("%v, %v", spent, err)
	}
	s.MoveUTXOs(in, spent)
	made := in.Produced()[0]
	if u, err := s.UTXO(made.InputID()); err != nil || u.TxID != in.ID() || s.Count() != 2 || len(maps.Collect(s.UTXOs())) != 2 {
		t.Errorf("%d outputs, made %+v", s.Count(), u)
	}
	if _, err := s.UTXO(all[0].InputID()); err != ErrNotFound || len(s.shared.Exported(network.CChainID, network.XChainID)) > 0 {
		t.Error("what was spent is there")
	}
	if !slices.Equal(d.Spent, all[:1]) || !slices.Equal(d.Imported, all[2:]) || d.Peer != network.CChainID || len(d.Created) != 1 || d.Created[0].TxID != in.ID() || d.Exported != nil {
		t.Errorf("%+v", d)
	}
	d = Diff{}
	out := signed(t, txs.XChain, &txs.ExportTx{BaseTx: base(s, all[1]), DestinationChain: ids.Empty, ExportedOutputs: base(s, all[1]).Outs})
	s.MoveUTXOs(out, all[1:2])
	exported := s.shared.Exported(network.XChainID, ids.Empty)
	if len(exported) != 1 || exported[0].TxID != out.ID() || exported[0].OutputIndex != 1 || !slices.Equal(d.Exported, exported) || d.Peer != ids.Empty || !slices.Equal(d.Spent, all[1:2]) {
		t.Errorf("exported %+v, %+v", exported, d)
	}
	s.journal.Revert()
	if s.Count() != 2 || len(s.shared.Exported(network.XChainID, ids.Empty)) > 0 || len(s.shared.Exported(network.CChainID, network.XChainID)) != 1 {
		t.Error("a rollback leaves something")
	}
}

func TestBlocksContinueTheChain(t *testing.T) {
	s, _ := state(t, txs.XChain)
	s.SetTip(ids.ID{7}, 41, now)
	for _, c := range []struct {
		name   string
		parent ids.ID
		height uint64
		time   uint64
		want   error
	}{
		{"next", ids.ID{7}, 42, now, nil},
		{"later", ids.ID{7}, 42, now + 1, nil},
		{"of another parent", ids.ID{8}, 42, now, errParent},
		{"of the same height", ids.ID{7}, 41, now, errHeight},
		{"too high", ids.ID{7}, 43, now, errHeight},
		{"earlier", ids.ID{7}, 42, now - 1, errTimeBefore},
	} {
		b, err := txs.NewBlock(txs.XChain, &txs.XChainBlock{ParentID: c.parent, Height: c.height, Time: c.time})
		if err != nil {
			t.Fatal(err)
		}
		err = s.VerifyParent(b)
		wantError(t, c.name, err, c.want)
		if c.want == errHeight && !strings.Contains(err.Error(), "expected 42") {
			t.Error(err)
		}
		if c.want != nil {
			continue
		}
		s.SetLastAccepted(b)
		if s.Tip() != b.ID() || s.Height() != c.height || s.Time() != c.time {
			t.Errorf("%s: %s, %d, %d", c.name, s.Tip(), s.Height(), s.Time())
		}
		s.journal.Revert()
		if s.Tip() != c.parent || s.Height() != 41 || s.Time() != now {
			t.Errorf("%s, rolled back: %s, %d, %d", c.name, s.Tip(), s.Height(), s.Time())
		}
	}
}

func TestForm(t *testing.T) {
	s, all := state(t, txs.PChain)
	owners := *all[0].Owners()
	out := func(amount uint64) *txs.TransferableOutput { return txs.NewTransferableOutput(avax, amount, owners) }
	for _, c := range []struct {
		name   string
		change func(*txs.BaseTx)
		want   error
	}{
		{"a transfer", func(*txs.BaseTx) {}, nil},
		{"of another network", func(u *txs.BaseTx) { u.NetworkID = 5 }, ErrWrongNetwork},
		{"of another chain", func(u *txs.BaseTx) { u.BlockchainID = network.XChainID }, ErrWrongChain},
		{"with a memo", func(u *txs.BaseTx) { u.Memo = []byte{0} }, ErrMemoTooLarge},
		{"with an output of nothing", func(u *txs.BaseTx) { u.Outs[0] = out(0) }, txs.ErrNoValueOutput},
		{"with an output of no asset", func(u *txs.BaseTx) { u.Outs[0].AssetID = ids.Empty }, ErrEmptyAssetID},
		{"with a right to mint", func(u *txs.BaseTx) { u.Outs[0].Out = &txs.MintOutput{OutputOwners: owners} }, txs.ErrNoValueOutput},
		{"with owners that cannot sign", func(u *txs.BaseTx) { u.Outs[1].Out.(*txs.TransferOutput).Threshold = 2 }, txs.ErrOwnersUnspendable},
		{"with outputs out of order", func(u *txs.BaseTx) { u.Outs[0] = out(3) }, txs.ErrOutputsNotSorted},
		{"with inputs out of order", func(u *txs.BaseTx) { u.Ins[0], u.Ins[1] = u.Ins[1], u.Ins[0] }, txs.ErrInputsNotSorted},
		{"with an input twice", func(u *txs.BaseTx) { u.Ins[1] = u.Ins[0] }, txs.ErrInputsNotSorted},
		{"with an input of no asset", func(u *txs.BaseTx) { u.Ins[0].AssetID = ids.Empty }, ErrEmptyAssetID},
		{"with an input of nothing", func(u *txs.BaseTx) { u.Ins[0].In.TransferInput().Amount = 0 }, txs.ErrNoValueInput},
	} {
		u := base(s, all[0], all[1])
		u.Outs = []*txs.TransferableOutput{out(1), out(2)}
		c.change(&u)
		err := s.VerifyMetadata(&u)
		for _, check := range []func() error{func() error { return VerifyMemo(&u) }, func() error { return s.VerifyOutputs(u.Outs) }, func() error { return VerifyInputs(u.Ins) }} {
			if err == nil {
				err = check()
			}
		}
		wantError(t, c.name, err, c.want)
	}
	for length, want := range map[int]error{0: nil, 256: nil, 257: ErrMemoTooLarge} {
		b := base(s, all[0])
		b.Memo = make([]byte, length)
		wantError(t, "metadata with a memo", s.VerifyMetadata(&b), want)
	}
	for chain, want := range map[ids.ID]error{network.CChainID: nil, network.XChainID: nil, ids.Empty: ErrSameChain, another: ErrMismatched, {0xff}: ErrNotFound} {
		wantError(t, chain.String(), s.SameSubnet(chain), want)
	}
}

// TestMissingOutputs: each chain has its own error for a missing output.
func TestMissingOutputs(t *testing.T) {
	absent := output(9, avax, amount, txs.NewOwner(key(t, 1).Address()))
	in := []*txs.TransferableInput{spending(absent, 0)}
	for _, c := range []struct {
		chain txs.Chain
		tx    func(*UTXOState, []*txs.UTXO) txs.Unsigned
		want  string
	}{
		{txs.CChain, func(*UTXOState, []*txs.UTXO) txs.Unsigned {
			return &txs.AtomicImportTx{SourceChain: network.XChainID, ImportedInputs: in}
		}, "failed to fetch import UTXOs from " + network.XChainID.String() + " due to: not found"},
		{txs.PChain, func(s *UTXOState, _ []*txs.UTXO) txs.Unsigned { b := base(s, absent); return &b }, "failed to read consumed UTXO " + absent.TxID.String() + ":9 due to: not found"},
		{txs.PChain, func(s *UTXOState, all []*txs.UTXO) txs.Unsigned {
			return &txs.ImportTx{BaseTx: base(s, all[0]), SourceChain: network.CChainID, ImportedInputs: in}
		}, "failed to get shared memory: not found"},
		{txs.PChain, func(s *UTXOState, all []*txs.UTXO) txs.Unsigned {
			return &txs.ImportTx{BaseTx: base(s, absent), SourceChain: network.CChainID, ImportedInputs: []*txs.TransferableInput{spending(all[2], 0)}}
		}, "failed to get UTXO " + absent.TxID.String() + ":9: not found"},
		{txs.PChain, func(s *UTXOState, all []*txs.UTXO) txs.Unsigned { b := base(s, all[2]); return &b }, "not found"}, // exists, but not imported yet
	} {
		s, all := state(t, c.chain)
		if _, err := s.Inputs(&txs.Tx{Unsigned: c.tx(s, all)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.chain, err, c.want)
		}
	}
}

func TestIllegalNameCharacters(t *testing.T) {
	for r := range rune(0x180) {
		if legal := strings.ContainsRune(" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", r); IllegalNameCharacter(r) == legal {
			t.Errorf("%q is legal: %t", r, legal)
		}
	}
}

// file is a Stored with outputs in memory, or one that fails.
type file struct {
	outputs map[ids.ID]*txs.UTXO
	fault   error
}

func (f file) UTXO(inputID ids.ID) (*txs.UTXO, error) {
	if u := f.outputs[inputID]; u != nil {
		return u, f.fault
	}
	return nil, cmp.Or(f.fault, ErrNotFound)
}

func (f file) UTXOs() iter.Seq2[*txs.UTXO, error] {
	return func(yield func(*txs.UTXO, error) bool) {
		for _, u := range f.outputs {
			if !yield(u, f.fault) {
				return
			}
		}
	}
}

// TestOutputsInTheFile: outputs in the file exist until a block spends them, also while the file still has them, and come back when the block's
// changes are undone.
func TestOutputsInTheFile(t *testing.T) {
	_, all := state(t, txs.XChain)
	one, two, three := all[0], all[1], all[2]
	s := NewUTXOState(network, txs.XChain, NewSharedMemory(), new(Journal), nil)
	s.SetStored(file{outputs: map[ids.ID]*txs.UTXO{one.InputID(): one, two.InputID(): two}})
	has := func(when string, want ...*txs.UTXO) {
		t.Helper()
		if got := maps.Collect(s.UTXOs()); len(got) != len(want) {
			t.Errorf("%s: %d outputs, want %d", when, len(got), len(want))
		}
		for _, u := range all {
			got, err := s.UTXO(u.InputID())
			if there := slices.Contains(want, u); there != (got == u && err == nil) || !there && err != ErrNotFound {
				t.Errorf("%s: output %d: %v, %v", when, u.OutputIndex, got, err)
			}
		}
	}
	s.SetDiff(new(Diff))
	has("at first", one, two)
	s.DeleteUTXO(one)
	s.AddUTXO(three)
	has("after a block", two, three)
	s.journal.Revert()
	has("without the block", one, two)
	s.SetStored(file{fault: errors.New("disk")})
	if _, err := s.Inputs(signed(t, txs.XChain, &txs.BaseTx{NetworkID: 1, Ins: []*txs.TransferableInput{spending(two, 0)}})); err == nil || err.Error() != "disk" {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
