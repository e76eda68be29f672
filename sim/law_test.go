package sim_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDependenciesPointOneWay: main → handlers → sim, main → seed → sim, and sim imports neither of the others.
func TestDependenciesPointOneWay(t *testing.T) {
	for packages, forbidden := range map[string]string{"./...": "^snowglobe/(seed|handlers)", "../seed/...": "^snowglobe/handlers", "../handlers/...": "^snowglobe/seed"} {
		out, err := exec.Command("go", "list", "-deps", packages).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", packages, err)
		}
		for line := range strings.Lines(string(out)) {
			if regexp.MustCompile(forbidden).MatchString(line) {
				t.Errorf("%s depends on %s", packages, strings.TrimSpace(line))
			}
		}
	}
}

// TestLawsOfTheHouse reads the sources for what must not be in them.
func TestLawsOfTheHouse(t *testing.T) {
	for _, law := range []struct {
		folders []string
		except  string
		pattern string
		reason  string
	}{
		{[]string{".", "../seed"}, "", `time\.(Now|Since|Until)\(`, "the world has its own clock"},
		{[]string{".", "../seed"}, "", `[^.\w]rand\.(Int|Uint|Float|Perm|Shuffle|N\(|Read)\w*\(`, "randomness is keyed by what it is for"},
		{[]string{".", "../seed"}, "", `gofakeit\.New\(0\)`, "seed 0 takes its randomness from the machine"},
		{[]string{".", "../handlers"}, "", `"github.com/brianvoe/gofakeit`, "only the seed makes things up"},
		{[]string{".", "../seed", "../handlers"}, "store", `"(modernc.org/sqlite|github.com/jmoiron/sqlx|database/sql)"|\bSELECT\s|\bINSERT\s`, "only sim/store has SQL"},
	} {
		for path, text := range sources(t, law.folders, law.except) {
			if found := regexp.MustCompile(law.pattern).FindString(text); found != "" {
				t.Errorf("%s has %q: %s", path, found, law.reason)
			}
		}
	}
}

// sources reads every Go file that is not a test.
func sources(t *testing.T, folders []string, except string) map[string]string {
	all := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if except != "" && strings.HasPrefix(path, except+"/") {
				return nil
			}
			raw, err := os.ReadFile(path)
			all[path] = string(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no sources in %v", folders)
	}
	return all
}
