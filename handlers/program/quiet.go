package program

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Recorded is the outcome of a command whose output was recorded.
type Recorded struct {
	Failure string // such as exit code 1; empty for success
	Output  string // the end of it
}

// keptOutput is how much of a command's output is kept.
const keptOutput = 8 << 10

// RunQuietly runs the command with extra environment variables and without input, and records its output. It polls allowed, and kills the command
// with everything it started once it has run longer than that.
func (p *Program) RunQuietly(environment []string, allowed func() time.Duration, stop <-chan struct{}) (*Recorded, error) {
	out := &tail{}
	cmd := exec.Command(p.path)
	cmd.Args, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.WaitDelay = p.args, out, out, append(os.Environ(), environment...), time.Second
	together(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &ExitError{codeNotExecutable, fmt.Errorf("cannot run %s: %w", p.args[0], err)}
	}
	begun := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(looking)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			killAll(cmd) // and what it left running
			return &Recorded{failureOf(err), out.String()}, nil
		case <-stop:
			killAll(cmd)
			<-ended
			return nil, errors.New("interrupted")
		case <-tick.C:
			if limit := allowed(); time.Since(begun) > limit {
				killAll(cmd)
				<-ended
				return &Recorded{fmt.Sprintf("it did not end within %s", limit.Round(time.Second)), out.String()}, nil
			}
		}
	}
}

// looking is the interval at which a command's time is checked.
const looking = 50 * time.Millisecond

func failureOf(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a process it left behind holds the output open
		return ""
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	return err.Error()
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(b)
	if over := t.kept.Len() - keptOutput; over > 0 {
		t.kept.Next(over)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}
