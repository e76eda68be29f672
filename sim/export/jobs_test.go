package export_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/verify/verifytest"
)

func tiny(t *testing.T, path string) *sim.World {
	t.Helper()
	return seedtest.Generate(t, path, "tiny", 3)
}

// everyone returns an export of all personas' transactions on EVM chains.
func everyone(t *testing.T, w *sim.World) export.Scope {
	t.Helper()
	s := export.Scope{Type: export.EVM}
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		s.Accounts = append(s.Accounts, common.BytesToAddress(p.Address))
	}
	for _, c := range w.Chains {
		s.Chains = append(s.Chains, export.ChainRef{Kind: export.KindEVM, Network: c.Row.Network, ChainID: c.Row.EVMID})
	}
	return s
}

// start begins some exports.
func start(t *testing.T, e *export.Jobs, s export.Scope, n int) (all []*store.Operation) {
	t.Helper()
	for range n {
		o, err := e.Start(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// run runs exports until none is left, and reports the state meanwhile.
func run(t *testing.T, w *sim.World, e *export.Jobs, look func(running []int64)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- e.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Microsecond) {
		running, err := w.DB.RunningOperations(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatal(running, err)
		}
		look(running)
		if len(running) == 0 {
			break
		}
	}
	stop()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

func nothing([]int64) {}

// TestAsManyExportsRunAsMay: the others wait, each with the number of exports ahead of it.
func TestAsManyExportsRunAsMay(t *testing.T) {
	w := tiny(t, store.Memory)
	defer w.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := export.NewJobs(w, export.Options{Workers: 2}).Run(ended); err != nil {
		t.Errorf("stopped before it began: %v", err)
	}
	e := export.NewJobs(w, export.Options{Workers: 2})
	for i, o := range start(t, e, everyone(t, w), 12) {
		if before := e.Before(o.ID); before != i {
			t.Errorf("%d exports before number %d", before, i)
		}
	}
	most := 0
	run(t, w, e, func(running []int64) {
		// One may have ended since the rows were read, but none can have been added.
		begun := slices.DeleteFunc(running, func(id int64) bool { return e.Before(id) >= 0 })
		for _, id := range begun {
			if o, err := w.DB.Operation(t.Context(), id); err != nil || o.Status != store.OperationRunning {
				begun = slices.DeleteFunc(slices.Clone(begun), func(other int64) bool { return other == id })
			}
		}
		most = max(most, len(begun))
	})
	if most == 0 || most > 2 {
		t.Errorf("%d exports ran at once", most)
	}
}

// TestTheSameExportsGiveTheSameFiles: names and files depend only on the world and the request, however many run at once and whether they were
// interrupted; and no export changes the world.
func TestTheSameExportsGiveTheSameFiles(t *testing.T) {
	var names []string
	for _, workers := range []int{1, 3} {
		w := tiny(t, store.Memory)
		before := slices.Clone(w.Digest())
		options := export.Options{Workers: workers, MaxRows: 800}
		e := export.NewJobs(w, options)
		var given []string
		for _, o := range start(t, e, everyone(t, w), 5) {
			given = append(given, o.Name())
		}
		if workers > 1 {
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
			if err := e.Run(ctx); err != nil {
				t.Fatal(err)
			}
			stop()
			e = export.NewJobs(w, options)
		}
		run(t, w, e, nothing)
		if o, err := w.DB.Operation(t.Context(), 1); err != nil || o.Status != store.OperationCompletedWithWarning || o.Rows > 800 {
			t.Errorf("%+v %v", o, err)
		}
		if names != nil && !slices.Equal(names, given) {
			t.Errorf("with %d at once: %v, before %v", workers, given, names)
		}
		if names = given; !slices.Equal(before, w.Digest()) {
			t.Errorf("digest %x, before the exports %x", w.Digest(), before)
		}
		if workers > 1 || !testing.Short() {
			verifytest.Sound(t, w)
		} else {
			t.Log("left out of a short run: verification of this one")
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestABrokenWorldFailsAnExport damages a transaction: the export fails with the reason, and leaves no file.
func TestABrokenWorldFailsAnExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	if err := tiny(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE tx SET raw = x'0002ff' WHERE id = (SELECT id FROM tx ORDER BY id DESC LIMIT 1 OFFSET 20)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	e := export.NewJobs(w, export.Options{})
	s := everyone(t, w)
	txs, err := w.DB.TransactionsBetween(t.Context(), store.First(1), store.Last(len(w.Chains)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs[max(0, len(txs)-40):] {
		s.Accounts = append(s.Accounts, common.BytesToAddress(tx.Sender))
	}
	o := start(t, e, s, 1)[0]
	run(t, w, e, nothing)
	o, err = e.Operation(t.Context(), o.UUID)
	if err != nil || o.Status != store.OperationFailed || o.Code != export.ErrInternal || o.Message == "" || o.Size != 0 {
		t.Errorf("%+v %v", o, err)
	}
}

// TestExportsAreBounded refuses exports beyond the bound for unfinished ones, and keeps the latest that ended.
func TestExportsAreBounded(t *testing.T) {
	w := tiny(t, store.Memory)
	defer w.Close()
	e := export.NewJobs(w, export.Options{Queue: 3, Kept: 2})
	all := start(t, e, everyone(t, w), 3)
	if _, err := e.Start(t.Context(), everyone(t, w)); !errors.Is(err, export.ErrQueue) || w.Operations() != 3 {
		t.Errorf("a fourth export: %v, %d operations", err, w.Operations())
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- e.Run(ctx) }()
	gone := func(o *store.Operation) bool {
		_, err := e.Operation(t.Context(), o.UUID)
		return errors.Is(err, store.ErrNotFound)
	}
	for deadline := time.Now().Add(time.Minute); !gone(all[0]); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("three exports are kept")
		}
	}
	start(t, e, everyone(t, w), 1) // there is room again
	if stop(); gone(all[2]) {
		t.Error("the latest export is gone")
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
