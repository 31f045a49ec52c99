package rundir

import (
	"strings"
	"testing"

	"tercet/internal/record"
)

func TestPartialResultsAreNoted(t *testing.T) {
	all := &Run{Dir: "a", Manifest: record.Manifest{Status: "finished"}, Eval: &record.Eval{}, Attack: &record.Attack{Queries: 200}}
	all.Manifest.Data.Test.Items = 200
	all.Eval.Source = record.Source{Set: "test", Items: 200}
	all.Attack.Source = record.Source{Set: "test", Items: 200}
	if got := append(all.partial(), attacked([]*Run{all})...); len(got) != 0 {
		t.Errorf("whole results: %q", got)
	}
	part := *all
	part.Eval = &record.Eval{Source: record.Source{Set: "test", Items: 50}}
	part.Attack = &record.Attack{Queries: 16, Source: record.Source{Set: "test", Items: 200}}
	if got := part.partial(); len(got) != 1 || got[0] != "a/eval.json is of 50 of the 200 test images" {
		t.Errorf("part of the images: %q", got)
	}
	if got := attacked([]*Run{&part}); len(got) != 1 || !strings.Contains(got[0], "16 queries of 200 images") {
		t.Errorf("part of the queries: %q", got)
	}
}
