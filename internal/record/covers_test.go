package record

import (
	"reflect"
	"strings"
	"testing"
)

// plannedAttack is what the rule needs of attacks by o, each of which gives one score.
func plannedAttack(o AttackOptions) Attack {
	return Attack{Options: o, Scores: plannedScores(o)}
}

func plannedCurve(o AttackOptions, eps []float64) Curve {
	d := Curve{Options: o}
	for _, v := range eps {
		d.Points = append(d.Points, CurvePoint{Eps: v, Scores: plannedScores(o)})
	}
	return d
}

func plannedScores(o AttackOptions) map[string]Scores {
	var list Scores
	for _, a := range o.Attacks {
		list = append(list, Score{Key: map[string]string{"ES": "ES:D"}[a]})
	}
	out := map[string]Scores{}
	for _, v := range o.Variants {
		out[v] = list
	}
	return out
}

// Every field of the options is looked at: as more or less, or as a setting.
func TestAttackCoversAllOptions(t *testing.T) {
	base := AttackOptions{Attacks: []string{"ES"}, Variants: []string{"fixed"}, Norm: "linf", Eps: 0.5, Step: 0.5, Iterations: 9, Rule: "fixed", Direction: "sign",
		Start: "clean", Restarts: 9, Keep: "last", Queries: 9, Batch: 9, Seed: 9, Bootstrap: 900, Draws: 9, W: 9, M: 9, XiScale: 9, XiWeight: 9}
	d := &Attack{Options: base, Queries: 9, Scores: map[string]Scores{"fixed": {{Key: "ES:D"}}}}
	if got := plannedAttack(base).Covers(*d); got != nil {
		t.Fatalf("itself: %q", got)
	}
	queries := base
	queries.PerQuery = true
	if got := plannedAttack(base).Covers(Attack{Options: queries, Queries: 9, Scores: d.Scores}); len(got) != 1 {
		t.Errorf("without the values of each query: %q", got)
	}
	more := map[string]bool{"Pictures": true, "PictureAttacks": true, "PerQuery": true} // which a result may have more of
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
		if got := plannedAttack(o).Covers(*d); (len(got) == 0) != more[name] {
			t.Errorf("another %s: %q", name, got)
		}
	}
}

func TestCurveCovers(t *testing.T) {
	o := AttackOptions{Attacks: []string{"ES"}, Norm: "linf", Step: 3. / 255, Iterations: 4, Queries: 8, Eps: 12. / 255}
	o.Variants, o.Batch, o.Draws, o.W, o.M = []string{"published", "fixed"}, 128, 1, 1, 1
	d := &Curve{Options: o, Queries: 8}
	for _, n := range []float64{0, 3, 6, 9, 12} {
		d.Points = append(d.Points, CurvePoint{Eps: n / 255, Scores: map[string]Scores{"published": {{Key: "ES:D"}}, "fixed": {{Key: "ES:D"}}}})
	}
	all := []float64{0, 3. / 255, 6. / 255, 9. / 255, 12. / 255}
	for _, c := range []struct {
		want   string
		eps    []float64
		change func(*AttackOptions)
	}{
		{"", all, func(*AttackOptions) {}},
		{"", append([]float64{1. / 255, 24. / 255}, all...), func(o *AttackOptions) { o.Eps, o.Queries = 24./255, 0 }},
		{"the scores at eps 3/255, 9/255", []float64{0, 6. / 255, 12. / 255}, func(*AttackOptions) {}},
		{"4 of its 5 points of eps", []float64{0, 0.5, 1}, func(*AttackOptions) {}},
		{"the scores ES:D", all, func(o *AttackOptions) { o.Attacks = []string{"LTM"} }},
		{"the variant fixed; 8 queries instead of 7; steps 4 instead of 5", all, func(o *AttackOptions) { o.Variants, o.Queries, o.Iterations = []string{"published"}, 7, 5 }},
	} {
		n := o
		c.change(&n)
		if got := strings.Join(plannedCurve(n, c.eps).Covers(*d), "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Every option of an evaluation is looked at, but for those that change no result.
func TestEvalCoversAllOptions(t *testing.T) {
	at := 9.0
	base := EvalOptions{Ks: []int{1, 9}, Distance: "euclidean", Bootstrap: 900, KMeans: true, K: 9, NInit: 9, Seed: 9, Baselines: true, Limit: 90, Pairs: true, Threshold: &at, PerQuery: true, PerClass: true, FMR: []float64{0.1}, Intervals: ByClass}
	d := &Eval{Options: base, Source: Source{Items: 90}, Pairs: Scores{{Key: "auc"}}}
	if got := (Eval{Options: base}).Covers(*d); got != nil {
		t.Fatalf("itself: %q", got)
	}
	none := map[string]bool{"Batch": true, "Neighbors": true, "Pairs": true} // a threshold gives pairs, too
	v := reflect.ValueOf(base)
	for i := range v.NumField() {
		o := base
		f := reflect.ValueOf(&o).Elem().Field(i)
		switch name := v.Type().Field(i).Name; f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(1)
		case reflect.Uint64:
			f.SetUint(1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.SetZero()
		default:
			t.Fatalf("%s: of a kind that the test does not know", name)
		}
		if o.Bootstrap == 1 {
			o.Bootstrap = 0
		}
		name := v.Type().Field(i).Name
		if got := (Eval{Options: o}).Covers(*d); (len(got) == 0) != none[name] {
			t.Errorf("another %s: %q", name, got)
		}
	}
	o := base
	o.Pairs, o.Threshold, d.Options.FMR, o.FMR = false, nil, nil, nil
	if got := strings.Join(Eval{Options: o}.Covers(*d), "; "); got != "threshold 9 instead of none" {
		t.Errorf("no pairs: %q", got)
	}
	o = base
	o.Ks, o.Bootstrap, o.NInit, o.Limit = []int{9, 2, 1}, 1000, 20, 0
	if got := (Eval{Options: o}).Covers(*d); got != nil {
		t.Errorf("more: %q", got)
	}
}

func TestNoiseRateCovers(t *testing.T) {
	d := &NoiseRate{Of: OfLabels, Estimate: NoiseEstimate{N: 100}}
	for limit, want := range map[int]string{0: "", 100: "", 120: "", 99: "100 images instead of 99"} {
		if got := strings.Join(NoiseRate{Source: Source{Items: limit}}.Covers(*d), "; "); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	if d.Of = OfPairs; (NoiseRate{Source: Source{Items: 10}}).Covers(*d) != nil {
		t.Error("--limit does not bound pairs")
	}
}
