// Command dist builds the program for several platforms and packs each with its manual pages, the licences of everything that is linked or
// embedded, and a bill of materials; or it packs an image for containers, without a daemon. The same commit gives the same bytes.
//
//	go run ./testdata/dist FOLDER linux/amd64 windows/amd64 …
//	go run ./testdata/dist -image FILE linux/amd64 linux/arm64
//	go run ./testdata/dist -program FILE FOLDER linux/amd64
//
// The last form packs an already built program for npm and pip.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// file is a file of an archive.
type file struct {
	name string
	body []byte
	mode int64
}

func main() {
	log.SetFlags(0)
	image := flag.Bool("image", false, "write an OCI archive")
	program := flag.String("program", "", "pack this program of the platform for npm and pip")
	flag.Parse()
	if flag.NArg() < 2 {
		log.Fatal("usage: dist [-image | -program FILE] WHERE PLATFORM...")
	}
	do := archives
	if *image {
		do = writeImage
	}
	if *program != "" {
		do = func(out string, platforms []string) error { return packProgram(out, *program, platforms) }
	}
	if err := do(flag.Arg(0), flag.Args()[1:]); err != nil {
		log.Fatal(err)
	}
}

// flags lists the Makefile's build flags.
var flags = []string{"-trimpath", "-gcflags=all=-dwarf=false"}

// goTool runs the go command for a platform, in a folder if one is given, and returns its output.
func goTool(folder, platform string, env []string, verb string, args ...string) ([]byte, error) {
	system, processor, _ := strings.Cut(platform, "/")
	c := exec.Command("go", slices.Concat([]string{verb}, flags, args)...)
	c.Env = slices.Concat(os.Environ(), []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + processor}, env)
	if c.Dir = folder; folder != "" {
		c.Env = append(c.Env, "PWD="+folder) // the link's name, not its target's
	}
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", platform, err, &problem)
	}
	return out.Bytes(), nil
}

// build builds the program for a platform from the sources in a folder, by default the working directory.
func build(work, platform, sources string, env ...string) (path string, err error) {
	path = filepath.Join(work, strings.ReplaceAll(platform, "/", "-"), "snowglobe")
	if strings.HasPrefix(platform, "windows/") {
		path += ".exe"
	}
	_, err = goTool(sources, platform, env, "build", "-ldflags", "-s -w", "-o", path, ".")
	return path, err
}

// buildAgain builds a program a second time. It compiles our own packages again, in a folder with another name and at another time, and takes the
// dependencies from the build cache.
func buildAgain(work, platform, processors string) (path string, err error) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", err
	}
	from := strings.TrimSpace(string(cache))
	to, err := os.MkdirTemp(from, "dist-") // hard links need one file system
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(to)
	list, err := goTool("", platform, nil, "list", "-deps", "-export", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}} {{$.Export}}{{end}}{{end}}", ".")
	if err != nil {
		return "", err
	}
	for part := range 256 {
		name := fmt.Sprintf("%02x", part)
		if err := linkFiles(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return "", err
		}
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if name, file, found := strings.Cut(strings.TrimSpace(line), " "); found {
			if compiled[name], err = filepath.Rel(from, file); err != nil {
				return "", err
			}
			if err := os.Remove(filepath.Join(to, compiled[name])); err != nil {
				return "", err
			}
		}
	}
	if len(compiled) == 0 {
		return "", fmt.Errorf("%s: none of our packages is compiled", platform)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	elsewhere := filepath.Join(work, "sources")
	if err := os.Symlink(here, elsewhere); err != nil {
		return "", err
	}
	if path, err = build(filepath.Join(work, "second"), platform, elsewhere, processors, "GOCACHE="+to); err != nil {
		return "", err
	}
	var others []string
	for name, file := range compiled { // cache files are named by content
		if _, err := os.Stat(filepath.Join(to, file)); err != nil {
			others = append(others, name)
		}
	}
	if len(others) > 0 { // packages that import a changed one are among them
		slices.Sort(others)
		return "", fmt.Errorf("%s: other bytes when they are compiled a second time: %s", platform, strings.Join(others, ", "))
	}
	return path, nil
}

// linkFiles hard-links the files of a folder into another one. It leaves out programs, which are in subfolders.
func linkFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		err := os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // another build may have tidied up
			return err
		}
	}
	return nil
}

