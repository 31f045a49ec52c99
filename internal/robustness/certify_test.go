package robustness

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/evaluate"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// At budget 0 the certified share is the recall@1 that eval measures; shares fall with
// the budget; radii agree with the budgets; and an attack breaks no certified query.
func TestCertify(t *testing.T) {
	t.Parallel()
	r := runtest.Trained(t, t.TempDir())
	o := record.CertifyOptions{Method: "ibp", Norm: "linf", Eps: []float64{0, 1e-5, 1e-4, 0.5}, Radii: true}
	d, err := Certify(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	e, err := evaluate.Eval(context.Background(), r, "last", "test", record.EvalOptions{Ks: []int{1}, Distance: "euclidean"}, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := e.Doc.Retrieval.Get("recall@1")
	clean, _ := d.Scores.Get(CleanRecall)
	if clean.Value != want.Value || d.Points[0].Certified.Value != want.Value {
		t.Errorf("R@1 %v, certified at 0 %v, eval says %v", clean.Value, d.Points[0].Certified.Value, want.Value)
	}
	radii, err := d.Radii.Values(d.Queries)
	if err != nil {
		t.Fatal(err)
	}
	if d.Largest <= 0 || math.Abs(d.Largest-float64(slices.Max(radii))) > 1e-6 {
		t.Errorf("largest %v, of the queries %v", d.Largest, slices.Max(radii))
	}
	for k, p := range d.Points {
		proven, err := p.Proven.Values(d.Queries)
		if err != nil {
			t.Fatal(err)
		}
		n := 0.0
		for i, v := range proven {
			n += float64(v)
			if v == 1 && float64(radii[i]) < p.Eps*(1-1e-6) {
				t.Errorf("eps %v: query %d is proven, its radius is %v", p.Eps, i, radii[i])
			}
		}
		if share := n / float64(d.Queries); share != p.Certified.Value || math.Abs(clean.Value-share-p.Abstained) > 1e-12 || k > 0 && share > d.Points[k-1].Certified.Value {
			t.Errorf("eps %v: %v of the queries, the document says %+v", p.Eps, share, p.Certified)
		}
	}
	if last := d.Points[3]; last.Certified.Value != 0 || len(d.Warnings) == 0 {
		t.Errorf("certified at eps 0.5: %v; warnings %q", last.Certified.Value, d.Warnings)
	}
	attacked(t, r, d)
}

// attacked checks that no query that is proven at a budget is broken by embedding shift at
// that budget, on the same queries.
func attacked(t *testing.T, r *run.Run, d *record.Certify) {
	a := record.AttackOptions{Attacks: []string{"ES"}, Variants: []string{"fixed"}, PerQuery: true}
	if err := Profile(&a, "rob28", 16); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Points[1:3] {
		a.Eps, a.Step, a.Iterations, a.Rule = p.Eps, p.Eps/2, 4, "auto"
		res, err := Attack(context.Background(), r, "last", "test", a, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		right, err := res.Doc.Values["fixed"]["ES:R"].Values(d.Queries)
		if err != nil {
			t.Fatal(err)
		}
		proven, _ := p.Proven.Values(d.Queries)
		for i, v := range proven {
			if v == 1 && right[i] == 0 {
				t.Errorf("eps %v: query %d is proven and broken", p.Eps, i)
			}
		}
		if res.Doc.Items != d.Items {
			t.Error("attack and certify take other queries")
		}
	}
}

// A network with a layer that has no bounds is refused.
func TestCertifyRefuses(t *testing.T) {
	t.Parallel()
	o := record.CertifyOptions{Method: "ibp", Norm: "linf", Eps: []float64{0.1}}
	r := runtest.Trained(t, t.TempDir(), "model={name: resnet18, width: 2, embedding: 0, head: layernorm}", "train.epochs=1")
	if _, err := Certify(context.Background(), r, "last", "test", o, tinytest.Quiet); !errors.Is(err, data.ErrUnfit) {
		t.Error(err)
	}
}
