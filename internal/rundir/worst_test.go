package rundir_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/attack/worst"
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

// What only the attacks of the suite plus break has a score where they ran; those of the suite
// worst do not count. Where attacks ran in another order, or are missing, there is no score, and
// the document is said to be of an older list.
func TestWorstPlusScore(t *testing.T) {
	list := func(version string, at int, change func([]string) []string) string {
		names, err := worst.Planned(worst.Options{Version: version, Norm: "linf", Eps: 0.25}, at)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			names = change(names)
		}
		var out []string
		for _, name := range names {
			broken := map[string]int{"clean": 1, "square": 2, "shift": 1, "rays": 1}[name]
			out = append(out, fmt.Sprintf(`{"member": %q, "broken": %d}`, name, broken*(1-at)))
		}
		return strings.Join(out, ", ")
	}
	fake := func(version string, change func([]string) []string) *rundir.Run {
		doc := `{"schema": "tercet.worst/1", ` + worstSource + `, "options": {"version": "` + version + `", "norm": "linf", "eps": 0.25}, "queries": 8, "galleries": [
 {"gallery": "full", "scores": {"wcR@1": {"value": 0.5}}, "members": [` + list(version, 0, change) + `]},
 {"gallery": "trimmed", "members": [` + list(version, 1, change) + `]}]}`
		return rundirtest.Fake(t, filepath.Join(t.TempDir(), version), 3, "finished", map[string]string{"worst.json": doc})
	}
	r := fake("plus", nil)
	for key, want := range map[string]float64{rundir.WorstPlus: 0.25, rundir.WorstPlus + "(trimmed)": 0} {
		if v, ok := r.Score(key); !ok || v != want {
			t.Errorf("%s: %v %v, want %v", key, v, ok, want)
		}
	}
	if v, ok := fake("standard", nil).Score(rundir.WorstPlus); ok {
		t.Error("a score of attacks that did not run:", v)
	}
	const says = "by an older list of attacks"
	for name, x := range map[string]struct {
		version string
		change  func([]string) []string
		older   bool
	}{
		"today":          {"plus", nil, false},
		"today's worst":  {"standard", nil, false},
		"another order":  {"plus", func(n []string) []string { n[3], n[4] = n[4], n[3]; return n }, true},
		"one is missing": {"standard", func(n []string) []string { return n[:len(n)-1] }, true},
		"a later one":    {"plus", func(n []string) []string { return append(n, "new") }, true},
	} {
		r := fake(x.version, x.change)
		if _, ok := r.Score(rundir.WorstPlus); x.older && ok {
			t.Errorf("%s: a score", name)
		}
		said := strings.Join(rundir.TableWarnings([]*rundir.Run{r}, []string{"broken@1:plus", "wcR@1"}), "\n")
		if strings.Contains(said, says) != x.older {
			t.Errorf("%s: %s", name, said)
		}
	}
}
