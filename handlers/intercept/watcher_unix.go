//go:build unix

package intercept

import (
	"os/exec"
	"syscall"
)

// watcher makes a process that removes a file at the end of its input. Signals for the terminal's processes do not reach it.
func watcher(path string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-c", `cat >/dev/null; rm -f -- "$1"`, "snowglobe", path)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}
