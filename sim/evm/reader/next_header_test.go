package reader_test

import (
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// TestNextHeader: the header of the next block is the one that a new draft gives, at any time and after any change of the head. Since Helicon it
// depends on the accepted blocks that are not settled: asking again at the same head does not read them again, so that a wallet's questions about
// prices stay cheap.
func TestNextHeader(t *testing.T) {
	for _, helicon := range []bool{false, true} {
		c := newChosenChain(t, evm.KindC, helicon)
		for i := range uint64(4) {
			at := 1_775_000_010 + 2*i
			c.with(at, make([]payment, 30)...)
			if i == 2 {
				c.change(store.StateChange{Address: nobody[:], Kind: store.BalanceChange, Value: common.BigToHash(common.Big1).Bytes()})
			}
			head, err := c.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			draft, err := c.NewDraft(t.Context(), head)
			if err != nil {
				t.Fatal(err)
			}
			for _, after := range []uint64{2_000, 2_001, 60_000, 2_000} {
				got, err := c.NextHeader(t.Context(), head, 1000*at+after, evm.Override{})
				want, problem := draft.NextHeader(1000*at+after, evm.Override{})
				if err != nil || problem != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("Helicon %t, %d ms after block %d: %+v %v, want %+v %v", helicon, after, head.Number, got, err, want, problem)
				}
			}
			again := testing.AllocsPerRun(5, func() { _, _ = c.NextHeader(t.Context(), head, 1000*at+60_000, evm.Override{}) })
			if once := testing.AllocsPerRun(5, func() { _, _ = c.NewDraft(t.Context(), head) }); helicon && again > once/10 {
				t.Errorf("block %d: the next header takes %.0f allocations, reading the queue %.0f", head.Number, again, once)
			}
		}
	}
}
