package export_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// scopes returns exports of everything that personas did, on EVM chains and on the primary network.
func scopes(t *testing.T) (*sim.World, []export.Scope) {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
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

// content measures a scope's file and reads it.
func content(t *testing.T, w *sim.World, s export.Scope) (store.ExportFile, io.ReadSeeker, string) {
	t.Helper()
	file, err := export.Measure(t.Context(), w, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	request, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	open, err := export.NewJobs(w, export.Options{}).Content(t.Context(), &store.Operation{ExportFile: file, Request: request})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(open)
	if err != nil {
		t.Fatal(err)
	}
	return file, open, string(text)
}

// TestFilesAreAsMeasured, and give the same bytes wherever reading starts.
func TestFilesAreAsMeasured(t *testing.T) {
	w, all := scopes(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range all {
		file, open, text := content(t, w, s)
		sum := sha256.Sum256([]byte(text))
		if file.Size != int64(len(text)) || !bytes.Equal(file.Content, sum[:]) || file.Rows != int64(strings.Count(text, "\r\n"))-1 || file.Next != 0 {
			t.Errorf("%s: %d bytes of %+v", s.Type, len(text), file)
		}
		for _, from := range []int{len(text), len(text) - 1, 0, r.IntN(len(text)), r.IntN(len(text)), r.IntN(len(text))} {
			if _, err := open.Seek(int64(from), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(open); err != nil || string(rest) != text[from:] {
				t.Errorf("%s from %d on: %d bytes, %v", s.Type, from, len(rest), err)
			}
		}
	}
}

// TestMeasuringReportsProgress: each report covers the beginning of the file.
func TestMeasuringReportsProgress(t *testing.T) {
	w, all := scopes(t)
	for _, s := range all {
		_, _, text := content(t, w, s)
		reports := 0
		failed := errors.New("failed")
		last, err := export.Measure(t.Context(), w, s, func(sofar store.ExportFile) error {
			reports++
			if begun := text[:sofar.Size]; sofar.Rows != int64(strings.Count(begun, "\r\n"))-1 || len(sofar.Content) != 0 {
				t.Errorf("%s: %+v", s.Type, sofar)
			}
			if reports == 2 {
				return failed
			}
			return nil
		})
		if want := min(len(text)>>18, 2); reports < want || (reports == 2) != errors.Is(err, failed) {
			t.Errorf("%s: %d reports, at last of %+v, %v", s.Type, reports, last, err)
		}
	}
}

// TestLimitedFilesEndWithADay: a limited file is the beginning of the whole, with as many days as fit, but at least one.
func TestLimitedFilesEndWithADay(t *testing.T) {
	w, all := scopes(t)
	for _, s := range all {
		file, _, whole := content(t, w, s)
		for _, limit := range []int64{1, file.Rows / 2, file.Rows - 1, file.Rows} {
			s.MaxRows = limit
			part, err := export.Measure(t.Context(), w, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			until, _, text := content(t, w, s.Before(part.Next))
			if !strings.HasPrefix(whole, text) || until.Size != part.Size || !bytes.Equal(until.Content, part.Content) || until.Next != 0 {
				t.Errorf("%s, limit %d: %+v, made again %+v", s.Type, limit, part, until)
			}
			if (part.Next == 0) != (limit == file.Rows) || limit > 1 && part.Rows > limit || part.Rows == 0 {
				t.Errorf("%s, limit %d of %d: %+v", s.Type, limit, file.Rows, part)
			}
			if part.Next > 0 && (part.Next%86400 != 0 || part.Reached >= part.Next) {
				t.Errorf("%s, limit %d: %+v", s.Type, limit, part)
			}
			following := s
			following.From, following.Until, following.MaxRows = part.Next, part.Next+86400, 0
			if day, err := export.Measure(t.Context(), w, following, nil); part.Next > 0 && (err != nil || part.Rows+day.Rows <= limit) {
				t.Errorf("%s, limit %d: %d rows of the next day would fit behind %d: %v", s.Type, limit, day.Rows, part.Rows, err)
			}
		}
	}
}

// TestExportsDoNotSeeWhatComesLater: with an earlier head, a chain's file is the beginning of the file with a later one.
func TestExportsDoNotSeeWhatComesLater(t *testing.T) {
	w, all := scopes(t)
	for _, s := range all {
		for _, chain := range s.Chains {
			s.Chains = []export.ChainRef{chain}
			_, _, whole := content(t, w, s)
			s.Chains[0].Head /= 2
			if file, _, part := content(t, w, s); !strings.HasPrefix(whole, part) || file.Rows == 0 || len(part) == len(whole) {
				t.Errorf("%+v: %d bytes of %d", chain, len(part), len(whole))
			}
		}
	}
}
