// Building and running the program for the tests that need a process.

package handlers_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// release builds the program as for a release: stripped, without the builder's paths.
func release(b *testing.B, flags ...string) string {
	path := filepath.Join(b.TempDir(), "snowglobe")
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}, flags...), "snowglobe")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v: %s", err, out)
	}
	return path
}

// path of the file of a profile's world.
func (r *report) path(profile string) string { return filepath.Join(r.folder, title(profile)+".db") }

// title of a profile that may be a file.
func title(profile string) string { return strings.TrimSuffix(filepath.Base(profile), ".yaml") }

// make generates a profile's world, and returns the time, the CPU time and the peak memory.
func (r *report) make(profile string) (took, busy time.Duration, peak int64) {
	run := exec.Command(r.program, "generate", "--quiet", "--profile", profile, "--db", r.path(profile))
	begin := time.Now()
	if out, err := run.CombinedOutput(); err != nil {
		r.b.Fatalf("generate %s: %v: %s", profile, err, out)
	}
	return time.Since(begin), run.ProcessState.UserTime() + run.ProcessState.SystemTime(), peakOf(run.ProcessState)
}

// world returns the file of a profile's world, generating it if necessary.
func (r *report) world(profile string) string {
	if _, err := os.Stat(r.path(profile)); errors.Is(err, os.ErrNotExist) {
		r.make(profile)
	}
	return r.path(profile)
}

// process is a running server.
type process struct {
	r       *report
	cmd     *exec.Cmd
	address string
	waited  time.Duration // from its start to its first answer
	pressed time.Duration // how long clients put load on it, at most
}

const patience = time.Minute

// serve starts the program on a free port and waits for its first response. Its log is written but discarded.
func (r *report) serve(args ...string) *process {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.b.Fatal(err)
	}
	p := &process{r: r, address: probe.Addr().String()}
	probe.Close()
	p.cmd = exec.CommandContext(r.b.Context(), r.program, append([]string{"serve", "--addr", p.address}, args...)...)
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		r.b.Fatal(err)
	}
	chainID := call("eth_chainId")[0]
	for {
		_, err := p.once(chainID)
		if err == nil {
			break
		}
		if making := strings.HasPrefix(err.Error(), "status 503"); !making && !errors.Is(err, syscall.ECONNREFUSED) || time.Since(begin) > patience {
			r.b.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	p.waited = time.Since(begin)
	return p
}

// once sends one request over a connection of its own.
func (p *process) once(ask request) (answer, error) {
	c, err := dial(p.address)
	if err != nil {
		return answer{}, err
	}
	defer c.Close()
	return c.ask(ask.bytes(p.address))
}

// rest waits until the process has finished its background work, such as inspecting its file.
func (p *process) rest() {
	const look, idle = time.Second, 50 * time.Millisecond
	for end := time.Now().Add(5 * patience); time.Now().Before(end); {
		before := busy(p.cmd.Process.Pid)
		time.Sleep(look)
		if busy(p.cmd.Process.Pid)-before < idle {
			return
		}
	}
	p.r.b.Fatal("a server without clients does not come to rest")
}

func (p *process) stop() {
	if err := errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), p.cmd.Wait()); err != nil {
		p.r.b.Fatal(err)
	}
}

// memory returns the process's current and peak memory in bytes. It is 0 except on Linux.
func memory(pid int) (now, peak int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range bytes.Lines(status) {
		var kilobytes int64
		switch name, rest, _ := strings.Cut(string(line), ":"); name {
		case "VmRSS":
			fmt.Sscan(rest, &kilobytes)
			now = kilobytes << 10
		case "VmHWM":
			fmt.Sscan(rest, &kilobytes)
			peak = kilobytes << 10
		}
	}
	return now, peak
}

// busy returns a process's CPU time in hundredths of a second. It is 0 except on Linux.
func busy(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the program's name may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}
