package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one mistake: <= for <, - for +, a call or an assignment left out, and so on.
type mutant struct {
	id   int
	name string // the package and the id
	line int
	key  string // describes the mistake, the same while other lines come and go

	chosen, reached, noticed, elsewhere bool
}

// source is a package before and while mistakes are put into it.
type source struct {
	pkg      *listed
	fset     *token.FileSet
	files    []*sourceFile
	info     *types.Info
	importer types.Importer

	all  []*mutant
	seen map[string]int
}

type sourceFile struct {
	path string
	text []byte
	tree *ast.File
}

// edit is text that comes before, in place of, or after some of the source.
type edit struct {
	from, to int
	text     string
	id       int
}

func parse(l *listed) (*source, error) {
	deps, err := list("-export", "-deps", l.ImportPath, "cmp", "os", "strconv", "strings", "sync") // the latter for supportText
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, d := range deps {
		exports[d.ImportPath] = d.Export
	}
	s := &source{pkg: l, fset: token.NewFileSet(), seen: map[string]int{}}
	s.importer = importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, name := range l.GoFiles {
		f := &sourceFile{path: filepath.Join(l.Dir, name)}
		if f.text, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(s.fset, f.path, f.text, parser.ParseComments); err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	_, err = s.check(s.fset, s.trees(), s.info, func(error) {})
	return s, err
}

func (s *source) trees() (all []*ast.File) {
	for _, f := range s.files {
		all = append(all, f.tree)
	}
	return all
}

func (s *source) check(fset *token.FileSet, files []*ast.File, info *types.Info, failed func(error)) (*types.Package, error) {
	config := types.Config{Importer: s.importer, Error: failed}
	return config.Check(s.pkg.ImportPath, fset, files, info)
}

// mutate writes the package with all its mistakes to a folder, and returns what replaces which file.
func (s *source) mutate(dir string) ([]*mutant, map[string]string, error) {
	edits := make([][]edit, len(s.files))
	for i, f := range s.files {
		edits[i] = s.edits(f)
	}
	support := strings.NewReplacer("package support", "package "+s.files[0].tree.Name.Name, "PACKAGE", s.pkg.name()).Replace(supportText)
	refused := map[int]bool{}
	for {
		texts := make([][]byte, len(s.files))
		fset := token.NewFileSet()
		var trees []*ast.File
		spans := map[string][]span{}
		for i, f := range s.files {
			texts[i], spans[f.path] = apply(f.text, edits[i], refused)
			tree, err := parser.ParseFile(fset, f.path, texts[i], parser.SkipObjectResolution)
			if err != nil {
				return nil, nil, err
			}
			trees = append(trees, tree)
		}
		tree, err := parser.ParseFile(fset, "mutants.go", support, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		before := len(refused)
		var last error
		s.check(fset, append(trees, tree), nil, func(err error) {
			last = err
			at := fset.Position(err.(types.Error).Pos)
			id := innermost(spans[at.Filename], at.Offset)
			if id == 0 && strings.HasSuffix(last.Error(), "missing return") { // after a loop that nothing else ends
				for _, e := range spans[at.Filename] {
					if e.to < at.Offset && !refused[e.id] && strings.Contains(s.all[e.id-1].key, "`break` for `continue`") {
						id = e.id
					}
				}
			}
			if id > 0 {
				refused[id] = true
			} else {
				for _, e := range spans[at.Filename] {
					if line := fset.File(err.(types.Error).Pos); line.Line(line.Pos(e.from)) == at.Line {
						refused[e.id] = true
					}
				}
			}
		})
		if last == nil {
			return s.write(dir, texts, support, refused)
		}
		if len(refused) == before {
			return nil, nil, last
		}
	}
}

func (s *source) write(dir string, texts [][]byte, support string, refused map[int]bool) ([]*mutant, map[string]string, error) {
	replace := map[string]string{}
	put := func(original string, text []byte) error {
		path := filepath.Join(dir, filepath.Base(original))
		replace[original] = path
		return os.WriteFile(path, text, 0o600)
	}
	for i, f := range s.files {
		if err := put(f.path, texts[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := put(filepath.Join(s.pkg.Dir, "mutants_support.go"), []byte(support)); err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(s.all, func(m *mutant) bool { return refused[m.id] }), replace, nil
}

// span is where the text of one mistake lies in the changed source.
type span struct{ from, to, id int }

func innermost(spans []span, at int) (id int) {
	least := 1 << 30
	for _, s := range spans {
		if s.from <= at && at < s.to && s.to-s.from < least {
			least, id = s.to-s.from, s.id
		}
	}
	return id
}

// apply makes the edits that are not refused. Those of one place stand in the order in which they shall appear.
func apply(text []byte, edits []edit, refused map[int]bool) ([]byte, []span) {
	var out []byte
	from, to := map[int]int{}, map[int]int{}
	at := 0
	for _, e := range edits {
		if refused[e.id] {
			continue
		}
		out = append(out, text[at:e.from]...)
		if _, open := from[e.id]; !open {
			from[e.id] = len(out)
		}
		out = append(out, e.text...)
		to[e.id] = len(out)
		at = e.to
	}
	out = append(out, text[at:]...)
	var spans []span
	for _, id := range slices.Sorted(maps.Keys(from)) {
		spans = append(spans, span{from[id], to[id], id})
	}
	return out, spans
}

// fileEdits collects the edits of one file.
type fileEdits struct {
	*source
	file      *sourceFile
	function  string
	statement map[ast.Stmt]bool // may be wrapped in an if
	condition map[ast.Expr]bool // true or false, and nothing else is done to it
	before    []edit            // outer ones first
	after     []edit            // inner ones first
}

func (s *source) edits(f *sourceFile) []edit {
	e := &fileEdits{source: s, file: f, statement: map[ast.Stmt]bool{}, condition: map[ast.Expr]bool{}}
	for _, d := range f.tree.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		e.function = function.Name.Name
		if function.Recv != nil {
			of := function.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			e.function = e.between(of.Pos(), of.End()) + "." + e.function
		}
		ast.Inspect(function.Body, e.visit)
	}
	// What comes after a node belongs before what comes after the node around it, and before what opens the next.
	slices.Reverse(e.after)
	all := append(e.after, e.before...)
	slices.SortStableFunc(all, func(a, b edit) int { return a.from - b.from })
	return all
}

func (e *fileEdits) offset(p token.Pos) int { return e.fset.Position(p).Offset }

func (e *fileEdits) between(from, to token.Pos) string {
	return string(e.file.text[e.offset(from):e.offset(to)])
}

// add numbers a mistake. The description has the whole line, so that it stays the same wherever the line goes.
func (e *fileEdits) add(at token.Pos, what string) int {
	place := e.fset.Position(at)
	start := place.Offset - (place.Column - 1)
	line, _, _ := strings.Cut(string(e.file.text[start:]), "\n")
	line, _, _ = strings.Cut(line, " // ")
	key := fmt.Sprintf("%s/%s %s: %s in `%s`", e.pkg.name(), filepath.Base(e.file.path), e.function, what, strings.TrimSpace(line))
	if e.seen[key]++; e.seen[key] > 1 {
		key += fmt.Sprintf(" (%d)", e.seen[key])
	}
	id := len(e.all) + 1
	m := &mutant{id: id, name: fmt.Sprint(e.pkg.name(), " ", id), line: place.Line, key: key}
	e.all = append(e.all, m)
	return m.id
}

func (e *fileEdits) wrap(n ast.Node, id int, before, after string) {
	e.before = append(e.before, edit{e.offset(n.Pos()), e.offset(n.Pos()), fmt.Sprintf(before, id), id})
	e.after = append(e.after, edit{e.offset(n.End()), e.offset(n.End()), after, id})
}

func (e *fileEdits) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.BlockStmt:
		e.allow(n.List)
	case *ast.CaseClause:
		e.allow(n.Body)
	case *ast.CommClause:
		e.allow(n.Body)
	case *ast.IfStmt:
		e.condition[n.Cond] = true
	case *ast.ForStmt:
		if n.Cond != nil {
			e.condition[n.Cond] = true
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, condition := range c.(*ast.CaseClause).List {
					e.condition[condition] = true
				}
			}
		}
	case ast.Stmt:
		e.visitStatement(n)
	case *ast.BinaryExpr:
		e.visitBinary(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB && e.numeric(n) {
			e.wrap(n.X, e.add(n.OpPos, "no `-`"), " mutantNot(%d, ", ")")
		} else if n.Op == token.NOT {
			e.wrap(n, e.add(n.OpPos, "no `!`"), "(mutant(%d) != (", "))")
		}
	case ast.Expr:
		if e.condition[n] {
			e.wrap(n, e.add(n.Pos(), "`!` before `"+short(e.between(n.Pos(), n.End()))+"`"), "(mutant(%d) != (", "))")
		}
	}
	return true
}

func (e *fileEdits) allow(statements []ast.Stmt) {
	for _, s := range statements {
		e.statement[s] = true
	}
}

func (e *fileEdits) visitStatement(s ast.Stmt) {
	if !e.statement[s] {
		return
	}
	leave := func(what string) {
		e.wrap(s, e.add(s.Pos(), "no `"+short(what)+"`"), "if !mutant(%d) { ", " }")
	}
	instead := func(what, other string) {
		e.wrap(s, e.add(s.Pos(), what), "if mutant(%d) { "+strings.ReplaceAll(other, "%", "%%")+" } else { ", " }")
	}
	whole := e.between(s.Pos(), s.End())
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && !silent(call) {
			leave(whole)
		}
	case *ast.IncDecStmt:
		x, other := e.between(s.X.Pos(), s.X.End()), "--"
		if s.Tok == token.DEC {
			other = "++"
		}
		instead("`"+other+"` for `"+s.Tok.String()+"`", x+other)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || blank(s.Lhs) {
			return
		}
		leave(whole)
		if other := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*="}[s.Tok]; other != "" {
			instead("`"+other+"` for `"+s.Tok.String()+"`", e.between(s.Pos(), s.TokPos)+other+" "+e.between(s.Rhs[0].Pos(), s.End()))
		}
	case *ast.BranchStmt:
		if s.Label == nil && (s.Tok == token.BREAK || s.Tok == token.CONTINUE) {
			other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[s.Tok]
			id := e.add(s.Pos(), "`"+other+"` for `"+s.Tok.String()+"`")
			e.before = append(e.before, edit{e.offset(s.Pos()), e.offset(s.Pos()), fmt.Sprintf("if mutant(%d) { %s }; ", id, other), id})
		}
	}
}

