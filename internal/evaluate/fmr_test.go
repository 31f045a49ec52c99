package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
)

// crowd are items of eight classes around centers of their own, every third a query alone,
// the next gallery alone.
func crowd() (data.Embeddings, *data.Roles) {
	const n, d = 96, 3
	r := rand.New(rand.NewPCG(3, 4))
	v := data.Embeddings{X: make([]float32, n*d), N: n, D: d, Labels: make([]int32, n)}
	roles := &data.Roles{Sequence: make([]int32, n)}
	for i := range n {
		v.Labels[i] = int32(r.IntN(8))
		roles.Sequence[i] = int32(r.IntN(40)) - 1
		if i%3 != 0 {
			roles.Query = append(roles.Query, i)
		}
		if i%3 != 1 {
			roles.Gallery = append(roles.Gallery, i)
		}
		for k := range d {
			v.X[i*d+k] = float32(r.NormFloat64() + float64(v.Labels[i]>>k&1)*3)
		}
	}
	return v, roles
}

// distances are those of the same and the different pairs, by plain loops.
func distances(v data.Embeddings, roles *data.Roles) (same, different []float64) {
	pair := func(i, j int) {
		s := 0.0
		for k := range v.D {
			s += math.Pow(float64(v.X[i*v.D+k])-float64(v.X[j*v.D+k]), 2)
		}
		if v.Labels[i] == v.Labels[j] {
			same = append(same, math.Sqrt(s))
		} else {
			different = append(different, math.Sqrt(s))
		}
	}
	if roles == nil {
		for i := range v.N {
			for j := range i {
				pair(i, j)
			}
		}
		return same, different
	}
	for _, q := range roles.Query {
		for _, g := range roles.Gallery {
			if q != g && (roles.Sequence[q] < 0 || roles.Sequence[q] != roles.Sequence[g]) {
				pair(q, g)
			}
		}
	}
	return same, different
}

// Errors at false match rates are those of sorted distances, of all pairs and of queries
// against their gallery, and only intervals depend on what is resampled.
func TestErrorsAtFalseMatchRates(t *testing.T) {
	t.Parallel()
	v, some := crowd()
	for _, roles := range []*data.Roles{nil, some} {
		same, different := distances(v, roles)
		slices.Sort(different)
		var docs []*record.Eval
		for _, over := range []string{"", record.ByClass} {
			d := &record.Eval{Options: record.EvalOptions{FMR: []float64{0.1, 0.01, 1e-6}, Intervals: over, Bootstrap: 200}}
			if err := verify(d, context.Background(), v, roles, border{}, tinytest.Quiet); err != nil {
				t.Fatal(err)
			}
			docs = append(docs, d)
			if c := d.PairCounts; c.Same != int64(len(same)) || c.Different != int64(len(different)) || (d.Distances.Within != nil) != (roles == nil) {
				t.Errorf("%d same and %d different pairs, want %d and %d", c.Same, c.Different, len(same), len(different))
			}
			for i, p := range d.PairCounts.Points {
				beyond := different[int(p.FMR*float64(len(different)))] // the first that is too much
				missed, accepted := 0, 0
				for _, s := range same {
					if s >= beyond {
						missed++
					}
				}
				for _, s := range different {
					if s < beyond {
						accepted++
					}
				}
				key := []string{"0.1", "0.01", "1e-06"}[i]
				fnmr, _ := d.Pairs.Get("fnmr@fmr=" + key)
				tar, _ := d.Pairs.Get("tar@far=" + key)
				want := float64(missed) / float64(len(same))
				if math.Abs(fnmr.Value-want) > 1e-12 || math.Abs(tar.Value-1+want) > 1e-12 || p.Wrong != int64(accepted) || p.Accepted != int64(accepted+len(same)-missed) || p.Threshold >= beyond {
					t.Errorf("%+v: fnmr %v, tar %v, want %v missed and %d accepted", p, fnmr, tar, want, accepted)
				}
			}
		}
		a, _ := docs[0].Pairs.Get("tar@far=0.1")
		b, _ := docs[1].Pairs.Get("tar@far=0.1")
		if a.CI95 == nil || b.CI95 == nil || *a.CI95 == *b.CI95 || a.Value != b.Value {
			t.Errorf("over pairs %+v, over classes %+v", a, b)
		}
	}
}

// With intervals over classes, those of retrieval scores are of the classes of the
// queries; values are as they were.
func TestIntervalsOverClasses(t *testing.T) {
	t.Parallel()
	v, some := crowd()
	for _, roles := range []*data.Roles{nil, some} {
		labels := v.Labels
		if roles != nil {
			labels = nil
			for _, q := range roles.Query {
				labels = append(labels, v.Labels[q])
			}
		}
		o := record.EvalOptions{Ks: []int{1}, Bootstrap: 200, Seed: 3}
		plain, _, _, err := evaluateVectors(context.Background(), v, roles, o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		o.Intervals = record.ByClass
		got, _, _, err := evaluateVectors(context.Background(), v, roles, o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		want, err := embed.Retrieve(context.Background(), v, roles, metric.RetrievalOptions{K: o.Ks, Intervals: metric.Intervals{Resamples: 200, Seed: 3, Classes: labels}})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range got.Retrieval {
			if *s.CI95 != *want.Scores[i].CI95 || s.Value.Value != plain.Retrieval[i].Value.Value || *s.CI95 == *plain.Retrieval[i].CI95 && !strings.HasPrefix(s.Key, "recall") {
				t.Errorf("%s %v, want %v, over queries %v", s.Key, *s.CI95, *want.Scores[i].CI95, *plain.Retrieval[i].CI95)
			}
		}
	}
}
