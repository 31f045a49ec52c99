package experiment

import (
	"reflect"
	"strings"
	"testing"

	"tercet/internal/metric"
	"tercet/internal/noise"
	"tercet/internal/record"
)

// Every option of an evaluation is looked at, but for those that change no result.
func TestEvalLacksLooksAtAllOptions(t *testing.T) {
	at := 9.0
	base := record.EvalOptions{Ks: []int{1, 9}, Distance: "euclidean", Bootstrap: 900, KMeans: true, K: 9, NInit: 9, Seed: 9, Baselines: true, Limit: 90, Pairs: true, Threshold: &at}
	d := &record.Eval{Options: base, Source: record.Source{Items: 90}, Pairs: metric.Scores{{Key: "auc"}}}
	if got := LacksEval(d, base); got != nil {
		t.Fatalf("itself: %q", got)
	}
	none := map[string]bool{"Batch": true, "Neighbours": true, "Pairs": true} // a threshold gives pairs, too
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
			f.Set(reflect.ValueOf([]int{1}))
		case reflect.Pointer:
			f.SetZero()
		default:
			t.Fatalf("%s: of a kind that the test does not know", name)
		}
		if o.Bootstrap == 1 {
			o.Bootstrap = 0
		}
		name := v.Type().Field(i).Name
		if got := LacksEval(d, o); (len(got) == 0) != none[name] {
			t.Errorf("another %s: %q", name, got)
		}
	}
	o := base
	o.Pairs, o.Threshold = false, nil
	if got := strings.Join(LacksEval(d, o), "; "); got != "threshold 9 instead of none" {
		t.Errorf("no pairs: %q", got)
	}
	o = base
	o.Ks, o.Bootstrap, o.NInit, o.Limit = []int{9, 2, 1}, 1000, 20, 0
	if got := LacksEval(d, o); got != nil {
		t.Errorf("more: %q", got)
	}
}

func TestNoiseLacksImages(t *testing.T) {
	d := &record.NoiseRate{Of: ofLabels, Estimate: noise.Estimate{N: 100}}
	for limit, want := range map[int]string{0: "", 100: "", 120: "", 99: "100 images instead of 99"} {
		if got := strings.Join(LacksNoise(d, limit), "; "); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	if d.Of = ofPairs; LacksNoise(d, 10) != nil {
		t.Error("--limit does not bound pairs")
	}
}

func TestRecallOverAllItemsIsWarnedOf(t *testing.T) {
	if got := whole([]int{1, 358, 359, 400}, 360); len(got) != 2 || got[1] != "recall@400 is 1 by definition: each query has only 359 other items" {
		t.Errorf("%q", got)
	}
}
