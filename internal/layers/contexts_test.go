package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// background are files below cli that make a context of their own, with the reason.
var background = map[string]string{
	"internal/run/keys.go": "scores of four points: there is nothing to interrupt",
}

// A library takes the context of its caller: otherwise a signal does not stop its work.
func TestLibrariesTakeContexts(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if strings.HasPrefix(name, "internal/cli") || strings.HasPrefix(name, "cmd/") || testHelpers.MatchString(name) {
			continue
		}
		for _, f := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, pos := range ownContexts(file) {
				if where := name + "/" + f; background[where] != "" {
					used[where] = true
				} else {
					t.Errorf("%s:%d makes a context: take one from the caller", where, fset.Position(pos).Line)
				}
			}
		}
	}
	for f := range background {
		if !used[f] {
			t.Errorf("%s makes no context: remove it from the list", f)
		}
	}
}

// ownContexts are the places where a file calls context.Background or context.TODO.
func ownContexts(file *ast.File) []token.Pos {
	var out []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Background" || s.Sel.Name == "TODO") {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "context" {
				out = append(out, s.Pos())
			}
		}
		return true
	})
	return out
}

// The test finds a context that is made, and not one that is passed on.
func TestOwnContexts(t *testing.T) {
	for text, want := range map[string]int{
		"f(context.Background())":     1,
		"g := context.TODO; f(g())":   1,
		"f(ctx, context.Canceled)":    0,
		"context.WithCancel(ctx)":     0,
		"f(other.Background(), 1, 2)": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc h() { "+text+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(ownContexts(file)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