// silent tells whether a test can notice that a call is left out: not of locks (the race detector does), nor of what must not be left
// out for the compiler's sake.
func silent(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		return slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, f.Sel.Name)
	}
	return false
}

func blank(left []ast.Expr) bool {
	return !slices.ContainsFunc(left, func(x ast.Expr) bool {
		name, ok := x.(*ast.Ident)
		return !ok || name.Name != "_"
	})
}

var (
	boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	negations  = map[token.Token]string{token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<", token.EQL: "!=", token.NEQ: "=="}
	functions  = map[token.Token]string{
		token.LSS: "mutantLess", token.LEQ: "mutantLessOrEqual", token.GTR: "mutantMore", token.GEQ: "mutantMoreOrEqual",
		token.ADD: "mutantPlus", token.SUB: "mutantMinus", token.MUL: "mutantTimes", token.QUO: "mutantDivided", token.REM: "mutantRest",
	}
	opposites = map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*"}
)

func (e *fileEdits) visitBinary(n *ast.BinaryExpr) {
	if e.info.Types[n].Value != nil { // a constant must remain one
		return
	}
	// called makes a call of an operator.
	called := func(id int) {
		e.wrap(n, id, functions[n.Op]+"(%d, ", ")")
		e.before = append(e.before, edit{e.offset(n.OpPos), e.offset(n.OpPos) + len(n.Op.String()), ",", id})
	}
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		e.wrap(n, e.add(n.OpPos, "`"+negations[n.Op]+"` for `"+n.Op.String()+"`"), "(mutant(%d) != ", ")")
		called(e.add(n.OpPos, "`"+boundaries[n.Op]+"` for `"+n.Op.String()+"`"))
	case token.EQL, token.NEQ:
		e.wrap(n, e.add(n.OpPos, "`"+negations[n.Op]+"` for `"+n.Op.String()+"`"), "(mutant(%d) != (", "))")
	case token.LAND, token.LOR:
		name, other := "mutantAnd", "||"
		if n.Op == token.LOR {
			name, other = "mutantOr", "&&"
		}
		id := e.add(n.OpPos, "`"+other+"` for `"+n.Op.String()+"`")
		e.wrap(n, id, name+"(%d, ", ")")
		e.before = append(e.before, edit{e.offset(n.OpPos), e.offset(n.OpPos) + 2, ",", id})
		e.before = append(e.before, edit{e.offset(n.Y.Pos()), e.offset(n.Y.Pos()), "func() bool { return ", id})
		e.after = append(e.after, edit{e.offset(n.Y.End()), e.offset(n.Y.End()), " }", id})
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if e.numeric(n) {
			called(e.add(n.OpPos, "`"+opposites[n.Op]+"` for `"+n.Op.String()+"`"))
		}
	}
}

func (e *fileEdits) numeric(x ast.Expr) bool {
	t := e.info.Types[x]
	basic, ok := types.Unalias(t.Type).Underlying().(*types.Basic)
	return ok && t.Value == nil && basic.Info()&types.IsNumeric != 0
}

// short is text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 60 {
		text = text[:57] + "..."
	}
	return text
}
