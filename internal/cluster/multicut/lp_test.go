package multicut

import (
	"math"
	"path/filepath"
	"testing"

	"tercet/internal/rng"
)

// checkLP shows that x is feasible and costs no more than the bound that the duals
// give, which proves both optimal whatever the pivots were.
func checkLP(t *testing.T, l *lp, what string) {
	t.Helper()
	cost := 0.0
	for j, v := range l.x {
		if v < l.lo[j]-1e-7 || v > l.hi[j]+1e-7 {
			t.Fatalf("%s: x[%d] = %v outside [%v, %v]", what, j, v, l.lo[j], l.hi[j])
		}
		cost += v * l.truth[j]
	}
	for i := range l.rhs {
		sum := -l.rhs[i]
		col, val := l.entries(int32(i))
		for e, j := range col {
			sum += val[e] * l.x[j]
		}
		if sum < -1e-7 || math.Abs(sum-l.slack[i]) > 1e-7 {
			t.Fatalf("%s: row %d has slack %v, kept as %v", what, i, sum, l.slack[i])
		}
	}
	if v := l.value(); v > cost+1e-9 || v < cost-1e-5 {
		t.Fatalf("%s: cost %v, bound %v", what, cost, v)
	}
}

// addRandomRow adds a covering row of small integers.
func addRandomRow(r *rng.Stream, l *lp) {
	var col []int32
	var val []float64
	for j := range l.x {
		if r.Float64() < 0.3 {
			col = append(col, int32(j))
			val = append(val, float64(1+r.IntN(3)))
		}
	}
	if len(col) == 0 {
		return
	}
	l.add(col, val, float64(1+r.IntN(len(col))))
}

func TestLPProvesItsSolutions(t *testing.T) {
	dropped := 0
	defer func() {
		if dropped < 1000 {
			t.Errorf("%d rows dropped", dropped)
		}
	}()
	for k := range 400 {
		r := rng.New(uint64(k), "multicut/lp")
		m := 1 + r.IntN(30)
		cost, perturbed := make([]float64, m), make([]float64, m)
		for j := range cost {
			cost[j] = r.Float64()
			if k%2 == 0 { // ties
				cost[j] = float64(1 + r.IntN(3))
			}
			perturbed[j] = cost[j] + 1e-8*r.Float64()
		}
		l := newLP(cost, perturbed)
		for step := range 12 {
			for range 1 + r.IntN(6) {
				addRandomRow(r, l)
			}
			// As in branch and bound: some variables are set, and let go again.
			for j := range int32(m) {
				switch r.IntN(12) {
				case 0:
					l.bound(j, 1, 1)
				case 1, 2, 3:
					l.bound(j, 0, 1)
				}
			}
			l.place()
			if step == 6 {
				l.refresh()
			}
			if status := l.solve(math.Inf(1), math.MaxInt64); status != lpOptimal {
				t.Fatalf("instance %d, step %d: status %d", k, step, status)
			}
			checkLP(t, l, "optimal")
			if step%4 == 3 {
				before, rows := l.value(), l.rows()
				l.purge()
				checkLP(t, l, "purged")
				if after := l.value(); math.Abs(after-before) > 1e-9 || rows-l.rows() < 0 {
					t.Fatalf("instance %d: value %v of %d rows, %v of %d", k, before, rows, after, l.rows())
				}
				dropped += rows - l.rows()
			}
		}
	}
}

func TestLPFindsThatThereIsNoSolution(t *testing.T) {
	l := newLP([]float64{1, 1, 1}, []float64{1, 1, 1})
	l.add([]int32{0, 1}, []float64{1, 1}, 1)
	l.add([]int32{1, 2}, []float64{1, 1}, 1)
	l.bound(0, 0, 0)
	l.bound(1, 0, 0)
	l.place()
	if status := l.solve(3.5, math.MaxInt64); status != lpCutoff {
		t.Errorf("status %d", status)
	}
	l.bound(1, 0, 1)
	l.place()
	if status := l.solve(3.5, math.MaxInt64); status != lpOptimal || math.Abs(l.value()-1) > 1e-9 {
		t.Errorf("status %d, value %v, want 1", status, l.value())
	}
	if status := l.solve(3.5, 0); status != lpLimit {
		t.Errorf("without work: status %d", status)
	}
}

// Three conflicted triangles, each two of which share an edge: half of each shared one
// covers them, at 1.5, and a cut raises that to 2.
func TestCutsCloseAnOddCycle(t *testing.T) {
	// Attractive edges from node 0 to three nodes that repel each other.
	c := newCore(4, []Edge{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 2, -1}, {1, 3, -1}, {2, 3, -1}})
	c.open()
	for {
		cycles := c.violated(c.lp.x)
		if len(cycles) == 0 {
			break
		}
		c.addCycles(cycles)
		if c.lp.solve(math.Inf(1), math.MaxInt64) != lpOptimal {
			t.Fatal("no optimum")
		}
	}
	if v := c.lp.value(); math.Abs(v-1.5) > 0.01 {
		t.Fatalf("value %v, want 1.5", v)
	}
	cuts := c.cuts()
	if len(cuts) == 0 {
		t.Fatal("no cuts")
	}
	for _, cut := range cuts {
		c.lp.add(cut.col, cut.val, cut.rhs)
	}
	if c.lp.solve(math.Inf(1), math.MaxInt64) != lpOptimal || math.Abs(c.lp.value()-2) > 0.01 {
		t.Errorf("value %v after cuts, want 2", c.lp.value())
	}
}

