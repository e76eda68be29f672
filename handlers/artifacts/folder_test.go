package artifacts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/artifacts"
)

// The same source, compiled by each tool: Foundry without the optimizer, Hardhat 2 with it, Hardhat 3 without.
var forms = []struct{ name, folder, source string }{
	{"Foundry", "testdata/foundry/out", "src/Counter.sol"},
	{"Hardhat 2", "testdata/hardhat2/artifacts", "contracts/Counter.sol"},
	{"Hardhat 3", "testdata/hardhat3/artifacts", "contracts/Counter.sol"},
	{"build-infos only", "testdata/hardhat2/artifacts/build-info", "contracts/Counter.sol"},
}

func open(t testing.TB, folder string) *artifacts.Registry {
	t.Helper()
	r := artifacts.New()
	if err := r.AddFolder(folder); err != nil {
		t.Fatal(err)
	}
	return r
}

func named(t testing.TB, r *artifacts.Registry, name string) *artifacts.Contract {
	t.Helper()
	for _, c := range r.Contracts() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no contract %s", name)
	return nil
}

// deployed returns code as a deployment leaves it: with the addresses of libraries and the values of immutable variables.
func deployed(t *testing.T, folder string, c *artifacts.Contract) []byte {
	t.Helper()
	code := bytes.Clone(c.Runtime.Bytes)
	for _, l := range c.Runtime.Links {
		copy(code[l.Start:], bytes.Repeat([]byte{0xab}, l.Length))
	}
	if c.Runtime.Immutables == nil { // Hardhat 2's artifacts do not list them
		zeros := append([]byte{0x7f}, make([]byte, 32)...)
		for at := bytes.Index(code, zeros); at >= 0; at = bytes.Index(code, zeros) {
			copy(code[at+1:], bytes.Repeat([]byte{7}, 32))
		}
	}
	for _, r := range c.Runtime.Immutables {
		copy(code[r.Start:], bytes.Repeat([]byte{7}, r.Length))
	}
	return code
}

// TestFolders finds each contract by its code in every form of folder.
func TestFolders(t *testing.T) {
	for _, form := range forms {
		r := open(t, form.folder)
		if folders := r.Folders(); len(folders) != 1 || folders[0].Contracts != 3 || len(folders[0].Problems) != 0 {
			t.Fatalf("%s: %+v", form.name, folders)
		}
		for _, name := range []string{"Counter", "Maker", "Sums"} {
			c := named(t, r, name)
			code := deployed(t, form.folder, c)
			if c.Source != form.source {
				t.Errorf("%s: %s is in %s", form.name, name, c.Source)
			}
			if found := r.Runtime(code); found != c {
				t.Errorf("%s: the code of %s is of %v", form.name, name, found)
			}
			if name != "Maker" && bytes.Equal(code, c.Runtime.Bytes) && name == "Counter" {
				t.Errorf("%s: the code of %s has nothing to fill in", form.name, name)
			}
			other := bytes.Clone(code)
			other[len(other)-10]++ // in the compiler's metadata
			if found := r.Runtime(other); found != c {
				t.Errorf("%s: with other metadata the code of %s is of %v", form.name, name, found)
			}
			other = bytes.Clone(code)
			other[len(other)/3]++
			if found := r.Runtime(other); found != nil {
				t.Errorf("%s: other code than that of %s is of %s", form.name, name, found.Name)
			}
			if found := r.Runtime(code[:len(code)-60]); found != nil {
				t.Errorf("%s: a part of the code of %s is of %s", form.name, name, found.Name)
			}
			init := append(bytes.Clone(c.Creation.Bytes), make([]byte, 32)...) // plus an argument
			for _, l := range c.Creation.Links {
				copy(init[l.Start:], bytes.Repeat([]byte{0xab}, l.Length))
			}
			if found := r.Creation(init); found != c {
				t.Errorf("%s: %s is created as %v", form.name, name, found)
			}
		}
		if c := r.Runtime(nil); c != nil {
			t.Errorf("%s: no code is of %s", form.name, c.Name)
		}
	}
}

