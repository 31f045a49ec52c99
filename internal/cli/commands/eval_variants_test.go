package commands_test

import (
	"testing"

	"tercet/internal/cli/eval"
	"tercet/internal/record"
)

// For people, eval prints what they ask for first; all scores on demand.
func TestTableLeavesOutVariants(t *testing.T) {
	doc := &record.Eval{Evaluated: record.Evaluated{Retrieval: record.Scores{{Key: "recall@4"}, {Key: "map@10"}}, Clustering: record.Scores{{Key: "ami"}, {Key: "ri"}}}}
	doc.Source.Embeddings = "X.npy"
	table := eval.EvalTable(doc, false)
	if len(table.Rows) != 2 || len(table.Notes) != 1 || table.Notes[0] != "2 more scores: --all-scores, or --json with the definition of each" || table.Columns[1].Name != "value" {
		t.Errorf("%+v", table)
	}
	if table = eval.EvalTable(doc, true); len(table.Rows) != 4 || len(table.Notes) != 0 {
		t.Errorf("all: %+v", table)
	}
}
