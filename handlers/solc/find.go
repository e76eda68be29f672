package solc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Compilers finds compilers and runs one at a time.
type Compilers struct {
	files []string // that the user names
	roots []string // where tools keep theirs

	mu    sync.Mutex
	known map[string]identity // by path
	turn  chan struct{}
}

// identity is a file's version, as of its size and time.
type identity struct {
	size    int64
	changed int64
	version string
}

// New returns the compilers of this machine, and those in files: a native compiler, or solc's JavaScript (soljson.js), which Node runs.
func New(files []string) *Compilers {
	c := &Compilers{files: files, known: map[string]identity{}, turn: make(chan struct{}, 1)}
	home, err := os.UserHomeDir()
	if err == nil {
		c.roots = append(c.roots, filepath.Join(home, ".svm", "*", "solc-*"))
	}
	if data := dataDir(home); data != "" {
		c.roots = append(c.roots, filepath.Join(data, "svm", "*", "solc-*"))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		folder := filepath.Join(cache, "hardhat-nodejs")
		if runtime.GOOS == "windows" {
			folder = filepath.Join(folder, "Cache")
		}
		for _, version := range []string{"compilers-v2", "compilers-v3"} {
			c.roots = append(c.roots, filepath.Join(folder, version, "*", "solc*v*"), filepath.Join(folder, version, "wasm", "soljson-v*.js"))
		}
	}
	return c
}

// dataDir returns the folder in which Foundry's version manager keeps its own where there is no ~/.svm.
func dataDir(home string) string {
	switch runtime.GOOS {
	case "windows":
		return os.Getenv("APPDATA")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return data
	}
	return filepath.Join(home, ".local", "share")
}

// MissingError means that no compiler of a version is on this machine.
type MissingError struct {
	Version string
	Why     string // more about it, or ""
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("the compiler %s is not on this machine: looked at --solc, ~/.svm, Foundry's data folder and Hardhat's cache", e.Version)
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text + "; install it with Foundry or Hardhat, name it with --solc FILE, or start the server with --artifacts and the project's folder, which needs no compiler"
}

// ErrVersion means that a text is no version of a Solidity compiler.
var ErrVersion = errors.New("expected a version of the Solidity compiler such as v0.8.30+commit.73712a01")

var (
	wanted  = regexp.MustCompile(`^v?(\d{1,3}\.\d{1,3}\.\d{1,3})((-[0-9A-Za-z.-]{1,40})?\+commit\.[0-9a-f]{8})?$`)
	printed = regexp.MustCompile(`\b(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\+commit\.[0-9a-f]{8})`)
)

// Compiler is a compiler of this machine.
type Compiler struct {
	Version string // long, such as 0.8.30+commit.73712a01
	File    string
	all     *Compilers
}

// Find finds a compiler by its long or short version. Without one, it returns a MissingError.
func (c *Compilers) Find(ctx context.Context, version string) (*Compiler, error) {
	m := wanted.FindStringSubmatch(version)
	if m == nil {
		return nil, ErrVersion
	}
	missing := &MissingError{Version: version}
	for _, file := range c.candidates(m[1]) {
		found, err := c.versionOf(ctx, file)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && slices.Contains(c.files, file):
			missing.Why = fmt.Sprintf("%s does not run: %v", file, err)
		case err == nil && (found == m[1]+m[2] || m[2] == "" && strings.HasPrefix(found, m[1]+"+")):
			return &Compiler{found, file, c}, nil
		}
	}
	return nil, missing
}

// candidates lists the user's files and those of the tools whose name has the version, or any version, native compilers first.
func (c *Compilers) candidates(version string) (all []string) {
	all = slices.Clone(c.files)
	named := regexp.MustCompile(`(^|[v-])` + regexp.QuoteMeta(version) + `($|[^0-9])`)
	var scripts []string
	for _, pattern := range c.roots {
		files, _ := filepath.Glob(pattern) // fails only for a malformed pattern
		for _, file := range files {
			switch name := filepath.Base(file); {
			case version != "" && !named.MatchString(name):
			case isScript(name):
				scripts = append(scripts, file)
			default:
				all = append(all, file)
			}
		}
	}
	return append(all, scripts...)
}

// maxListed bounds the compilers that List asks for their version.
const maxListed = 64

// List returns the compilers of this machine that run, by version: of each version the one that Find returns.
func (c *Compilers) List(ctx context.Context) (all []*Compiler, err error) {
	listed := map[string]bool{}
	for i, file := range c.candidates("") {
		version, err := c.versionOf(ctx, file)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && !listed[version] {
			listed[version] = true
			all = append(all, &Compiler{version, file, c})
		}
		if i == maxListed {
			break
		}
	}
	slices.SortFunc(all, func(a, b *Compiler) int { return strings.Compare(a.Version, b.Version) })
	return all, nil
}

// isScript reports whether a file is solc's JavaScript.
func isScript(file string) bool {
	return strings.HasSuffix(file, ".js") || strings.HasSuffix(file, ".cjs")
}

// versionOf asks a compiler for its version, once for each state of the file.
func (c *Compilers) versionOf(ctx context.Context, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return "", err
	}
	now := identity{info.Size(), info.ModTime().UnixNano(), ""}
	c.mu.Lock()
	known := c.known[file]
	c.mu.Unlock()
	if known.size == now.size && known.changed == now.changed && known.version != "" {
		return known.version, nil
	}
	out, err := c.run(ctx, file, []string{"--version"}, nil)
	if err != nil {
		return "", err
	}
	m := printed.FindSubmatch(out)
	if m == nil {
		return "", errors.New("it does not print a solc version")
	}
	now.version = string(m[1])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[file] = now
	return now.version, nil
}

// command returns the program that runs a compiler, with its arguments.
func command(file string, args []string) (string, []string, error) {
	if !isScript(file) {
		path, err := filepath.Abs(file)
		return path, args, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", nil, errors.New("solc's JavaScript needs Node, which is not in the PATH")
	}
	path, err := filepath.Abs(file)
	return node, append([]string{"--max-old-space-size=1024", "-e", script, "--", path}, args...), err
}
