package utxo

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

func TestFreeAmountsMayBeLockedOnce(t *testing.T) {
	asset, owners := ids.ID{1}, txs.OutputOwners{Threshold: 1, Addresses: []ids.ShortID{{1}}}
	missing := errors.New("missing")
	free := func(n uint64) *txs.TransferableOutput {
		return &txs.TransferableOutput{AssetID: asset, Out: &txs.TransferOutput{Amount: n, OutputOwners: owners}}
	}
	locked := func(n uint64) *txs.TransferableOutput {
		return &txs.TransferableOutput{AssetID: asset, Out: &txs.StakeableLockOut{Locktime: 100, Output: &txs.TransferOutput{Amount: n, OutputOwners: owners}}}
	}
	for _, c := range []struct {
		name  string
		in    []*txs.TransferableOutput
		now   uint64
		outs  []*txs.TransferableOutput
		wrong error
	}{
		{"free becomes locked", []*txs.TransferableOutput{free(10)}, 50, []*txs.TransferableOutput{locked(8), free(2)}, nil},
		{"and is not there twice", []*txs.TransferableOutput{free(10)}, 50, []*txs.TransferableOutput{locked(8), free(8)}, missing},
		{"locked does not become free", []*txs.TransferableOutput{locked(10)}, 50, []*txs.TransferableOutput{free(10)}, missing},
		{"a second before its time", []*txs.TransferableOutput{locked(10)}, 99, []*txs.TransferableOutput{free(10)}, missing},
		{"but does at its time", []*txs.TransferableOutput{locked(10)}, 100, []*txs.TransferableOutput{free(10)}, nil},
		{"locked stays locked", []*txs.TransferableOutput{locked(10)}, 50, []*txs.TransferableOutput{locked(10)}, nil},
		{"and pays nothing else", []*txs.TransferableOutput{locked(10)}, 50, []*txs.TransferableOutput{locked(10), free(1)}, missing},
		{"locked grows by what is free", []*txs.TransferableOutput{locked(10), free(5)}, 50, []*txs.TransferableOutput{locked(12), free(3)}, nil},
		{"and no more", []*txs.TransferableOutput{locked(10), free(5)}, 50, []*txs.TransferableOutput{locked(12), free(4)}, missing},
		{"all that is free becomes locked", []*txs.TransferableOutput{free(8)}, 50, []*txs.TransferableOutput{locked(8)}, nil},
		{"more locked than there is", []*txs.TransferableOutput{free(1)}, 50, []*txs.TransferableOutput{locked(8)}, ErrInsufficientLockedFunds},
		{"amounts that overflow", []*txs.TransferableOutput{free(math.MaxUint64), free(1)}, 50, []*txs.TransferableOutput{locked(1)}, ErrOverflow},
	} {
		f := &FlowChecker{}
		for _, in := range c.in {
			f.ConsumeUTXO(&txs.UTXO{AssetID: asset, Out: in.Out}, c.now)
		}
		f.ProduceOutputs(c.outs)
		if err := f.Verify(func(uint64, ids.ID) error { return missing }); !errors.Is(err, c.wrong) {
			t.Errorf("%s: %v, want %v", c.name, err, c.wrong)
		}
	}
}

// TestHowMuchIsMissing: the errors say how much more is needed.
func TestHowMuchIsMissing(t *testing.T) {
	asset, owners := ids.ID{1}, txs.OutputOwners{Threshold: 1, Addresses: []ids.ShortID{{1}}}
	f := &FlowChecker{}
	f.Consume(asset, 5)
	f.Produce(asset, 12)
	var need uint64
	f.Verify(func(n uint64, of ids.ID) error { need = n; return nil })
	if produced := f.entry(flowKey{asset: asset}).produced; need != 7 || produced != 12 || f.err != nil {
		t.Errorf("%d are missing, %d produced: %v", need, produced, f.err)
	}
	f = &FlowChecker{}
	f.Consume(asset, 5)
	lock := &txs.StakeableLockOut{Locktime: 100, Output: &txs.TransferOutput{Amount: 12, OutputOwners: owners}}
	f.ProduceOutputs([]*txs.TransferableOutput{{AssetID: asset, Out: lock}})
	if err := f.Verify(nil); err == nil || !strings.Contains(err.Error(), "needs 7 more") || !strings.Contains(err.Error(), "for locktime 100") {
		t.Error(err)
	}
}
