package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inSources runs a test in the folder where the Makefile runs the program.
func inSources(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

func TestVersions(t *testing.T) {
	for version, want := range map[string][2]string{
		"v0.0.0-20261128045126-c6e751cb0614":       {"0.0.0-20261128045126-c6e751cb0614", "0.0.0.dev20261128045126"},
		"v0.0.0-20261128045126-c6e751cb0614+dirty": {"0.0.0-20261128045126-c6e751cb0614", "0.0.0.dev20261128045126"},
		"v1.2.3":                               {"1.2.3", "1.2.3"},
		"v1.2.4-0.20261128045126-c6e751cb0614": {"1.2.4-0.20261128045126-c6e751cb0614", "1.2.4.dev20261128045126"},
		"v1.2.3-rc.1":                          {"1.2.3-rc.1", "1.2.3rc1"},
		"v1.2.3-rc.1.0.20261128045126-c6e751cb0614": {"1.2.3-rc.1.0.20261128045126-c6e751cb0614", "1.2.3rc1.dev20261128045126"},
		"(devel)":               {"0.0.0", "0.0.0"},
		"v1.2":                  {"0.0.0", "0.0.0"},
		"v1.2.3-rc.1\nanything": {"0.0.0", "0.0.0"},
	} {
		if npm, python := versionsOf(version); npm != want[0] || python != want[1] {
			t.Errorf("%s: %s and %s, want %s", version, npm, python, want)
		}
	}
}

// unpack returns the files of an npm package, with their modes.
func unpack(t *testing.T, packed []byte) (bodies map[string][]byte, modes map[string]int64) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	bodies, modes = map[string][]byte{}, map[string]int64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return bodies, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		if bodies[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		modes[h.Name] = h.Mode
	}
}

// TestLauncherNamesAPackageForEachPlatform: the launcher depends on the packages with the programs, in the same version.
func TestLauncherNamesAPackageForEachPlatform(t *testing.T) {
	inSources(t)
	program := filepath.Join(t.TempDir(), "snowglobe")
	if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	platforms := []string{"linux/amd64", "darwin/arm64", "windows/amd64"}
	name, packed, err := launcher("1.2.3", platforms)
	if err != nil || name != "snowglobe-1.2.3.tgz" {
		t.Fatal(name, err)
	}
	bodies, modes := unpack(t, packed)
	type manifest struct {
		Name, Version, License    string
		Private                   bool
		OS, CPU, Files            []string
		Bin, OptionalDependencies map[string]string
		Exports                   map[string]any
	}
	read := func(raw []byte) (m manifest) {
		t.Helper()
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if m.Version != "1.2.3" || m.License != "UNLICENSED" || !m.Private {
			t.Errorf("%+v", m)
		}
		return m
	}
	m := read(bodies["package/package.json"])
	if modes["package/"+m.Bin["snowglobe"]] != 0o755 || len(m.OptionalDependencies) != len(platforms) {
		t.Errorf("%+v %v", m, modes)
	}
	text := string(bodies["package/package.json"])
	for _, path := range strings.Split(text, `"./`)[1:] {
		path, _, _ = strings.Cut(path, `"`)
		if _, there := bodies["package/"+path]; !there && m.Exports["./"+path] == nil {
			t.Errorf("package.json names %s, which is not there", path)
		}
	}
	for _, platform := range platforms {
		_, packed, err := platformPackage(program, platform, "1.2.3", []file{{"LICENSES.txt", nil, 0o644}})
		if err != nil {
			t.Fatal(err)
		}
		bodies, modes := unpack(t, packed)
		one := read(bodies["package/package.json"])
		if m.OptionalDependencies[one.Name] != one.Version || len(one.OS) != 1 || len(one.CPU) != 1 || one.Name != "@snowglobe/"+one.OS[0]+"-"+one.CPU[0] {
			t.Errorf("%s: %+v", platform, one)
		}
		if modes["package/bin/snowglobe"] != 0o755 || string(bodies["package/bin/snowglobe"]) != "program" || bodies["package/LICENSES.txt"] == nil {
			t.Errorf("%s: %v", platform, modes)
		}
	}
}

// TestWheelRecordsItsFiles: RECORD has the checksum and size of each file, and the program is executable.
func TestWheelRecordsItsFiles(t *testing.T) {
	inSources(t)
	program := filepath.Join(t.TempDir(), "snowglobe")
	if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	about := []file{{"LICENSES.txt", []byte("all"), 0o644}, {"sbom.cdx.json", []byte("{}"), 0o644}}
	name, packed, err := wheel(program, "linux/arm64", "1.2.3", about)
	if err != nil || name != "snowglobe-1.2.3-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl" {
		t.Fatal(name, err)
	}
	if _, again, err := wheel(program, "linux/arm64", "1.2.3", about); err != nil || !bytes.Equal(again, packed) {
		t.Error("other bytes the second time", err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		bodies[f.Name] = string(body)
		if executable := f.Mode()&0o111 != 0; executable != strings.HasSuffix(f.Name, "/scripts/snowglobe") {
			t.Errorf("%s has mode %s", f.Name, f.Mode())
		}
	}
	const info = "snowglobe-1.2.3.dist-info/"
	rows, err := csv.NewReader(strings.NewReader(bodies[info+"RECORD"])).ReadAll()
	if err != nil || len(rows) != len(bodies) {
		t.Fatalf("%d of %d files are recorded: %v", len(rows), len(bodies), err)
	}
	for _, row := range rows[:len(rows)-1] {
		sum := sha256.Sum256([]byte(bodies[row[0]]))
		if row[1] != "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) || row[2] != fmt.Sprint(len(bodies[row[0]])) {
			t.Errorf("%v", row)
		}
	}
	for _, want := range []string{"snowglobe/__init__.py", "snowglobe/py.typed", "snowglobe/pytest_plugin.py", "snowglobe-1.2.3.data/scripts/snowglobe", info + "licenses/LICENSES.txt", info + "sboms/sbom.cdx.json"} {
		if _, there := bodies[want]; !there {
			t.Errorf("the wheel lacks %s", want)
		}
	}
	if !strings.Contains(bodies[info+"METADATA"], "\nVersion: 1.2.3\n") || strings.Count(bodies[info+"WHEEL"], "\nTag: py3-none-") != 3 {
		t.Errorf("%s%s", bodies[info+"METADATA"], bodies[info+"WHEEL"])
	}
}
