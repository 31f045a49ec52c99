package layers

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

//go:embed floors.txt
var table string

// floor gives each package its place (floors.txt); an import must point to a lower
// place.
var floor = func() map[string]int {
	f := map[string]int{}
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "#")
		if w := strings.Fields(line); len(w) == 2 {
			n, err := strconv.Atoi(w[0])
			if err != nil {
				panic("floors.txt: " + line)
			}
			f[w[1]] = n
		}
	}
	return f
}()

// testHelpers are packages that only tests import.
var testHelpers = regexp.MustCompile(`/[a-z]+test$`)

// only restricts who may import an outside module, with the reason.
var only = []struct {
	module string
	users  []string
	reason string
}{
	{"gorgonia.org/", []string{"internal/engine/tensors"}, "one adapter owns gorgonia, so that replacing it is a one-package change"},
	{"github.com/spf13/", []string{"internal/cli"}, "commands are the only place that knows flags"},
	{"github.com/schollz/", []string{"internal/cli/base"}, "one owner of the terminal"},
	{"golang.org/x/term", []string{"internal/cli/base"}, "one owner of the terminal"},
	{"go.yaml.in/", []string{"internal/config"}, "one reader of YAML, so that strictness cannot be lost"},
	{"github.com/ebitengine/", []string{"internal/ranks/mpi", "internal/device"}, "two packages open shared libraries, in the native build alone"},
	{"gonum.org/v1/plot", []string{"internal/render"}, "one place draws"},
}

type pkg struct {
	ImportPath string
	Dir        string
	Doc        string // the first sentence of the package's comment
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil || len(list) < 10 {
		t.Fatalf("go list shows %d packages: %v", len(list), err)
	}
	return list
}

var listed = sync.OnceValues(func() (list []pkg, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports", "tercet/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
})

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if name == "internal/layers" || testHelpers.MatchString(name) {
			continue
		}
		from, ok := floor[name]
		if !ok {
			t.Errorf("%s has no floor: give it one in floors.txt", name)
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
				if strings.HasPrefix(imp, o.module) && !allowed(o.users, name) {
					t.Errorf("%s imports %s: %s", name, imp, o.reason)
				}
			}
		}
	}
}

// allowed says that a package or one above it is listed.
func allowed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(v string) bool { return name == v || strings.HasPrefix(name, v+"/") })
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

// flagged are the packages below cli whose strings name flags, with the reason.
var flagged = map[string]string{
	"internal/study/making": "it plans command lines, which are what it runs",
	"internal/emit":         "it prints command lines of several programs",
}

var flag = regexp.MustCompile(`--[a-z]`)

// A library does not know how its options are given: see option.Name.
func TestLibrariesNameNoFlags(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if flagged[name] != "" || name == "internal/cli" || strings.HasPrefix(name, "internal/cli/") || testHelpers.MatchString(name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && flag.MatchString(l.Value) {
					t.Errorf("%s/%s names a flag: %s: write option.Name", name, f, l.Value)
				}
				return true
			})
		}
	}
}

// rooms are packages that may hold more files than others, with the reason.
var rooms = map[string]int{
	"internal/engine/kernel": 100, // a file for each kernel and processor
}

// One idea per package: a room that grows past some 30 files wants a wall.
func TestRoomsStaySmall(t *testing.T) {
	const most = 30
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "tercet/")
		if n := len(p.GoFiles); n > max(most, rooms[name]) {
			t.Errorf("%s has %d files", name, n)
		}
	}
}
