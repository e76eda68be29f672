package sim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// now lists the expressions that read or wait for real time, or read the world's clock.
var now = map[string][]string{
	"real":  {"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick"},
	"clock": {"Clock.Now", "Clock.Unix", "Clock.UnixMilli", "world.Now"},
}

// TestWhatTimeItIs compares each package's use of time with the table in CONTRIBUTING, which gives the reasons.
func TestWhatTimeItIs(t *testing.T) {
	used := map[string]map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			switch x := s.X.(type) {
			case *ast.Ident:
				of = x.Name
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			for kind, names := range now {
				if slices.Contains(names, of+"."+s.Sel.Name) {
					folder := filepath.ToSlash(filepath.Dir(rel))
					if used[folder] == nil {
						used[folder] = map[string]bool{}
					}
					used[folder][kind] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../.github/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (real|clock|clock, real) \\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		told[strings.TrimSuffix(row[1], "/")] = row[2]
	}
	for row := range told { // of several packages
		above, several := strings.CutSuffix(row, "/...")
		for folder := range used {
			if several && folder != row && (folder == above || strings.HasPrefix(folder, above+"/")) {
				if used[row] == nil {
					used[row] = map[string]bool{}
				}
				maps.Copy(used[row], used[folder])
				delete(used, folder)
			}
		}
	}
	for folder, kinds := range used {
		if goes := strings.Join(slices.Sorted(maps.Keys(kinds)), ", "); told[folder] != goes {
			t.Errorf("%s goes by %s time, CONTRIBUTING says %q: say there why", folder, goes, told[folder])
		}
	}
	for row := range told {
		if used[row] == nil {
			t.Errorf("CONTRIBUTING says what time %s goes by, which reads none", row)
		}
	}
}
