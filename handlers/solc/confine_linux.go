package solc

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// environment is empty: a compiler needs none, and finds no program through it.
func environment() []string { return []string{"PATH="} }

// confine lets a compiler be killed with everything it started and, if isolate is set, gives it a network of its own, without any interface.
func confine(cmd *exec.Cmd, isolate bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if isolate {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
}

// bound limits a running process.
func bound(pid int) error {
	seconds := uint64(maxTime.Seconds())
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CPU: 2 * seconds, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return err
		}
	}
	return nil
}
