package sim_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/verify/verifytest"
)

// TestCopiesGoTheirOwnWay: a copy of a world, in memory or in a file with a log, starts equal to the world, and changes to one do not affect the
// other.
func TestCopiesGoTheirOwnWay(t *testing.T) {
	for _, path := range []string{store.Memory, filepath.Join(t.TempDir(), "w.db")} {
		w := generate(t, path)
		if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		s, err := w.TakeSnapshot(t.Context(), "before")
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "copy.db")
		c, err := w.CopyTo(t.Context(), to, store.Limits{Readers: 1, CacheKiB: 512})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.Digest(), w.Digest()) || !c.Clock.Now().Equal(w.Clock.Now()) {
			t.Errorf("%s: the copy has digest %x at %s, the world %x at %s", path, c.Digest(), c.Clock.Now(), w.Digest(), w.Clock.Now())
		}
		if err := c.Advance(t.Context(), c.Clock.Now().Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(w.Digest(), s.Digest) || bytes.Equal(c.Digest(), w.Digest()) {
			t.Errorf("%s: the world changed with its copy", path)
		}
		if err := c.Revert(t.Context(), s.ID, false); err != nil || !bytes.Equal(c.Digest(), s.Digest) {
			t.Errorf("%s: %v: the copy goes back to %x: want %x", path, err, c.Digest(), s.Digest)
		}
		if path != store.Memory {
			verifytest.Sound(t, c)
		}
		if _, err := w.CopyTo(t.Context(), to, store.Limits{}); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s: a file may be written over: %v", path, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Dir(to)); len(left) != 1 {
			t.Errorf("%s: %v: %v are left", path, err, left)
		}
	}
}

// TestTheSameChangesMakeTheSameWorld: two copies that clients changed in the same way have the same digest, and verify.
func TestTheSameChangesMakeTheSameWorld(t *testing.T) {
	steps := 200
	if testing.Short() {
		t.Log("left out of a short run: all steps but 10")
		steps = 10
	}
	var digest []byte
	for range 2 {
		w := copied(t)
		if err := simtest.SendRandomly(t.Context(), w, 1, steps); err != nil {
			t.Fatal(err)
		}
		if digest == nil {
			digest = bytes.Clone(w.Digest())
			verifytest.Sound(t, w)
		} else if !bytes.Equal(w.Digest(), digest) {
			t.Errorf("digest %x, the first world has %x", w.Digest(), digest)
		}
	}
}
