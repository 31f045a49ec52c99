package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// byName are the fields of a config that hold the name of a component.
var byName = map[string]bool{"Name": true, "Kind": true, "Sampler": true, "Algorithm": true}

// sections are the fields of a config that such a name is a field of.
var sections = map[string]bool{"Data": true, "Split": true, "Noise": true, "Model": true, "MeanStd": true, "Metric": true, "Batch": true, "Loss": true,
	"Miner": true, "Defense": true, "Destination": true, "Optimizer": true, "Schedule": true}

// absent are the names that say that a section does nothing.
var absent = map[string]bool{"none": true, "file": true}

// What a component is stands in its own package alone. Others ask by an interface, which a
// new component can implement, not by its type or its name, which a new one does not have.
func TestNobodyAsksWhichComponentItIs(t *testing.T) {
	types, names := map[string]bool{}, map[string]bool{}
	for _, list := range families {
		for _, c := range list {
			k := reflect.TypeOf(c.Defaults)
			types[strings.TrimPrefix(k.PkgPath(), "tercet/")+"."+k.Name()] = true
			names[c.Name] = !absent[c.Name]
		}
	}
	if len(types) < 50 || len(names) < 50 {
		t.Fatalf("%d types and %d names: not all components are known", len(types), len(names))
	}
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, 0)
		if err != nil {
			return err
		}
		for pos, what := range askedFor(f, types, names) {
			t.Errorf("%s asks for %s: use an interface of the component's package", strings.TrimPrefix(fset.Position(pos).String(), root+"/"), what)
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// askedFor are the places where a file asserts that a value has one of the types, which it
// imports, or compares a section's name with one of the names.
func askedFor(f *ast.File, types, names map[string]bool) map[token.Pos]string {
	imported := map[string]string{}
	for _, i := range f.Imports {
		of, _ := strconv.Unquote(i.Path.Value)
		as := path.Base(of)
		if i.Name != nil {
			as = i.Name.Name
		}
		imported[as] = strings.TrimPrefix(of, "tercet/")
	}
	out := map[token.Pos]string{}
	asserted := func(e ast.Expr) {
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && types[imported[x.Name]+"."+s.Sel.Name] {
				out[e.Pos()] = x.Name + "." + s.Sel.Name
			}
		}
	}
	compared := func(name, with ast.Expr) {
		s, ok := name.(*ast.SelectorExpr)
		if !ok || !byName[s.Sel.Name] || !sections[selected(s.X)] {
			return
		}
		if l, ok := with.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if v, _ := strconv.Unquote(l.Value); names[v] {
				out[l.Pos()] = l.Value
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			asserted(n.Type)
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					asserted(e)
				}
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					compared(n.Tag, e)
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared(n.X, n.Y)
				compared(n.Y, n.X)
			}
		}
		return true
	})
	return out
}

// selected is the last name of an expression, "" where it has none.
func selected(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// The test finds questions for a type and for a name, and not those for an interface.
func TestAskedFor(t *testing.T) {
	types, names := map[string]bool{"internal/data.FolderOptions": true}, map[string]bool{"plateau": true, "none": false}
	for text, want := range map[string]int{
		"_, ok := o.(data.FolderOptions)":                          1,
		"_ = o.(*data.FolderOptions)":                              1,
		"switch o.(type) { case data.Needy, data.FolderOptions: }": 1,
		"_, ok := o.(data.Needy)":                                  0,
		"_, ok := o.(other.FolderOptions)":                         0,
		`_ = c.Optimizer.Schedule.Name == "plateau"`:               1,
		`_ = "plateau" != c.Schedule.Name`:                         1,
		`switch c.Optimizer.Schedule.Name { case "plateau": }`:     1,
		`_ = c.Optimizer.Schedule.Name == "none"`:                  0,
		`_ = c.Optimizer.Schedule.Name == "steep"`:                 0,
		`_ = c.Other.Name == "plateau"`:                            0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nimport \"tercet/internal/data\"\nfunc h() { "+text+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := askedFor(f, types, names); len(got) != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}
