package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/store"
)

// growthRows returns the rows of the page's table that begins with a column, each with the names in its first cell.
func growthRows(t *testing.T, first string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("pages/growth.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| "+first+" |")
	if !found {
		t.Fatalf("growth.md has no table of %s", first)
	}
	table, _, _ = strings.Cut("| "+first+table, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "" }) || len(cells) < 4 {
			t.Errorf("a cell is missing: %s", line)
		}
		var names []string
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			names = append(names, name[1])
		}
		rows = append(rows, names)
	}
	return rows
}

// TestEveryTableIsBounded: for each table of a world's file, the manual lists what it grows with and what prunes it.
func TestEveryTableIsBounded(t *testing.T) {
	told := slices.Concat(growthRows(t, "tables")...)
	for _, table := range store.Tables() {
		if !slices.Contains(told, table) {
			t.Errorf("growth.md does not say what bounds the table %s", table)
		}
	}
	for i, table := range told {
		if !slices.Contains(store.Tables(), table) || slices.Contains(told[:i], table) {
			t.Errorf("growth.md tells of the table %s, which is not there, or twice", table)
		}
	}
}

// TestEverythingInMemoryIsListed: everything that several requests share needs a lock, an atomic value, a pool or a cache. Each type and variable
// with one is in the list, with what a rewind does to it.
func TestEverythingInMemoryIsListed(t *testing.T) {
	shared := map[string]bool{}
	for _, root := range []string{"fixtures", "handlers", "seed", "sim"} {
		base := filepath.Join("..", "..")
		err := filepath.WalkDir(filepath.Join(base, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains([]string{"datatest", "seedtest", "simtest"}, filepath.Base(filepath.Dir(path))) {
				return err // these are for this project's tests only
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(base, filepath.Dir(path))
			for _, name := range sharedIn(f) {
				shared[filepath.ToSlash(folder)+"."+name] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(shared) < 80 {
		t.Fatalf("only %d found", len(shared))
	}
	rows := growthRows(t, "what")
	told := slices.Concat(rows...)
	for name := range shared {
		if !slices.Contains(told, name) {
			t.Errorf("%s is shared memory: say in handlers/docs/pages/growth.md what bounds it, and what becomes of it when the world goes back", name)
		}
	}
	for _, row := range rows {
		if !slices.ContainsFunc(row, func(name string) bool { return shared[name] }) {
			t.Errorf("growth.md lists %s, of which nothing is there", row)
		}
	}
}

// sharedIn returns the struct types and the variables of a file that keep something between requests.
func sharedIn(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		g, general := d.(*ast.GenDecl)
		if !general {
			continue
		}
		for _, s := range g.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				of, isStruct := s.Type.(*ast.StructType)
				if isStruct && slices.ContainsFunc(of.Fields.List, func(field *ast.Field) bool { return keeps(field.Type) }) {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for i, name := range s.Names {
					if g.Tok == token.VAR && (s.Type != nil && keeps(s.Type) || i < len(s.Values) && keeps(s.Values[i])) {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// keeps reports whether an expression, without function bodies in it, uses a package's type that guards shared data.
func keeps(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncType:
			return false
		case *ast.SelectorExpr:
			of, named := n.X.(*ast.Ident)
			found = found || named && slices.Contains([]string{"sync", "atomic", "lru", "cache"}, of.Name) && n.Sel.Name != "Group" || named && of.Name == "cache" && n.Sel.Name == "Group"
		}
		return true
	})
	return found
}
