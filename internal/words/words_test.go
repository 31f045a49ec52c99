package words

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
	"sync"
	"testing"
)

// retiredWord is a word with what to write in its place.
type retiredWord struct {
	pattern string
	word    *regexp.Regexp
	write   string
}

// retired are words that readers had to translate, each with what to write. The pages of
// docs/decisions and CONTRIBUTING.md may quote them; keys of documents and of studies that
// are one of them are listed in keys.
var retired = []retiredWord{
	word(`judg(e|es|ed|ing)`, "evaluate"),
	word(`told|tells?`, "given, classify, estimate"),
	word(`in turns`, "interleaved"),
	word(`beside`, "with, compared with"),
	word(`anew`, "again"),
	word(`by heart`, "memorized"),
	word(`learnt`, "learned"),
	word(`go(es)? on`, "continue, resume"),
	word(`in the mean`, "on average"),
	word(`to blame`, "the error comes from"),
	word(`says? nothing`, "carries no information"),
	word(`couples?`, "pair"),
	word(`disturb(s|ed|ing)?`, "inject noise, perturb"),
	word(`refuted|confirmed`, "contradicted, supported"),
	word(`own copy`, "the query itself"),
	word(`defences?|colou?red?s? images|colours?|generalisation|regularis\w+|minimis\w+`, "American spelling"),
}

// dialect are phrases that pages and messages do not have: each is English somewhere, and
// was used here in a sense that readers had to guess.
var dialect = append([]retiredWord{
	word(`as (it|they) comes?`, "unchanged, in random order, or say exactly what"),
	word(`makes? of (it|them)`, "name the result"),
	word(`takes? back`, "undo, remove"),
	word(`undisturbed`, "uninterrupted"),
	word(`at hand`, "available"),
	word(`(is|are) there already`, "already exists"),
	word(`speaks? of`, "reflects, covers"),
	word(`measured alike`, "measured with the same settings"),
	word(`lengthen(s|ed|ing)?`, "extend"),
	word(`Euclid's`, "Euclidean"),
	word(`without (its|their) number`, "without knowing the number"),
	word(`has it that`, "states"),
	word(`more than chance`, "significant"),
	word(`the other way round`, "reversed"),
	word(`what is lacked|is lacking`, "missing"),
	word(`so many at once`, "N at once"),
}, retired...)

func word(pattern, write string) retiredWord {
	return retiredWord{pattern, regexp.MustCompile(`(?i)\b(` + pattern + `)\b`), write}
}

func letters(pattern, write string) retiredWord {
	return retiredWord{pattern, regexp.MustCompile(pattern), write}
}

// keys are strings of formats: words that stay until a format's next number.
var keys = map[string]bool{"learnt": true, "beside": true}

// studyKey is a key of studies.
var studyKey = regexp.MustCompile("`beside`|^ +beside:")

// root is the repository.
const root = "../.."

func TestPagesUseNoRetiredWords(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"README.md", "Makefile", "docs/*.md", "docs/papers/*.md", "CHANGELOG.md", "studies/*.yaml", "studies/papers/*.yaml", "internal/cli/testdata/help/*", "configs/*.yaml", "configs/*/*.yaml", "configs/*/*/*.yaml"} {
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
				check(t, file, n+1, studyKey.ReplaceAllString(line, ""), dialect)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d files were read", seen)
	}
}

// wrong says whether a text has one of the words.
func wrong(text string, words []retiredWord) bool {
	return slices.ContainsFunc(words, func(r retiredWord) bool { return r.word.MatchString(text) })
}

// check reports the retired words of a line.
func check(t *testing.T, file string, n int, line string, words []retiredWord) {
	t.Helper()
	for _, r := range words {
		if found := r.word.FindString(line); found != "" {
			t.Errorf("%s:%d: %q: write %s, see CONTRIBUTING.md", strings.TrimPrefix(file, root+"/"), n, found, r.write)
		}
	}
}

func TestStringsUseNoRetiredWords(t *testing.T) {
	seen := 0
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && f.Tag != nil { // names of keys; their doc is in the pages
				return false
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && !keys[strings.Trim(l.Value, "\"`")] {
				seen++
				check(t, path, files.Position(l.Pos()).Line, l.Value, dialect)
			}
			return true
		})
	})
	if seen < 5000 {
		t.Errorf("only %d strings were read", seen)
	}
}

// british are spellings that comments and names do not have.
var british = []retiredWord{
	letters(`(?i)(behaviour|colour|neighbour|favour)|[Dd]efence|[Cc]entre([^a-z]|[sd]?\b)|[^l]earnt|\b[Ll]earnt|[Ll]abell(ed|ing)|ancell(ed|ing)|odell(ed|ing)`, "American spelling"),
	letters(`(?i)((norm|initi|re)al|optim|organ|recogn|minim|maxim|summar|gener(al)|regular|factor|linear|memor)is(e|er|ed|es|ing|ation)`, "American spelling"),
}

// Comments and names are in American spelling, without retired words.
func TestCommentsAndNamesUseNoRetiredWords(t *testing.T) {
	inComments := append([]retiredWord{}, british...)
	for _, r := range retired {
		if !slices.Contains([]string{"told|tells?", "beside", "couples?"}, r.pattern) { // of places, and of functions that report
			inComments = append(inComments, r)
		}
	}
	inNames := append([]retiredWord{letters(`[Jj]udg`, "evaluate, verdict")}, british...)
	clean := map[string]bool{}
	seen := 0
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "words_test.go") {
			return
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				seen++
				check(t, path, files.Position(c.Pos()).Line, c.Text, inComments)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !clean[id.Name] {
				check(t, path, files.Position(id.Pos()).Line, id.Name, inNames)
				clean[id.Name] = !wrong(id.Name, inNames)
			}
			return true
		})
	})
	if seen < 10000 {
		t.Errorf("only %d comments were read", seen)
	}
}

// eachFile calls f with every Go file below internal, tests included.
func eachFile(t *testing.T, f func(path string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	sources, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		f(s.path, s.files, s.file)
	}
}

type source struct {
	path  string
	files *token.FileSet
	file  *ast.File
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), "_")) {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		all = append(all, source{path, files, file})
		return err
	})
	return all, err
})
