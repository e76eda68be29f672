package intercept

import (
	"os/exec"
	"syscall"
)

// watcher makes a process that removes a file at the end of its input. Signals for the console's processes do not reach it.
func watcher(path string) *exec.Cmd {
	c := exec.Command("cmd.exe")
	c.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       `cmd.exe /d /s /c "findstr x >nul & del /f /q "` + path + `""`,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP,
	}
	return c
}
