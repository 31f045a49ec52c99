package record

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var literal = regexp.MustCompile(`"(tercet\.[a-z-]+)/([0-9]+)"`)

// The name and number of a schema are in schemas.go alone, and each has its place in the
// table of docs/documents.md.
func TestSchemasAreWrittenOnce(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/documents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Schemas")
	table, _, _ = strings.Cut(table, "\n## ")
	own, err := os.ReadFile("schemas.go")
	if err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for _, m := range literal.FindAllStringSubmatch(string(own), -1) {
		if once[m[0]] {
			t.Errorf("schemas.go has two constants of %s", m[0])
		}
		once[m[0]] = true
		row := regexp.MustCompile("(?m)^.*`" + regexp.QuoteMeta(m[1]) + "`.*$").FindString(table)
		if row == "" || !regexp.MustCompile(`\b`+m[2]+`\b`).MatchString(row) {
			t.Errorf("docs/documents.md: the table of schemas has no %s/%s", m[1], m[2])
		}
	}
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") || filepath.Base(path) == "schemas.go" {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range literal.FindAllString(string(b), -1) {
				t.Errorf("%s: the schema %s has a constant in schemas.go", path, m)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Scores that several packages name have one constant.
func TestWorstScoresAreWrittenOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{WorstCase, Certified} {
		var in []string
		err := filepath.WalkDir("../../internal", func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if regexp.MustCompile(`(?m)^\s*\w+\s+= "` + regexp.QuoteMeta(key) + `"`).Match(b) {
				in = append(in, path)
			}
			return err
		})
		if err != nil || len(in) != 1 {
			t.Errorf("constants of %s: %v, %v", key, in, err)
		}
	}
}
