package record

import (
	"reflect"
	"testing"
)

// change gives a field another value of its kind.
func change(t *testing.T, f reflect.Value) {
	t.Helper()
	switch f.Kind() {
	case reflect.String:
		f.SetString("other")
	case reflect.Int:
		f.SetInt(f.Int() + 1)
	case reflect.Uint64:
		f.SetUint(f.Uint() + 1)
	case reflect.Float64:
		f.SetFloat(f.Float() + 1)
	case reflect.Bool:
		f.SetBool(!f.Bool())
	case reflect.Slice: // without its last
		f.Set(f.Slice(0, f.Len()-1))
	case reflect.Pointer:
		f.SetZero()
	default:
		t.Fatalf("a %s", f.Kind())
	}
}

// holdsOnTop changes each option of what is asked for, and of what there is: where one is
// of onTop, a result with it is the result without it, and not the reverse.
func holdsOnTop[O any](t *testing.T, full O, holds func(had, asked O) bool, onTop ...string) {
	t.Helper()
	if !holds(full, full) {
		t.Errorf("%T: not itself", full)
	}
	more := map[string]bool{}
	for _, name := range onTop {
		more[name] = true
	}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if tag := field.Tag.Get("json"); tag == "-" || tag == "batch" && reflect.TypeFor[O]() == reflect.TypeFor[EvalOptions]() { // which changes no bit
			continue
		}
		less := full
		change(t, reflect.ValueOf(&less).Elem().Field(i))
		if got := holds(full, less); got != more[field.Name] {
			t.Errorf("%T: asked for less %s: %v", full, field.Name, got)
		}
		if holds(less, full) {
			t.Errorf("%T: less %s stands for all", full, field.Name)
		}
	}
}

// A result stands for one that asks for less of what is computed for itself, and for no
// one with other settings. Every option is looked at.
func TestHolds(t *testing.T) {
	at := 9.0
	eval := EvalOptions{Ks: []int{1, 9}, Distance: "cosine", Bootstrap: 900, KMeans: true, K: 9, NInit: 9, Seed: 9, Baselines: true, Limit: 90, Pairs: true, Threshold: &at,
		PerQuery: true, PerClass: true, FMR: []float64{0.1}, Intervals: ByClass}
	ofEval := func(had, asked EvalOptions) bool { return Eval{Options: had}.Holds(asked) }
	holdsOnTop(t, eval, ofEval, "Ks", "KMeans", "Baselines", "Pairs", "PerQuery", "PerClass", "FMR")
	none := eval
	none.KMeans, none.K, none.NInit, none.Bootstrap, none.Intervals = false, 0, 1, 0, ""
	if !ofEval(eval, none) || ofEval(none, eval) {
		t.Error("clustering scores and intervals on top")
	}
	attack := AttackOptions{Attacks: []string{"ES", "LTM"}, Variants: []string{"published", "fixed"}, Near: true, Pure: true, Sample: true, PerQuery: true, Bootstrap: 900}
	ofAttack := func(had, asked AttackOptions) bool { return Attack{Options: had}.Holds(asked) }
	holdsOnTop(t, attack, ofAttack, "Attacks", "Variants", "PerQuery")
	without := attack
	if without.Bootstrap = 0; !ofAttack(attack, without) || ofAttack(without, attack) {
		t.Error("intervals on top")
	}
	worst := WorstOptions{Galleries: []string{"full", "trimmed"}, Sample: true, Transfer: []string{"x"}, Moves: true, Battery: true}
	ofWorst := func(had, asked WorstOptions) bool { return Worst{Options: had}.Holds(asked) }
	holdsOnTop(t, worst, ofWorst, "Galleries", "Moves", "Battery")
	second := worst
	if second.Galleries = []string{"trimmed"}; ofWorst(worst, second) {
		t.Error("a gallery after another stands for itself, though what broke queries in the first was tried in it")
	}
	certify := CertifyOptions{Eps: []float64{0.2, 0.1}, Radii: true, Moves: true, Sample: true}
	ofCertify := func(had, asked CertifyOptions) bool { return Certify{Options: had}.Holds(asked) }
	holdsOnTop(t, certify, ofCertify, "Eps", "Radii", "Moves")
	small := certify
	if small.Eps = []float64{0.1}; ofCertify(certify, small) {
		t.Error("the score is that of the largest budget")
	}
}
