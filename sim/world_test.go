package sim_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// generate makes a small world.
func generate(t *testing.T, path string) *sim.World {
	t.Helper()
	made := seedtest.Shared(t, "tiny", 3)
	var w *sim.World
	var err error
	if path == store.Memory {
		w, err = made.Copy(t.Context())
	} else {
		w, err = made.CopyTo(t.Context(), path, store.Limits{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestClockStandsStill(t *testing.T) {
	at := time.Date(2026, 7, 1, 2, 3, 4, 999, time.FixedZone("", 3600))
	c := sim.NewClock(at)
	if want := at.Truncate(time.Millisecond); !c.Now().Equal(want) || c.Now().Location() != time.UTC || c.Unix() != want.Unix() {
		t.Errorf("%v and %d, want %v", c.Now(), c.Unix(), want)
	}
	c.Set(at.Add(time.Hour))
	if c.Unix() != at.Add(time.Hour).Unix() {
		t.Errorf("after Set: %v", c.Now())
	}
}

// TestOpenSaysWhatToDo: a file that is not a world is refused with advice.
func TestOpenSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(path, []byte("some text, and no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Open(t.Context(), path); !errors.Is(err, dbfile.ErrNotWorld) || !strings.Contains(err.Error(), "--db") {
		t.Errorf("a text file: %v", err)
	}
}

// TestAbortLeavesNothing: an unfinished world leaves no file, and Abort may be called twice.
func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	b, err := sim.Create(filepath.Join(dir, "w.db"), sim.Identity{Seed: 1, Profile: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Abort(); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// TestAWorldOpensAsItWasClosed: digest, chains, networks and local nodes are read back from the file.
func TestAWorldOpensAsItWasClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	made := generate(t, path)
	digest, node := hex.EncodeToString(made.Digest()), made.Networks[1].LocalNode.ID()
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if hex.EncodeToString(w.Digest()) != digest || w.Networks[1].LocalNode.ID() != node || w.Clock.Unix() != w.Meta.Until {
		t.Errorf("digest %x, local node %s, clock %s", w.Digest(), w.Networks[1].LocalNode.ID(), w.Clock.Now())
	}
	if err := errors.Join(w.CheckDigest(t.Context()), w.Claim(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestOperationsLeaveTheDigest: jobs are not part of the world's digest. A deleted job's number is not given again, and a failure changes nothing.
func TestOperationsLeaveTheDigest(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	ctx, before := t.Context(), slices.Clone(w.Digest())
	same := func(err error) {
		t.Helper()
		if err := errors.Join(err, w.CheckDigest(ctx)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, w.Digest()) {
			t.Errorf("digest %x, before %x", w.Digest(), before)
		}
	}
	draft := func(number int64) (*store.Operation, error) {
		return &store.Operation{ID: number, UUID: bytes.Repeat([]byte{byte(number)}, 16), Status: store.OperationRunning, ExportFile: store.ExportFile{Content: []byte{}}, Request: "{}"}, nil
	}
	for want := int64(1); want <= 2; want++ {
		o, err := w.AddOperation(ctx, draft)
		if same(err); o.ID != want || w.Operations() != want {
			t.Errorf("operation %d of %d, want %d", o.ID, w.Operations(), want)
		}
		ended := *o
		ended.Status = store.OperationCompleted
		same(w.UpdateOperation(ctx, &ended))
		same(w.DeleteOperation(ctx, o.ID))
	}
	failed := errors.New("failed")
	third, _ := draft(3)
	if err := w.Write(ctx, func(b *store.Batch) error { return errors.Join(b.PutOperation(third), failed) }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if all, err := w.DB.Operations(ctx, 9, 9); len(all) != 0 || err != nil {
		t.Errorf("operations %v are left: %v", all, err)
	}
	same(nil)
}

// TestLookUps finds every chain by each of its names, and nothing by any other.
func TestLookUps(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	for _, c := range w.Chains {
		id := ids.ID(c.Row.BlockchainID)
		if w.ChainByEVMID(c.Row.EVMID) != c || w.ChainByBlockchainID(id) != c || w.ChainAt(store.At(c.Row.ID, 5, 1)) != c ||
			w.ChainNamed(strconv.FormatUint(c.Row.EVMID, 10)) != c || w.ChainNamed(id.String()) != c || w.NetworkOf(c).Name != c.Row.Network {
			t.Errorf("chain %d is not found by all of its names", c.Row.EVMID)
		}
	}
	if w.ChainNamed("7") != nil || w.ChainNamed("alice") != nil || w.ChainNamed(ids.Empty.String()) != nil || w.NetworkNamed("testnet") != nil {
		t.Error("something is found that does not exist")
	}
	for _, n := range w.Networks {
		if c := n.CChain(); c == nil || c.Row.Network != n.Name || w.NetworkNamed(n.Name) != n {
			t.Errorf("%s has no C-Chain of its own", n.Name)
		}
	}
}

// TestAliases: chains have names from the beginning; a name given later counts as a change of the world, on its network only.
func TestAliases(t *testing.T) {
	w := generate(t, store.Memory)
	defer w.Close()
	n, before := w.Networks[0], w.Revision()
	c := n.CChain()
	id := ids.ID(c.Row.BlockchainID)
	if got, known := n.Aliases.Lookup("C"); !known || got != id {
		t.Errorf("C is %s", got)
	}
	if n.Aliases.Give("C", ids.Empty) || !n.Aliases.Give("coins", id) || n.Aliases.Give("coins", id) {
		t.Error("a name is given twice, or not at all")
	}
	if w.Revision() != before+1 {
		t.Errorf("revision %d, before %d", w.Revision(), before)
	}
	if names := n.Aliases.Names(id); !slices.Equal(names, []string{"C", "evm", id.String(), "coins"}) {
		t.Errorf("%v", names)
	}
	if w.Alias("", "coins") != id.String() || w.Alias("fuji", "coins") != "coins" || w.Alias("", "C") != "C" {
		t.Errorf("coins is %s, on fuji %s; C is %s", w.Alias("", "coins"), w.Alias("fuji", "coins"), w.Alias("", "C"))
	}
}
