package tsne

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/par"
	"tercet/internal/testutil"
)

// groups is a map of n points around nine places, some of them twice.
func groups(n int, width float64, seed uint64) []point {
	r := rand.New(rand.NewPCG(seed, 1))
	y := make([]point, n)
	for i := range y {
		y[i] = point{width * (float64(i%9/3) + .3*r.NormFloat64()), width * (float64(i%3) + .3*r.NormFloat64())}
		if i%50 == 49 {
			y[i] = y[i-1]
		}
	}
	return y
}

// loops are repulsion and Z from the definition.
func loops(y []point) (force []point, z float64) {
	force = make([]point, len(y))
	for i, p := range y {
		for j, q := range y {
			if i == j {
				continue
			}
			dx, dy := p.x-q.x, p.y-q.y
			w := 1 / (1 + dx*dx + dy*dy)
			z += w
			force[i].x += w * w * dx
			force[i].y += w * w * dy
		}
	}
	return force, z
}

// apart returns the relative distance of forces.
func apart(got, want []point) float64 {
	var a, b float64
	for i, w := range want {
		a += (got[i].x-w.x)*(got[i].x-w.x) + (got[i].y-w.y)*(got[i].y-w.y)
		b += w.x*w.x + w.y*w.y
	}
	return math.Sqrt(a / b)
}

func TestRepulsionAgainstLoops(t *testing.T) {
	for _, n := range []int{2, 3, 17, 1000, 2001} {
		for _, width := range []float64{1e-4, .1, 1, 5, 20, 1e4} {
			y := groups(n, width, 7)
			force, z := loops(y)
			for _, c := range []struct{ theta, force, z float64 }{{.5, .015, 1e-3}, {.25, 1.5e-3, 1e-4}, {.1, 1e-4, 1e-5}, {1e-9, 1e-11, 1e-12}} {
				r := newRepulsion(n, c.theta)
				r.at(groups(n, 3, 8)) // leaves nothing behind
				got := r.at(y)
				few := 1.
				if n < 100 { // a single cell pair's error is not averaged
					few = 5
				}
				if e := apart(r.force, force); !(e < few*c.force) {
					t.Errorf("%d points of width %v, theta %v: forces off by %.2g", n, width, c.theta, e)
				}
				if math.Abs(got-z) > few*c.z*z+1e-15*float64(n) {
					t.Errorf("%d points of width %v, theta %v: Z %v, want %v", n, width, c.theta, got, z)
				}
			}
		}
	}
}

// More equal points than a leaf holds, and all of them.
func TestRepulsionOfEqualPoints(t *testing.T) {
	y := groups(300, 4, 3)
	for i := 100; i < 200; i++ {
		y[i] = y[100]
	}
	force, z := loops(y)
	r := newRepulsion(300, .5)
	if got := r.at(y); math.Abs(got/z-1) > 1e-3 || apart(r.force, force) > .03 {
		t.Errorf("Z %v, want %v; forces off by %v", got, z, apart(r.force, force))
	}
	all := slices.Repeat([]point{{3, -2}}, 300)
	if got := r.at(all); got != 300*299 {
		t.Errorf("Z of equal points: %v", got)
	}
	for _, f := range r.force {
		if f != (point{}) {
			t.Fatalf("force between equal points: %v", f)
		}
	}
}

