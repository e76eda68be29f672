// Short lists the tests that testing.Short shortens, directly or through a function that they call, with their packages: go run ./testdata/short
// tests, or packages. It finds calls by name, so it may list a test too many, but none too few.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// function is a function or a method of a package.
type function struct {
	folder, name string
	method       bool
}

// caller is a function with what it calls.
type caller struct {
	function
	calls []function // the folder is the last part of its path if it is another package's
	short bool
}

func main() {
	files, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		log.Fatal(err)
	}
	var all []caller
	for file := range strings.FieldsSeq(string(files)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			log.Fatal(err)
		}
		isTest := func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }
		if !strings.HasSuffix(file, "_test.go") && !slices.ContainsFunc(parsed.Imports, isTest) {
			continue
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
				all = append(all, read(path.Dir(file), f))
			}
		}
	}
	tests, folders := shortened(all)
	if len(os.Args) == 2 && os.Args[1] == "packages" {
		fmt.Println(strings.Join(folders, " "))
		return
	}
	fmt.Println(strings.Join(tests, "|"))
}

func read(folder string, f *ast.FuncDecl) caller {
	c := caller{function: function{folder, f.Name.Name, f.Recv != nil}}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			c.calls = append(c.calls, function{folder, n.Sel.Name, true})
			if of, is := n.X.(*ast.Ident); is {
				c.calls = append(c.calls, function{of.Name, n.Sel.Name, false})
				c.short = c.short || of.Name == "testing" && n.Sel.Name == "Short"
			}
			ast.Inspect(n.X, visit)
			return false
		case *ast.Ident: // also of a function that is passed on
			c.calls = append(c.calls, function{folder, n.Name, false})
		}
		return true
	}
	ast.Inspect(f.Body, visit)
	return c
}

// shortened follows calls back from testing.Short to tests.
func shortened(all []caller) (tests, folders []string) {
	found := map[function]bool{}
	for grown := true; grown; {
		grown = false
		for _, c := range all {
			if found[c.function] || !c.short && !slices.ContainsFunc(c.calls, func(f function) bool { return found[f] }) {
				continue
			}
			grown = true
			found[c.function] = true
			if strings.HasPrefix(c.name, "Test") {
				continue
			}
			found[function{path.Base(c.folder), c.name, c.method}] = true
		}
	}
	inFolders := map[string]bool{}
	for _, c := range all {
		if found[c.function] && strings.HasPrefix(c.name, "Test") {
			tests = append(tests, c.name)
			inFolders["./"+c.folder] = true
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests), slices.Sorted(maps.Keys(inFolders))
}
