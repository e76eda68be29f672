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

// Profiler writes profiles of the program into a folder. There is one CPU profile at a time in a process.
type Profiler struct {
	folder string
	mu     sync.Mutex
	cpu    *os.File
}

var (
	errProfiling    = errors.New("cpu profiler already running")
	errNotProfiling = errors.New("cpu profiler doesn't exist")
)

// NewProfiler makes a profiler and has the program note from now on who waits for locks.
func NewProfiler(folder string) *Profiler {
	runtime.SetMutexProfileFraction(1)
	return &Profiler{folder: folder}
}

func (p *Profiler) create(name string) (*os.File, error) {
	if err := os.MkdirAll(p.folder, 0o750); err != nil {
		return nil, fmt.Errorf("profile folder: %w", err)
	}
	return os.OpenFile(filepath.Join(p.folder, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
}

// start begins cpu.profile.
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

// stop ends cpu.profile.
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
	runtime.GC() // the profile tells what was there at the last collection
	return p.write("mem.profile", pprof.WriteHeapProfile)
}

// locks writes lock.profile.
func (p *Profiler) locks() error {
	return p.write("lock.profile", func(w io.Writer) error { return pprof.Lookup("mutex").WriteTo(w, 0) })
}

func (p *Profiler) write(name string, profile func(io.Writer) error) error {
	file, err := p.create(name)
	if err != nil {
		return err
	}
	return errors.Join(profile(file), file.Close())
}
