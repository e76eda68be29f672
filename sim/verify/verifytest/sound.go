// Package verifytest has tests verify the worlds that they changed.
package verifytest

import (
	"hash/crc32"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// Sound wants verify to find no fault with a world. In a short run it looks at every eighth test's: the others share most of their history.
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
