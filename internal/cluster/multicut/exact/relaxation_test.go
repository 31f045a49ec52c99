package exact

import (
	"math"
	"path/filepath"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/multicuttest"
	"tercet/internal/lp"
	"tercet/internal/rng"
)

// Three conflicted triangles, each two of which share an edge: half of each shared one
// covers them, at 1.5, and a cut raises that to 2.
func TestCutsCloseAnOddCycle(t *testing.T) {
	// Attractive edges from node 0 to three nodes that repel each other.
	c := newCore(4, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 0, J: 2, Cost: 1}, {I: 0, J: 3, Cost: 1}, {I: 1, J: 2, Cost: -1}, {I: 1, J: 3, Cost: -1}, {I: 2, J: 3, Cost: -1}})
	c.open()
	for {
		cycles := c.violated(c.lp.X)
		if len(cycles) == 0 {
			break
		}
		c.addCycles(cycles)
		if c.lp.Solve(math.Inf(1), math.MaxInt64) != lp.Optimal {
			t.Fatal("no optimum")
		}
	}
	if v := c.lp.Value(); math.Abs(v-1.5) > 0.01 {
		t.Fatalf("value %v, want 1.5", v)
	}
	cuts := c.cuts()
	if len(cuts) == 0 {
		t.Fatal("no cuts")
	}
	for _, cut := range cuts {
		c.lp.Add(cut.col, cut.val, cut.rhs)
	}
	if c.lp.Solve(math.Inf(1), math.MaxInt64) != lp.Optimal || math.Abs(c.lp.Value()-2) > 0.01 {
		t.Errorf("value %v after cuts, want 2", c.lp.Value())
	}
}

// Every cut holds for every clustering.
func TestCutsAreValid(t *testing.T) {
	cut := 0
	for k := range 100 {
		r := rng.New(uint64(k), "multicut/cuts")
		const n = 8
		c := newCore(n, multicuttest.RandomEdges(r, n, 1, 0, true))
		if len(c.edges) == 0 {
			continue
		}
		c.open()
		for round := 0; round < 8; {
			if cycles := c.violated(c.lp.X); len(cycles) > 0 {
				c.addCycles(cycles)
			} else {
				cuts := c.cuts()
				if len(cuts) == 0 {
					break
				}
				for _, q := range cuts {
					c.lp.Add(q.col, q.val, q.rhs)
				}
				cut += len(cuts)
				round++
			}
			if c.lp.Solve(math.Inf(1), math.MaxInt64) != lp.Optimal {
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
			for row := range c.lp.RHS {
				sum := 0.0
				col, val := c.lp.Entries(int32(row))
				for e, j := range col {
					edge := c.edges[j]
					if same := label[edge.I] == label[edge.J]; same != (edge.Cost > 0) {
						sum += val[e]
					}
				}
				if sum < c.lp.RHS[row] {
					t.Fatalf("instance %d: row %d, %v %v >= %v, has %v at %v", k, row, col, val, c.lp.RHS[row], sum, label)
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
		f, g := multicuttest.ReadPairs(t, filepath.Join("testdata", file))
		var edges []multicut.Edge
		g.Each(func(i, j int32, c float64) {
			if c != 0 {
				edges = append(edges, multicut.Edge{I: i, J: j, Cost: c})
			}
		})
		c := newCore(g.Nodes(), edges)
		c.open()
		for {
			cycles := c.violated(c.lp.X)
			if len(cycles) == 0 {
				break
			}
			c.addCycles(cycles)
			if c.lp.Solve(math.Inf(1), math.MaxInt64) != lp.Optimal {
				t.Fatal("no optimum")
			}
		}
		if got := f.Errors(c.base + c.lp.Value()); math.Abs(got-f.CycleBound) > 2e-3 {
			t.Errorf("%s: %v errors, want %v", file, got, f.CycleBound)
		}
	}
}
