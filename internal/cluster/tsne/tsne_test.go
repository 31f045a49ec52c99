package tsne

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/testutil"
)

// At the end KL is where scikit-learn's is. A map this small ends in one of many
// places that differ by some per cent, by the start's last bits: the best of a few
// random starts counts, and principal components must come near.
func TestRunAgainstScikitLearn(t *testing.T) {
	g := readGolden(t)
	for method, theta := range map[string]float64{"exact": 0, "barnes_hut": Usual} {
		best := math.Inf(1)
		starts := uint64(testutil.Trials(1, 3))
		for seed := range starts + 1 {
			o := Options{Perplexity: g.Perplexity, Theta: theta, Seed: seed, Init: InitRandom}
			if seed == starts {
				o.Init = InitPCA
			}
			r, err := Run(context.Background(), g.X, g.Rows, g.Cols, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.LearningRate != 50 || r.Iterations < 300 || r.Perplexity != g.Perplexity || len(r.Warnings) != 0 || r.Convention == "" {
				t.Errorf("%s: %+v", method, r)
			}
			trust, err := Trustworthiness(context.Background(), g.X, g.Rows, g.Cols, r.Y, 2, 5)
			if err != nil || trust < .9 {
				t.Errorf("%s, seed %d: trustworthiness %v, %v", method, seed, trust, err)
			}
			if o.Init == InitRandom {
				best = min(best, r.KL)
			} else if r.KL > 1.1*g.End[method] {
				t.Errorf("%s from principal components: KL %v, scikit-learn's %v", method, r.KL, g.End[method])
			}
		}
		if want := g.End[method]; best > 1.02*want {
			t.Errorf("%s: best KL %v, scikit-learn's %v", method, best, want)
		}
	}
}

// blobs are five groups of rows.
func blobs(n, d int) []float32 {
	r := rand.New(rand.NewPCG(5, 8))
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if (i/d)%5 == i%d {
			x[i] += 9
		}
	}
	return x
}

// The KL reported is that of the numbers returned, by plain loops over all pairs.
func TestReportedDivergence(t *testing.T) {
	n, d := 150, 6
	x := blobs(n, d)
	r, err := Run(context.Background(), x, n, d, Options{Iterations: 300, Perplexity: 10, Theta: Usual})
	if err != nil {
		t.Fatal(err)
	}
	a, err := nearAffinities(context.Background(), x, n, d, 10)
	if err != nil {
		t.Fatal(err)
	}
	square := func(i, j int) float64 {
		dx, dy := float64(r.Y[2*i]-r.Y[2*j]), float64(r.Y[2*i+1]-r.Y[2*j+1])
		return dx*dx + dy*dy
	}
	z, kl, mean := 0.0, 0.0, 0.0
	for i := range n {
		mean += float64(r.Y[2*i])
		for j := range n {
			if i != j {
				z += 1 / (1 + square(i, j))
			}
		}
	}
	for i := range n {
		for e := a.start[i]; e < a.start[i+1]; e++ {
			p := float64(a.p[e])
			if p == 0 {
				continue
			}
			kl += p * math.Log(p*(1+square(i, int(a.to[e])))*z)
		}
	}
	if !testutil.WithinMixed(r.KL, kl, 1e-5) {
		t.Errorf("KL %v, want %v", r.KL, kl)
	}
	if math.Abs(mean/float64(n)) > 1e-4 {
		t.Errorf("mean %v", mean/float64(n))
	}
}

func TestRunThreads(t *testing.T) {
	defer par.SetThreads(0)
	x := blobs(500, 8)
	for _, theta := range []float64{0, Usual} {
		for _, init := range []string{InitPCA, InitRandom} {
			var first *Result
			for _, threads := range []int{1, 3} {
				par.SetThreads(threads)
				r, err := Run(context.Background(), x, 500, 8, Options{Iterations: 60, ExaggerationIterations: 30, Perplexity: 12, Theta: theta, Init: init})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = r
				} else if !slices.Equal(r.Y, first.Y) || r.KL != first.KL || r.Gradient != first.Gradient {
					t.Errorf("theta %v, %s: %d threads change the map", theta, init, threads)
				}
			}
		}
	}
}