func TestTree(t *testing.T) {
	y := groups(1500, 6, 2)
	tr := newTree(len(y))
	tr.build(groups(1500, 1, 5))
	tr.build(y)
	seen := make([]bool, len(y))
	for k, row := range tr.order {
		if seen[row] || tr.y[k] != y[row] {
			t.Fatalf("place %d holds row %d (seen %v) as %v", k, row, seen[row], tr.y[k])
		}
		seen[row] = true
	}
	leafs := int32(0)
	for i, c := range tr.cells {
		points := tr.y[c.lo:c.hi]
		var x, yy, sxx, sxy, syy float64
		for _, p := range points {
			x += p.x / float64(len(points))
			yy += p.y / float64(len(points))
		}
		for _, p := range points {
			dx, dy := p.x-x, p.y-yy
			sxx += dx * dx
			sxy += dx * dy
			syy += dy * dy
			if r := math.Hypot(dx, dy); r > c.radius*(1+1e-9) {
				t.Fatalf("cell %d: a point at %v, radius %v", i, r, c.radius)
			}
		}
		for _, e := range [][2]float64{{c.x, x}, {c.y, yy}, {c.xx, sxx}, {c.xy, sxy}, {c.yy, syy}, {c.n, float64(len(points))}} {
			if !testutil.WithinMixed(e[0], e[1], 1e-9) {
				t.Fatalf("cell %d: %v, want %v", i, e[0], e[1])
			}
		}
		if c.childs == 0 {
			leafs += c.hi - c.lo
			if c.hi-c.lo > leafSize {
				t.Errorf("leaf %d has %d points", i, c.hi-c.lo)
			}
			continue
		}
		at := c.lo
		for _, k := range tr.cells[c.child : c.child+c.childs] {
			if k.lo != at || k.hi <= k.lo {
				t.Fatalf("cell %d: a child of points %d to %d after %d", i, k.lo, k.hi, at)
			}
			at = k.hi
		}
		if at != c.hi || c.childs < 2 {
			t.Fatalf("cell %d ends at %d, its %d children at %d", i, c.hi, c.childs, at)
		}
	}
	if leafs != int32(len(y)) {
		t.Errorf("leaves hold %d points of %d", leafs, len(y))
	}
}

// The derivatives of one charge's potential, by central differences of those below.
func TestExpansionDerivatives(t *testing.T) {
	s := &cell{n: 3}
	at := func(x, y float64) *polynomial {
		p := &polynomial{}
		p.add(x, y, s)
		return p
	}
	const h = 1e-5
	for _, c := range []point{{.3, -.2}, {1.1, .7}, {-2, 3}, {0, 0}} {
		p := at(c.x, c.y)
		right, left, up, down := at(c.x+h, c.y), at(c.x-h, c.y), at(c.x, c.y+h), at(c.x, c.y-h)
		if want := 3 / (1 + c.x*c.x + c.y*c.y); !testutil.WithinMixed(p.v, want, 1e-14) {
			t.Errorf("value at %v: %v, want %v", c, p.v, want)
		}
		dx := func(f func(*polynomial) float64) float64 { return (f(right) - f(left)) / (2 * h) }
		dy := func(f func(*polynomial) float64) float64 { return (f(up) - f(down)) / (2 * h) }
		for i, e := range [][2]float64{
			{p.x, dx(func(p *polynomial) float64 { return p.v })}, {p.y, dy(func(p *polynomial) float64 { return p.v })},
			{p.xx, dx(func(p *polynomial) float64 { return p.x })}, {p.xy, dy(func(p *polynomial) float64 { return p.x })},
			{p.yy, dy(func(p *polynomial) float64 { return p.y })},
			{p.xxx, dx(func(p *polynomial) float64 { return p.xx })}, {p.xxy, dy(func(p *polynomial) float64 { return p.xx })},
			{p.xyy, dx(func(p *polynomial) float64 { return p.yy })}, {p.yyy, dy(func(p *polynomial) float64 { return p.yy })},
			{p.xxxx, dx(func(p *polynomial) float64 { return p.xxx })}, {p.xxxy, dy(func(p *polynomial) float64 { return p.xxx })},
			{p.xxyy, dy(func(p *polynomial) float64 { return p.xxy })}, {p.xyyy, dx(func(p *polynomial) float64 { return p.yyy })},
			{p.yyyy, dy(func(p *polynomial) float64 { return p.yyy })},
		} {
			if !testutil.WithinMixed(e[0], e[1], 1e-7) {
				t.Errorf("derivative %d at %v: %v, want %v", i, c, e[0], e[1])
			}
		}
	}
}

