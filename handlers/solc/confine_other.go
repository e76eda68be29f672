//go:build !linux

package solc

import (
	"os"
	"os/exec"
	"runtime"
)

// environment has what Windows programs cannot start without.
func environment() []string {
	if runtime.GOOS == "windows" {
		return []string{"PATH=", "SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.TempDir()}
	}
	return []string{"PATH="}
}

func confine(*exec.Cmd, bool) {}

// bound does nothing: only Linux limits a process that runs. Node's heap is limited everywhere.
func bound(int) error { return nil }
