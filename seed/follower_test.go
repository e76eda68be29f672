package seed_test

import (
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify"
)

// TestAFollowerGoesBack has a copy be behind on all chains, by blocks and by time: what it holds is a world of its own, that verifies.
// When it catches up it holds what the world does.
func TestAFollowerGoesBack(t *testing.T) {
	w, err := world(t, "tiny", 3).Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Advance(t.Context(), w.Clock.Now().Add(20*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	var all []sim.ChainKey
	for _, c := range w.Chains {
		all = append(all, sim.Key(c))
	}
	for _, n := range w.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			all = append(all, sim.ChainKey{Primary: true, Chain: n.Chain(kind)})
		}
	}
	f, err := w.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.End()
	lags := []sim.Lag{{Milliseconds: 10 * 24 * 3600_000}, {Blocks: 7}, {Blocks: 15}, {}}
	if testing.Short() {
		t.Log("left out of a short run: most lags")
		lags = []sim.Lag{{Blocks: 10_000}, {Blocks: 15}, {}} // of the furthest, the L1s' chains are there before the P-Chain made them
	}
	for _, l := range lags {
		if err := f.SetLag(t.Context(), all, l); err != nil {
			t.Fatal(err)
		}
		c, _, done, err := f.Read(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		if l.Blocks < 10_000 && (!testing.Short() || l != sim.Lag{}) {
			if report, err := verify.Verify(t.Context(), c, nil); err != nil {
				t.Errorf("%+v: %v\n%s", l, err, report)
			}
		}
		if same := w.DB.SamePrimary(t.Context(), c.DB); (same == nil) != (l == sim.Lag{}) {
			t.Errorf("%+v: compared with the world's, the primary chains: %v", l, same)
		}
		if same := w.DB.SameRollUps(t.Context(), c.DB); l == (sim.Lag{}) && same != nil {
			t.Errorf("the metrics differ: %v", same)
		}
		done()
	}
}
