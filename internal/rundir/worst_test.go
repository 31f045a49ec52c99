package rundir_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

const worstSource = `"source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16, "fingerprint": "sha256:bb"}`

func worstFile(eps, warning string) string {
	return `{"schema": "tercet.worst/1", ` + worstSource + `, "options": {"version": "standard", "norm": "linf", "eps": ` + eps + `}, "queries": 2, "warnings": [` + warning + `], "galleries": [
 {"gallery": "full", "rows": 200, "scores": {"recall@1": {"value": 1}, "wcR@1": {"value": 0.5, "definition": "d"}}, "radius": "` + string(record.Pack([]float64{0.125, 9})) + `"},
 {"gallery": "prototype", "rows": 10, "scores": {"wcR@1": {"value": 1, "definition": "d"}}, "radius": "?"}]}`
}

// Scores of worst.json and certify.json by the keys of a report; budgets are said, and runs
// of two budgets have no mean.
func TestWorstScores(t *testing.T) {
	dir := t.TempDir()
	fake := func(name, eps, warning string) *rundir.Run {
		return rundirtest.Fake(t, filepath.Join(dir, name), 3, "finished", map[string]string{"worst.json": worstFile(eps, warning),
			"certify.json": `{"schema": "tercet.certify/1", ` + worstSource + `, "options": {"method": "ibp", "norm": "linf"}, "queries": 2, "points": [{"eps": 0.1}, {"eps": 0.2}], "scores": {"recall@1": {"value": 1}, "certR@1": {"value": 0.25}}}`})
	}
	a, b := fake("a", "0.25", ""), fake("b", "0.5", `"not a robustness claim: B1 fails"`)
	for key, want := range map[string]float64{"wcR@1": 0.5, "worst:recall@1": 1, "wcR@1(prototype)": 1, "radius@1": (0.125 + 0.25) / 2, "certR@1": 0.25} {
		if v, ok := a.Score(key); !ok || v != want {
			t.Errorf("%s: %v %v, want %v", key, v, ok, want)
		}
	}
	if _, ok := a.Score("radius@1(prototype)"); ok {
		t.Error("a mean of radii that cannot be read")
	}
	shown := []string{"wcR@1", "certR@1"}
	said := strings.Join(rundir.TableWarnings([]*rundir.Run{a}, shown), "\n")
	for _, want := range []string{"worst case: linf eps 0.25, standard, 2 queries", "certificate: ibp, linf eps 51/255, 2 queries"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	runs := []*rundir.Run{a, b}
	if why := rundir.Unlike(runs, shown); !strings.Contains(why["wcR@1"], "worst case linf eps 0.25") || why["certR@1"] != "" {
		t.Error(why)
	}
	if said := strings.Join(rundir.TableWarnings(runs, shown), "\n"); !strings.Contains(said, "b: not a robustness claim") || !strings.Contains(said, "not measured in the same way in all rows: wcR@1") {
		t.Error(said)
	}
	if note := rundir.Without("worst", []*rundir.Run{a.Only()}); !strings.Contains(note, "tercet attack --suite worst --run ") {
		t.Error(note)
	}
}

// What only the attacks of the suite plus break has a score where they ran: those of the suite
// worst, and a member of another name, do not count.
func TestWorstPlusScore(t *testing.T) {
	fake := func(version string) *rundir.Run {
		doc := `{"schema": "tercet.worst/1", ` + worstSource + `, "options": {"version": "` + version + `", "norm": "linf", "eps": 0.25}, "queries": 8, "galleries": [
 {"gallery": "full", "members": [{"member": "clean", "broken": 1}, {"member": "square", "broken": 2}, {"member": "shift", "broken": 1}, {"member": "rays", "broken": 1}, {"member": "new", "broken": 1}]},
 {"gallery": "trimmed", "members": [{"member": "apgd-t", "broken": 8}]}]}`
		return rundirtest.Fake(t, filepath.Join(t.TempDir(), version), 3, "finished", map[string]string{"worst.json": doc})
	}
	r := fake("plus")
	for key, want := range map[string]float64{rundir.WorstPlus: 0.25, rundir.WorstPlus + "(trimmed)": 0} {
		if v, ok := r.Score(key); !ok || v != want {
			t.Errorf("%s: %v %v, want %v", key, v, ok, want)
		}
	}
	if v, ok := fake("standard").Score(rundir.WorstPlus); ok {
		t.Error("a score of attacks that did not run:", v)
	}
}
