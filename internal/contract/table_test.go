package contract

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
)

// A group is a list of steps in one folder.
type group struct {
	name  string
	from  string // the group whose folder this one begins with, as it is at that group's end
	steps []step
}

// A step is a command line, or a change of files that the next one meets.
type step struct {
	line int
	verb string // "$", or a key of verbs
	text string
}

// verbs change files. Their arguments are words as in a shell.
var verbs = map[string]func(args []string) error{
	"put": func(a []string) error { return os.WriteFile(a[0], []byte(strings.ReplaceAll(a[1], `\n`, "\n")), 0o644) },
	"copy": func(a []string) error {
		b, err := os.ReadFile(a[0])
		if err != nil {
			return err
		}
		return os.WriteFile(a[1], b, 0o644)
	},
	"cut": func(a []string) error { // keeps the first N bytes
		n, err := strconv.ParseInt(a[1], 10, 64)
		if err != nil {
			return err
		}
		return os.Truncate(a[0], n)
	},
	"edit": func(a []string) error { // replaces OLD by NEW, which must change something
		b, err := os.ReadFile(a[0])
		if err != nil {
			return err
		}
		after := strings.ReplaceAll(string(b), a[1], a[2])
		if after == string(b) {
			return fmt.Errorf("%s has no %q", a[0], a[1])
		}
		return os.WriteFile(a[0], []byte(after), 0o644)
	},
	"remove": func(a []string) error { return os.RemoveAll(a[0]) },
	"settle": func(a []string) error { // gives runs one training time, for the tables that show it
		names, err := filepath.Glob(filepath.Join(a[0], "*", "manifest.json"))
		if err == nil && len(names) == 0 {
			err = fmt.Errorf("no runs in %s", a[0])
		}
		for _, name := range names {
			b, e := os.ReadFile(name)
			settled := unsealed.ReplaceAll(trainingTime.ReplaceAll(b, []byte("\n  \"seconds\": 2,")), nil)
			err = errors.Join(err, e, os.WriteFile(name, settled, 0o644))
		}
		return err
	},
}

// A changed document has no digest: it would not be read with the old one.
var (
	trainingTime = regexp.MustCompile(`\n  "seconds": [0-9.e-]+,`)
	unsealed     = regexp.MustCompile(`,\s*"digest": "[0-9a-f]{64}"`)
)

// arguments is how many words each verb takes.
var arguments = map[string]int{"put": 2, "copy": 2, "cut": 2, "edit": 3, "remove": 1, "settle": 1}

// readTable reads the groups of a table: "== NAME" or "== NAME < GROUP" begins
// one, "$ tercet ..." is a command line, "! VERB ARGS" a change of files.
func readTable(t *testing.T, path string) []group {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	known := map[string]bool{}
	for i, line := range strings.Split(string(b), "\n") {
		at := fmt.Sprintf("%s:%d", path, i+1)
		mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case mark == "" || strings.HasPrefix(mark, "#"):
		case mark == "==":
			name, from, _ := strings.Cut(rest, " < ")
			if known[name] || from != "" && !known[from] {
				t.Fatalf("%s: group %q is listed twice, or %q is not above it", at, name, from)
			}
			known[name] = true
			groups = append(groups, group{name: name, from: from})
		case len(groups) == 0:
			t.Fatalf("%s: a step before the first group", at)
		case mark == "$" && strings.HasPrefix(rest, "tercet"):
			g := &groups[len(groups)-1]
			g.steps = append(g.steps, step{i + 1, mark, rest})
		case mark == "!":
			verb, args, _ := strings.Cut(rest, " ")
			if n, ok := arguments[verb]; !ok || len(clitest.ShellWords(args)) != n {
				t.Fatalf("%s: %q with %d words is no change of files", at, verb, len(clitest.ShellWords(args)))
			}
			g := &groups[len(groups)-1]
			g.steps = append(g.steps, step{i + 1, verb, args})
		default:
			t.Fatalf("%s: neither ==, $ tercet, ! nor #", at)
		}
	}
	return groups
}