// archives writes an archive for each platform, and their checksums. It makes the first one twice and compares.
func archives(out string, platforms []string) error {
	work, err := os.MkdirTemp("", "snowglobe-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	own := runtime.GOOS + "/" + runtime.GOARCH
	programs, err := buildAll(work, append(slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return p == own }), own), platforms[0])
	if err != nil {
		return err
	}
	common, err := manPages(programs[own])
	if err != nil {
		return err
	}
	for _, name := range []string{"README.md", ".github/CHANGELOG.md"} {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		common = append(common, file{filepath.Base(name), body, 0o644})
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	names, packed := make([]string, len(platforms)+1), make([][]byte, len(platforms)+1)
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i, platform := range append(slices.Clone(platforms), platforms[0]) {
		all.Go(func() (err error) {
			program := programs[platform]
			if i == len(platforms) {
				program = programs[second]
			}
			names[i], packed[i], err = archive(program, platform, common)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if !bytes.Equal(packed[0], packed[len(platforms)]) {
		return fmt.Errorf("%s has other bytes when it is made a second time", names[0])
	}
	for i := range platforms {
		if err := os.WriteFile(filepath.Join(out, names[i]), packed[i], 0o644); err != nil {
			return err
		}
	}
	first := names[0]
	names = names[:len(platforms)]
	more, err := allPackages(out, programs, platforms)
	if err != nil {
		return err
	}
	source, err := sourceArchive(out)
	if err != nil {
		return err
	}
	if names, err = writeSums(out, slices.Concat(names, more, []string{source})); err != nil {
		return err
	}
	log.Printf("%s: %s", out, strings.Join(names, ", "))
	log.Printf("%s/%s: the same bytes a second time, and its packages, compiled anew in another folder", out, first)
	return nil
}

// allPackages writes the packages for all platforms. It makes those of the first platform again from the second build, and compares.
func allPackages(out string, programs map[string]string, platforms []string) (names []string, err error) {
	version, _, err := packageVersion(programs[platforms[0]])
	if err != nil {
		return nil, err
	}
	name, packed, err := launcher(version, platforms)
	if err != nil {
		return nil, err
	}
	if err := writePackage(out, "npm", name, packed); err != nil {
		return nil, err
	}
	again, err := os.MkdirTemp("", "snowglobe-packages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(again)
	made := make([][]string, len(platforms)+1)
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i, platform := range append(slices.Clone(platforms), platforms[0]) {
		all.Go(func() (err error) {
			folder, program := out, programs[platform]
			if i == len(platforms) {
				folder, program = again, programs[second]
			}
			made[i], err = packages(folder, program, platform)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	for _, name := range made[len(platforms)] {
		one, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		other, err := os.ReadFile(filepath.Join(again, name))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(one, other) {
			return nil, fmt.Errorf("%s has other bytes when it is made a second time", name)
		}
	}
	return append(slices.Concat(made[:len(platforms)]...), "npm/"+name), nil
}

// sourceArchive writes the commit's sources, with which users can relink the program.
func sourceArchive(out string) (name string, err error) {
	const folder = "snowglobe-source"
	sources, err := exec.Command("git", "archive", "--format=tar", "--prefix="+folder+"/", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git archive: %w", err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(sources); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return folder + ".tar.gz", os.WriteFile(filepath.Join(out, folder+".tar.gz"), b.Bytes(), 0o644)
}

// writeSums writes the checksums of files, and returns their names in order.
func writeSums(out string, names []string) ([]string, error) {
	slices.Sort(names)
	var sums bytes.Buffer
	for _, name := range names {
		body, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(body), name)
	}
	return names, os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// second names the program that is built a second time.
const second = "second"

// buildAll builds the program for each platform, and for one of them a second time.
func buildAll(work string, platforms []string, twice string) (programs map[string]string, err error) {
	programs = map[string]string{}
	var (
		all errgroup.Group
		mu  sync.Mutex
	)
	all.SetLimit(runtime.NumCPU())
	// A compiler on one processor does less work than on two.
	processors := fmt.Sprintf("GOMAXPROCS=%d", (runtime.NumCPU()+len(platforms)-1)/len(platforms))
	for _, platform := range platforms {
		all.Go(func() error {
			path, err := build(work, platform, "", processors)
			again := ""
			if err == nil && platform == twice {
				again, err = buildAgain(work, platform, processors)
			}
			mu.Lock()
			defer mu.Unlock()
			programs[platform] = path
			if again != "" {
				programs[second] = again
			}
			return err
		})
	}
	return programs, all.Wait()
}

// archive packs one platform's archive.
func archive(program, platform string, common []file) (name string, packed []byte, err error) {
	body, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	about, err := materials(program)
	if err != nil {
		return "", nil, err
	}
	folder := "snowglobe-" + strings.ReplaceAll(platform, "/", "-")
	files := slices.Concat([]file{{filepath.Base(program), body, 0o755}}, common, about)
	for i := range files {
		files[i].name = folder + "/" + files[i].name
	}
	if strings.HasPrefix(platform, "windows/") {
		packed, err = packZip(files)
		return folder + ".zip", packed, err
	}
	packed, err = packTar(files)
	return folder + ".tar.gz", packed, err
}

// manPages returns the man pages of the program and its verbs.
func manPages(program string) (pages []file, err error) {
	for _, verb := range []string{"", "serve", "exec", "env", "healthcheck", "generate", "init", "verify", "digest", "clock", "snapshot", "world", "types"} {
		args := strings.Fields("man " + verb)
		c := exec.Command(program, args...)
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=0")
		body, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("man %s: %w", verb, err)
		}
		pages = append(pages, file{"man/" + strings.TrimSuffix("snowglobe-"+verb, "-") + ".1", body, 0o644})
	}
	return pages, nil
}

// materials returns the licences of all modules in a program, and the list of them in CycloneDX.
func materials(program string) ([]file, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var licences bytes.Buffer
	licences.WriteString("The licence of Snowglobe itself is its owner's to choose, and is not among these. They are those of what the program has in it.\n")
	if err := gather(&licences, "The Go standard library "+info.GoVersion, runtimeRoot()); err != nil {
		return nil, err
	}
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
	components := []component{}
	list := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
		list = append(list, m.Path)
	}
	folders, err := exec.Command("go", list...).Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	for i, folder := range strings.Split(strings.TrimSpace(string(folders)), "\n") {
		if err := gather(&licences, components[i].Name+" "+components[i].Version, folder); err != nil {
			return nil, err
		}
	}
	pages, err := filepath.Glob("fixtures/web/*.gz")
	if err != nil {
		return nil, err
	}
	for _, path := range pages {
		if name := strings.TrimSuffix(filepath.Base(path), ".gz"); strings.HasSuffix(name, "LICENSE") || strings.HasSuffix(name, "NOTICE") {
			raw, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			z, err := gzip.NewReader(raw)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&licences, "\n==== %s, in the pages\n\n", name)
			if _, err := io.Copy(&licences, z); err != nil {
				return nil, err
			}
			raw.Close()
		}
	}
	of, err := filepath.Glob("fixtures/contracts/artifacts/*.LICENSE")
	if err != nil || len(of) == 0 {
		return nil, fmt.Errorf("no licences of the contracts: %w", err)
	}
	for _, path := range of {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&licences, "\n==== %s, in the contracts\n\n%s", filepath.Base(path), text)
	}
	bill, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components,
		"metadata": map[string]any{"component": map[string]any{"type": "application", "name": "snowglobe", "version": info.Main.Version}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	relink, err := os.ReadFile(filepath.Join(sources, "RELINK.md"))
	return []file{{"LICENSES.txt", licences.Bytes(), 0o644}, {"RELINK.md", relink, 0o644}, {"sbom.cdx.json", append(bill, '\n'), 0o644}}, err
}

func runtimeRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// gather appends the licences found in a folder, and fails if there are none.
func gather(b *bytes.Buffer, title, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "\n==== %s: %s\n\n%s", title, e.Name(), text)
	}
	if found {
		return nil
	}
	// Some modules have it only at the top of a source file.
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if head, _, _ := strings.Cut(string(text), "\npackage "); strings.Contains(strings.ToLower(head), "license") {
			fmt.Fprintf(b, "\n==== %s: %s\n\n%s\n", title, filepath.Base(path), head)
			return nil
		}
	}
	return fmt.Errorf("%s has no licence in %s", title, folder)
}

// packTar writes an archive without any trace of when and where it was made.
func packTar(files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func packZip(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		entry, err := w.CreateHeader(entry(f))
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
