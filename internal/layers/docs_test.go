package layers

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

var packagesBlock = regexp.MustCompile(`(?s)<!-- packages -->\n.*<!-- end -->`)

// The table of packages in docs/architecture.md is floors.txt with the first sentence of
// each package's comment.
func TestArchitectureGolden(t *testing.T) {
	list := slices.Clone(packages(t))
	list = slices.DeleteFunc(list, func(p pkg) bool { _, has := floor[short(p)]; return !has })
	slices.SortFunc(list, func(a, b pkg) int {
		return cmp.Or(cmp.Compare(floor[short(b)], floor[short(a)]), cmp.Compare(short(a), short(b)))
	})
	var b strings.Builder
	b.WriteString("<!-- packages -->\n| floor | package | what it holds |\n| ---: | --- | --- |\n")
	for _, p := range list {
		doc := strings.TrimSuffix(p.Doc, ".")
		if words := strings.Fields(doc); len(words) < 4 || words[0] != "Package" && words[0] != "Command" {
			t.Errorf("%s: the package comment begins with %q, not with Package and its name", p.ImportPath, doc)
		}
		doc = strings.SplitN(doc+"  ", " ", 3)[2]
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", floor[short(p)], short(p), strings.TrimSpace(doc))
	}
	b.WriteString("<!-- end -->")
	const path = "../../docs/architecture.md"
	text, err := os.ReadFile(path)
	if err != nil || len(packagesBlock.FindAll(text, -1)) != 1 {
		t.Fatalf("%s has no one block between <!-- packages --> and <!-- end --> (%v)", path, err)
	}
	testutil.Golden(t, path, packagesBlock.ReplaceAllLiteral(text, []byte(b.String())))
}

func short(p pkg) string { return strings.TrimPrefix(p.ImportPath, "tercet/") }
