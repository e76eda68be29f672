package artifacts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// Bounds of a folder. A build-info with syntax trees may be large.
const (
	mostFiles     = 20_000
	mostEntries   = 200_000 // files and folders of any kind
	mostDepth     = 24
	mostArtifact  = 16 << 20
	mostBuildInfo = 128 << 20
	mostSource    = 4 << 20
	mostCode      = 256 << 20 // of all contracts of a folder together
	mostProblems  = 20
)

// folder is a folder of artifacts, read again where it changes.
type folder struct {
	path     string
	files    map[string]*file // by name below the path
	problems []string
}

// file is one file of a folder.
type file struct {
	size      int64
	modified  time.Time
	contracts []*Contract
	problem   string
}

// buildInfo is the folder of build-infos, below that of the artifacts.
const buildInfo = "build-info"

// scan reads what is new or has changed, and reports whether anything has.
func (f *folder) scan() (changed bool, err error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return false, fmt.Errorf("the artifacts cannot be read: %w", err)
	}
	defer root.Close()
	found, problems, err := f.list(root)
	if err != nil {
		return false, err
	}
	var stale []string
	for name, now := range found {
		if was := f.files[name]; was != nil && was.size == now.size && was.modified.Equal(now.modified) {
			found[name] = was
		} else {
			stale = append(stale, name)
		}
	}
	if len(stale) == 0 && len(found) == len(f.files) && slices.Equal(problems, f.problems) && f.files != nil {
		return false, nil
	}
	slices.Sort(stale)
	f.read(root, found, stale)
	f.files, f.problems = found, problems
	f.bound()
	return true, nil
}

// look is scan for a folder that may be gone, which is then one of its problems.
func (f *folder) look() (changed bool) {
	changed, err := f.scan()
	if err != nil {
		problem := []string{err.Error()}
		changed = !slices.Equal(problem, f.problems)
		f.files, f.problems = nil, problem
	}
	return changed
}

// list walks the folder.
func (f *folder) list(root *os.Root) (found map[string]*file, problems []string, err error) {
	found = map[string]*file{}
	entries := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s cannot be read: %v", name, err))
			return nil
		case entries == mostEntries:
			problems = append(problems, fmt.Sprintf("the folder has more than %d files and folders; the rest is not read", mostEntries))
			return fs.SkipAll
		case entry.IsDir() && strings.Count(name, "/") >= mostDepth:
			problems = append(problems, fmt.Sprintf("%s is not read: it is more than %d folders deep", name, mostDepth))
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink != 0:
			problems = append(problems, name+" is not read: it is a symbolic link")
			return nil
		case !entry.Type().IsRegular() || path.Ext(name) != ".json" || strings.HasSuffix(name, ".dbg.json") || strings.HasSuffix(name, ".metadata.json"):
			return nil
		case len(found) == mostFiles:
			problems = append(problems, fmt.Sprintf("the folder has more than %d files; the rest is not read", mostFiles))
			return fs.SkipAll
		}
		info, err := entry.Info()
		if err != nil {
			return nil // it is gone
		}
		found[name] = &file{size: info.Size(), modified: info.ModTime()}
		return nil
	})
	return found, problems, err
}

// isBuildInfo reports whether a file of the folder describes a run of the compiler.
func isBuildInfo(name string) bool {
	return path.Base(path.Dir(name)) == buildInfo || path.Dir(name) == "."
}

// read reads artifacts, several at a time.
func (f *folder) read(root *os.Root, found map[string]*file, names []string) {
	builds := &builds{folder: f.path, read: map[string]func() (*build, error){}}
	artifacts := slices.DeleteFunc(slices.Clone(names), isBuildInfo)
	next := make(chan string)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for name := range next {
				of := found[name]
				c, err := f.readArtifact(root, builds, name)
				if err != nil {
					of.problem = fmt.Sprintf("%s is not read: %v", name, err)
				} else if c != nil {
					of.contracts = []*Contract{c}
				}
			}
		})
	}
	for _, name := range artifacts {
		next <- name
	}
	close(next)
	readers.Wait()
	alone := true // a folder of build-infos only, as compilers' output is kept
	for name := range found {
		alone = alone && isBuildInfo(name)
	}
	for _, name := range names {
		if !isBuildInfo(name) || strings.HasSuffix(name, outputSuffix) {
			continue
		}
		of := found[name]
		if alone {
			var err error
			if of.contracts, err = builds.contracts(name); err != nil {
				of.problem = fmt.Sprintf("%s is not read: %v", name, err)
			}
		} else if of.size > mostBuildInfo {
			of.problem = fmt.Sprintf("%s is not read: it has more than %d MiB", name, mostBuildInfo>>20)
		}
	}
}

