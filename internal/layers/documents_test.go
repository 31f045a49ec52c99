package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// headed are the packages outside record with a struct of a schema, with the reason.
var headed = map[string]string{
	"internal/unfinished":     "the first line of files of unfinished work, of any schema",
	"internal/imaging/shard":  "the header of a binary file",
	"internal/study/observe":  "what all results have in common, of any schema",
	"internal/summary":        "documents with the cells that they are shown as",
	"internal/study":          "documents with the rows that they are shown as",
	"internal/theory/compare": "documents joined with what each is labeled",
}

// A JSON document is a struct in record, for its writers, its readers and its page.
func TestDocumentsAreInRecord(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if strings.HasPrefix(name, "internal/record") || testHelpers.MatchString(name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || field.Tag == nil || !strings.Contains(field.Tag.Value, `json:"schema`) {
					return true
				}
				if used[name] = true; headed[name] == "" {
					t.Errorf("%s/%s declares a document: move it to internal/record", name, f)
				}
				return true
			})
		}
	}
	for p := range headed {
		if !used[p] {
			t.Errorf("%s declares no document: remove it from the list", p)
		}
	}
}