// TestNestedMetadata: a contract that creates another contains its metadata, whose hash changes with comments.
func TestNestedMetadata(t *testing.T) {
	for _, form := range forms {
		r := open(t, form.folder)
		maker := named(t, r, "Maker")
		code := deployed(t, form.folder, maker)
		at := bytes.Index(code, []byte("\xa2\x64ipfs\x58\x22\x12\x20"))
		if at < 0 || at > len(code)-100 {
			t.Fatalf("%s: no nested metadata", form.name)
		}
		for i := range 32 {
			code[at+10+i] ^= 0xff
		}
		if found := r.Runtime(code); found != maker {
			t.Errorf("%s: found %v", form.name, found)
		}
	}
}

// TestPlaces maps the instructions of Counter to its source.
func TestPlaces(t *testing.T) {
	source, err := os.ReadFile("testdata/foundry/src/Counter.sol")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	for _, form := range forms {
		counter := named(t, open(t, form.folder), "Counter")
		if text, missing := counter.Text(); text != string(source) || missing != "" {
			t.Errorf("%s: the source is %q, %s", form.name, text, missing)
		}
		for _, creation := range []bool{true, false} {
			p, err := counter.Program(creation)
			if err != nil || p.Gap() != "" {
				t.Fatalf("%s: %v %s", form.name, err, p.Gap())
			}
			// The optimizer shares the code that reverts, so the condition's jump is as good.
			want := map[string]string{`revert TooMany(msg.sender, times);`: "add", `require(times != 7, "Counter: not seven");`: "next", `return Sums.sum(count, step * times);`: "next"}
			code := counter.Runtime.Bytes
			if creation {
				want, code = map[string]string{`require(by != 0, "Counter: no step");`: "constructor"}, counter.Creation.Bytes
			}
			entries := map[string]bool{}
			for pc := range code {
				if place := p.Place(uint64(pc)); place != nil {
					if strings.TrimSpace(lines[place.Line-1]) != place.Text {
						t.Fatalf("%s: line %d is %q", form.name, place.Line, place.Text)
					}
					if (code[pc] == 0xfd || code[pc] == 0x57) && want[place.Text] == place.Function && place.Contract == "Counter" && place.Source == form.source {
						delete(want, place.Text)
					}
				}
				if p.Whole(uint64(pc)) != 0 && code[pc] == 0x5b {
					entries[p.Place(uint64(pc)).Function] = true
				}
			}
			if len(want) > 0 {
				t.Errorf("%s: nothing reverts at %v", form.name, want)
			}
			if !creation && (!entries["add"] || !entries["next"]) {
				t.Errorf("%s: functions begin: %v", form.name, entries)
			}
		}
	}
}

// TestStandardJSON reads the compiler's own output.
func TestStandardJSON(t *testing.T) {
	files, _ := filepath.Glob("testdata/hardhat2/artifacts/build-info/*.json")
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Input, Output json.RawMessage }
	if err := json.Unmarshal(raw, &info); err != nil {
		t.Fatal(err)
	}
	all, err := artifacts.ParseStandard(info.Input, info.Output, "0.8.30+commit.73712a01", "verified")
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	r := artifacts.New()
	r.Add(all...)
	b, err := named(t, r, "Counter").Build()
	if err != nil || b.Compiler != "0.8.30+commit.73712a01" || b.Language != "Solidity" || !strings.Contains(string(b.Settings), "optimizer") {
		t.Errorf("%+v %v", b, err)
	}
	if c := r.Runtime(deployed(t, "", named(t, r, "Counter"))); c == nil || c.Origin != "verified" {
		t.Error(c)
	}
	if _, err := artifacts.ParseStandard([]byte("{"), info.Output, "", ""); err == nil || !strings.HasPrefix(err.Error(), "the compiler's input: ") {
		t.Error(err)
	}
}

