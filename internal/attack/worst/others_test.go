package worst

import (
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

func tryGallery(t *testing.T, rows []float32, labels []int32) *retrieval.Gallery {
	t.Helper()
	g, err := retrieval.NewGallery(&array.Array{Data: rows, Shape: []int{len(labels), len(rows) / len(labels)}}, labels)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A network that hides its gradient is broken by images made for one that does not, and B11
// fails; B17 fails where the ensemble leaves a network without defense unbroken.
func TestImagesOfOtherNetworks(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 2, 3)
	honest := &linear{w: x.m.w, b: x.m.b, scale: 1}
	for _, c := range []struct {
		name     string
		scale    float64 // of the attacked network's gradient
		twin     float64 // of the other's
		b11, b17 string
	}{
		{"honest", 1, 1, Pass, Pass}, {"masked", 0, 1, Fail, Pass}, {"weak ensemble", 1, 0, Pass, Fail},
	} {
		m := &linear{w: x.m.w, b: x.m.b, scale: c.scale}
		twin := &linear{w: x.m.w, b: honest.b, scale: c.twin}
		o := Options{
			Norm: adversary.Linf, Eps: 0.06, Steps: 30, Squares: 1, Battery: true, members: only(Clean, "apgd-t", others),
			Others: []Other{{Model: twin, Gallery: x.g, Plain: true}},
		}
		r := tried{m, x.s, x.g}.run(t, o)
		verdict := map[string]Check{}
		for _, check := range r.Checks {
			verdict[check.ID] = check
		}
		if verdict["B11"].Verdict() != c.b11 || verdict["B17"].Verdict() != c.b17 {
			t.Errorf("%s: B11 %+v, B17 %+v", c.name, verdict["B11"], verdict["B17"])
		}
		for p, q := range r.Queries {
			if r.Galleries[0].By[p] > 1 && x.lowest(q, "linf", o.Eps) > 1e-5 {
				t.Errorf("%s: query %d cannot be broken", c.name, q)
			}
		}
	}
}

// What a document should have is what a run gives.
func TestPlannedMembers(t *testing.T) {
	t.Parallel()
	x := newTried(3, 12, 2, 3)
	for _, o := range []Options{
		{Norm: adversary.Linf, Galleries: Galleries()}, {Norm: adversary.L2, Version: Plus, Galleries: Galleries()},
		{Norm: adversary.Linf, Version: Plus, Others: []Other{{Model: x.m, Gallery: x.g}}},
		{Norm: adversary.L2, Given: &Given{Items: []int{0}, Images: &array.Array{Data: x.s.x.Row(0), Shape: []int{1, 8}}}},
	} {
		for at, s := range x.run(t, o).Galleries {
			names, err := Planned(o, at)
			if err != nil || len(names) != len(s.Ran) {
				t.Fatalf("%v, %v, %+v", names, err, s.Ran)
			}
			for k, m := range s.Ran {
				if m.Member != names[k] {
					t.Errorf("%s: %s is number %d, planned %s", s.Gallery, m.Member, k, names[k])
				}
			}
		}
	}
}
