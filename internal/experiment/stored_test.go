package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/metric"
	"tercet/internal/record"
)

// attack.json read again is what was written, and belongs to the options and the
// weights that it was made with alone.
func TestStoredAttack(t *testing.T) {
	r := trained(t, t.TempDir())
	suite, _ := attack.Suite("ers")
	o := record.AttackOptions{Attacks: suite, Queries: 8, Bootstrap: 20, Draws: 2}
	if err := AttackProfile(&o, "rob28", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 1
	a, err := r.Attack(context.Background(), "last", "test", o, quiet)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attack.json")
	if d, err := StoredAttack(path); d != nil || err != nil {
		t.Errorf("a file that is not there: %v, %v", d, err)
	}
	if err := WriteJSON(path, a.Doc); err != nil {
		t.Fatal(err)
	}
	d, _ := StoredAttack(path)
	if d == nil || !sameJSON(d, a.Doc) || !SameAttack(d, o) || LacksAttack(d, o) != nil {
		t.Fatalf("%+v", d)
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
		if got := strings.Join(LacksAttack(d, c), "; "); got != want || SameAttack(d, c) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, text := range []string{"{", `{"schema": "tercet.attack/1"}`, `{"schema": "tercet.attack/2", "scores": {"fixed": {"ES:D": {}}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var kept *record.KeptError
		if d, err := StoredAttack(path); d != nil || !errors.As(err, &kept) {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
}

// Every field of the options is looked at: as more or less, or as a setting.
func TestLacksLooksAtAllOptions(t *testing.T) {
	base := record.AttackOptions{Attacks: []string{"ES"}, Variants: []string{"fixed"}, Norm: "linf", Eps: 0.5, Step: 0.5, Iterations: 9, Rule: "fixed", Direction: "sign",
		Start: "clean", Restarts: 9, Keep: "last", Queries: 9, Batch: 9, Seed: 9, Bootstrap: 900, Draws: 9, W: 9, M: 9, XiScale: 9, XiWeight: 9}
	d := &record.Attack{Options: base, Queries: 9, Scores: map[string]metric.Scores{"fixed": {{Key: "ES:D"}}}}
	if got := LacksAttack(d, base); got != nil {
		t.Fatalf("itself: %q", got)
	}
	pictures := map[string]bool{"Pictures": true, "PictureAttacks": true}
	v := reflect.ValueOf(base)
	for i := range v.NumField() {
		o := base
		field := reflect.ValueOf(&o).Elem().Field(i)
		switch name := v.Type().Field(i).Name; field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Float64:
			field.SetFloat(0.25)
		case reflect.Int:
			field.SetInt(1)
		case reflect.Uint64:
			field.SetUint(1)
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{"published"}))
		default:
			t.Fatalf("%s: of a kind that the test does not know", name)
		}
		if o.Bootstrap == 1 {
			o.Bootstrap = 0
		}
		name := v.Type().Field(i).Name
		if got := LacksAttack(d, o); (len(got) == 0) != pictures[name] {
			t.Errorf("another %s: %q", name, got)
		}
	}
}

func TestLacksOfACurve(t *testing.T) {
	o := record.AttackOptions{Attacks: []string{"ES"}, Norm: "linf", Step: 3. / 255, Iterations: 4, Queries: 8, Eps: 12. / 255}
	resolveAttack(&o)
	d := &record.Curve{Options: o, Queries: 8}
	for _, n := range []float64{0, 3, 6, 9, 12} {
		d.Points = append(d.Points, record.CurvePoint{Eps: n / 255, Scores: map[string]metric.Scores{"published": {{Key: "ES:D"}}, "fixed": {{Key: "ES:D"}}}})
	}
	all := []float64{0, 3. / 255, 6. / 255, 9. / 255, 12. / 255}
	for _, c := range []struct {
		want   string
		eps    []float64
		change func(*record.AttackOptions)
	}{
		{"", all, func(*record.AttackOptions) {}},
		{"", append([]float64{1. / 255, 24. / 255}, all...), func(o *record.AttackOptions) { o.Eps, o.Queries = 24./255, 0 }},
		{"the scores at eps 3/255, 9/255", []float64{0, 6. / 255, 12. / 255}, func(*record.AttackOptions) {}},
		{"4 of its 5 points of eps", []float64{0, 0.5, 1}, func(*record.AttackOptions) {}},
		{"the scores ES:D", all, func(o *record.AttackOptions) { o.Attacks = []string{"LTM"} }},
		{"the variant fixed; 8 queries instead of 7; steps 4 instead of 5", all, func(o *record.AttackOptions) { o.Variants, o.Queries, o.Iterations = []string{"published"}, 7, 5 }},
	} {
		n := o
		c.change(&n)
		if got := strings.Join(LacksCurve(d, n, c.eps), "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
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
	if coarse(record.EvalOptions{}) != nil || coarse(record.EvalOptions{Bootstrap: 100}) != nil {
		t.Error("none and 100 resamples are warned of")
	}
	path := filepath.Join(t.TempDir(), "eval.json")
	if err := WriteJSON(path, e.Doc); err != nil {
		t.Fatal(err)
	}
	d, _ := StoredEval(path)
	if d == nil || !sameJSON(d, e.Doc) || !SameEval(d, o) {
		t.Fatalf("%+v", d)
	}
	if o.Ks = []int{1}; SameEval(d, o) {
		t.Error("other k pass for it")
	}
}
