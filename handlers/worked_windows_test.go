// Processor time of processes, on Windows.

package handlers_test

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// worked returns this process's CPU time.
func worked(t *testing.T) time.Duration {
	t.Helper()
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		t.Fatal(err)
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	passed := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) } // in units of 100 ns
	return time.Duration(100 * (passed(kernel) + passed(user)))
}

// peakOf is unknown on Windows.
func peakOf(*os.ProcessState) int64 { return 0 }
