package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cli/report"
	"tercet/internal/rundir"
	"tercet/internal/study"
)

// keptTable is a line of results/tables.txt.
type keptTable struct {
	file string
	args []string // of tercet report; nil where the runs are gone
}

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
// or marked as one whose runs are gone.
func TestResultsTables(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	listed := map[string]bool{}
	runs := map[string][]*rundir.Run{}
	made := 0
	for _, k := range keptTables(t) {
		if listed[k.file] {
			t.Errorf("%s is listed twice", k.file)
		}
		listed[k.file] = true
		want, err := os.ReadFile(filepath.Join("results", "tables", k.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if k.args == nil {
			continue
		}
		made++
		code, got, stderr := reported(t, k.args, runs)
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

// reported is what tercet report --format csv prints. Runs of which a study's table was made
// before, by the same patterns, are not read again.
func reported(t *testing.T, args []string, read map[string][]*rundir.Run) (code int, stdout, stderr string) {
	t.Helper()
	var own *study.Table
	if own = study.BuiltInTable(args[1]); args[0] != "--table" || own == nil || strings.HasPrefix(args[2], "--") {
		return clitest.Run(append([]string{"report", "--format", "csv"}, args...)...)
	}
	var out, log bytes.Buffer
	s := base.NewStreams(nil, &out, &log)
	key := strings.Join(args[2:], " ")
	runs, err := read[key], error(nil)
	if runs == nil {
		runs, err = report.ReadTableRuns(s, args[2:])
		read[key] = runs
	}
	if err == nil {
		err = report.PrintTable(s, own, runs, "csv", "", true)
	}
	if err != nil {
		log.WriteString(err.Error())
	}
	return base.ExitCode(err), out.String(), log.String()
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
