package robustness

import (
	"strings"
	"testing"

	"tercet/internal/record"
)

// Queries 3, 5 and 9 were certified, 5, 9 and 11 attacked: 5 is proven, 9 broken outside of
// the budget that is proven. An image within it is an error with the query's index.
func TestSandwich(t *testing.T) {
	t.Parallel()
	source := record.Source{Step: 4, Set: "test", Checkpoint: "last", Fingerprint: "f"}
	c := func() *record.Certify {
		return &record.Certify{
			Source: source, Options: record.CertifyOptions{Method: IBP, Norm: "linf", Eps: []float64{.01, .1}}, Queries: 3, Items: packItems([]int{3, 5, 9}),
			Points: []record.CertifyPoint{{Eps: .01, Proven: record.Pack([]float64{1, 1, 1})}, {Eps: .1, Proven: record.Pack([]float64{0, 1, 0})}},
		}
	}
	w := func(broken, linf []float64) *record.Worst {
		return &record.Worst{Source: source, Options: record.WorstOptions{Norm: "linf", Eps: .1}, Queries: 3, Items: packItems([]int{5, 9, 11}),
			Galleries: []record.WorstGallery{{Gallery: "prototype"}, {Gallery: "full", Broken: record.Pack(broken), Linf: record.Pack(linf)}}}
	}
	d := c()
	if err := Sandwich(d, w([]float64{0, 2, 2}, []float64{0, .05, .001})); err != nil || d.Attacked == nil || *d.Attacked != (record.CertifyAttacked{Eps: .1, Queries: 2, Certified: 1, Broken: 1}) {
		t.Errorf("%+v, %v", d.Attacked, err)
	}
	for _, linf := range []float64{.0099, .01, .01000006} { // the last one by the rounding of a pixel
		if err := Sandwich(c(), w([]float64{0, 2, 2}, []float64{0, linf, .05})); err == nil || !strings.Contains(err.Error(), "query 9 is certified at linf eps 0.01") {
			t.Errorf("a broken query within its budget: %v", err)
		}
	}
	if err := Sandwich(c(), w([]float64{0, 2, 2}, []float64{0, .0100002, .05})); err != nil {
		t.Errorf("farther away than the proof holds: %v", err)
	}
	for name, change := range map[string]func(c *record.Certify, w *record.Worst){
		"other weights": func(c *record.Certify, _ *record.Worst) { c.Source.Step = 5 },
		"a vote":        func(c *record.Certify, _ *record.Worst) { c.Options.Method = Vote },
		"another norm":  func(_ *record.Certify, w *record.Worst) { w.Options.Norm = "l2" },
		"no gallery":    func(_ *record.Certify, w *record.Worst) { w.Galleries = w.Galleries[:1] },
	} {
		d, bad := c(), w([]float64{2, 2, 2}, []float64{0, 0, 0})
		if change(d, bad); Sandwich(d, bad) != nil || d.Attacked != nil {
			t.Errorf("%s: compared", name)
		}
	}
}

// A query that is certified where the gallery moves and broken so within the budget is an
// error; at a larger budget of the attack, or of another query, it is none.
func TestSandwichOfAGalleryThatMoves(t *testing.T) {
	t.Parallel()
	w, c := bandDocs()
	w.Galleries[0].Broken, w.Galleries[0].Linf = record.Pack(make([]float64, 5)), record.Pack(make([]float64, 5))
	w.Options.Eps = 0.1
	w.Moved = &record.WorstMoved{One: record.Pack([]float64{1, 1, 0, 0, 0}), All: record.Pack([]float64{1, 1, 1, 0, 0})}
	of := func(one, all []float64) *record.CertifyMoved {
		return &record.CertifyMoved{ProvenOne: record.Pack(one), ProvenAll: record.Pack(all)}
	}
	// Queries of c are 0, 2, 3, 4, 5.
	c.Points[1].Moved = of([]float64{0, 1, 1, 0, 1}, []float64{0, 0, 1, 0, 1})
	if err := Sandwich(c, w); err != nil {
		t.Error(err)
	}
	c.Points[1].Moved = of([]float64{0, 1, 1, 0, 1}, []float64{0, 1, 1, 0, 1})
	if err := Sandwich(c, w); err == nil || !strings.Contains(err.Error(), "query 2 is certified where all images of the gallery may move by linf eps 0.1") {
		t.Error(err)
	}
	c.Points[0].Moved, c.Points[1].Moved = c.Points[1].Moved, nil // at 0.05
	if err := Sandwich(c, w); err != nil {
		t.Error(err)
	}
}
