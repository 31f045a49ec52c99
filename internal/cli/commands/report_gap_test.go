package commands_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/generalize"
	"tercet/internal/record"
	"tercet/internal/study"
)

func TestReportOfGaps(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(2) {
		for _, n := range []int{100, 400} {
			dir := clitest.FakeRun(t, fmt.Sprintf("n%d-%d", n, seed), seed, 0.5, fmt.Sprintf("data.limit_per_class=%d", n/10))
			var d generalize.GapDoc
			d.Schema, d.Train = "tercet.gap/1", record.Set{Items: n}
			d.Source.Checkpoint, d.Source.Step = "last", 10
			d.Loss.Name, d.Loss.Gap.Value, d.Error.Gap.Value = "triplet", 10/float64(n), 1/math.Sqrt(float64(n))
			if err := record.Write(filepath.Join(dir, "gap.json"), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	for format, want := range map[string]string{"text": "slope of log mean on log n: loss gap -1.000 [-1.000, -1.000]; error gap -0.500", "csv": ",400,2,", "markdown": "| 400", "latex": "$400$ &"} {
		args := []string{"report", "--table", "gap", "--format", format, "--curves", "pictures/gap", "runs"}
		if code, out, stderr := clitest.Run(args...); code != 0 || !strings.Contains(out, want) || !strings.Contains(stderr, "wrote pictures/gap-") {
			t.Errorf("%s: %d %s%s", format, code, out, stderr)
		}
	}
	if files, _ := filepath.Glob("pictures/gap-*.svg"); len(files) != 1 {
		t.Errorf("pictures %v", files)
	}
	code, out, _ := clitest.Run("report", "--table", "gap", "--json", "runs")
	var s study.Document
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 || s.Schema != "tercet.study/1" || len(s.Slopes) != 2 || len(s.Rows) != 2 {
		t.Errorf("%v %s", err, out)
	}
	if err := os.Remove("runs/n100-0/gap.json"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"gap", "network-stability"} {
		what := map[string]string{"gap": "tercet gap", "network-stability": "tercet stability"}[table] + " --run runs/n100-0"
		clitest.Refuse(t, base.ExitData, "report --table "+table+" runs/n100-0", what+" makes it")
		clitest.Refuse(t, base.ExitData, "report --table "+table+" --format csv --curves c runs/n100-0", what+" makes it")
	}
	clitest.Refuse(t, base.ExitUsage, "report --table gap --metric nmi runs", "own columns")
}