// Every cut holds for every clustering.
func TestCutsAreValid(t *testing.T) {
	cut := 0
	for k := range 100 {
		r := rng.New(uint64(k), "multicut/cuts")
		const n = 8
		c := newCore(n, randomEdges(r, n, 1, 0, true))
		if len(c.edges) == 0 {
			continue
		}
		c.open()
		for round := 0; round < 8; {
			if cycles := c.violated(c.lp.x); len(cycles) > 0 {
				c.addCycles(cycles)
			} else {
				cuts := c.cuts()
				if len(cuts) == 0 {
					break
				}
				for _, q := range cuts {
					c.lp.add(q.col, q.val, q.rhs)
				}
				cut += len(cuts)
				round++
			}
			if c.lp.solve(math.Inf(1), math.MaxInt64) != lpOptimal {
				t.Fatal("no optimum")
			}
		}
		label := make([]int, n)
		var place func(i, clusters int)
		place = func(i, clusters int) {
			if i < n {
				for l := range clusters + 1 {
					label[i] = l
					place(i+1, max(clusters, l+1))
				}
				return
			}
			for row := range c.lp.rhs {
				sum := 0.0
				col, val := c.lp.entries(int32(row))
				for e, j := range col {
					edge := c.edges[j]
					if same := label[edge.I] == label[edge.J]; same != (edge.Cost > 0) {
						sum += val[e]
					}
				}
				if sum < c.lp.rhs[row] {
					t.Fatalf("instance %d: row %d, %v %v >= %v, has %v at %v", k, row, col, val, c.lp.rhs[row], sum, label)
				}
			}
		}
		place(0, 0)
	}
	if cut < 10 {
		t.Errorf("only %d cuts", cut)
	}
}

// The relaxation with cycle inequalities alone has the value that HiGHS found.
func TestCycleRelaxationOfPairGraphs(t *testing.T) {
	for _, file := range []string{"dibs_3x6_P20.json", "dibs_5x10_P10.json", "dibs_10x20_P10.json", "dibs_10x300_P10.json", "dibs_10x300_P20.json"} {
		f, g := readPairs(t, filepath.Join("testdata", file))
		var edges []Edge
		g.Each(func(i, j int32, c float64) {
			if c != 0 {
				edges = append(edges, Edge{i, j, c})
			}
		})
		c := newCore(g.Nodes(), edges)
		c.open()
		for {
			cycles := c.violated(c.lp.x)
			if len(cycles) == 0 {
				break
			}
			c.addCycles(cycles)
			if c.lp.solve(math.Inf(1), math.MaxInt64) != lpOptimal {
				t.Fatal("no optimum")
			}
		}
		if got := f.errors(c.base + c.lp.value()); math.Abs(got-f.CycleBound) > 2e-3 {
			t.Errorf("%s: %v errors, want %v", file, got, f.CycleBound)
		}
	}
}

// What is left of a kernel is the inverse of its matrix, after whatever pivots.
func TestKernelStaysAnInverse(t *testing.T) {
	r := rng.New(5, "lp/kernel")
	const m = 60
	cost, perturbed := make([]float64, m), make([]float64, m)
	for j := range cost {
		cost[j] = float64(1 + r.IntN(3))
		perturbed[j] = cost[j] + 1e-8*r.Float64()
	}
	l := newLP(cost, perturbed)
	for range 6 {
		for range 10 {
			addRandomRow(r, l)
		}
		l.place()
		l.solve(math.Inf(1), math.MaxInt64)
	}
	k := &l.kernel
	if k.size() < 10 || l.stale == 0 {
		t.Fatalf("%d variables, %d pivots since the last inverse", k.size(), l.stale)
	}
	for _, fresh := range []bool{false, true} {
		if fresh {
			k.invert(l)
		}
		for p := range k.basic {
			row := k.row(p)
			product := make([]float64, k.size())
			for t, i := range k.tight {
				col, val := l.entries(i)
				for e, j := range col {
					if q := k.at[j]; q >= 0 {
						product[q] += row[t] * val[e]
					}
				}
			}
			for q, v := range product {
				want := 0.0
				if p == q {
					want = 1
				}
				if math.Abs(v-want) > 1e-9 {
					t.Fatalf("fresh %v: entry %d, %d of inverse times matrix is %v", fresh, p, q, v)
				}
			}
		}
	}
}