// TestWhichCounts: of contracts with the same code the one added last wins, unless another has the same metadata.
func TestWhichCounts(t *testing.T) {
	files, _ := filepath.Glob("testdata/hardhat2/artifacts/build-info/*.json")
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Input, Output json.RawMessage }
	if err := json.Unmarshal(raw, &info); err != nil {
		t.Fatal(err)
	}
	r := open(t, "testdata/hardhat2/artifacts")
	code := named(t, r, "Sums").Runtime.Bytes
	other := bytes.Clone(code)
	other[len(other)-20]++ // in the hash of the metadata
	third := bytes.Clone(code)
	third[len(third)-21]++
	for _, origin := range []string{"first", "second"} {
		for _, variant := range [][]byte{code, other} {
			output := bytes.ReplaceAll(info.Output, fmt.Appendf(nil, "%x", code), fmt.Appendf(nil, "%x", variant))
			all, err := artifacts.ParseStandard(info.Input, output, "", fmt.Sprintf("%s %t", origin, bytes.Equal(variant, code)))
			if err != nil {
				t.Fatal(err)
			}
			r.Add(all...)
		}
	}
	for _, c := range []struct {
		code []byte
		want string
	}{{code, "second true"}, {other, "second false"}, {third, "second false"}} {
		if found := r.Runtime(c.code); found == nil || found.Origin != c.want {
			t.Errorf("found %+v, want %s", found, c.want)
		}
	}
}

