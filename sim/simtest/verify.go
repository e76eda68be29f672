package simtest

import (
	"hash/crc32"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// Verify wants a world that a test has changed to be sound. In a short run it looks at every third test's: the others share most of their history.
func Verify(t testing.TB, w *sim.World) {
	t.Helper()
	if testing.Short() && crc32.ChecksumIEEE([]byte(t.Name()))%3 != 0 {
		return
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
}
