package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// uninterrupted are functions below cli that read items on all threads without a context,
// with the reason.
var uninterrupted = map[string]string{
	"internal/data/table.Missing": "looks for files and reads none",
}

// Who reads files or items on all threads reads many: the work takes a context.
func TestManyReadsTakeContexts(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if strings.HasPrefix(name, "internal/cli") || testHelpers.MatchString(name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range parallelReads(file) {
				if of = name + "." + of; uninterrupted[of] != "" {
					used[of] = true
				} else {
					t.Errorf("%s reads many items and takes no context", of)
				}
			}
		}
	}
	for f := range uninterrupted {
		if !used[f] {
			t.Errorf("%s reads nothing on all threads: remove it from the list", f)
		}
	}
}

// parallelReads are the functions of a file that read files or items in par.For or par.Each and name no
// context.
func parallelReads(file *ast.File) (out []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || names(f, "context", "Context") {
			continue
		}
		found := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && (names(c.Fun, "par", "For") || names(c.Fun, "par", "Each")) {
				found = found || reads(c)
			}
			return !found
		})
		if found {
			out = append(out, f.Name.Name)
		}
	}
	return out
}

// reads says that n opens or looks at a file by its name, or reads an item of a dataset.
func reads(n ast.Node) bool {
	return names(n, "os", "Open") || names(n, "os", "ReadFile") || names(n, "os", "Stat") || names(n, "fsx", "ReadFile") || names(n, "fsx", "OpenRegular") || names(n, "ds", "Read")
}

// names says that n has the selector x.name.
func names(n ast.Node, x, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			of, ok := s.X.(*ast.Ident)
			found = found || ok && of.Name == x
		}
		return !found
	})
	return found
}

// The test finds reads on all threads, and not those of a function with a context.
func TestParallelReads(t *testing.T) {
	for text, want := range map[string]int{
		"func h() { par.For(n, 1, func(lo, hi int) { fsx.ReadFile(p, 1) }) }":                    1,
		"func h() { par.For(n, 1, func(lo, hi int) { ds.Read(lo, x) }) }":                        1,
		"func h(ctx context.Context) { par.For(n, 1, func(lo, hi int) { fsx.ReadFile(p, 1) }) }": 0,
		"func h() { fsx.ReadFile(p, 1); par.For(n, 1, func(lo, hi int) { x[lo] = 1 }) }":         0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(parallelReads(file)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
