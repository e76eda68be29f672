package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"snowglobe/sim/store"
)

// Program is a command that runs beside a server.
type Program struct {
	args    []string
	path    string
	signals chan os.Signal // received since the command was found

	Stdout, Stderr io.Writer // of the command; nil for the program's own
}

// ErrMissing reports that the user named no command.
var ErrMissing = errors.New("expected -- and a command after the flags")

// Shells' exit codes for a command that did not run.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
	codeSignal        = 128 // plus the number of the signal that ended it
)

// ExitError makes the program end with this code: the command's, or the code for a command that did not run, with the reason in Err.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("the command ended with code %d", e.Code)
}

// ExitCode returns the exit code of the program: the command's, or 1 for any other failure, which it prints.
func ExitCode(err error, stderr io.Writer) int {
	var exit *ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		exit = &ExitError{1, err}
	}
	if exit.Err != nil {
		fmt.Fprintf(stderr, "snowglobe: %v\n", exit.Err)
		if cause := store.Cause(exit.Err); cause != nil && !strings.Contains(exit.Err.Error(), cause.Error()) {
			fmt.Fprintf(stderr, "snowglobe: cause: %v\n", cause)
		}
	}
	return exit.Code
}

// Find looks up a command, given with its arguments, before anything else happens, and from then on collects signals for it.
func Find(args []string) (*Program, error) {
	path, err := exec.LookPath(args[0])
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, &ExitError{codeNotFound, fmt.Errorf("command not found: %s", args[0])}
	}
	if err != nil {
		var failed *exec.Error
		if errors.As(err, &failed) {
			err = failed.Err // the system's word, without exec's
		}
		return nil, &ExitError{codeNotExecutable, fmt.Errorf("cannot run %s: %w", args[0], err)}
	}
	p := &Program{args: args, path: path, signals: make(chan os.Signal, 16)}
	signal.Notify(p.signals, passedOn...)
	return p, nil
}

// Args returns the command with its arguments.
func (p *Program) Args() []string { return p.args }

// Run runs the command with extra environment variables, NAME=value, forwards signals to it, and returns how it ended.
func (p *Program) Run(environment []string) error {
	cmd := exec.Command(p.path)
	cmd.Args, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = p.args, os.Stdin, os.Stdout, os.Stderr, append(os.Environ(), environment...)
	cmd.Stdout = cmp.Or(p.Stdout, cmd.Stdout)
	cmd.Stderr = cmp.Or(p.Stderr, cmd.Stderr)
	if err := cmd.Start(); err != nil {
		return &ExitError{codeNotExecutable, fmt.Errorf("cannot run %s: %w", p.args[0], err)}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-p.signals:
			if !fromTerminal(s) {
				_ = cmd.Process.Signal(s) // it may just have ended
			}
		case err := <-ended:
			var failed *exec.ExitError
			if !errors.As(err, &failed) {
				return err
			}
			if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return &ExitError{Code: codeSignal + int(status.Signal())}
			}
			return &ExitError{Code: failed.ExitCode()}
		}
	}
}