// copyFolder copies a folder of the test data.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestChanges: a build made while the registry is in use is known at the next question.
func TestChanges(t *testing.T) {
	dir := copyFolder(t, "testdata/foundry")
	out := filepath.Join(dir, "out")
	kept := filepath.Join(dir, "Counter.json")
	artifact := filepath.Join(out, "Counter.sol", "Counter.json")
	counter := named(t, open(t, out), "Counter")
	code := deployed(t, out, counter)
	if err := os.Rename(artifact, kept); err != nil {
		t.Fatal(err)
	}
	r := open(t, out)
	if c := r.Runtime(code); c != nil {
		t.Fatal(c.Name)
	}
	before := r.Changes()
	if err := os.Rename(kept, artifact); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return r.Runtime(code) != nil })
	if r.Changes() == before {
		t.Error("nothing has changed")
	}
	if err := os.WriteFile(artifact, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return r.Runtime(code) == nil })
	if problems := r.Folders()[0].Problems; len(problems) != 1 || !strings.HasPrefix(problems[0], "Counter.sol/Counter.json is not read: ") {
		t.Error(problems)
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { f := r.Folders()[0]; return f.Contracts == 0 && len(f.Problems) == 1 })
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for range 1_500 { // on a busy machine, reading the folder takes longer than counting
		if what() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

// TestChangedSource: a source that differs from the compiled one would give wrong lines.
func TestChangedSource(t *testing.T) {
	dir := copyFolder(t, "testdata/foundry")
	source := filepath.Join(dir, "src", "Counter.sol")
	for _, c := range []struct {
		change func() error
		want   string
	}{
		{func() error { return os.WriteFile(source, []byte("contract Counter {}"), 0o600) }, "src/Counter.sol has changed since it was compiled"},
		{func() error { return os.Remove(source) }, "src/Counter.sol is not in the project's folder"},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		p, err := named(t, open(t, filepath.Join(dir, "out")), "Counter").Program(false)
		if err != nil || p.Gap() != c.want || p.Place(0) != nil {
			t.Errorf("%v, %s", err, p.Gap())
		}
	}
}

// edit changes a JSON file.
func edit(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	change(document)
	if raw, err = json.Marshal(document); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHostileFolders: each folder gives a sentence, in little memory, and the sound parts of it are known.
func TestHostileFolders(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.sol")
	if err := os.WriteFile(outside, []byte("contract Secret {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	artifact := func(dir string) string { return filepath.Join(dir, "out", "Counter.sol", "Counter.json") }
	info := func(dir string) string {
		all, _ := filepath.Glob(filepath.Join(dir, "out", "build-info", "*.json"))
		return all[0]
	}
	for _, c := range []struct {
		name      string
		spoil     func(dir string) error
		contracts int
		want      string // in the folder's problems
		gap       string // of the program; empty if it has none or cannot be read
	}{
		{"a cycle", func(dir string) error {
			return os.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "out", "again"))
		}, 3, "again is not read: it is a symbolic link", ""},
		{"an artifact of 200 MB", func(dir string) error { return os.Truncate(artifact(dir), 200<<20) }, 2, "Counter.sol/Counter.json is not read: it has more than 16 MiB", ""},
		{"a build-info of 200 MB", func(dir string) error { return os.Truncate(info(dir), 200<<20) }, 3, "it has more than 128 MiB", ""},
		{"deep JSON", func(dir string) error {
			return os.WriteFile(artifact(dir), bytes.Repeat([]byte("["), 1<<20), 0o600)
		}, 2, "exceeded max depth", ""},
		{"a library beyond the code", func(dir string) error {
			edit(t, artifact(dir), func(a map[string]any) {
				a["bytecode"].(map[string]any)["linkReferences"] = map[string]any{"a": map[string]any{"b": []any{map[string]any{"start": int64(1 << 40), "length": 20}}}}
			})
			return nil
		}, 2, "the place of library b is not in the code", ""},
		{"an immutable variable before the code", func(dir string) error {
			edit(t, artifact(dir), func(a map[string]any) {
				a["deployedBytecode"].(map[string]any)["immutableReferences"] = map[string]any{"1": []any{map[string]any{"start": -5, "length": 3}}}
			})
			return nil
		}, 2, "the place of an immutable variable is not in the code", ""},
		{"code that is not hex", func(dir string) error {
			edit(t, artifact(dir), func(a map[string]any) { a["bytecode"] = "0x60zz" })
			return nil
		}, 2, "the code is not hex", ""},
		{"a path out of the project", func(dir string) error {
			edit(t, info(dir), func(a map[string]any) {
				a["source_id_to_path"] = map[string]string{"0": "../" + filepath.Base(filepath.Dir(outside)) + "/secret.sol"}
			})
			edit(t, artifact(dir), func(a map[string]any) {
				m := a["metadata"].(map[string]any)
				m["settings"].(map[string]any)["compilationTarget"] = map[string]string{"../" + filepath.Base(filepath.Dir(outside)) + "/secret.sol": "Counter"}
				m["sources"] = map[string]any{}
			})
			return nil
		}, 3, "", "is not read: it is not in the project's folder"},
		{"a link out of the project", func(dir string) error {
			source := filepath.Join(dir, "src", "Counter.sol")
			if err := os.Remove(source); err != nil {
				return err
			}
			return os.Symlink(outside, source)
		}, 3, "", "src/Counter.sol is not read: "},
	} {
		dir := copyFolder(t, "testdata/foundry")
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := open(t, filepath.Join(dir, "out"))
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
			t.Errorf("%s takes %d MiB", c.name, used)
		}
		f := r.Folders()[0]
		if f.Contracts != c.contracts || c.want != "" && !strings.Contains(strings.Join(f.Problems, "\n"), c.want) || c.want == "" && len(f.Problems) > 0 {
			t.Errorf("%s: %d contracts, %q", c.name, f.Contracts, f.Problems)
		}
		if c.gap == "" {
			continue
		}
		p, err := named(t, r, "Counter").Program(false)
		if err != nil || !strings.Contains(p.Gap(), c.gap) {
			t.Errorf("%s: %v %+v", c.name, err, p)
		}
		for pc := range 100 {
			if p.Place(uint64(pc)) != nil {
				t.Errorf("%s: instruction %d has a place", c.name, pc)
			}
		}
	}
}

// TestBuildInfosElsewhere: an artifact that names a build-info outside the folder has no places, and that file is not read.
func TestBuildInfosElsewhere(t *testing.T) {
	for _, c := range []struct{ form, file, member, value string }{
		{"hardhat3", "Counter.json", "buildInfoId", "../../elsewhere"}, {"hardhat3", "Counter.json", "buildInfoId", "/elsewhere"},
		{"hardhat2", "Counter.dbg.json", "buildInfo", "../../../../elsewhere.json"}, {"hardhat2", "Counter.dbg.json", "buildInfo", "../../build-info/none.json"},
	} {
		dir := copyFolder(t, filepath.Join("testdata", c.form))
		info, _ := filepath.Glob(filepath.Join(dir, "artifacts", "build-info", "*.json"))
		for _, name := range info { // readable, were it not outside the folder
			suffix := ".json"
			if strings.HasSuffix(name, ".output.json") {
				suffix = ".output.json"
			}
			if err := os.Rename(name, filepath.Join(dir, "elsewhere"+suffix)); err != nil {
				t.Fatal(err)
			}
		}
		edit(t, filepath.Join(dir, "artifacts", "contracts", "Counter.sol", c.file), func(a map[string]any) { a[c.member] = c.value })
		counter := named(t, open(t, filepath.Join(dir, "artifacts")), "Counter")
		if p, err := counter.Program(false); err == nil {
			t.Errorf("%s %s: %+v", c.form, c.value, p)
		}
		if text, missing := counter.Text(); text != "" || missing == "" {
			t.Errorf("%s %s: %q", c.form, c.value, text)
		}
	}
}

// TestWrongMaps: a source map with invalid references places nothing, and nothing fails.
func TestWrongMaps(t *testing.T) {
	for _, wrong := range []string{"0:1000000000:0:-", "2147483647:2147483647:0:i", "-5:10:0", "1:1:77:o", "99999999999999999999:x:y:", strings.Repeat("1:2:0:-;", 100_000), ";;;;:::::;", "5:-7:0"} {
		dir := copyFolder(t, "testdata/foundry")
		edit(t, filepath.Join(dir, "out", "Counter.sol", "Counter.json"), func(a map[string]any) { a["deployedBytecode"].(map[string]any)["sourceMap"] = wrong })
		c := named(t, open(t, filepath.Join(dir, "out")), "Counter")
		p, err := c.Program(false)
		if err != nil {
			t.Fatal(err)
		}
		for pc := range uint64(len(c.Runtime.Bytes) + 10) {
			place := p.Place(pc)
			p.Whole(pc)
			if place != nil && !strings.HasPrefix(wrong, "1:2:0") {
				t.Errorf("%.30s: instruction %d is at %+v", wrong, pc, place)
			}
		}
	}
}

// TestNoFolder: anything but a folder is refused; the folder may be made later.
func TestNoFolder(t *testing.T) {
	r := artifacts.New()
	if err := r.AddFolder("doc.go"); err == nil || err.Error() != "doc.go is not a folder" {
		t.Error(err)
	}
	if !r.Empty() || len(r.Folders()) > 0 {
		t.Error("a refused folder counts")
	}
	dir := t.TempDir()
	r = open(t, filepath.Join(dir, "out"))
	if f := r.Folders(); len(f) != 1 || f[0].Contracts != 0 || len(f[0].Problems) != 1 || r.Empty() {
		t.Errorf("%+v", f)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/foundry")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(r.Contracts()) == 3 })
	var none *artifacts.Registry
	if !none.Empty() || none.Runtime([]byte{1}) != nil || none.Creation([]byte{1}) != nil || none.Contracts() != nil || none.Changes() != 0 {
		t.Error("no registry knows something")
	}
}

// project writes a folder with that many artifacts of average size, and returns the code of one of them.
func project(t testing.TB, count int) (folder string, code []byte) {
	t.Helper()
	folder = t.TempDir()
	raw, err := os.ReadFile("testdata/foundry/out/Counter.sol/Counter.json")
	if err != nil {
		t.Fatal(err)
	}
	var artifact map[string]any
	if err := json.Unmarshal(raw, &artifact); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		body := bytes.Repeat(fmt.Appendf(nil, "6080604052%08x5b", i), 700) // 7.7 kB, a third of the largest
		object := slices.Concat([]byte("0x"), body, []byte("a264697066735822122000000000000000000000000000000000000000000000000000000000000000006473 6f6c634300081e0033"))
		hex := strings.ReplaceAll(string(object), " ", "")
		artifact["deployedBytecode"] = map[string]any{"object": hex, "sourceMap": strings.Repeat("123:45:0:-:0;", 700)}
		artifact["bytecode"] = map[string]any{"object": hex, "sourceMap": strings.Repeat("123:45:0:-:0;", 700)}
		text, err := json.Marshal(artifact)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(folder, fmt.Sprintf("C%d.sol", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("C%d.json", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range open(t, folder).Contracts() {
		if c.Name == fmt.Sprintf("C%d", count/2) {
			return folder, c.Runtime.Bytes
		}
	}
	t.Fatal("the project is not read")
	return "", nil
}

// BenchmarkFirstMatch reads 2,000 artifacts and finds the first contract; the budget is a second.
func BenchmarkFirstMatch(b *testing.B) {
	folder, code := project(b, 2_000)
	for b.Loop() {
		if open(b, folder).Runtime(code) == nil {
			b.Fatal("not found")
		}
	}
}

// BenchmarkKnownMatch finds a contract that was found before.
func BenchmarkKnownMatch(b *testing.B) {
	folder, code := project(b, 2_000)
	r := open(b, folder)
	for b.Loop() {
		if r.Runtime(code) == nil {
			b.Fatal("not found")
		}
	}
}
