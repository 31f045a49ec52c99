package factored

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// sphere draws n points of k classes: centers on the unit sphere of d
// dimensions, normal noise of the given length about them, normalized. tau is such
// that tau^2 is half way between the mean squared distances within and between
// classes.
func sphere(seed uint64, n, d, k int, noise float64) (x []float32, truth []int32, tau float64) {
	r := rng.New(seed, "test/sphere")
	centers := make([]float64, k*d)
	unit := func(v []float64) {
		s := 0.0
		for _, e := range v {
			s += e * e
		}
		for j := range v {
			v[j] /= math.Sqrt(s)
		}
	}
	for c := range k {
		row := centers[c*d : (c+1)*d]
		for j := range row {
			row[j] = r.NormFloat64()
		}
		unit(row)
	}
	x, truth = make([]float32, n*d), make([]int32, n)
	row := make([]float64, d)
	for i := range n {
		truth[i] = int32(r.IntN(k))
		for j := range row {
			row[j] = centers[int(truth[i])*d+j] + noise*r.NormFloat64()/math.Sqrt(float64(d))
		}
		unit(row)
		for j, v := range row {
			x[i*d+j] = float32(v)
		}
	}
	var sum, count [2]float64
	for range 20_000 {
		i, j := r.IntN(n), r.IntN(n)
		if i == j {
			continue
		}
		same := 0
		if truth[i] == truth[j] {
			same = 1
		}
		sum[same] += plainSquared(x, d, i, j)
		count[same]++
	}
	for s := range sum {
		sum[s] /= max(1, count[s])
	}
	return x, truth, math.Sqrt((sum[0] + sum[1]) / 2)
}

func plainSquared(x []float32, d, i, j int) float64 {
	s := 0.0
	for p := range d {
		e := float64(x[i*d+p]) - float64(x[j*d+p])
		s += e * e
	}
	return s
}

// plainCosts is the matrix of all costs.
func plainCosts(x []float32, n, d int, tau, scale float64) []float64 {
	w := make([]float64, n*n)
	for i := range n {
		for j := range n {
			if i != j {
				w[i*n+j] = scale * (tau*tau - plainSquared(x, d, i, j))
			}
		}
	}
	return w
}

// plainCut is the objective of labels, and the sum of all |costs|.
func plainCut(w []float64, labels []int32) (cut, all float64) {
	n := len(labels)
	for i := range n {
		for j := range i {
			if labels[i] != labels[j] {
				cut += w[i*n+j]
			}
			all += math.Abs(w[i*n+j])
		}
	}
	return cut, all
}