// bound forgets contracts beyond the bound.
func (f *folder) bound() {
	var sum int64
	over := 0
	for _, name := range f.names() {
		of := f.files[name]
		for i, c := range of.contracts {
			sum += int64(len(c.Creation.Bytes) + len(c.Runtime.Bytes) + len(c.ABI))
			if sum > mostCode {
				over += len(of.contracts) - i
				of.contracts = of.contracts[:i]
				break
			}
		}
	}
	if over > 0 {
		f.problems = append(f.problems, fmt.Sprintf("%d contracts are not known: those before them have %d MiB", over, mostCode>>20))
	}
}

func (f *folder) names() []string { return slices.Sorted(maps.Keys(f.files)) }

// Problems lists what could not be read, as sentences.
func (f *folder) allProblems() []string {
	all := slices.Clone(f.problems)
	for _, name := range f.names() {
		if p := f.files[name].problem; p != "" {
			all = append(all, p)
		}
	}
	if more := len(all) - mostProblems; more > 0 {
		all = append(all[:mostProblems], fmt.Sprintf("and %d more", more))
	}
	return all
}

// artifactFile is an artifact of Foundry, Hardhat 2 (hh-sol-artifact-1) or Hardhat 3 (hh3-artifact-1).
type artifactFile struct {
	ABI                                       json.RawMessage
	Bytecode, DeployedBytecode                artifactCode
	ContractName, SourceName, InputSourceName string
	BuildInfoID                               string
	LinkReferences, DeployedLinkReferences    linkReferences
	ImmutableReferences                       immutableReferences

	ID       *int // Foundry: the number of its source
	Metadata *contractMetadata
}

// artifactCode is hex, or Foundry's object.
type artifactCode struct {
	standardCode
	present bool
}

func (c *artifactCode) UnmarshalJSON(text []byte) error {
	c.present = true
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &c.Object)
	}
	return json.Unmarshal(text, &c.standardCode)
}

// contractMetadata is the compiler's metadata, as far as it is read.
type contractMetadata struct {
	Compiler struct{ Version string }
	Language string
	Settings json.RawMessage
	Sources  map[string]struct{ Keccak256 string }
}

// readFile reads a file of at most so many bytes.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err
		}
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		return nil, fmt.Errorf("it has more than %d MiB", most>>20)
	}
	raw, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("it has more than %d MiB", most>>20)
	}
	return raw, err
}

// readArtifact returns the contract of a file, or nil if it has none.
func (f *folder) readArtifact(root *os.Root, builds *builds, name string) (*Contract, error) {
	raw, err := readFile(root, name, mostArtifact)
	if err != nil {
		return nil, err
	}
	var a artifactFile
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if a.ABI == nil || !a.Bytecode.present || len(strings.TrimPrefix(a.Bytecode.Object, "0x")) == 0 {
		return nil, nil
	}
	c := &Contract{Name: a.ContractName, Source: a.SourceName, Origin: f.path, ABI: a.ABI}
	foundry := a.ContractName == ""
	if foundry {
		c.Name, _, _ = strings.Cut(path.Base(name), ".") // Name.json, or Name.0.8.30.json
		c.Source = path.Base(path.Dir(name))
		if target := a.target(); target != "" {
			c.Source = target
		}
	} else {
		a.Bytecode.LinkReferences, a.DeployedBytecode.LinkReferences, a.DeployedBytecode.ImmutableReferences = a.LinkReferences, a.DeployedLinkReferences, a.ImmutableReferences
	}
	if foundry && a.DeployedBytecode.ImmutableReferences == nil {
		a.DeployedBytecode.ImmutableReferences = immutableReferences{}
	}
	if c.Creation, err = readCode(a.Bytecode.Object, a.Bytecode.LinkReferences, immutableReferences{}); err != nil {
		return nil, err
	}
	if c.Runtime, err = readCode(a.DeployedBytecode.Object, a.DeployedBytecode.LinkReferences, a.DeployedBytecode.ImmutableReferences); err != nil {
		return nil, err
	}
	switch {
	case foundry:
		number := -1
		if a.ID != nil {
			number = *a.ID
		}
		hashes, m := map[string]string{}, a.Metadata
		m = cmp.Or(m, &contractMetadata{})
		for source, of := range m.Sources {
			hashes[source] = of.Keccak256
		}
		known := Build{Compiler: m.Compiler.Version, Language: m.Language, Settings: m.Settings}
		source := c.Source
		c.build = func() (*Build, error) { return builds.foundry(known, hashes, source, number) }
		c.maps = func() (string, string, error) { return builds.foundryMaps(name) }
	default:
		input := cmp.Or(a.InputSourceName, a.SourceName)
		info, contract := a.BuildInfoID, c.Name
		c.build = func() (*Build, error) {
			of, err := builds.hardhat(name, info)
			if err != nil {
				return nil, err
			}
			return renamed(of.build, input, a.SourceName), nil
		}
		c.maps = func() (string, string, error) {
			of, err := builds.hardhat(name, info)
			if err != nil {
				return "", "", err
			}
			maps := of.maps[input][contract]
			return maps[0], maps[1], nil
		}
	}
	return c.finish(), nil
}

