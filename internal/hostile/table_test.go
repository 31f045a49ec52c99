//go:build linux

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A hostileCase is one input with what has to come of it.
type hostileCase struct {
	name  string
	where string // file:line
	fast  bool   // part of make test
	base  string // a prepared folder that it begins from, or ""
	files []fileRow
	run   string
	exits []int
	says  string // a part of standard error, or of standard output where the exit code is 0
}

// fileRow makes one file: path, and a verb of makers with its arguments.
type fileRow struct{ path, how string }

// readTables reads all tables, in the order of their names.
func readTables(t *testing.T) []hostileCase {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/hostile/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("tables %v, error %v", paths, err)
	}
	var all []hostileCase
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := parseTable(filepath.Base(path), string(b))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	seen := map[string]string{}
	for _, c := range all {
		if seen[c.name] != "" {
			t.Errorf("%s: %q is also the name of the case at %s", c.where, c.name, seen[c.name])
		}
		seen[c.name] = c.where
	}
	return all
}

// parseTable reads one table; testdata/hostile/README.md describes its lines.
func parseTable(file, text string) ([]hostileCase, error) {
	kind := strings.TrimSuffix(file, ".txt")
	var common, c hostileCase
	var values []string
	var all []hostileCase
	begun := false
	end := func() error {
		if !begun {
			common = c
			return nil
		}
		if c.run == "" || len(c.exits) == 0 || (c.says == "" && c.exits[0] != 0) {
			return fmt.Errorf("%s: a case needs a line $, a line = and what is said", c.where)
		}
		all = append(all, c.expand(values)...)
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch word {
		case "", "#":
		case "##", "##*":
			err = end()
			begun, values = true, nil
			c = hostileCase{name: kind + "/" + rest, where: fmt.Sprintf("%s:%d", file, i+1), fast: word == "##*", base: common.base, run: common.run, exits: common.exits}
			c.files = append(c.files, common.files...)
		case "$":
			c.run = rest
		case "=":
			c.exits, c.says, err = expectation(rest)
		case "base":
			c.base = rest
		case "for":
			values = strings.Split(rest, " | ")
		default:
			c.files = append(c.files, fileRow{word, rest})
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return all, end()
}

// expectation reads "2 message" or "0,2 message".
func expectation(s string) (exits []int, says string, err error) {
	codes, says, _ := strings.Cut(s, " ")
	for _, code := range strings.Split(codes, ",") {
		v, err := strconv.Atoi(code)
		if err != nil {
			return nil, "", fmt.Errorf("exit code %q", code)
		}
		exits = append(exits, v)
	}
	return exits, says, nil
}

// make makes the file below dir.
func (f fileRow) make(dir string) error {
	verb, args, _ := strings.Cut(strings.ReplaceAll(f.how, "DIR", dir), " ")
	if makers[verb] == nil {
		return fmt.Errorf("no maker %q", verb)
	}
	path := filepath.Join(dir, f.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return makers[verb](path, args)
}

// expand gives the case once for each value, with {} replaced by it.
func (c hostileCase) expand(values []string) []hostileCase {
	if values == nil {
		return []hostileCase{c}
	}
	var all []hostileCase
	for i, v := range values {
		put := func(s string) string { return strings.ReplaceAll(s, "{}", v) }
		one := c
		one.name = fmt.Sprintf("%s, %s", c.name, v)
		one.fast = c.fast && i == 0
		one.run, one.says, one.files = put(c.run), put(c.says), nil
		for _, f := range c.files {
			one.files = append(one.files, fileRow{put(f.path), put(f.how)})
		}
		all = append(all, one)
	}
	return all
}
