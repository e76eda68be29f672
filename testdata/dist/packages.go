package main

import (
	"archive/zip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// sources is the folder with everything in the packages except the program.
const sources = "handlers/packages"

// nodePlatforms and wheelTags name the platforms the way Node and Python do. The programs are static, so on Linux they run with either C library.
// Go 1.26 needs macOS 12.
var (
	nodePlatforms = map[string]string{
		"linux/amd64": "linux-x64", "linux/arm64": "linux-arm64", "darwin/amd64": "darwin-x64", "darwin/arm64": "darwin-arm64", "windows/amd64": "win32-x64",
	}
	wheelTags = map[string]string{
		"linux/amd64":  "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
		"linux/arm64":  "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
		"darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64", "windows/amd64": "win_amd64",
	}
)

// packageVersion converts a program's version from Go's form to those of npm and Python (PEP 440).
func packageVersion(program string) (npm, python string, err error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", "", err
	}
	npm, python = versionsOf(info.Main.Version)
	return npm, python, nil
}

var versionForm = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(?:(?:0\.)?(\d{14})-[0-9a-f]{12}|(?:[a-z]+)\.?(\d+)(?:\.0\.(\d{14})-[0-9a-f]{12})?))?(?:\+[a-z.]+)?$`)

// versionsOf converts a version in Go's form. One without a commit, or in another form, becomes 0.0.0.
func versionsOf(version string) (npm, python string) {
	parts := versionForm.FindStringSubmatch(version)
	if parts == nil {
		return "0.0.0", "0.0.0"
	}
	npm, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "+")
	python = parts[1]
	if parts[3] != "" {
		python += "rc" + parts[3]
	}
	if made := parts[2] + parts[4]; made != "" {
		python += ".dev" + made
	}
	return npm, python
}

// launcher packs the npm package without a program, which depends on one package for each platform.
func launcher(version string, platforms []string) (name string, packed []byte, err error) {
	files, err := readFolder(filepath.Join(sources, "npm"))
	if err != nil {
		return "", nil, err
	}
	optional := map[string]string{}
	for _, platform := range platforms {
		optional["@snowglobe/"+nodePlatforms[platform]] = version
	}
	list, err := json.MarshalIndent(optional, "  ", "  ")
	if err != nil {
		return "", nil, err
	}
	for i := range files {
		if files[i].name == "package.json" {
			text := strings.Replace(string(files[i].body), `"version": "0.0.0"`, `"version": "`+version+`"`, 1)
			files[i].body = []byte(strings.Replace(text, `  "peerDependencies"`, `  "optionalDependencies": `+string(list)+",\n  \"peerDependencies\"", 1))
		}
		if strings.HasPrefix(files[i].name, "bin/") {
			files[i].mode = 0o755
		}
	}
	packed, err = packTar(under("package/", files))
	return "snowglobe-" + version + ".tgz", packed, err
}

// platformPackage packs the npm package with the program for a platform.
func platformPackage(program, platform, version string, about []file) (name string, packed []byte, err error) {
	node := nodePlatforms[platform]
	system, processor, _ := strings.Cut(node, "-")
	body, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	manifest, err := json.MarshalIndent(struct {
		Name            string   `json:"name"`
		Version         string   `json:"version"`
		Description     string   `json:"description"`
		License         string   `json:"license"`
		Type            string   `json:"type"`
		Private         bool     `json:"private"`
		OS              []string `json:"os"`
		CPU             []string `json:"cpu"`
		PreferUnplugged bool     `json:"preferUnplugged"` // otherwise Yarn keeps the program in a zip file
	}{"@snowglobe/" + node, version, "The program of the package snowglobe for " + platform, "UNLICENSED", "commonjs", true, []string{system}, []string{processor}, true}, "", "  ")
	if err != nil {
		return "", nil, err
	}
	files := append([]file{
		{"package.json", append(manifest, '\n'), 0o644},
		{"README.md", fmt.Appendf(nil, "# @snowglobe/%s\n\nThe program of the package `snowglobe` for %s. Install that package instead.\n", node, platform), 0o644},
		{"bin/" + filepath.Base(program), body, 0o755},
	}, about...)
	packed, err = packTar(under("package/", files))
	return "snowglobe-" + node + "-" + version + ".tgz", packed, err
}

// wheel packs the Python package with the program for a platform, in the format of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
func wheel(program, platform, version string, about []file) (name string, packed []byte, err error) {
	files, err := readFolder(filepath.Join(sources, "python"))
	if err != nil {
		return "", nil, err
	}
	body, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	files = append(files, file{"snowglobe-" + version + ".data/scripts/" + filepath.Base(program), body, 0o755})
	info := "snowglobe-" + version + ".dist-info/"
	for _, f := range about {
		folder := "licenses/"
		if strings.HasSuffix(f.name, ".cdx.json") {
			folder = "sboms/" // PEP 770
		}
		files = append(files, file{info + folder + f.name, f.body, f.mode})
	}
	readme, err := os.ReadFile(filepath.Join(sources, "python.md"))
	if err != nil {
		return "", nil, err
	}
	tags := wheelTags[platform]
	var lines strings.Builder
	for tag := range strings.SplitSeq(tags, ".") {
		lines.WriteString("Tag: py3-none-" + tag + "\n")
	}
	files = append(files,
		file{info + "METADATA", fmt.Appendf(nil, "Metadata-Version: 2.1\nName: snowglobe\nVersion: %s\n"+
			"Summary: An Avalanche network to test against, in one program and one file\nLicense: none yet\n"+
			"Classifier: Private :: Do Not Upload\nClassifier: Framework :: Pytest\nClassifier: Typing :: Typed\n"+
			"Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n%s", version, readme), 0o644},
		file{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: snowglobe dist\nRoot-Is-Purelib: false\n" + lines.String()), 0o644},
		file{info + "entry_points.txt", []byte("[pytest11]\nsnowglobe = snowglobe.pytest_plugin\n"), 0o644},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.body)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.body))
	}
	record.WriteString(info + "RECORD,,\n")
	packed, err = packZip(append(files, file{info + "RECORD", []byte(record.String()), 0o644}))
	return "snowglobe-" + version + "-py3-none-" + tags + ".whl", packed, err
}

// packages packs one platform's packages for all registries, and writes them to folders of out.
func packages(out, program, platform string) (names []string, err error) {
	if nodePlatforms[platform] == "" || wheelTags[platform] == "" {
		return nil, fmt.Errorf("there are no packages for %s", platform)
	}
	npm, python, err := packageVersion(program)
	if err != nil {
		return nil, err
	}
	about, err := materials(program)
	if err != nil {
		return nil, err
	}
	carrier, packed, err := platformPackage(program, platform, npm, about)
	if err != nil {
		return nil, err
	}
	if err := writePackage(out, "npm", carrier, packed); err != nil {
		return nil, err
	}
	whl, packed, err := wheel(program, platform, python, about)
	if err != nil {
		return nil, err
	}
	return []string{"npm/" + carrier, "python/" + whl}, writePackage(out, "python", whl, packed)
}

func writePackage(out, folder, name string, packed []byte) error {
	if err := os.MkdirAll(filepath.Join(out, folder), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, folder, name), packed, 0o644)
}

// readFolder returns the files below a folder, by relative path.
func readFolder(folder string) (files []file, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "__pycache__" || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		body, err := os.ReadFile(filepath.Join(folder, path))
		files = append(files, file{path, body, 0o644})
		return err
	})
	return files, err
}

func under(folder string, files []file) []file {
	moved := make([]file, len(files))
	for i, f := range files {
		f.name = folder + f.name
		moved[i] = f
	}
	return moved
}

// modified is the earliest time that a zip file can hold.
var modified = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// entry returns the header of a file in a zip file.
func entry(f file) *zip.FileHeader {
	h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: modified}
	h.SetMode(fs.FileMode(f.mode))
	return h
}

// packProgram packs an already built program, and the npm package that starts it.
func packProgram(out, program string, platforms []string) error {
	version, _, err := packageVersion(program)
	if err != nil {
		return err
	}
	name, packed, err := launcher(version, platforms)
	if err != nil {
		return err
	}
	if err := writePackage(out, "npm", name, packed); err != nil {
		return err
	}
	_, err = packages(out, program, platforms[0])
	return err
}