// target returns the source of the contract by the compiler's settings.
func (a *artifactFile) target() string {
	if a.Metadata == nil {
		return ""
	}
	var settings struct{ CompilationTarget map[string]string }
	_ = json.Unmarshal(a.Metadata.Settings, &settings) // without a target the folder names the source
	for source := range settings.CompilationTarget {
		return source
	}
	return ""
}

// renamed gives a source the name that users know: Hardhat 3 compiles project/contracts/Token.sol for contracts/Token.sol.
func renamed(b *Build, from, to string) *Build {
	prefix := strings.TrimSuffix(from, to)
	if from == to || prefix+to != from {
		return b
	}
	copied := *b
	copied.Sources = slices.Clone(b.Sources)
	for i := range copied.Sources {
		copied.Sources[i].Name = strings.TrimPrefix(copied.Sources[i].Name, prefix)
	}
	return &copied
}

// builds reads the build-infos of a folder when they are needed.
type builds struct {
	folder string
	mu     sync.Mutex
	read   map[string]func() (*build, error) // by file
}

// build is what is kept of a build-info.
type build struct {
	build *Build
	maps  map[string]map[string][2]string // by source and contract: of the creation and of the deployed code
}

// buildInfoFile is a build-info of Hardhat or Foundry.
type buildInfoFile struct {
	ID              string
	SolcVersion     string
	SolcLongVersion string
	Input           *standardInput
	Output          *standardOutput
	Paths           map[string]string `json:"source_id_to_path"`
}

const (
	inputSuffix  = ".json"
	outputSuffix = ".output.json" // Hardhat 3's
)

// open reads a file of the folder. The caller closes the folder.
func (b *builds) open(name string) (*os.Root, []byte, error) {
	root, err := os.OpenRoot(b.folder)
	if err != nil {
		return nil, nil, err
	}
	raw, err := readFile(root, name, mostBuildInfo)
	if err != nil {
		root.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return root, raw, nil
}

// parse reads a build-info, with the output that Hardhat 3 keeps beside it.
func (b *builds) parse(name string) (*buildInfoFile, error) {
	root, raw, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var info buildInfoFile
	if err := json.Unmarshal(raw, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if info.Output == nil && info.Input != nil {
		output := strings.TrimSuffix(name, inputSuffix) + outputSuffix
		if raw, err = readFile(root, output, mostBuildInfo); err != nil {
			return nil, fmt.Errorf("%s: %w", output, err)
		}
		if err := json.Unmarshal(raw, &info); err != nil {
			return nil, fmt.Errorf("%s: %w", output, err)
		}
	}
	info.SolcLongVersion = cmp.Or(info.SolcLongVersion, info.SolcVersion)
	return &info, nil
}

// contracts reads all contracts of a build-info.
func (b *builds) contracts(name string) ([]*Contract, error) {
	info, err := b.parse(name)
	if err != nil || info.Input == nil || info.Output == nil {
		return nil, err
	}
	return contractsOf(info.Input, info.Output, info.SolcLongVersion, b.folder)
}

// hardhat returns the build-info of an artifact: by its id or, for Hardhat 2, by the file beside the artifact.
func (b *builds) hardhat(artifact, id string) (*build, error) {
	name := path.Join(buildInfo, id+inputSuffix)
	if id == "" {
		debug := strings.TrimSuffix(artifact, ".json") + ".dbg.json"
		root, err := os.OpenRoot(b.folder)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		raw, err := readFile(root, debug, mostArtifact)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", debug, err)
		}
		var names struct{ BuildInfo string }
		if err := json.Unmarshal(raw, &names); err != nil {
			return nil, fmt.Errorf("%s: %w", debug, err)
		}
		name = path.Join(path.Dir(debug), names.BuildInfo)
	}
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("the build-info of %s is not in the folder", artifact)
	}
	b.mu.Lock()
	read := b.read[name]
	if read == nil {
		read = once(func() (*build, error) { return b.whole(name) })
		b.read[name] = read
	}
	b.mu.Unlock()
	return read()
}

// whole reads a build-info that has input and output.
func (b *builds) whole(name string) (*build, error) {
	info, err := b.parse(name)
	if err != nil {
		return nil, err
	}
	if info.Input == nil || info.Output == nil {
		return nil, fmt.Errorf("%s has no input and output of the compiler", name)
	}
	of := &build{maps: map[string]map[string][2]string{}}
	if of.build, err = buildOf(info.Input, info.Output.ids(), info.SolcLongVersion); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for source, contracts := range info.Output.Contracts {
		of.maps[source] = map[string][2]string{}
		for contract, c := range contracts {
			of.maps[source][contract] = [2]string{c.EVM.Bytecode.SourceMap, c.EVM.DeployedBytecode.SourceMap}
		}
	}
	return of, nil
}

