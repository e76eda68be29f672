package openrpc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write names.json anew")

type method struct {
	Params []string `json:"params,omitempty"`
	Doc    string   `json:"doc,omitempty"`
}

// TestNamesAreThoseOfTheSources reads the sources of all methods and checks names.json against them.
func TestNamesAreThoseOfTheSources(t *testing.T) {
	all := map[string]method{}
	err := filepath.WalkDir("../node", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.IsExported() {
				all[file.Name.Name+"."+receiver(f.Recv.List[0].Type)+"."+f.Name.Name] = read(f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("names.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile("names.json")
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]method
	if err := json.Unmarshal(have, &kept); err != nil {
		t.Fatal(err)
	}
	// A method that the file lacks is described without names, which is no error; a wrong description is one.
	missing := 0
	for name, m := range all {
		k, found := kept[name]
		switch {
		case !found:
			missing++
		case len(k.Params) != len(m.Params):
			t.Errorf("%s has the parameters %v, and names.json %v: go test ./handlers/openrpc -update writes it anew", name, m.Params, k.Params)
		}
	}
	if missing > len(all)/20 {
		t.Errorf("names.json lacks %d of %d methods: go test ./handlers/openrpc -update writes it anew", missing, len(all))
	}
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// read takes the names of the parameters, without the context, and the first paragraph of the comment.
func read(f *ast.FuncDecl) method {
	var m method
	for _, field := range f.Type.Params.List {
		if s, ok := field.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			continue
		}
		for _, name := range field.Names {
			m.Params = append(m.Params, name.Name)
		}
	}
	doc, _, _ := strings.Cut(f.Doc.Text(), "\n\n")
	m.Doc = strings.Join(strings.Fields(strings.TrimPrefix(doc, f.Name.Name+" ")), " ")
	if m.Doc != "" {
		m.Doc = strings.ToUpper(m.Doc[:1]) + m.Doc[1:]
	}
	return m
}
