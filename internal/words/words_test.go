// Package words tests the language of what people read: help, pages, configs and the
// strings of the program. CONTRIBUTING.md lists what to write in place of a retired word.
package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// retired are words that readers had to translate, each with what to write. The pages of
// docs/decisions and CONTRIBUTING.md may quote them; keys of documents and of studies that
// are one of them are listed in keys.
var retired = []struct {
	word  *regexp.Regexp
	write string
}{
	{word(`judg(e|es|ed|ing)`), "evaluate"},
	{word(`told|tells?`), "given, classify, estimate"},
	{word(`in turns`), "interleaved"},
	{word(`beside`), "with, compared with"},
	{word(`anew`), "again"},
	{word(`by heart`), "memorized"},
	{word(`learnt`), "learned"},
	{word(`go(es)? on`), "continue, resume"},
	{word(`in the mean`), "on average"},
	{word(`to blame`), "the error comes from"},
	{word(`says? nothing`), "carries no information"},
	{word(`couples?`), "pair"},
	{word(`disturb(s|ed|ing)?`), "inject noise, perturb"},
	{word(`refuted|confirmed`), "contradicted, supported"},
	{word(`own copy`), "the query itself"},
	{word(`defences?|colou?red?s? images|colours?|generalisation|regularis\w+|minimis\w+`), "American spelling"},
}

func word(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(` + pattern + `)\b`) }

// keys are strings of formats: words that stay until a format's next number.
var keys = map[string]bool{"learnt": true, "beside": true}

// root is the repository.
const root = "../.."

func TestPagesUseNoRetiredWords(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"README.md", "Makefile", "docs/*.md", "docs/papers/*.md", "internal/cli/testdata/help/*", "configs/*.yaml", "configs/*/*.yaml", "configs/*/*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, error %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			for n, line := range strings.Split(string(text), "\n") {
				check(t, file, n+1, strings.ReplaceAll(line, "`beside`", ""))
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d files were read", seen)
	}
}

// check reports the retired words of a line.
func check(t *testing.T, file string, n int, line string) {
	t.Helper()
	for _, r := range retired {
		if found := r.word.FindString(line); found != "" {
			t.Errorf("%s:%d: %q: write %s, see CONTRIBUTING.md", strings.TrimPrefix(file, root+"/"), n, found, r.write)
		}
	}
}

func TestStringsUseNoRetiredWords(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), "_")) {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && f.Tag != nil { // names of keys; their doc is in the pages
				return false
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && !keys[strings.Trim(l.Value, "\"`")] {
				seen++
				check(t, path, files.Position(l.Pos()).Line, l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 5000 {
		t.Errorf("only %d strings were read", seen)
	}
}
