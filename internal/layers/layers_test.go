package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// floor gives each package its place; an import must point to a lower place.
// Inside engine the order is kernel, array, nn, optim, loss, mine, adversary.
var floor = map[string]int{
	"internal/par":                0,
	"internal/rng":                0,
	"configs/tables":              0, // descriptions of tables, embedded
	"internal/fsx":                0,
	"internal/record":             0,
	"internal/safetensors":        1,
	"internal/names":              0,
	"internal/component":          1, // how losses, miners and models describe themselves: below all of them
	"internal/verdict":            0,
	"internal/engine/kernel":      1,
	"internal/engine/array":       2,
	"internal/engine/nn":          3,
	"internal/engine/optim":       4,
	"internal/engine/loss":        5,
	"internal/engine/mahalanobis": 5,
	"internal/engine/mine":        6,
	"internal/engine/adversary":   7,
	"internal/config":             10,
	"internal/metric":             10,
	"internal/data":               10,
	"internal/data/glyphs":        11,
	"internal/noise":              11,
	"internal/train":              20,
	"internal/attack":             20,
	"internal/cluster":            20,
	"internal/cluster/link":       21,
	"internal/cluster/multicut":   22,
	"internal/cluster/tsne":       22,
	"internal/theory":             25, // solves the pair graphs that it draws
	"internal/theory/stability":   25,
	"internal/theory/measure":     26,
	"internal/report":             30,
	"internal/bench":              30, // jobs of every floor below, timed
	"internal/experiment":         31, // a run draws its own pictures with report
	"internal/cli":                40,
	"cmd/tercet":                  50,
	"internal/digest":             60, // tests of the whole program
	"internal/contract":           60,
	"internal/hostile":            60,
	"internal/kills":              60,
}

// testHelpers are packages that only tests import.
var testHelpers = regexp.MustCompile(`/(kerneltest|.*test)$`)

// only restricts who may import an outside module, with the reason.
var only = []struct {
	module string
	users  []string
	reason string
}{
	{"gorgonia.org/", []string{"internal/engine/array"}, "one adapter owns gorgonia, so that replacing it is a one-package change"},
	{"github.com/spf13/", []string{"internal/cli"}, "commands are the only place that knows flags"},
	{"github.com/schollz/", []string{"internal/cli"}, "one owner of the terminal"},
	{"golang.org/x/term", []string{"internal/cli"}, "one owner of the terminal"},
	{"go.yaml.in/", []string{"internal/config"}, "one reader of YAML, so that strictness cannot be lost"},
	{"gonum.org/v1/plot", []string{"internal/report"}, "one place draws"},
}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "tercet/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list shows only %d packages", len(list))
	}
	return list
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if name == "internal/layers" || testHelpers.MatchString(name) {
			continue
		}
		from, ok := floor[name]
		if !ok {
			t.Errorf("%s has no floor: give it one in the table, and a line in docs/architecture.md", name)
			continue
		}
		for _, imp := range p.Imports {
			if own, is := strings.CutPrefix(imp, "tercet/"); is {
				if to, known := floor[own]; !known || to >= from {
					t.Errorf("%s (floor %d) imports %s (floor %d): dependencies point down only", name, from, own, to)
				}
				continue
			}
			for _, o := range only {
				if strings.HasPrefix(imp, o.module) && !contains(o.users, name) {
					t.Errorf("%s imports %s: %s", name, imp, o.reason)
				}
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// One idea per file: a file that grows past 500 lines wants splitting.
func TestFilesStaySmall(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			b, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(b, []byte("\n")); n > 500 {
				t.Errorf("%s/%s has %d lines", strings.TrimPrefix(p.ImportPath, "tercet/"), f, n)
			}
		}
	}
}
