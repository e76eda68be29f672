package seed_test

import (
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify"
)

// TestALaggingCopyCatchesUp lets all chains of a copy lag, by blocks and by time. The copy never loses a block, always verifies as a separate world,
// and equals the world after it has caught up.
func TestALaggingCopyCatchesUp(t *testing.T) {
	w, err := world(t, "tiny", 3).Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var all []sim.ChainKey
	for _, c := range w.Chains {
		all = append(all, sim.Key(c))
	}
	for _, n := range w.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			all = append(all, sim.ChainKey{Primary: true, Chain: n.Chain(kind)})
		}
	}
	l, err := w.CopyLagging(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.End()
	at := map[sim.ChainKey]uint64{}
	for _, key := range all {
		at[key], _ = l.Heights(key)
	}
	lags := []sim.Lag{{Blocks: 15}, {Milliseconds: 5 * 24 * 3600_000}, {Blocks: 2}, {}}
	for i, lag := range lags {
		if err := l.SetLag(t.Context(), all, lag); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := w.Advance(t.Context(), w.Clock.Now().Add(20*24*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		moved := false
		for _, key := range all {
			indexed, existing := l.Heights(key)
			if indexed < at[key] {
				t.Errorf("%+v: chain %+v falls from block %d to %d", lag, key, at[key], indexed)
			}
			if behind := existing - indexed; lag == (sim.Lag{}) && behind > 0 || lag.Blocks > 0 && indexed > at[key] && behind < lag.Blocks {
				t.Errorf("%+v: chain %+v is at block %d of %d", lag, key, indexed, existing)
			}
			moved = moved || indexed > at[key]
			at[key] = indexed
		}
		if !moved {
			t.Errorf("%+v: no chain comes closer", lag)
		}
		c, _, done, err := l.Read(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && i > 0 {
			t.Logf("left out of a short run: verification with a lag of %+v", lag)
		} else if report, err := verify.Verify(t.Context(), c, nil); err != nil {
			t.Errorf("%+v: %v\n%s", lag, err, report)
		}
		if same := w.DB.SamePrimary(t.Context(), c.DB); (same == nil) != (lag == sim.Lag{}) {
			t.Errorf("%+v: compared with the world's, the primary chains: %v", lag, same)
		}
		if same := w.DB.SameRollUps(t.Context(), c.DB); lag == (sim.Lag{}) && same != nil {
			t.Errorf("the metrics differ: %v", same)
		}
		done()
	}
}