// foundryMaps reads the source maps of an artifact.
func (b *builds) foundryMaps(name string) (creation, runtime string, err error) {
	root, err := os.OpenRoot(b.folder)
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	raw, err := readFile(root, name, mostArtifact)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", name, err)
	}
	var a struct{ Bytecode, DeployedBytecode struct{ SourceMap string } }
	err = json.Unmarshal(raw, &a)
	return a.Bytecode.SourceMap, a.DeployedBytecode.SourceMap, err
}

// foundry returns the build of an artifact. Foundry's build-infos list the numbers of sources, and their text only with --build-info; otherwise it
// is in the project's folder, which contains that of the artifacts. The compiler's metadata tells whether it has changed.
func (b *builds) foundry(known Build, hashes map[string]string, source string, number int) (*Build, error) {
	best, err := b.foundryInfo(hashes, source, number)
	if err != nil {
		return nil, err
	}
	project, err := os.OpenRoot(filepath.Dir(b.folder))
	if err != nil {
		return nil, err
	}
	defer project.Close()
	result := known
	if best.Input != nil && result.Settings == nil {
		result.Compiler, result.Language, result.Settings = best.SolcLongVersion, best.Input.Language, best.Input.Settings
	}
	for key, name := range best.Paths {
		id, err := strconv.Atoi(key)
		if err != nil || id < 0 || id >= mostSources {
			return nil, fmt.Errorf("source %s has the number %q", name, key)
		}
		for len(result.Sources) <= id {
			result.Sources = append(result.Sources, Source{Missing: "no build-info lists this source"})
		}
		s := Source{Name: name}
		if best.Input != nil && best.Input.Sources[name].Content != "" {
			s.Content = best.Input.Sources[name].Content
		} else if hash, needed := hashes[name]; needed || len(hashes) == 0 {
			s.Content, s.Missing = readSource(project, name, hash)
		} else {
			s.Missing = "the contract does not use " + name
		}
		result.Sources[id] = s
	}
	for i := range result.Sources {
		result.Sources[i].finish()
	}
	return &result, nil
}

func readSource(project *os.Root, name, hash string) (text, missing string) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Sprintf("%s is not read: it is not in the project's folder", name)
	}
	raw, err := readFile(project, name, mostSource)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", name + " is not in the project's folder"
	case err != nil:
		return "", fmt.Sprintf("%s is not read: %v", name, err)
	case hash != "" && hash != hexutil.Encode(crypto.Keccak256(raw)):
		return "", name + " has changed since it was compiled"
	}
	return string(raw), ""
}

// foundryInfo returns the newest build-info that gives a source its number.
func (b *builds) foundryInfo(hashes map[string]string, source string, number int) (*buildInfoFile, error) {
	names, err := b.newest()
	if err != nil {
		return nil, err
	}
	var problem error
	for _, name := range names {
		info, err := b.parseFoundry(name)
		if err != nil {
			problem = err
			continue
		}
		listed := map[string]bool{}
		for _, name := range info.Paths {
			listed[name] = true
		}
		complete := info.Paths[strconv.Itoa(number)] == source
		for name := range hashes {
			complete = complete && listed[name]
		}
		if complete {
			return info, nil
		}
	}
	if problem != nil {
		return nil, problem
	}
	return nil, fmt.Errorf("no build-info has source %s with number %d, which its artifact names", source, number)
}

// parseFoundry reads a build-info without the compiler's output, which the artifacts have.
func (b *builds) parseFoundry(name string) (*buildInfoFile, error) {
	root, raw, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var info struct {
		SolcVersion, SolcLongVersion string
		Input                        *standardInput
		Paths                        map[string]string `json:"source_id_to_path"`
	}
	if err := json.Unmarshal(raw, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &buildInfoFile{SolcLongVersion: info.SolcLongVersion, Input: info.Input, Paths: info.Paths}, nil
}

// newest lists the build-infos, the newest first.
func (b *builds) newest() (names []string, err error) {
	root, err := os.OpenRoot(b.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, err := fs.ReadDir(root.FS(), buildInfo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	modified := map[string]time.Time{}
	for _, entry := range all {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(entry.Name(), inputSuffix) && !strings.HasSuffix(entry.Name(), outputSuffix) {
			name := path.Join(buildInfo, entry.Name())
			modified[name] = info.ModTime()
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(modified[y].Compare(modified[x]), strings.Compare(x, y)) })
	return names, nil
}