// A polynomial about another place is the same polynomial, and its gradient that of
// its value.
func TestExpansionMoved(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		p := &polynomial{}
		p.add(r.NormFloat64(), r.NormFloat64(), &cell{n: 2, xx: r.Float64(), xy: r.Float64(), yy: r.Float64()})
		dx, dy, x, y := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		m := p.moved(dx, dy)
		v, gx, gy := m.at(x, y)
		wv, wx, wy := p.at(x+dx, y+dy)
		if !testutil.WithinMixed(v, wv, 1e-10) || !testutil.WithinMixed(gx, wx, 1e-10) || !testutil.WithinMixed(gy, wy, 1e-10) {
			t.Errorf("moved: %v %v %v, want %v %v %v", v, gx, gy, wv, wx, wy)
		}
		const h = 1e-5
		value := func(x, y float64) float64 { v, _, _ := p.at(x, y); return v }
		if g := (value(x+h, y) - value(x-h, y)) / (2 * h); true {
			if _, gx, _ := p.at(x, y); !testutil.WithinMixed(gx, g, 1e-6) {
				t.Errorf("gradient x: %v, want %v", gx, g)
			}
		}
		if g := (value(x, y+h) - value(x, y-h)) / (2 * h); true {
			if _, _, gy := p.at(x, y); !testutil.WithinMixed(gy, g, 1e-6) {
				t.Errorf("gradient y: %v, want %v", gy, g)
			}
		}
	}
}

// The error of a far cell's force falls with the fourth power of size over distance,
// where the cell has no third moments.
func TestExpansionOrder(t *testing.T) {
	source := []point{{.5, .2}, {-.5, -.2}, {.3, -.4}, {-.3, .4}} // no third moments
	offset := point{.2, .1}
	failure := func(size float64) float64 {
		s := &cell{n: 4}
		var exact point
		for _, q := range source {
			s.xx += size * size * q.x * q.x
			s.xy += size * size * q.x * q.y
			s.yy += size * size * q.y * q.y
			dx, dy := 3+size*(offset.x-q.x), 2+size*(offset.y-q.y)
			w := 1 / (1 + dx*dx + dy*dy)
			exact.x += w * w * dx
			exact.y += w * w * dy
		}
		p := &polynomial{}
		p.add(3, 2, s)
		_, gx, gy := p.at(size*offset.x, size*offset.y)
		return math.Hypot(-gx/2-exact.x, -gy/2-exact.y)
	}
	if a, b := failure(.2), failure(.1); a/b < 14 || a == 0 {
		t.Errorf("errors %.3g and %.3g of half the size", a, b)
	}
}

// few are sparse affinities of random points.
func few(t *testing.T, n int, perplexity float64) *affinities {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 4))
	x := make([]float32, n*5)
	for i := range x {
		x[i] = float32(r.NormFloat64()) + float32(i/5%3)
	}
	a, err := nearAffinities(context.Background(), x, n, 5, perplexity)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAttractionAndDivergenceAgainstLoops(t *testing.T) {
	n := 301
	a := few(t, n, 9)
	y := groups(n, 2, 1)
	b := newBarnesHut(a, 1e-9)
	attract, _, z := b.at(y)
	want := make([]point, n)
	for i := range n {
		for e := a.start[i]; e < a.start[i+1]; e++ {
			q := y[a.to[e]]
			dx, dy := y[i].x-q.x, y[i].y-q.y
			w := float64(a.p[e]) / (1 + dx*dx + dy*dy)
			want[i].x += w * dx
			want[i].y += w * dy
		}
	}
	if e := apart(attract, want); e > 1e-12 {
		t.Errorf("attraction off by %v", e)
	}
	kl := 0.0
	for i := range n {
		for e := a.start[i]; e < a.start[i+1]; e++ {
			q := y[a.to[e]]
			dx, dy := y[i].x-q.x, y[i].y-q.y
			p := float64(a.p[e])
			kl += p * math.Log(p*(1+dx*dx+dy*dy)*z)
		}
	}
	if got := b.divergence(y, z); !testutil.WithinMixed(got, kl, 1e-6) {
		t.Errorf("KL %v, want %v", got, kl)
	}
}

