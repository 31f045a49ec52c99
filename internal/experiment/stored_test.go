package experiment

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attack.json read again is what was written, and belongs to the options and the
// weights that it was made with alone.
func TestStoredAttack(t *testing.T) {
	r := trained(t, t.TempDir())
	suite, _ := SuiteNames("ers")
	o := AttackOptions{Attacks: suite, Queries: 8, Bootstrap: 20, Draws: 2}
	if err := o.AttackProfile("rob28", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 1
	a, err := r.Attack(context.Background(), "last", "test", o, quiet)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attack.json")
	if StoredAttack(path) != nil {
		t.Error("a file that is not there")
	}
	if err := WriteJSON(path, a.Doc); err != nil {
		t.Fatal(err)
	}
	d := StoredAttack(path)
	if d == nil || !sameJSON(d, a.Doc) || !d.Same(o) || d.Lacks(o) != nil {
		t.Fatalf("%+v", d)
	}
	step, err := r.Step("last")
	if err != nil || !r.Measures(d.Source, "last", step, "test") {
		t.Errorf("step %d, %v: %+v", step, err, d.Source)
	}
	if r.Measures(d.Source, "last", step+1, "test") || r.Measures(d.Source, "last", step, "train") || r.Measures(d.Source, "best", step, "test") || r.Measures(d.Source, "last", step, "validation") {
		t.Error("results of other weights or images pass for it")
	}
	for want, change := range map[string]func(*AttackOptions){
		"the scores CA+, CA-, QA+, QA-, TMA, ES:D, ES:R, GTM, GTT, ERS": func(o *AttackOptions) { o.Attacks = []string{"LTM"} },
		"the variant published":  func(o *AttackOptions) { o.Variants = []string{"fixed"} },
		"8 queries instead of 7": func(o *AttackOptions) { o.Queries = 7 },
		"2 draws instead of 1":   func(o *AttackOptions) { o.Draws = 0 },
		"":                       func(o *AttackOptions) { o.Queries, o.Draws, o.Eps = 0, 3, 0.5 },
	} {
		c := o
		change(&c)
		if got := strings.Join(d.Lacks(c), "; "); got != want || d.Same(c) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, text := range []string{"{", `{"schema": "tercet.attack/1"}`, `{"schema": "tercet.attack/2", "scores": {"fixed": {"ES:D": {}}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if StoredAttack(path) != nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestStoredEval(t *testing.T) {
	r := trained(t, t.TempDir())
	o := EvalDefaults(r.Config)
	e, err := r.Eval(context.Background(), "last", "test", o, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(e.Doc.Warnings, "\n"); !strings.Contains(w, "from 20 resamples and mean little; give eval.bootstrap 100 or more") {
		t.Errorf("warnings %q", w)
	}
	if coarse(EvalOptions{}) != nil || coarse(EvalOptions{Bootstrap: 100}) != nil {
		t.Error("none and 100 resamples are warned of")
	}
	path := filepath.Join(t.TempDir(), "eval.json")
	if err := WriteJSON(path, e.Doc); err != nil {
		t.Fatal(err)
	}
	d := StoredEval(path)
	if d == nil || !sameJSON(d, e.Doc) || !d.Same(o) {
		t.Fatalf("%+v", d)
	}
	if o.Ks = []int{1}; d.Same(o) {
		t.Error("other k pass for it")
	}
}
