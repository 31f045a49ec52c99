package certify

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// points are images of one row of pixels.
type points struct {
	x [][]float32
}

func (p points) Len() int             { return len(p.x) }
func (p points) Shape() (h, w, c int) { return 1, len(p.x[0]), 1 }
func (p points) Read(i int, dst []float32) error {
	copy(dst, p.x[i])
	return nil
}

// embedded returns the gallery of m's embeddings of the points.
func embedded(t testing.TB, m *nn.Model, p points, labels []int32) *retrieval.Gallery {
	t.Helper()
	x := array.New(len(p.x), 1, len(p.x[0]), 1)
	for i := range p.x {
		copy(x.Row(i), p.x[i])
	}
	g, err := retrieval.NewGallery(m.Embed(x, nn.Eval).Clone(), labels)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// identity is the network that gives the pixels.
func identity(t testing.TB, d int) *nn.Model {
	t.Helper()
	m := model(t, nn.Spec{Name: "linear", Embedding: d}, d)
	w := m.Params()[0].Value
	w.Zero()
	for i := range d {
		w.Data[i*d+i] = 1
	}
	return m
}

func model(t testing.TB, s nn.Spec, d int) *nn.Model {
	t.Helper()
	s.Height, s.Width, s.Channels = 1, d, 1
	m, err := nn.Build(s, rng.New(7, "certify"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func certified(t testing.TB, m *nn.Model, p points, labels []int32, o Options) *Result {
	t.Helper()
	return certifiedBy(t, m, p, labels, o, intervals)
}

// kind is a kind of proof.
type kind int

const (
	intervals kind = iota
	backward
	lipschitz
)

// certifiedBy is certified by some kind of proof.
func certifiedBy(t testing.TB, m *nn.Model, p points, labels []int32, o Options, by kind) *Result {
	t.Helper()
	net, err := bound.New(m)
	if err == nil && by == backward {
		o.Crown, err = bound.NewCrown(net)
	}
	if err == nil && by == lipschitz {
		o.Lipschitz = bound.NewLipschitz(net)
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := Intervals(context.Background(), net, p, embedded(t, m, p, labels), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Radii in closed form, with the identity as network: of one right and one wrong row the
// distance of the bisector in l-infinity, and where it is a mixture of two right rows
// that decides, the largest ball all of whose points are nearer to one of the two.
func TestRadiiOfTheIdentity(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		x      [][]float32
		labels []int32
		want   float64
	}{
		"middle":            {[][]float32{{.5, .5}, {.4, .5}, {.8, .5}}, []int32{0, 0, 1}, .1},
		"diagonal":          {[][]float32{{.5, .5}, {.4, .4}, {.8, .6}}, []int32{0, 0, 1}, .066667},
		"mixture":           {[][]float32{{.5, .5}, {.5, .7}, {.5, .3}, {.8, .5}}, []int32{0, 0, 0, 1}, .083333},
		"box":               {[][]float32{{0, 0}, {.5, .5}, {1, .5}, {0, 1}}, []int32{0, 0, 0, 1}, .5},
		"equal rows":        {[][]float32{{.5, .5}, {.4, .5}, {.4, .5}}, []int32{0, 0, 1}, 0},
		"wrong when clean":  {[][]float32{{.5, .5}, {.4, .5}, {.45, .5}}, []int32{0, 0, 1}, 0},
		"nothing in reach":  {[][]float32{{.5, .5}, {.5, .5}, {.5, .5}, {.5, .5}}, []int32{0, 0, 0, 1}, 0},
		"second right only": {[][]float32{{.5, .5}, {.1, .5}, {.5, .6}, {.5, .9}}, []int32{0, 0, 0, 1}, .25},
	} {
		res := certified(t, identity(t, 2), points{x: tc.x}, tc.labels, Options{Eps: []float64{1}, Radii: true, Queries: []int{0}})
		if r := res.Radii[0]; r > tc.want+1e-6 || r < tc.want/finest-1e-6 {
			t.Errorf("%s: radius %v, want %v", name, r, tc.want)
		}
	}
}

// The same in l2: the distance of the bisector, or of the corner where two of them meet.
func TestRadiiOfTheIdentityInL2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		x      [][]float32
		labels []int32
		want   float64
	}{
		"middle":   {[][]float32{{.5, .5}, {.4, .5}, {.8, .5}}, []int32{0, 0, 1}, .1},
		"diagonal": {[][]float32{{.5, .5}, {.4, .4}, {.8, .6}}, []int32{0, 0, 1}, .089443},
		"mixture":  {[][]float32{{.5, .5}, {.5, .7}, {.5, .3}, {.8, .5}}, []int32{0, 0, 0, 1}, .083333},
	} {
		res := certifiedBy(t, identity(t, 2), points{x: tc.x}, tc.labels, Options{Eps: []float64{1}, Radii: true, Queries: []int{0}}, lipschitz)
		if r := res.Radii[0]; r > tc.want+1e-6 || r < tc.want/finest-1e-6 {
			t.Errorf("%s: radius %v, want %v", name, r, tc.want)
		}
	}
}

// With one right row and a linear network the certificate is exact: the smallest margin
// over the box has a closed form, and its sign decides, normalized or not.
func TestLinearNetwork(t *testing.T) {
	t.Parallel()
	r := rng.New(1, "certify")
	for _, normalize := range []bool{false, true} {
		m := model(t, nn.Spec{Name: "linear", Embedding: 4, Normalize: normalize}, 6)
		w := m.Params()[0].Value
		checked := 0
		for range 60 {
			p := points{}
			labels := []int32{0, 0, 1, 2, 1}
			for range labels {
				x := make([]float32, 6)
				for i := range x {
					x[i] = r.Float32()
				}
				p.x = append(p.x, x)
			}
			g := embedded(t, m, p, labels)
			for _, eps := range []float64{0.01, 0.05, 0.2} {
				margin := math.Inf(1)
				for _, n := range []int{2, 3, 4} {
					s := 0.0
					if !normalize {
						for k := range 4 {
							s -= (sq(g.X.Row(1)[k]) - sq(g.X.Row(n)[k])) / 2
						}
					}
					for i, v := range p.x[0] {
						a := 0.0
						for k := range 4 {
							a += float64(w.Data[i*4+k]) * float64(g.X.Row(1)[k]-g.X.Row(n)[k])
						}
						s += min(a*max(0, float64(v)-eps), a*min(1, float64(v)+eps))
					}
					margin = min(margin, s)
				}
				if math.Abs(margin) < 1e-4 { // rounding
					continue
				}
				checked++
				res := certified(t, m, p, labels, Options{Eps: []float64{eps}, Queries: []int{0}})
				if got := res.Certified[0][0]; got != (margin > 0) {
					t.Errorf("normalize %v, eps %v: certified %v, margin %v", normalize, eps, got, margin)
				}
			}
		}
		if checked < 100 {
			t.Errorf("%d cases", checked)
		}
	}
}

func sq(v float32) float64 { return float64(v) * float64(v) }

// groups are points around the center of each class, the first ones of each class close
// to the next one.
func groups(n, d, classes int) (points, []int32) {
	r := rng.New(2, "certify")
	p, labels := points{}, []int32{}
	for i := range n {
		k := i % classes
		x := make([]float32, d)
		for j := range x {
			x[j] = min(1, max(0, 0.5+0.4*float32(math.Cos(float64(3*k+j*(k+1))))+0.15*(r.Float32()-0.5)))
		}
		p.x, labels = append(p.x, x), append(labels, int32(k))
	}
	return p, labels
}

// No image of the ball that anyone finds breaks a certified query; at eps 0 the share is
// recall@1; radii agree with budgets; and budgets that hold for no query are there.
func TestNothingBreaksACertificate(t *testing.T) {
	t.Parallel()
	p, labels := groups(40, 8, 4)
	for i := range 6 {
		normalize, by := i%2 == 1, kind(i/2)
		m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: normalize}, 8)
		g := embedded(t, m, p, labels)
		queries := make([]int, len(labels))
		for i := range queries {
			queries[i] = i
		}
		eps := []float64{0, 0.002, 0.01, 0.03, 0.06, 1}
		res := certifiedBy(t, m, p, labels, Options{Eps: eps, Radii: true, Queries: queries}, by)
		r := rng.New(3, "certify")
		counts := make([]int, len(eps))
		for i := range queries {
			if res.Certified[0][i] != res.Right[i] {
				t.Errorf("eps 0: query %d is certified %v, right %v", i, res.Certified[0][i], res.Right[i])
			}
			for k, e := range eps {
				if !res.Certified[k][i] {
					continue
				}
				counts[k]++
				if res.Radii[i] < e {
					t.Errorf("query %d is certified at %v, its radius is %v", i, e, res.Radii[i])
				}
			}
			e, x := res.Radii[i], array.New(200, 1, 8, 1)
			if by == lipschitz {
				e /= math.Sqrt(8) // within l-infinity of e all are within it in l2
			}
			for j := range 200 {
				for c, v := range p.x[i] {
					step := (2*r.Float64() - 1) * e
					if j%2 == 0 {
						step = math.Copysign(e, step)
					}
					x.Row(j)[c] = float32(min(1, max(0, float64(v)+0.999999*step)))
				}
			}
			if e == 0 {
				continue
			}
			z := m.Embed(x, nn.Eval)
			for j := range 200 {
				one := array.New(1, z.Cols())
				copy(one.Data, z.Row(j))
				if top := g.Nearest(one, []int{i})[0]; labels[top] != labels[i] {
					t.Fatalf("normalize %v: query %d is certified at %v, and a point within has row %d of class %d", normalize, i, e, top, labels[top])
				}
			}
		}
		if some := slices.ContainsFunc(counts, func(n int) bool { return n > 0 && n < counts[0] }); !some || counts[5] != 0 {
			t.Errorf("certified at %v: %v of 40; the test needs some and not all", eps, counts)
		}
	}
}

// The result of a query depends neither on the others nor on threads.
func TestCertificatesHaveTheSameBits(t *testing.T) {
	p, labels := groups(40, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	run := func(threads int, queries ...int) *Result {
		defer par.SetThreads(0)
		par.SetThreads(threads)
		return certified(t, m, p, labels, Options{Eps: []float64{0.01, 0.05}, Radii: true, Queries: queries})
	}
	one, two := run(1, 3, 9, 17, 20), run(2, 20, 9, 3)
	for i, j := range map[int]int{0: 2, 1: 1, 3: 0} {
		if one.Radii[i] != two.Radii[j] || one.Certified[0][i] != two.Certified[0][j] {
			t.Errorf("query %d: radius %v and %v", i, one.Radii[i], two.Radii[j])
		}
	}
}

// Backward bounds prove what intervals prove, and more.
func TestCrownProvesMore(t *testing.T) {
	t.Parallel()
	p, labels := groups(40, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	o := Options{Eps: []float64{0.01, 0.03, 0.06}, Radii: true}
	for i := range labels {
		o.Queries = append(o.Queries, i)
	}
	without, with := certifiedBy(t, m, p, labels, o, intervals), certifiedBy(t, m, p, labels, o, backward)
	more := 0
	for i := range labels {
		for k := range o.Eps {
			if without.Certified[k][i] && !with.Certified[k][i] {
				t.Errorf("query %d is certified at %v by intervals alone", i, o.Eps[k])
			}
		}
		if with.Radii[i] < without.Radii[i]/finest {
			t.Errorf("query %d: radius %v, by intervals alone %v", i, with.Radii[i], without.Radii[i])
		}
		if with.Radii[i] > 1.1*without.Radii[i] {
			more++
		}
	}
	if more < 20 {
		t.Errorf("%d of 40 radii are larger", more)
	}
}

// With prototypes the margin of a linear network has a closed form; without the outlier
// that lies in another class a query has the radius of the rest.
func TestOtherGalleries(t *testing.T) {
	t.Parallel()
	p := points{x: [][]float32{{.5, .5}, {.3, .5}, {.4, .6}, {.8, .5}, {.9, .6}, {.55, .5}}}
	labels := []int32{0, 0, 0, 1, 1, 1}
	radius := func(gallery string) float64 {
		res := certified(t, identity(t, 2), p, labels, Options{Eps: []float64{1}, Radii: true, Queries: []int{1}, Gallery: gallery})
		if want := map[string]int{worst.Full: 6, worst.Trimmed: 4, worst.Prototypes: 2}[gallery]; res.Rows != want {
			t.Errorf("%s: %d rows, want %d", gallery, res.Rows, want)
		}
		return res.Radii[0]
	}
	// The bisectors of each gallery, by hand: rows {.3, .5}'s right ones, then the nearest
	// wrong one. Trimmed has neither {.5, .5} nor {.55, .5}, whose nearest rows are each other.
	for gallery, pair := range map[string][2][2]float64{
		worst.Trimmed:    {{.4, .6}, {.8, .5}},
		worst.Prototypes: {{.45, .55}, {.75, 1.6 / 3}},
	} {
		a, b, most := pair[0], pair[1], 0.0
		for k := range 2 {
			most += (a[k]-b[k])*[]float64{.3, .5}[k] - (a[k]*a[k]-b[k]*b[k])/2
		}
		want := most / (math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]))
		if r := radius(gallery); r > want+1e-6 || r < want/finest-1e-6 {
			t.Errorf("%s: radius %v, want %v", gallery, r, want)
		}
	}
	if full, trimmed := radius(worst.Full), radius(worst.Trimmed); full >= trimmed {
		t.Errorf("radius %v of all rows, %v without the outlier", full, trimmed)
	}
}