func TestSeed(t *testing.T) {
	x := blobs(60, 4)
	maps := [][]float32{}
	for _, o := range []Options{{Seed: 1}, {Seed: 1}, {Seed: 2}} {
		o.Init, o.Iterations, o.Perplexity = InitRandom, 20, 5
		r, err := Run(context.Background(), x, 60, 4, o)
		if err != nil {
			t.Fatal(err)
		}
		maps = append(maps, r.Y)
	}
	if !slices.Equal(maps[0], maps[1]) || slices.Equal(maps[0], maps[2]) {
		t.Error("the seed does not set the map")
	}
}

func TestProgressAndPhases(t *testing.T) {
	var at []int
	var last float64
	o := Options{Iterations: 125, ExaggerationIterations: 50, Perplexity: 8, Theta: Usual}
	o.Progress = func(i int, kl float64) { at, last = append(at, i), kl }
	r, err := Run(context.Background(), blobs(100, 5), 100, 5, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(at, []int{50, 100}) || r.Iterations != 125 || !(r.KL < last) {
		t.Errorf("progress at %v (KL %v), end %+v", at, last, r)
	}
}

// Without the phase of exaggeration, one step is -rate*gain*gradient.
func TestFirstStep(t *testing.T) {
	g := readGolden(t)
	e, err := newExact(context.Background(), g.X, g.Rows, g.Cols, g.Perplexity)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]point, g.Rows)
	for i := range y {
		y[i] = point{g.Y[2*i], g.Y[2*i+1]}
	}
	before := slices.Clone(y)
	const rate = 70
	o := &Options{Iterations: 1, LearningRate: rate}
	if _, err := newDescent(y, rate).run(context.Background(), e, o); err != nil {
		t.Fatal(err)
	}
	// The first step has a gain of 0.8. Both maps are compared about their means.
	want, mean := make([]point, len(y)), point{}
	for i := range want {
		want[i] = point{before[i].x - .8*rate*g.Gradient[2*i], before[i].y - .8*rate*g.Gradient[2*i+1]}
		mean.x += want[i].x / float64(len(y))
		mean.y += want[i].y / float64(len(y))
	}
	for i := range y {
		if math.Abs(y[i].x-want[i].x+mean.x) > 1e-4 || math.Abs(y[i].y-want[i].y+mean.y) > 1e-4 {
			t.Fatalf("point %d at %v, want %v less %v", i, y[i], want[i], mean)
		}
	}
}

// Steps, gains and momentum of one coordinate, as Jacobs' rule says.
func TestAlong(t *testing.T) {
	d := &descent{rate: 10, momentum: .5}
	for _, c := range []struct{ step, gain, gradient, wantStep, wantGain float64 }{
		{0, 1, 3, -24, .8},     // no step yet
		{-1, 1, 3, -36.5, 1.2}, // downhill
		{1, 1, 3, -23.5, .8},   // uphill
		{1, .012, 3, .2, .01},  // the least gain
		{-2, 2, .5, -12, 2.2},  //
		{2, 2, -.5, 12, 2.2},   // the same, mirrored
		{-2, 2, 0, -1, 1.6},    // no gradient
	} {
		step, gain := d.along(c.step, c.gain, c.gradient)
		if !testutil.WithinMixed(step, c.wantStep, 1e-12) || !testutil.WithinMixed(gain, c.wantGain, 1e-12) {
			t.Errorf("step %v, gain %v, gradient %v: %v, %v, want %v, %v", c.step, c.gain, c.gradient, step, gain, c.wantStep, c.wantGain)
		}
	}
}

// No gradient, no progress: the descent ends before its last iteration.
type still struct {
	f  []point
	kl []float64
}

func (s *still) at(y []point) (attract, repel []point, z float64) { return s.f, s.f, 1 }
func (s *still) divergence(y []point, z float64) float64 {
	v := s.kl[0]
	s.kl = append(s.kl[1:], v+1)
	return v
}

func TestDescentEnds(t *testing.T) {
	force := func(v float64) []point { return []point{{v, 0}, {-v, 0}} }
	for _, c := range []struct {
		name string
		f    *still
		o    Options
		want int
	}{
		{"flat", &still{force(0), []float64{1}}, Options{Iterations: 1000, Exaggeration: 12}, 50},
		{"flat with exaggeration", &still{force(0), []float64{1}}, Options{Iterations: 1000, Exaggeration: 12, ExaggerationIterations: 100}, 150},
		// Best at 50; at 350 there were 300 iterations without progress, at 400 more.
		{"no progress", &still{force(1e-3), []float64{1}}, Options{Iterations: 1000, Exaggeration: 12, ExaggerationIterations: 1}, 400},
	} {
		f := c.f
		if c.name == "no progress" { // z = 1 would cancel the two forces
			c.o.ExaggerationIterations = 0
		}
		e, err := newDescent([]point{{1, 0}, {-1, 0}}, 1).run(context.Background(), &uphill{f, c.name == "no progress"}, &c.o)
		if err != nil || e.iterations != c.want {
			t.Errorf("%s: %+v, %v, want %d iterations", c.name, e, err, c.want)
		}
	}
	blow := &uphill{&still{force(math.Inf(1)), []float64{1}}, true}
	if _, err := newDescent(make([]point, 2), 1).run(context.Background(), blow, &Options{Iterations: 9}); err == nil || !strings.Contains(err.Error(), "diverged at iteration 1") {
		t.Errorf("diverging: %v", err)
	}
}

