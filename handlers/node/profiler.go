package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
)

// Profiler writes profiles of the program into a folder, under the file names of avalanchego's utils/profiler. A process runs one CPU
// profile at a time.
type Profiler struct {
	folder func() (string, error)
	mu     sync.Mutex
	cpu    *os.File
}

var (
	errProfiling    = errors.New("cpu profiler already running")
	errNotProfiling = errors.New("cpu profiler doesn't exist")
)

// NewProfiler makes a profiler and starts recording allocations and waits for locks. Without a folder, the first request that needs one
// creates a temporary one, so nothing is written unasked.
func NewProfiler(folder string) *Profiler {
	runtime.SetMutexProfileFraction(1)
	runtime.MemProfileRate = 512 << 10 // the runtime's default
	p := &Profiler{folder: func() (string, error) { return folder, os.MkdirAll(folder, 0o750) }}
	if folder == "" {
		p.folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "snowglobe-profiles-") })
	}
	return p
}

func (p *Profiler) create(name string) (*os.File, error) {
	folder, err := p.folder()
	if err != nil {
		return nil, fmt.Errorf("profile folder: %w", err)
	}
	return os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
}

// start starts cpu.profile.
func (p *Profiler) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cpu != nil {
		return errProfiling
	}
	file, err := p.create("cpu.profile")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	p.cpu = file
	return nil
}

// stop completes cpu.profile.
func (p *Profiler) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cpu == nil {
		return errNotProfiling
	}
	pprof.StopCPUProfile()
	err := p.cpu.Close()
	p.cpu = nil
	return err
}

// memory writes mem.profile.
func (p *Profiler) memory() error {
	runtime.GC() // the profile shows the heap at the last collection
	return p.write("mem.profile", pprof.WriteHeapProfile)
}

func (p *Profiler) write(name string, profile func(io.Writer) error) error {
	file, err := p.create(name)
	if err != nil {
		return err
	}
	return errors.Join(profile(file), file.Close())
}
