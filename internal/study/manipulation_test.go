package study

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// fakeDefended is a run of HM or HM&ICS with an ERS.
func fakeDefended(t *testing.T, lambda float64, seed int, status string, ers float64) *rundir.Run {
	t.Helper()
	dir := fmt.Sprintf("runs/hm-%v-%d", lambda, seed)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": %q, "seed": %d, "steps": 7, "data": {"name": "mnist"}, "model": {"name": "c2f2"},
 "crafted": {"benign_hardness": -0.5, "hardness": %v}}`, status, seed, -0.5+0.01*float64(seed)))
	if status == "finished" {
		put(t, dir, "eval.json", `{"schema": "tercet.eval/1", "source": {"run": "x", "checkpoint": "last", "step": 7, "set": "test"}, "retrieval": {"recall@1": {"value": 0.5, "definition": "r"}}}`)
		value := fmt.Sprintf(`{"ERS": {"value": %v, "definition": "ers"}}`, ers)
		put(t, dir, "attack.json", fmt.Sprintf(`{"schema": "tercet.attack/2", "source": {"run": "x", "checkpoint": "last", "step": 7, "set": "test"}, "queries": 5, "options": {"attacks": ["ES"], "variants": ["fixed", "published"]}, "scores": {"fixed": %s, "published": %s}, "clean": {}, "attacks": []}`, value, value))
	}
	return read(t, dir, label("name", dir), label("seed", seed), label("model.name", "c2f2"), label("defense.name", "hm"),
		label("defense.ics.lambda", lambda), label("defense.ics.margin", 0), label("defense.ics.triplet", "structure"),
		label("defense.pgd.steps", 8), label("defense.pgd.scale", "ball"))
}

// A claim about a difference is evaluated by the interval of the difference; a table of runs
// that ended counts those that collapsed.
func TestClaimsAboutDifferences(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs []*rundir.Run
	for seed := range 3 {
		noise := 0.001 * float64(seed*seed)
		runs = append(runs, fakeDefended(t, 0, seed, "finished", 0.3+noise), fakeDefended(t, 0.5, seed, "finished", 0.3+noise+0.05+0.002*float64(seed)))
	}
	runs = append(runs, fakeDefended(t, 1, 0, "collapsed", 0))
	print := func(name string) string {
		var b bytes.Buffer
		if err := compare(t, name, runs).Layout(true).Write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := func(name, of, what string) {
		t.Helper()
		for _, line := range strings.Split(print(name), "\n") {
			if strings.Contains(line, of) {
				if !strings.Contains(line, what) {
					t.Errorf("%s: %s\nwant %s", name, line, what)
				}
				return
			}
		}
		t.Errorf("%s has no line of %s:\n%s", name, of, print(name))
	}
	// 5.2 points, the interval +-0.497: by hand from 5.0, 5.2, 5.4.
	want("manipulation-ics", "lambda 0.5 - 0", ",3,")
	want("manipulation-ics", "lambda 0.5 - 0", ",supported,inconclusive") // ERS rises, R@1 stays
	want("manipulation-order", "HM&ICS - HM", ",supported,supported")
	want("manipulation-triplets", "structure - none", ",contradicted,contradicted") // not lower, not within 2 points
	// Rises of 0, 0.01 and 0.02 are 0.01 +-0.025: near; -0.49 is not 0.
	want("manipulation-hardness", "mnist,c2f2,HM,", ",supported,contradicted")
	want("manipulation-collapse", "HM&ICS,,,,ball,8,1,1 of 1,", "inconclusive") // one seed
	want("manipulation-collapse", "HM&ICS,,,,ball,8,3,0 of 3,", "contradicted")
	want("manipulation", "HM&ICS", ",3,")
	for _, name := range []string{"eta", "mixed", "losses", "sphere", "xi"} { // nothing to compare
		if got := compare(t, "manipulation-"+name, runs).Contrasts; len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