// uphill pulls only, where pull is set.
type uphill struct {
	*still
	pull bool
}

func (u *uphill) at(y []point) (attract, repel []point, z float64) {
	if u.pull {
		return u.f, make([]point, len(u.f)), 1
	}
	return u.still.at(y)
}

func TestRunInput(t *testing.T) {
	x := blobs(20, 3)
	bad := slices.Clone(x)
	bad[7] = float32(math.Inf(1))
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		name string
		x    []float32
		n, d int
		o    Options
		word string
	}{
		{"no rows", nil, 0, 3, Options{}, "no rows"},
		{"no columns", nil, 3, 0, Options{}, "0 dimensions"},
		{"sizes", x, 19, 3, Options{}, "numbers, got"},
		{"infinity", bad, 20, 3, Options{}, "row 2 column 1 is +Inf"},
		{"perplexity", x, 20, 3, Options{Perplexity: .5}, "perplexity 0.5"},
		{"perplexity NaN", x, 20, 3, Options{Perplexity: math.NaN()}, "perplexity NaN"},
		{"theta", x, 20, 3, Options{Theta: 1.5}, "theta 1.5"},
		{"theta below 0", x, 20, 3, Options{Theta: -1}, "theta -1"},
		{"start", x, 20, 3, Options{Init: "spectral"}, `start "spectral"`},
		{"iterations", x, 20, 3, Options{Iterations: -5}, "-5 iterations"},
		{"exaggeration", x, 20, 3, Options{Exaggeration: -1}, "exaggeration -1"},
		{"rate", x, 20, 3, Options{LearningRate: math.Inf(1)}, "learning rate +Inf"},
		{"too many for exact", make([]float32, MostExact+1), MostExact + 1, 1, Options{}, "choose theta 0.5"},
	} {
		if _, err := Run(context.Background(), c.x, c.n, c.d, c.o); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %q", c.name, err, c.word)
		}
	}
	for _, theta := range []float64{0, Usual} {
		if _, err := Run(stopped, x, 20, 3, Options{Theta: theta}); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("canceled: %v", err)
		}
	}
}

func TestRunDiverges(t *testing.T) {
	x := blobs(60, 4)
	for _, theta := range []float64{0, Usual} {
		for _, rate := range []float64{1e12, 1e300} {
			r, err := Run(context.Background(), x, 60, 4, Options{Iterations: 100, Perplexity: 5, Theta: theta, LearningRate: rate})
			if err == nil || !strings.Contains(err.Error(), "diverged at iteration") {
				t.Errorf("rate %v, theta %v: %v, %v", rate, theta, r, err)
			}
		}
	}
}

