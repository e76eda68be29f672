package export_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// scopes are exports of everything that personas did: of EVM chains, and of the primary network.
func scopes(t *testing.T) (*sim.World, []export.Scope) {
	t.Helper()
	profile, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: profile, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	evm := export.Scope{Type: export.EVM}
	owned := export.Scope{Type: export.Primary, Owners: map[string][]ids.ShortID{}}
	for _, c := range w.Chains {
		evm.Chains = append(evm.Chains, export.ChainRef{Kind: export.KindEVM, Network: c.Row.Network, ChainID: c.Row.EVMID})
	}
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		key, err := txs.KeyFromBytes(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		evm.Accounts = append(evm.Accounts, common.BytesToAddress(p.Address))
		for _, n := range w.Networks {
			owned.Owners[n.Name] = append(owned.Owners[n.Name], key.Address())
		}
	}
	for _, n := range w.Networks {
		for _, kind := range []export.Kind{export.KindP, export.KindX, export.KindC} {
			owned.Chains = append(owned.Chains, export.ChainRef{Kind: kind, Network: n.Name})
		}
	}
	all := []export.Scope{evm, owned}
	for _, s := range all {
		for i := range s.Chains {
			if s.Chains[i].Head, err = export.Height(t.Context(), w, s.Chains[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w, all
}

// walk is every event of a scope after a place.
func walk(t *testing.T, w *sim.World, s export.Scope, after *export.Position) (events []export.Event) {
	t.Helper()
	way, err := export.NewScanner(t.Context(), w, s, after)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := way.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return events
		}
		events = append(events, *e)
	}
}

// TestWalksGoOnAfterAnyPlace begins again after events here and there, and finds the rest.
func TestWalksGoOnAfterAnyPlace(t *testing.T) {
	parts := 9
	if testing.Short() {
		t.Log("left out of a short run: all parts but 3")
		parts = 3
	}
	w, all := scopes(t)
	for _, s := range all {
		whole := walk(t, w, s, nil)
		step := len(whole)/parts + 1
		for n := 0; n < len(whole); n += step {
			e := whole[n]
			rest := walk(t, w, s, &export.Position{Time: e.Time, Chain: e.Chain, At: e.At})
			if fmt.Sprint(rest) != fmt.Sprint(whole[n+1:]) {
				t.Errorf("%s: after event %d of %d come %d", s.Type, n, len(whole), len(rest))
			}
		}
	}
}

// cut is every chunk of a scope, and what a cutter that begins again after each chunk makes.
func cut(t *testing.T, w *sim.World, s export.Scope, again bool) (chunks []*store.Chunk) {
	t.Helper()
	c, err := export.NewChunker(t.Context(), w, s, 1, nil)
	for {
		if err != nil {
			t.Fatal(err)
		}
		step, wrong := c.Next(t.Context())
		if wrong != nil || step.Chunk == nil {
			t.Fatal(step, wrong)
		}
		chunks = append(chunks, step.Chunk)
		if step.Last {
			return chunks
		}
		if again {
			c, err = export.NewChunker(t.Context(), w, s, 1, &step.Chunk.ChunkInfo)
		}
	}
}

func TestACutterThatBeginsAgainMakesTheSameChunks(t *testing.T) {
	w, all := scopes(t)
	several := false
	for _, s := range all {
		at, again := cut(t, w, s, false), cut(t, w, s, true)
		several = several || len(at) > 1
		if len(at) != len(again) {
			t.Fatalf("%s: %d chunks, then %d", s.Type, len(at), len(again))
		}
		for i := range at {
			if fmt.Sprint(at[i].ChunkInfo) != fmt.Sprint(again[i].ChunkInfo) || !bytes.Equal(at[i].Data, again[i].Data) {
				t.Errorf("%s: chunk %d is %v, then %v", s.Type, i, at[i].ChunkInfo, again[i].ChunkInfo)
			}
		}
	}
	if !several {
		t.Error("no file has several chunks")
	}
}

// TestExportsDoNotSeeWhatComesLater: with the heads of an earlier time, a walk is the beginning of one with later heads.
func TestExportsDoNotSeeWhatComesLater(t *testing.T) {
	w, all := scopes(t)
	for _, s := range all {
		whole := walk(t, w, s, nil)
		earlier := s
		earlier.Chains = append([]export.ChainRef{}, s.Chains...)
		var want []export.Event
		for i := range earlier.Chains {
			earlier.Chains[i].Head /= 2
		}
		for _, e := range whole {
			if e.At.Number() <= earlier.Chains[e.Chain].Head {
				want = append(want, e)
			}
		}
		if got := walk(t, w, earlier, nil); len(got) == 0 || len(got) != len(want) {
			t.Errorf("%s: %d events, want %d", s.Type, len(got), len(want))
		}
	}
}
