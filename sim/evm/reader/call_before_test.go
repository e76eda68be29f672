package reader_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// TestCallsBeforeTransactions traces a call before each transaction of a block, and compares the sender's balance with the receipts.
func TestCallsBeforeTransactions(t *testing.T) {
	c := newRandomChain(t, evm.KindC, 7, 12)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code := append(append(hexutil.Bytes{0x73}, c.from[:]...), 0x31, 0x60, 0, 0x52, 0x60, 0x20, 0x60, 0, 0xf3) // returns the sender's balance
	balance := func(b *reader.Block, before *uint) *big.Int {
		t.Helper()
		tracer := "callTracer"
		trace, err := c.TraceCall(t.Context(), b, &reader.Call{Data: &code}, reader.Overrides{Before: before}, &reader.TraceConfig{Tracer: &tracer})
		var call struct{ Output hexutil.Bytes }
		if err == nil {
			err = json.Unmarshal(trace.JSON(), &call)
		}
		if err != nil {
			t.Fatal(err)
		}
		return new(big.Int).SetBytes(call.Output)
	}
	most := 0
	for number := uint64(1); number <= head.Number; number++ {
		parent, err := c.Block(t.Context(), number-1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		transactions, err := c.Receipts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		want := balance(parent, nil)
		for i, tx := range transactions {
			before := uint(i)
			if got := balance(b, &before); got.Cmp(want) != 0 {
				t.Errorf("before transaction %d of block %d the sender has %d, want %d", i, number, got, want)
			}
			want.Sub(want, tx.Value())
			want.Sub(want, new(big.Int).Mul(tx.Price(), new(big.Int).SetUint64(tx.Row.GasUsed)))
		}
		if got := balance(b, nil); got.Cmp(want) != 0 {
			t.Errorf("after block %d the sender has %d, want %d", number, got, want)
		}
		most = max(most, len(transactions))
	}
	if most < 2 {
		t.Error("no block has two transactions")
	}
}
