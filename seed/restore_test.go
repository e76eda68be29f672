package seed_test

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"

	"snowglobe/seed"
	"snowglobe/seed/population"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestRestoredNetworksGoOnAlike runs a network restored from rows and one replayed from blocks through a month of due blocks, and compares the rows
// of each block.
func TestRestoredNetworksGoOnAlike(t *testing.T) {
	w := world(t, "tiny", 3)
	for i, row := range must(w.DB.PrimaryNetworks(t.Context()))(t) {
		replayed, err := primary.Replay(t.Context(), w.DB, row, i+1, true, func(*store.PrimaryDelta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		restored := must(primary.Restore(t.Context(), w.DB, row.ID))(t)
		nodes := must(w.DB.Nodes(t.Context(), row.ID))(t)
		proposer := func(n *primary.Network) *primary.Proposer {
			for _, node := range nodes {
				if node.Role == "popular" {
					return &primary.Proposer{Certificate: node.Certificate, PHeight: n.P.Height()}
				}
			}
			return nil
		}
		blocks := 0
		for ; replayed.P.NextStakerChangeTime() < uint64(seed.DefaultUntil.Unix())+30*population.Day; blocks++ {
			one, two := replayed.P.NextStakerChangeTime(), restored.P.NextStakerChangeTime()
			if one != two {
				t.Fatalf("network %d: next changes at %d and %d", row.ID, one, two)
			}
			if a, b := turn(t, replayed, one, proposer(replayed)), turn(t, restored, one, proposer(restored)); !reflect.DeepEqual(a, b) {
				t.Fatalf("network %d: %+v and %+v", row.ID, a, b)
			}
		}
		if blocks == 0 || !slices.Equal(outputs(t, replayed), outputs(t, restored)) {
			t.Errorf("network %d: %d blocks, outputs %v and %v", row.ID, blocks, outputs(t, replayed), outputs(t, restored))
		}
	}
}

// outputs lists a network's unspent outputs.
func outputs(t *testing.T, n *primary.Network) (all []string) {
	t.Helper()
	for _, of := range []iter.Seq2[*txs.UTXO, error]{n.P.UTXOs(), n.X.UTXOs()} {
		for u, err := range of {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(u.InputID(), u.Amount()))
		}
	}
	slices.Sort(all)
	return all
}

// turn makes the blocks that are due at a time.
func turn(t *testing.T, n *primary.Network, at uint64, proposer *primary.Proposer) []*store.PrimaryDelta {
	t.Helper()
	build := func(b *txs.Block, err error) *txs.Block { return must(b, err)(t) }
	if _, due := n.P.NextStakerToReward(at); due {
		first := must(n.AcceptP(build(n.P.BuildProposal(at)), proposer))(t)
		return []*store.PrimaryDelta{first, must(n.AcceptP(build(n.P.BuildOption(true)), nil))(t)}
	}
	return []*store.PrimaryDelta{must(n.AcceptP(build(n.P.BuildBlock(at, nil)), proposer))(t)}
}
