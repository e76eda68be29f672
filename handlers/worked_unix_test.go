// Processor time and memory of processes, on Unix.

//go:build unix

package handlers_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// worked returns this process's CPU time.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakOf returns the peak memory of a finished process, in bytes.
func peakOf(ended *os.ProcessState) int64 {
	usage, told := ended.SysUsage().(*syscall.Rusage)
	if !told {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // other systems count in KiB
	}
	return int64(usage.Maxrss) << 10
}
