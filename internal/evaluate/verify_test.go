package evaluate

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// countWithin counts the pairs of the run's test embeddings within t by plain loops.
func countWithin(t *testing.T, r *run.Run, within float64) (accepted, wrong int64) {
	t.Helper()
	e, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	y := e.Data.Labels()
	for i := range y {
		for j := range i {
			s := 0.0
			for k := range e.Vectors.Cols() {
				v := float64(e.Vectors.Row(i)[k]) - float64(e.Vectors.Row(j)[k])
				s += v * v
			}
			if math.Sqrt(s) <= within {
				accepted++
				if y[i] != y[j] {
					wrong++
				}
			}
		}
	}
	return accepted, wrong
}

// A loss's threshold is used unless one is given; a loss without one leaves pairs
// out unless they are asked for.
func TestEvalOfPairs(t *testing.T) {
	ctx := context.Background()
	short := "train={steps: 4, epochs: 0}"
	own := runtest.Trained(t, t.TempDir(), "loss={name: triplet-threshold, alpha: 0.4, beta: 0.2}", "miner=semihard", short)
	none := runtest.Trained(t, t.TempDir(), short)
	far, small := 5.0, 0.25
	for _, c := range []struct {
		r         *run.Run
		threshold *float64
		PairsText bool
		at        float64
		from      string
		warning   string
	}{
		{own, nil, false, math.Sqrt(0.3), "loss", ""},
		{own, &small, false, 0.25, "option", ""},
		{none, nil, false, 0, "", ""},
		{none, nil, true, 0, "", ""},
		{none, &far, false, 5, "option", "all items are within the threshold 5"},
	} {
		o := Defaults(c.r.Config)
		o.Threshold, o.Pairs = c.threshold, c.PairsText
		e, err := Eval(ctx, c.r, "last", "test", o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		d := e.Doc
		path := filepath.Join(t.TempDir(), "eval.json")
		if err := record.Write(path, d); err != nil {
			t.Fatal(err)
		}
		if s, _ := record.ReadKept[record.Eval](path); s == nil || !record.SameJSON(s, d) || !s.Holds(o) {
			t.Errorf("%+v does not come back", d)
		}
		without := o // a threshold, which a loss gives
		if without.Threshold = nil; c.threshold != nil {
			if holds, err := Holds(c.r, d, without); err != nil || holds != (c.r == none) {
				t.Errorf("threshold %v for none: %v, %v", c.at, holds, err)
			}
		}
		if c.at == 0 && !c.PairsText {
			if d.Pairs != nil || d.PairCounts != nil || strings.Contains(testutil.Read(t, path), `"pairs"`) || strings.Contains(testutil.Read(t, path), `"pair_counts"`) {
				t.Errorf("pairs that nobody asked for: %+v", d.Pairs)
			}
			continue
		}
		if keys := run.KeysOf(d.Pairs); !slices.Equal(keys, run.PairKeys(c.at > 0)) {
			t.Errorf("scores %v", keys)
		}
		n := d.PairCounts
		if n.Same != 6*15 || n.Different != 36*35/2-6*15 || n.AUCSlack != 0 || !(n.EERThreshold > 0) {
			t.Errorf("%+v", n)
		}
		if c.at == 0 {
			if n.At != nil {
				t.Errorf("%+v", n.At)
			}
			continue
		}
		accepted, wrong := countWithin(t, c.r, c.at)
		if got := *n.At; math.Abs(got.Threshold-c.at) > 1e-15 || got.From != c.from || got.Accepted != accepted || got.Wrong != wrong {
			t.Errorf("%+v, want %v from %s, %d accepted, %d wrong", got, c.at, c.from, accepted, wrong)
		}
		if accepted > 0 {
			if p, _ := d.Pairs.Get("precision"); math.Abs(p.Value-float64(accepted-wrong)/float64(accepted)) > 1e-15 {
				t.Errorf("precision %+v", p)
			}
		}
		if w := strings.Join(d.Warnings, "\n"); c.warning != "" && !strings.Contains(w, c.warning) {
			t.Errorf("warnings %q", w)
		}
	}
	if tau, err := own.Threshold("last"); err != nil || tau == nil || math.Abs(*tau-math.Sqrt(0.3)) > 1e-15 {
		t.Errorf("threshold %v, %v", tau, err)
	}
	if tau, err := none.Threshold("last"); err != nil || tau != nil {
		t.Errorf("threshold %v, %v", tau, err)
	}
}

// Embeddings of other tools have pairs where they are asked for.
func TestEvalFilesOfPairs(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "train={steps: 2, epochs: 0}")
	e, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	v := data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}
	tiny := 1e-30
	for _, o := range []record.EvalOptions{{Threshold: &tiny}, {Pairs: true}, {}} {
		d := &record.Eval{Options: o}
		if err := verify(d, context.Background(), v, nil, border{}, tinytest.Quiet); err != nil {
			t.Fatal(err)
		}
		if (d.Pairs != nil) != (o.Pairs || o.Threshold != nil) {
			t.Errorf("%+v: %+v", o, d.Pairs)
		}
		if o.Threshold != nil && (len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "no two items are within the threshold 1e-30")) {
			t.Errorf("warnings %q", d.Warnings)
		}
	}
	d := &record.Eval{Options: record.EvalOptions{Threshold: new(float64)}}
	if err := verify(d, context.Background(), v, nil, border{}, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), metric.ErrInput.Error()) {
		t.Error(err)
	}
}
