package certify

import (
	"context"
	"math"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// The radii of three theorems at margins 0.5 and 0.9, worked out by hand.
func TestRadiiOfMeans(t *testing.T) {
	t.Parallel()
	for h, want := range map[float64]radii{.5: {.674, .637, .627}, .9: {1.645, 1.196, 1.128}, 0: {}, -.1: {}} {
		got := radiiOf((1+h)/2, .5)
		if math.Abs(got.normal-want.normal) > 1e-3 || math.Abs(got.variation-want.variation) > 1e-3 || math.Abs(got.lipschitz-want.lipschitz) > 1e-3 {
			t.Errorf("margin %v: %v, want %v", h, got, want)
		}
	}
}

// halves embeds images on one side of the first pixel's 0 as a, and others as b.
type halves struct {
	nn.Embedder
	a, b []float32
}

func (halves) Dim() int { return 2 }
func (f halves) Embed(x *array.Array, _ nn.Mode) *array.Array {
	z := array.New(x.Rows(), 2)
	for i := range x.Rows() {
		copy(z.Row(i), f.b)
		if x.Row(i)[0] > 0 {
			copy(z.Row(i), f.a)
		}
	}
	return z
}

// The embedding of a half space at distance d from its border. With rows a and -a the mean
// certifies d itself, and with orthogonal rows what the formulas give (worked out by hand),
// less what sampling costs.
func TestMeanOfAHalfSpace(t *testing.T) {
	t.Parallel()
	const sigma = 0.5
	for name, tc := range map[string]struct {
		b    []float32
		d    float64 // in units of sigma
		want radii
	}{
		"antipodal":  {[]float32{-1, 0}, 1, radii{1, 0, 0}},
		"orthogonal": {[]float32{0, 1}, 1, radii{.6476, .6146, .6050}},
		"near":       {[]float32{0, 1}, .5, radii{.3461, .3410, .3394}},
	} {
		f := halves{a: []float32{1, 0}, b: tc.b}
		p := points{x: [][]float32{{float32(sigma * tc.d), 0}, {1, 0}, {-1, 0}}}
		x := array.New(3, 1, 2, 1)
		for i := range p.x {
			copy(x.Row(i), p.x[i])
		}
		g, err := retrieval.NewGallery(f.Embed(x, nn.Eval), []int32{0, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, gallery := range []string{worst.Full, worst.Prototypes} {
			o := VoteOptions{Options: Options{Eps: []float64{0, .1, 3}, Queries: []int{0}, Gallery: gallery}, Sigma: sigma, Samples: 20_000, Alpha: .001}
			res, err := Means(context.Background(), f, p, g, o)
			if err != nil {
				t.Fatal(err)
			}
			got := radii{res.Radii[0] / sigma, res.TotalVariation[0] / sigma, res.Lipschitz[0] / sigma}
			near := func(got, want float64) bool { return got < want && got > 0.9*want }
			if !near(got.normal, tc.want.normal) || tc.want.variation > 0 && (!near(got.variation, tc.want.variation) || !near(got.lipschitz, tc.want.lipschitz)) {
				t.Errorf("%s, %s: radii %v, want a little below %v", name, gallery, got, tc.want)
			}
			if !(got.normal >= got.variation && got.variation >= got.lipschitz) {
				t.Errorf("%s: radii are not in order: %v", name, got)
			}
			if !res.Certified[0][0] || !res.Certified[1][0] || res.Certified[2][0] {
				t.Errorf("%s: %v", name, res.Certified)
			}
		}
	}
}

// Threads change no bit, and a query whose mean is wrong is not certified.
func TestMeansHaveTheSameBits(t *testing.T) {
	p, labels := groups(40, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	g := embedded(t, m, p, labels)
	run := func(threads int, queries ...int) *Result {
		defer par.SetThreads(0)
		par.SetThreads(threads)
		res, err := Means(context.Background(), m, p, g, VoteOptions{Options: Options{Queries: queries, Gallery: worst.Prototypes}, Sigma: .02, Samples: 2000, Alpha: .001})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	one, two := run(1, 3, 9, 17), run(2, 9, 3)
	if one.Radii[0] != two.Radii[1] || one.Radii[1] != two.Radii[0] || one.Lipschitz[0] != two.Lipschitz[1] {
		t.Errorf("%v and %v", one.Radii, two.Radii)
	}
	if !(max(one.Radii[0], one.Radii[1], one.Radii[2]) > 0) {
		t.Error("no query is certified")
	}
}
