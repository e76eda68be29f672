package artifacts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Registry is the set of contracts that a process knows. A nil Registry knows none. Its methods may run at the same time.
type Registry struct {
	mu      sync.Mutex
	added   []*Contract
	folders []*folder
	next    time.Time // when to look at the folders again

	all        []*Contract
	byLength   map[int][]*Contract // of the deployed code without metadata
	runtimes   map[common.Hash]*Contract
	creations  map[common.Hash]*Contract
	signatures *signatures
	changes    uint64
}

// Folder describes a folder that the registry reads.
type Folder struct {
	Path      string
	Contracts int
	Problems  []string // what could not be read, as sentences
}

// How long a look at the folders counts: at least recheck, and so long that looking takes a small part of the time.
const (
	recheck  = 250 * time.Millisecond
	lookCost = 20 // times as long as a look takes
)

// mostRemembered bounds the code hashes that are remembered with their contract.
const mostRemembered = 10_000

// New returns a registry that knows nothing.
func New() *Registry { return &Registry{} }

// Add makes contracts known. Where several have the same code, the one added last counts, and a folder's counts less.
func (r *Registry) Add(all ...*Contract) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added = append(r.added, all...)
	r.index()
}

// AddFolder reads a folder: Foundry's out, the artifacts of Hardhat 2 or 3, or a folder of build-infos. From then on the registry notices when it
// changes. The folder may not exist yet, which is one of its problems until it does.
func (r *Registry) AddFolder(dir string) error {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = resolved
	}
	if info, err := os.Stat(absolute); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &folder{path: absolute}
	if i := slices.IndexFunc(r.folders, func(other *folder) bool { return other.path == absolute }); i >= 0 {
		f = r.folders[i]
	}
	f.look()
	if !slices.Contains(r.folders, f) {
		r.folders = append(r.folders, f)
	}
	r.index()
	return nil
}

// Empty reports whether the registry has neither contracts nor folders.
func (r *Registry) Empty() bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.added) == 0 && len(r.folders) == 0
}

// refresh looks at the folders, unless it did a moment ago.
func (r *Registry) refresh() {
	if len(r.folders) == 0 || time.Now().Before(r.next) {
		return
	}
	begin := time.Now()
	changed := false
	for _, f := range r.folders {
		changed = f.look() || changed
	}
	if changed {
		r.index()
	}
	end := time.Now()
	r.next = end.Add(max(recheck, lookCost*end.Sub(begin)))
}

func (r *Registry) index() {
	r.all, r.byLength = nil, map[int][]*Contract{}
	r.runtimes, r.creations, r.signatures = map[common.Hash]*Contract{}, map[common.Hash]*Contract{}, nil
	for _, f := range r.folders {
		for _, name := range f.names() {
			r.all = append(r.all, f.files[name].contracts...)
		}
	}
	r.all = append(r.all, r.added...)
	slices.Reverse(r.all) // the first match counts
	for _, c := range r.all {
		length := body(c.Runtime.Bytes)
		r.byLength[length] = append(r.byLength[length], c)
	}
	r.changes++
}

// Contracts returns all contracts.
func (r *Registry) Contracts() []*Contract {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	return slices.Clone(r.all)
}

// Folders describes the folders, in the order in which they were added.
func (r *Registry) Folders() (all []Folder) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	for _, f := range r.folders {
		count := 0
		for _, of := range f.files {
			count += len(of.contracts)
		}
		all = append(all, Folder{f.path, count, f.allProblems()})
	}
	return all
}

// Changes counts the times at which contracts became known or were forgotten.
func (r *Registry) Changes() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	return r.changes
}

// Runtime returns the contract that has this deployed code, or nil. One whose metadata is the same counts before one whose metadata differs, as
// after a change of comments.
func (r *Registry) Runtime(code []byte) *Contract { return r.find(code, false) }

// Creation returns the contract that this code creates, with the constructor's arguments at its end, or nil.
func (r *Registry) Creation(code []byte) *Contract { return r.find(code, true) }

func (r *Registry) find(code []byte, creates bool) *Contract {
	if r == nil || len(code) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	if len(r.all) == 0 {
		return nil
	}
	known, search := r.runtimes, r.deployed
	if creates {
		known, search = r.creations, r.created
	}
	hash := crypto.Keccak256Hash(code)
	c, searched := known[hash]
	if !searched {
		c = search(code)
		remember(known, hash, c)
	}
	return c
}

func (r *Registry) deployed(code []byte) *Contract {
	return best(r.byLength[body(code)], func(c *Contract) (bool, bool) { return c.Runtime.same(code, false) })
}

func (r *Registry) created(code []byte) (found *Contract) {
	for _, c := range r.all {
		if same, _ := c.Creation.same(code, true); same && (found == nil || len(c.Creation.Bytes) > len(found.Creation.Bytes)) {
			found = c
		}
	}
	return found
}

func best(all []*Contract, same func(*Contract) (same, exact bool)) (found *Contract) {
	for _, c := range all {
		if same, exact := same(c); exact {
			return c
		} else if same && found == nil {
			found = c
		}
	}
	return found
}

func remember(all map[common.Hash]*Contract, hash common.Hash, c *Contract) {
	if len(all) >= mostRemembered {
		clear(all)
	}
	all[hash] = c
}
