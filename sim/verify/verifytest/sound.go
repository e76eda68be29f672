// Package verifytest lets tests verify the worlds they changed.
package verifytest

import (
	"hash/crc32"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// Sound fails the test if verify finds a fault in a world. A short run checks every eighth test's world: the others share most of their
// history.
func Sound(t testing.TB, w *sim.World) {
	t.Helper()
	if testing.Short() && crc32.ChecksumIEEE([]byte(t.Name()))%8 != 0 {
		t.Log("left out of a short run: verification")
		return
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}
