package bench

import (
	"slices"
	"testing"

	"tercet/internal/engine/mahalanobis"
)

func TestRRMJob(t *testing.T) {
	j := rrmJob{[]int{12, 20}, 3, 1e-2, 0.1}
	job := Job{"rrm", j.what(), "", func(Options) ([]task, error) { return j.tasks(), nil }}
	r, err := job.Measure(t.Context(), Options{Seconds: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Parts[0].Name != "12+12" || r.Parts[1].Name != "20+20" || r.GFLOPS != 0 || r.PeakShare != 0 {
		t.Errorf("%+v", r)
	}
	if len(r.Evaluations) != 2 || slices.Min(r.Evaluations) < 2 || len(r.Certificates) != 2 || slices.Max(r.Certificates) > 1e-9 || slices.Min(r.Certificates) <= 0 {
		t.Errorf("evaluations %v, certificates %v", r.Evaluations, r.Certificates)
	}
	c, err := job.Check(t.Context(), Options{}, 1)
	if err != nil || !c.Identical || c.Arrays != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// The job is that of the docs: 8 million triplets first, all points in the unit ball.
func TestRRMProblem(t *testing.T) {
	found, err := Find("rrm")
	if err != nil {
		t.Fatal(err)
	}
	if want := "metrics from all triplets of 200+200 and of 2000+2000 points x 8"; found.What(false) != want || found.What(true) != want {
		t.Errorf("it says %q", found.What(false))
	}
	p, err := rrmJob{d: 8}.problem(200)
	if err != nil || p.Triplets() != 200*199*200 || p.Radius() > 1+1e-12 || p.Radius() < 0.9 {
		t.Errorf("%v triplets, radius %v, %v", p.Triplets(), p.Radius(), err)
	}
	if e := mahalanobis.ZeroOne(p, mahalanobis.Identity(8), 0); e < 0.2 || e > 0.5 {
		t.Errorf("Euclidean 0-1 error %v: the classes should overlap", e)
	}
}
