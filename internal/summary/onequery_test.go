package summary

import (
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rundir"
)

func TestOneQuery(t *testing.T) {
	a := &record.Attack{Queries: 1, Options: record.AttackOptions{Norm: "linf", Eps: 0.5, Step: 0.25, Iterations: 2, Rule: "fixed", Start: "clean", Restarts: 1, Keep: "last"}}
	if got := rundir.Budget(a); !strings.HasSuffix(got, ", 1 query") {
		t.Error(got)
	}
	for want, counts := range map[string][]string{
		"right when clean: the query whose nearest image was of its class before the attack":             {"1"},
		"right when clean: the 1 and 2 queries whose nearest image was of their class before the attack": {"1", "2"},
		"right when clean: the 12 queries whose nearest image was of their class before the attack":      {"12"},
	} {
		if got := rightNote(counts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
