package study

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tercet/internal/render"
	"tercet/studies"
)

// specs are all studies that the binary knows.
func specs(t *testing.T) []*Spec {
	t.Helper()
	var out []*Spec
	for _, name := range studies.All.Names() {
		out = append(out, specNamed(t, name))
	}
	return out
}

func specNamed(t *testing.T, name string) *Spec {
	t.Helper()
	text, file, _ := studies.All.Read(name)
	s, err := Read(text, file, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tableNamed finds a table in the studies that the binary knows.
func tableNamed(t *testing.T, name string) *Table {
	t.Helper()
	of := tableStudy()[name]
	if of == "" {
		t.Fatalf("no table %s", name)
	}
	return specNamed(t, of).Table(name)
}

// tableStudy names the study of each table, for which it reads all studies once.
var tableStudy = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for _, name := range studies.All.Names() {
		text, file, _ := studies.All.Read(name)
		s, err := Read(text, file, name)
		if err != nil {
			continue // specs reports it
		}
		for _, t := range s.Tables {
			for _, key := range append(t.Aliases, t.Name) {
				if of[key] == "" {
					of[key] = name
				}
			}
		}
	}
	return of
})

// write is a table in a format.
func write(t *testing.T, d *Document, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Layout(format == "csv" || format == "json").Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The tables of hand-made runs are those of the engines that this package replaced, byte
// for byte.
func TestTablesAsBefore(t *testing.T) {
	for _, g := range goldens {
		want, err := os.ReadFile(filepath.Join("testdata", g.file+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		table := tableNamed(t, g.table)
		t.Run(g.file, func(t *testing.T) {
			t.Chdir(t.TempDir())
			d, err := table.Compare(g.runs(t))
			if err != nil {
				t.Fatal(err)
			}
			got := write(t, d, "csv")
			if got != string(want) {
				a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Errorf("line %d:\n%s\nwant\n%s", i+1, a[i], b[i])
						break
					}
				}
				t.Errorf("%d lines, want %d", len(a), len(b))
			}
			for _, format := range render.Formats() {
				if text := write(t, d, format); text == "" {
					t.Errorf("no %s", format)
				}
			}
		})
	}
}
