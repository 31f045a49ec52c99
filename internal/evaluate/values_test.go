package evaluate

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// The stored values, read again: recall@1 of a query is whether the nearest other image,
// by plain loops, is of its class, and every score has the mean that the document has.
func TestEvalValuesOfQueries(t *testing.T) {
	t.Parallel()
	r := runtest.Trained(t, t.TempDir(), "train={steps: 2, epochs: 0}")
	o := Defaults(r.Config)
	o.KMeans, o.Baselines, o.PerQuery = false, false, true
	e, err := Eval(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "eval.json")
	if err := record.Write(path, e.Doc); err != nil {
		t.Fatal(err)
	}
	d, err := record.ReadKept[record.Eval](path)
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	items, err := d.Items.Values(d.Queries())
	if err != nil {
		t.Fatal(err)
	}
	x, labels := e.Embedded.Vectors, e.Embedded.Data.Labels()
	recall, err := d.Values["recall@1"].Values(d.Queries())
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range items {
		q, best, at := int(item), math.Inf(1), -1
		for j := range x.Rows() {
			s := 0.0
			for k := range x.Cols() {
				s += math.Pow(float64(x.Data[q*x.Cols()+k])-float64(x.Data[j*x.Cols()+k]), 2)
			}
			if j != q && s < best {
				best, at = s, j
			}
		}
		want := float32(0)
		if labels[at] == labels[q] {
			want = 1
		}
		if recall[i] != want {
			t.Errorf("recall@1 of image %d is %v, want %v", q, recall[i], want)
		}
	}
	kept := 0
	for _, s := range d.Retrieval {
		p, ok := d.Values[s.Key]
		if !ok {
			continue
		}
		kept++
		values, err := p.Values(d.Queries())
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range values {
			sum += float64(v) / float64(len(values))
		}
		if math.Abs(sum-s.Value.Value) > 1e-6 {
			t.Errorf("%s: mean %v, want %v", s.Key, sum, s.Value.Value)
		}
	}
	if want := len(o.Ks) + 6; kept != want || len(d.Values) != want { // map, map@r, r_precision, mrr, map@10, triplet_error
		t.Errorf("%d scores are kept, want %d", kept, want)
	}
	o.PerQuery = false
	if lost := (record.Eval{Options: o}).Covers(*d); len(lost) != 1 || lost[0] != "the values of each query" {
		t.Errorf("a result without them covers one with them: %q", lost)
	}
}