func TestRunOddData(t *testing.T) {
	equal := slices.Repeat([]float32{3, 1}, 40)
	line := make([]float32, 80)
	twice := blobs(40, 2)
	for i := range 40 {
		line[2*i], line[2*i+1] = float32(i), float32(2*i)
		if i%2 == 1 {
			copy(twice[2*i:2*i+2], twice[2*i-2:])
		}
	}
	for _, c := range []struct {
		name       string
		x          []float32
		n, d       int
		perplexity float64 // used
		warnings   []string
	}{
		{"one point", equal[:2], 1, 2, 30, []string{"one point"}},
		{"two points", line[:4], 2, 2, 1, []string{"perplexity 30 is too large"}},
		{"two equal points", equal[:4], 2, 2, 1, []string{"perplexity 30", "all 2 rows are the same"}},
		{"three points", line[:6], 3, 2, 2, []string{"perplexity 30"}},
		{"seven points", line[:14], 7, 2, 2, []string{"perplexity 30"}},
		{"all equal", equal, 40, 2, 13, []string{"perplexity 30", "all 40 rows are the same"}},
		{"on a line", line, 40, 2, 13, []string{"perplexity 30"}},
		{"one dimension", line[:40], 40, 1, 13, []string{"perplexity 30"}},
		{"each twice", twice, 40, 2, 13, []string{"perplexity 30"}},
	} {
		for _, theta := range []float64{0, Usual} {
			r, err := Run(context.Background(), c.x, c.n, c.d, Options{Iterations: 300, Theta: theta})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if len(r.Y) != 2*c.n || r.Perplexity != c.perplexity || len(r.Warnings) != len(c.warnings) {
				t.Fatalf("%s: %+v", c.name, r)
			}
			for i, w := range c.warnings {
				if !strings.Contains(r.Warnings[i], w) {
					t.Errorf("%s: warning %q, want %q", c.name, r.Warnings[i], w)
				}
			}
			wide := 0.0
			for i, v := range r.Y {
				if v-v != 0 {
					t.Fatalf("%s: number %d is %v", c.name, i, v)
				}
				if i%2 == 1 {
					wide = max(wide, math.Abs(float64(v)))
				}
			}
			if r.KL-r.KL != 0 || r.KL < -1e-6 {
				t.Errorf("%s: KL %v", c.name, r.KL)
			}
			if strings.Contains(c.name, "line") && wide < .1 {
				t.Errorf("%s: the map stays on a line (%v)", c.name, wide)
			}
		}
	}
}

func TestTrustworthinessAgainstScikitLearn(t *testing.T) {
	g := readGolden(t).Trust
	for k, want := range g.Values {
		number, err := strconv.Atoi(k)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Trustworthiness(context.Background(), g.X, g.Rows, 3, g.Y, 2, number)
		if err != nil || !testutil.WithinMixed(got, want, 1e-12) {
			t.Errorf("k = %s: %v, %v, want %v", k, got, err, want)
		}
	}
}

// By plain loops, with equal distances, a common offset and numbers that overflow.
func TestTrustworthinessAgainstLoops(t *testing.T) {
	defer par.SetThreads(0)
	r := rand.New(rand.NewPCG(3, 1))
	for trial := range 12 {
		n, d, k := 20+r.IntN(100), 1+r.IntN(4), 1+r.IntN(8)
		x, y := make([]float32, n*d), make([]float32, n*2)
		for i := range x {
			x[i] = float32(r.IntN(9)) * []float32{1, 1e-20, 3e37}[trial%3]
			if trial%3 == 0 {
				x[i] += 5000
			}
		}
		for i := range y {
			y[i] = float32(r.NormFloat64())
		}
		par.SetThreads(1 + 2*(trial%2))
		got, err := Trustworthiness(context.Background(), x, n, d, y, 2, k)
		if err != nil {
			t.Fatal(err)
		}
		order := func(x []float32, d, i int) []int { // others, nearest first, ties by index
			d2, all := make([]float64, n), []int{}
			for j := range n {
				for c := range d {
					e := float64(x[i*d+c]) - float64(x[j*d+c])
					d2[j] += e * e
				}
				if j != i {
					all = append(all, j)
				}
			}
			slices.SortStableFunc(all, func(a, b int) int {
				switch {
				case d2[a] < d2[b]:
					return -1
				case d2[a] > d2[b]:
					return 1
				}
				return a - b
			})
			return all
		}
		sum := 0
		for i := range n {
			inData := order(x, d, i)
			for _, j := range order(y, 2, i)[:k] {
				sum += max(0, slices.Index(inData, j)+1-k)
			}
		}
		want := 1 - 2/(float64(n*k)*float64(2*n-3*k-1))*float64(sum)
		if !testutil.WithinMixed(got, want, 1e-12) {
			t.Errorf("trial %d: %v, want %v", trial, got, want)
		}
	}
}

func TestTrustworthinessInput(t *testing.T) {
	x := blobs(9, 2)
	for _, c := range []struct {
		y    []float32
		dy   int
		k    int
		word string
	}{{x, 2, 0, "choose 1 to 4"}, {x, 2, 5, "choose 1 to 4"}, {x[:16], 2, 2, "map: "}, {x, 0, 2, "map: "}} {
		if _, err := Trustworthiness(context.Background(), x, 9, 2, c.y, c.dy, c.k); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("k = %d: %v, want %q", c.k, err, c.word)
		}
	}
	if v, err := Trustworthiness(context.Background(), x, 9, 2, x, 2, 4); err != nil || v != 1 {
		t.Errorf("of the data itself: %v, %v", v, err)
	}
}
