package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestShortened follows functions, methods, a function that is passed on, and a function of another package.
func TestShortened(t *testing.T) {
	var all []caller
	for folder, source := range map[string]string{
		"sim/simtest": `package simtest
			func Seeds(n int) int { if testing.Short() { return 1 }; return n }`,
		"seed": `package seed
			type world struct{}
			func (w *world) fill() { simtest.Seeds(5) }
			func whole(t *testing.T) { new(world).fill() }
			func TestItself(t *testing.T) { if testing.Short() { return } }
			func TestByAMethod(t *testing.T) { w.fill() }
			func TestByPassing(t *testing.T) { t.Run("", whole) }
			func TestNotAtAll(t *testing.T) { fill(); other.Seeds(5) }`,
		"handlers": `package handlers
			func TestElsewhere(t *testing.T) { w.fill(); whole(t) }`,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), folder, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				all = append(all, read(folder, f))
			}
		}
	}
	tests, folders := shortened(all)
	if !slices.Equal(tests, []string{"TestByAMethod", "TestByPassing", "TestItself"}) || !slices.Equal(folders, []string{"./seed"}) {
		t.Errorf("%q in %q", tests, folders)
	}
}
