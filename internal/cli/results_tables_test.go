package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cli/report"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/testutil"
)

// keptTable is a line of results/tables.txt.
type keptTable struct {
	file string
	args []string // of tercet report; nil where the runs are gone
	runs int      // how many the table is of
}

// patterns are the runs that a line names.
func (k keptTable) patterns() []string {
	return slices.DeleteFunc(slices.Clone(k.args), func(arg string) bool { return !strings.Contains(arg, ".zip") })
}

// manyRuns is from how many runs on an archive waits for the night: the 880 of losses.zip
// are of a kind of table that smaller archives have, too.
const manyRuns = 500

func keptTables(t *testing.T) []keptTable {
	t.Helper()
	f, err := os.Open(filepath.Join("results", "tables.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []keptTable
	for in := bufio.NewScanner(f); in.Scan(); {
		words := strings.Fields(in.Text())
		if len(words) < 2 || strings.HasPrefix(words[0], "#") {
			continue
		}
		k := keptTable{file: words[0], args: words[1:]}
		if words[1] == "gone" {
			k.args = nil
		}
		out = append(out, k)
	}
	return out
}

// Every table in results/tables is made from the documents that are kept, byte for byte,
// or marked as one whose runs are gone. By day the smallest of each kind and of each archive
// is made, of an archive with many runs only where no other has its kind; at night all.
// results/SHA256SUMS holds the others to what they were.
func TestResultsTables(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	listed := map[string]bool{}
	read := kept{runs: map[string]*rundir.Run{}}
	all, had := testutil.Trials(0, 1) == 1, map[string]bool{}
	made, tables := 0, keptTables(t)
	for i := range tables {
		if tables[i].args == nil {
			continue
		}
		dirs, err := rundir.Find(tables[i].patterns())
		if err != nil {
			t.Fatal(err)
		}
		tables[i].runs = len(dirs)
	}
	slices.SortStableFunc(tables, func(a, b keptTable) int { return cmp.Compare(a.runs, b.runs) })
	for _, k := range tables {
		if listed[k.file] {
			t.Errorf("%s is listed twice", k.file)
		}
		listed[k.file] = true
		want, err := os.ReadFile(filepath.Join("results", "tables", k.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if k.args == nil || !all && !k.news(had) {
			continue
		}
		made++
		code, got, stderr := read.reported(k.args)
		if code != 0 || got != string(want) {
			t.Errorf("%s: exit code %d %s; first difference: %s\nmake results-tables makes the file from what is kept", k.file, code, stderr, firstDifference(got, string(want)))
		}
	}
	if made < 10 {
		t.Errorf("only %d tables are made", made)
	}
	files, err := filepath.Glob(filepath.Join("results", "tables", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !listed[filepath.Base(f)] {
			t.Errorf("%s has no line in results/tables.txt", f)
		}
	}
}

// news says that a line has a kind of table that none before had, or an archive, unless
// the table is of many runs.
func (k keptTable) news(had map[string]bool) bool {
	names := k.patterns()
	for i, arg := range names {
		names[i], _, _ = strings.Cut(arg, ".zip")
	}
	if k.runs >= manyRuns {
		names = nil
	}
	news := false
	for _, name := range append(names, strings.Join(k.args[:2], " ")) {
		news = news || !had[name]
		had[name] = true
	}
	return news
}

// kept is what tables before have read.
type kept struct{ runs map[string]*rundir.Run } // by directory

// reported is what tercet report --format csv prints. It makes a study's table of runs that
// tables before have read.
func (k kept) reported(args []string) (code int, stdout, stderr string) {
	own := study.BuiltInTable(args[1])
	if args[0] != "--table" || own == nil || strings.HasPrefix(args[2], "--") {
		return clitest.Run(append([]string{"report", "--format", "csv"}, args...)...)
	}
	var out, log bytes.Buffer
	runs, err := k.read(args[2:])
	if err == nil {
		err = report.PrintTable(base.NewStreams(nil, &out, &log), own, runs, "csv", "", true)
	}
	if err != nil {
		log.WriteString(err.Error())
	}
	return base.ExitCode(err), out.String(), log.String()
}

func (k kept) read(patterns []string) ([]*rundir.Run, error) {
	dirs, err := rundir.Find(patterns)
	var out []*rundir.Run
	for _, dir := range dirs {
		if err == nil && k.runs[dir] == nil {
			k.runs[dir], err = report.ReadRun(dir, rundir.Of{})
		}
		out = append(out, k.runs[dir])
	}
	return out, err
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "made " + x + ", stored " + y
		}
	}
	return "none"
}