func mustGraph(t testing.TB, x []float32, n, d int, tau, scale float64) *Graph {
	t.Helper()
	f, err := New(x, n, d, tau, scale)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAgreesWithAllCosts(t *testing.T) {
	for _, c := range []struct {
		n, d          int
		offset, scale float64
	}{{1, 3, 0, 1}, {2, 1, 0, 2}, {40, 5, 0, 1}, {33, 7, 1000, 0.3}, {25, 16, 0, 1e-6}, {31, 4, -1e-12, 1e9}} {
		r := rng.New(uint64(c.n), "test/factored")
		x := make([]float32, c.n*c.d)
		for i := range x {
			x[i] = float32(c.offset + r.NormFloat64())
			if math.Abs(c.offset) == 1e-12 {
				x[i] *= 1e-12
			}
		}
		tau := 0.9 * math.Sqrt(2*float64(c.d))
		if c.offset < 0 {
			tau *= 1e-12
		}
		f := mustGraph(t, x, c.n, c.d, tau, c.scale)
		w := plainCosts(x, c.n, c.d, tau, c.scale)
		alone := make([]int32, c.n)
		for i := range alone {
			alone[i] = int32(i)
		}
		total, all := plainCut(w, alone)
		near := func(name string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-9*all) {
				t.Errorf("n=%d: %s is %v, want %v (of %v)", c.n, name, got, want, all)
			}
		}
		near("total", f.Total(), total)
		for k := 1; k <= 9; k += 2 {
			labels := make([]int32, c.n)
			for i := range labels {
				labels[i] = int32(r.IntN(k)) * 1000
			}
			want, _ := plainCut(w, labels)
			near("objective", f.Objective(labels), want)
		}
		edges, negative := 0, 0.0
		f.Each(func(i, j int32, cost float64) {
			edges++
			if want := w[int(i)*c.n+int(j)]; i >= j || math.Abs(cost-want) > 1e-12*c.scale*tau*tau*1e3 {
				t.Fatalf("edge %d %d costs %v, want %v", i, j, cost, want)
			}
			negative += min(0, cost)
		})
		if edges != c.n*(c.n-1)/2 {
			t.Errorf("%d edges of %d nodes", edges, c.n)
		}
		bound, err := f.TrivialBound(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		near("trivial bound", bound.Value, negative)
		// The bound by float32 products is a bound, too.
		room := new([]float32)
		if b := f.negativeBlocks(0, min(c.n, boundRows), room); b > negative || b < negative-1e-3*all {
			t.Errorf("n=%d: the bound by blocks is %v, of %v", c.n, b, negative)
		}
		g, err := f.Dense(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range g.Cost {
			if float64(v) != float64(float32(w[i])) && math.Abs(float64(v)-w[i]) > 1e-6*math.Abs(w[i]) {
				t.Fatalf("dense cost %d is %v, want %v", i, v, w[i])
			}
		}
	}
}

func TestRefusesBadInput(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		x          []float32
		n, d       int
		tau, scale float64
		say        string
	}{
		{[]float32{1, 2, 3}, 2, 2, 1, 1, "need 4 numbers, got 3"},
		{nil, 0, 2, 1, 1, "no points"},
		{[]float32{1, 2}, 2, 0, 1, 1, "0 dimensions"},
		{[]float32{1, 2, nan, 4}, 2, 2, 1, 1, "row 1 column 0 is NaN"},
		{[]float32{1, float32(math.Inf(1)), 3, 4}, 2, 2, 1, 1, "row 0 column 1"},
		{[]float32{1, 2}, 2, 1, 0, 1, "threshold of 0"},
		{[]float32{1, 2}, 2, 1, -1, 1, "threshold of -1"},
		{[]float32{1, 2}, 2, 1, math.NaN(), 1, "threshold of NaN"},
		{[]float32{1, 2}, 2, 1, math.Inf(1), 1, "threshold of +Inf"},
		{[]float32{1, 2}, 2, 1, 1, 0, "scale of 0"},
		{[]float32{1, 2}, 2, 1, 1, math.Inf(1), "scale of +Inf"},
		{[]float32{1, 2}, 2, 1, 1e200, 1, "too large for float64"},
		{[]float32{1, 2}, 2, 1, 1e100, 1e200, "too large for float64"},
	} {
		_, err := New(c.x, c.n, c.d, c.tau, c.scale)
		if !errors.Is(err, multicut.ErrInput) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	x, _, tau := sphere(1, 50, 4, 3, 1)
	f := mustGraph(t, x, 50, 4, tau, 1)
	if _, err := f.Dense(9999); !errors.Is(err, multicut.ErrInput) {
		t.Errorf("a matrix of 10,000 bytes under a limit of 9,999: %v", err)
	}
	ctx := context.Background()
	for _, o := range []Options{{Starts: []string{"two"}}, {K: -1}, {K: 51}, {MinSize: -1}, {Rounds: -1}, {From: []int32{1}}} {
		if _, err := f.Solve(ctx, o); !errors.Is(err, multicut.ErrInput) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Solve(stopped, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := f.TrivialBound(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The sums of clusters against sums over pairs.
func TestGainsAgreeWithPairs(t *testing.T) {
	const n, d, k = 60, 9, 5
	x, _, tau := sphere(3, n, d, k, 1.5)
	f := mustGraph(t, x, n, d, tau, 1)
	w := plainCosts(x, n, d, tau, f.zoom*f.zoom) // in the solver's unit
	r := rng.New(1, "test/gains")
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(r.IntN(k)) - 2
	}
	s := newState(f)
	s.set(labels)
	check := func() {
		t.Helper()
		for v := range int32(n) {
			own := 0.0
			sums := make([]float64, len(s.size))
			for u := range int32(n) {
				if u == v {
					continue
				}
				sums[s.labels[u]] += w[int(v)*n+int(u)]
			}
			own = sums[s.labels[v]]
			if got := s.own(v); math.Abs(got-own) > 1e-6 {
				t.Fatalf("node %d costs %v with its cluster, want %v", v, got, own)
			}
			for c := range int32(len(s.size)) {
				if got := s.score(v, c); c != s.labels[v] && math.Abs(got-sums[c]) > 1e-6 {
					t.Fatalf("node %d costs %v with cluster %d, want %v", v, got, c, sums[c])
				}
			}
		}
		for a := range int32(len(s.size)) {
			for b := range a {
				want := 0.0
				for u := range n {
					for v := range n {
						if s.labels[u] == a && s.labels[v] == b {
							want += w[u*n+v]
						}
					}
				}
				if got := s.between(a, b); math.Abs(got-want) > 1e-5 {
					t.Fatalf("clusters %d and %d cost %v, want %v", a, b, got, want)
				}
			}
		}
	}
	check()
	for range 200 {
		v := int32(r.IntN(n))
		to := int32(r.IntN(len(s.size) + 1))
		if int(to) == len(s.size) {
			to = s.add()
		}
		if to == s.labels[v] {
			continue
		}
		s.move(v, to)
	}
	check()
	before := append([]int32(nil), s.labels...)
	s.pack()
	check()
	if a, b := f.Objective(before), f.Objective(s.labels); a != b {
		t.Fatalf("packing changed the clustering: %v, %v", a, b)
	}
}

// What dividing and exchanging promise is what happens.
func TestHalvesAndChainsGainWhatTheySay(t *testing.T) {
	const n, d = 80, 6
	for seed := range uint64(20) {
		x, _, tau := sphere(seed, n, d, 4, 1.2)
		f := mustGraph(t, x, n, d, tau, 1)
		unit := 1 / f.zoom / f.zoom
		labels := make([]int32, n)
		s := newState(f)
		s.set(labels)
		h := halves{f: s, side: make([]bool, n)}
		for i := range int32(n) {
			h.nodes = append(h.nodes, i)
		}
		for _, start := range []func(){h.principal, h.farthest} {
			start()
			h.start()
			gain := h.settle() * unit
			for i, right := range h.side {
				labels[i] = 0
				if right {
					labels[i] = 1
				}
			}
			if got := f.Objective(labels); math.Abs(got+gain) > 1e-7*float64(n*n) {
				t.Fatalf("seed %d: dividing gains %v, the objective is %v", seed, gain, got)
			}
			if !(gain > 0) {
				t.Fatalf("seed %d: four classes are not divided", seed)
			}
		}
		// Spoil the division, then exchange.
		r := rng.New(seed, "test/chains")
		for i := range labels {
			if r.Float64() < 0.3 {
				labels[i] = 1 - labels[i]
			}
		}
		for _, empty := range []bool{false, true} {
			s.set(labels)
			before := f.Objective(labels)
			var c chain
			b := int32(1)
			if empty {
				b = -1
			}
			c.take(s, h.nodes, 0, b)
			gain := c.between(s, 0, b, f.t) * unit
			moved := append([]int32(nil), s.labels...)
			for _, v := range c.list {
				if moved[v] = 1 - moved[v]; empty {
					moved[v] = 2
				}
			}
			if got := f.Objective(moved); math.Abs(before-gain-got) > 1e-7*float64(n*n) {
				t.Fatalf("seed %d: a series from %v gains %v, and ends at %v", seed, before, gain, got)
			}
			if !(gain > 0) {
				t.Fatalf("seed %d: spoilt halves are not mended", seed)
			}
		}
	}
}

func TestSearchFindsTheBestCluster(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{700, 5, 3}, {300, 8, 1}, {3000, 3, 1500}, {200, 4, 200}} {
		x, _, tau := sphere(9, c.n, c.d, 10, 1)
		f := mustGraph(t, x, c.n, c.d, tau, 1)
		labels := make([]int32, c.n)
		for i := range labels {
			labels[i] = int32(i % c.k)
		}
		s := newState(f)
		s.set(labels)
		var nodes, clusters []int32
		for v := 0; v < c.n; v += 3 {
			nodes = append(nodes, int32(v))
		}
		for v := range int32(c.k) {
			clusters = append(clusters, v)
		}
		for _, threads := range []int{1, 3} {
			par.SetThreads(threads)
			var q search
			q.prepare(s)
			if err := q.run(context.Background(), nodes, nil); err != nil {
				t.Fatal(err)
			}
			for i, v := range nodes {
				best := math.Inf(-1)
				for o := range int32(c.k) {
					if o != s.labels[v] {
						best = max(best, s.score(v, o))
					}
				}
				if c.k == 1 {
					if q.best[i] != -1 {
						t.Fatalf("one cluster, and %d is another", q.best[i])
					}
				} else if got := s.score(v, q.best[i]); q.best[i] == s.labels[v] || got < best-1e-5*float64(c.n/c.k+1) {
					t.Fatalf("k=%d: node %d had best join %d for %v, want %v", c.k, v, q.best[i], got, best)
				}
				if want := s.score(v, s.labels[v]); math.Abs(float64(q.own[i])-want) > 1e-5*float64(c.n/c.k+1) {
					t.Fatalf("node %d scores %v with its own, want %v", v, q.own[i], want)
				}
			}
			if err := q.run(context.Background(), nil, clusters); err != nil {
				t.Fatal(err)
			}
			for i, v := range clusters {
				best := math.Inf(-1)
				for o := range int32(c.k) {
					if o != v {
						best = max(best, s.between(v, o))
					}
				}
				if c.k > 1 {
					if got := s.between(v, q.best[i]); got < best-1e-4*math.Pow(float64(c.n/c.k+1), 2) {
						t.Fatalf("k=%d: cluster %d had best join %d for %v, want %v", c.k, v, q.best[i], got, best)
					}
				}
			}
		}
		par.SetThreads(0)
	}
}

// Groups of clusters find nearly all best clusters where points have structure, and
// never make up a score.
func TestProbeFindsMost(t *testing.T) {
	const n, d, k = 6000, 16, 2000
	x, truth, tau := sphere(5, n, d, k, 0.5)
	f := mustGraph(t, x, n, d, tau, 1)
	s := newState(f)
	s.set(truth)
	var nodes []int32
	for v := range int32(n) {
		nodes = append(nodes, v)
	}
	var exact, probed search
	exact.prepare(s)
	if err := exact.run(context.Background(), nodes, nil); err != nil {
		t.Fatal(err)
	}
	var first []int32
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		probed.prepare(s)
		probed.nodes, probed.clusters = nodes, nil
		probed.best, probed.score, probed.own = make([]int32, n), make([]float32, n), make([]float32, n)
		if err := probed.probe(context.Background()); err != nil {
			t.Fatal(err)
		}
		same := 0
		for i, v := range nodes {
			if probed.best[i] == exact.best[i] {
				same++
			}
			if c := probed.best[i]; c < 0 || c == s.labels[v] || math.Abs(s.score(v, c)-float64(probed.score[i])) > 1e-4*float64(s.size[c]) {
				t.Fatalf("node %d: cluster %d of its own %d for %v", v, c, s.labels[v], probed.score[i])
			}
			if want := s.score(v, s.labels[v]); math.Abs(float64(probed.own[i])-want) > 1e-4*float64(s.size[s.labels[v]]) {
				t.Fatalf("node %d scores %v with its own, want %v", v, probed.own[i], want)
			}
		}
		if same < n/2 {
			t.Errorf("%d of %d best clusters found", same, n)
		}
		if first == nil {
			first = append(first, probed.best...)
		}
		for i, c := range probed.best {
			if c != first[i] {
				t.Fatalf("threads change the proposal of node %d", i)
			}
		}
	}
	par.SetThreads(0)
}
