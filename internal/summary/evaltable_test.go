package summary

import (
	"strings"
	"testing"

	"tercet/internal/record"
)

func TestEvalTableShowsTheHeadline(t *testing.T) {
	own := record.Evaluated{
		Retrieval: record.Scores{{Key: "recall@16", Value: record.Value{Value: 0.5, CI95: &[2]float64{0.25, 0.75}}}, {Key: "map@10", Value: record.Value{Value: 0.25}},
			{Key: "recall@1(position-masked)", Value: record.Value{Value: 0.1}}},
		Clustering: record.Scores{{Key: "bcubed_f1", Value: record.Value{Value: 0.75}}, {Key: "bcubed_recall", Value: record.Value{Value: 1}}},
		Excluded:   2,
	}
	base := map[string]record.Evaluated{"pixels": {Retrieval: record.Scores{{Key: "recall@16", Value: record.Value{Value: 0.125}}}}}
	table, left := EvalTable("x", "trained", own, base, false)
	want := "score,trained,trained_low,trained_high,pixels\nrecall@16,0.5,0.25,0.75,0.125\nbcubed_f1,0.75,,,\n"
	if got := rendered(t, table, "csv"); got != want || left != 3 {
		t.Errorf("left %d, got\n%s", left, got)
	}
	if len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "2 queries left out") {
		t.Errorf("notes %q", table.Notes)
	}
	if table, left = EvalTable("x", "trained", own, nil, true); left != 0 || len(table.Rows) != 5 || len(table.Columns) != 2 {
		t.Errorf("all: %d left, %d rows", left, len(table.Rows))
	}
}
