package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"tercet/internal/cli/attack"
	"tercet/internal/cli/cluster"
	"tercet/internal/cli/eval"
	"tercet/internal/record"
)

// Tables say of which images and weights they are.
func TestTablesNameTheirSource(t *testing.T) {
	d := &record.Eval{Source: record.Source{Run: "r", Checkpoint: "best", Step: 78, Set: "validation", Items: 40, Whole: 90, Dim: 8}}
	d.Retrieval = record.Scores{{Key: "recall@1", Value: record.Value{Value: 0.5}}}
	for _, format := range []string{"text", "markdown", "csv", "json"} {
		var b bytes.Buffer
		if err := eval.EvalTable(d, true).Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if want := "validation images, checkpoint best (step 78), 40 of 90 images"; !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %q in\n%s", format, want, b.String())
		}
	}
	attack := attack.AttackTable(&record.Attack{Source: d.Source})
	cluster := cluster.ClusterTable(&record.Cluster{Source: d.Source})
	for _, title := range []string{attack.Title, cluster.Title} {
		if !strings.Contains(title, "checkpoint best (step 78), 40 of 90 images") {
			t.Error(title)
		}
	}
}