// The forces of all pairs are the gradient of KL(P||Q), by central differences.
func TestExactGradient(t *testing.T) {
	n, d := 40, 3
	x := make([]float32, n*d)
	r := rand.New(rand.NewPCG(2, 2))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	e, err := newExact(context.Background(), x, n, d, 8)
	if err != nil {
		t.Fatal(err)
	}
	y := groups(n, 1, 9)
	kl := func() float64 {
		_, _, z := e.at(y)
		return e.divergence(y, z)
	}
	attract, repel, z := e.at(y)
	gradient := make([]point, n)
	for i := range gradient {
		gradient[i] = point{4 * (attract[i].x - repel[i].x/z), 4 * (attract[i].y - repel[i].y/z)}
	}
	const h = 1e-5
	for i := range y {
		for axis, v := range []*float64{&y[i].x, &y[i].y} {
			old := *v
			*v = old + h
			up := kl()
			*v = old - h
			down := kl()
			*v = old
			if want, got := (up-down)/(2*h), []float64{gradient[i].x, gradient[i].y}[axis]; math.Abs(got-want) > 1e-8 {
				t.Errorf("point %d axis %d: gradient %v, want %v", i, axis, got, want)
			}
		}
	}
	if got := partition(y); !testutil.WithinMixed(got, z, 1e-12) {
		t.Errorf("Z by all pairs: %v, want %v", got, z)
	}
	if got := partition(y[:39]); !testutil.WithinMixed(got, func() float64 { _, z := loops(y[:39]); return z }(), 1e-12) {
		t.Errorf("Z of an odd number of points: %v", got)
	}
}

func TestForcesThreads(t *testing.T) {
	defer par.SetThreads(0)
	a := few(t, 3000, 5)
	y := groups(3000, 9, 1)
	var first []point
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		attract, repel, _ := newBarnesHut(a, .5).at(y)
		all := slices.Concat(attract, repel)
		if first == nil {
			first = all
		} else if !slices.Equal(all, first) {
			t.Errorf("%d threads change forces", threads)
		}
	}
}

func TestIterationsDoNotAllocate(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	b := newBarnesHut(few(t, 2000, 5), .5)
	d := newDescent(groups(2000, 5, 1), 50)
	d.exaggeration, d.momentum = 1, .8
	step := func() {
		d.attract, d.repel, d.z = b.at(d.y)
		d.advance()
	}
	for range 3 {
		step()
	}
	if n := testing.AllocsPerRun(5, step); n > 1 { // a list may grow
		t.Errorf("%v allocations in an iteration", n)
	}
}

// The order of rows changes no force but by rounding.
func TestArrange(t *testing.T) {
	b := newBarnesHut(few(t, 700, 6), .5)
	y := groups(700, 4, 1)
	attract, _, z := b.at(y)
	attract, kl := slices.Clone(attract), b.divergence(y, z)
	for range 2 {
		order := rand.New(rand.NewPCG(1, 2)).Perm(700)
		to := make([]int32, 700)
		for k, row := range order {
			to[k] = int32(row)
		}
		b.arrange(to)
		again, _, _ := b.at(y)
		if e := apart(again, attract); e > 1e-13 {
			t.Errorf("attraction off by %v", e)
		}
		if got := b.divergence(y, z); !testutil.WithinMixed(got, kl, 1e-9) {
			t.Errorf("KL %v, want %v", got, kl)
		}
		a := b.attraction.affinities
		for i := range a.n {
			if !slices.IsSorted(a.to[a.start[i]:a.start[i+1]]) {
				t.Fatalf("row %d is not in order", i)
			}
		}
	}
}
