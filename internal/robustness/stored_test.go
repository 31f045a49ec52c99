package robustness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// attack.json read again is what was written, and belongs to the options and the
// weights that it was made with alone.
func TestStoredAttack(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	suite, _ := attack.Suite("ers")
	o := record.AttackOptions{Attacks: suite, Queries: 8, Bootstrap: 20, Draws: 2}
	if err := Profile(&o, "rob28", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 1
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attack.json")
	if d, err := record.ReadKept[record.Attack](path); d != nil || err != nil {
		t.Errorf("a file that is not there: %v, %v", d, err)
	}
	if err := record.Write(path, a.Doc); err != nil {
		t.Fatal(err)
	}
	d, _ := record.ReadKept[record.Attack](path)
	if d == nil || !record.SameJSON(d, a.Doc) || !HoldsAttack(d, o) || PlannedAttack(o).Covers(*d) != nil {
		t.Fatalf("%+v", d)
	}
	old := *d
	old.Scores = map[string]record.Scores{"published": d.Scores["published"], "fixed": append(record.Scores(nil), d.Scores["fixed"]...)}
	for i, s := range old.Scores["fixed"] {
		if s.Key == "ES:D" {
			old.Scores["fixed"][i].Definition = "es:d(fixed)"
		}
	}
	if HoldsAttack(&old, o) {
		t.Error("scores of an earlier definition pass for today's")
	}
	step, err := r.Step("last")
	if err != nil || !r.Measures(d.Source, "last", step, "test") {
		t.Errorf("step %d, %v: %+v", step, err, d.Source)
	}
	if r.Measures(d.Source, "last", step+1, "test") || r.Measures(d.Source, "last", step, "train") || r.Measures(d.Source, "best", step, "test") || r.Measures(d.Source, "last", step, "validation") {
		t.Error("results of other weights or images pass for it")
	}
	for want, change := range map[string]func(*record.AttackOptions){
		"the scores CA+, CA-, QA+, QA-, TMA, ES:D, ES:R, GTM, GTT, ERS": func(o *record.AttackOptions) { o.Attacks = []string{"LTM"} },
		"the variant published":  func(o *record.AttackOptions) { o.Variants = []string{"fixed"} },
		"8 queries instead of 7": func(o *record.AttackOptions) { o.Queries = 7 },
		"2 draws instead of 1":   func(o *record.AttackOptions) { o.Draws = 0 },
		"intervals":              func(o *record.AttackOptions) { o.Bootstrap = 0 },
		"eps 77/255 instead of 8/255; steps 1 instead of 2": func(o *record.AttackOptions) { o.Eps, o.Iterations = 8./255, 2 },
		"eps 77/255 instead of 0.3001":                      func(o *record.AttackOptions) { o.Eps = 0.3001 },
		"seed 0 instead of 5; near false instead of true":   func(o *record.AttackOptions) { o.Seed, o.Near = 5, true },
		"rule fixed instead of auto":                        func(o *record.AttackOptions) { o.Rule, o.Step = "auto", 0.5 }, // which has no such step
		"":                                                  func(o *record.AttackOptions) { o.Queries, o.Draws, o.Bootstrap = 0, 3, 30 },
	} {
		c := o
		change(&c)
		if got := strings.Join(PlannedAttack(c).Covers(*d), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if less := want == "intervals" || strings.HasPrefix(want, "the "); HoldsAttack(d, c) != less {
			t.Errorf("%q: the result stands for it is %v", want, !less)
		}
	}
	part := o // whose values are those of the whole
	part.Attacks, part.Variants = []string{"LTM"}, []string{"fixed"}
	alone, err := Attack(context.Background(), r, "last", "test", part, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := alone.Doc.Scores["fixed"].Get("LTM")
	if all, ok := d.Scores["fixed"].Get("LTM"); !ok || !record.SameJSON(own, all) {
		t.Errorf("LTM alone is %v, with others %v", own, all)
	}
	for _, text := range []string{"{", `{"schema": "tercet.attack/1"}`, `{"schema": "tercet.attack/2", "scores": {"fixed": {"ES:D": {}}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var kept *record.KeptError
		if d, err := record.ReadKept[record.Attack](path); d != nil || !errors.As(err, &kept) {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
}
