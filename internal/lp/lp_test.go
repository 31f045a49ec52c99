package lp

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// checkLP shows that x is feasible and costs no more than the bound that the duals
// give, which proves both optimal whatever the pivots were.
func checkLP(t *testing.T, l *Problem, what string) {
	t.Helper()
	cost := 0.0
	for j, v := range l.X {
		if v < l.Lo[j]-1e-7 || v > l.Hi[j]+1e-7 {
			t.Fatalf("%s: x[%d] = %v outside [%v, %v]", what, j, v, l.Lo[j], l.Hi[j])
		}
		cost += v * l.Truth[j]
	}
	for i := range l.RHS {
		sum := -l.RHS[i]
		col, val := l.Entries(int32(i))
		for e, j := range col {
			sum += val[e] * l.X[j]
		}
		if sum < -1e-7 || math.Abs(sum-l.slack[i]) > 1e-7 {
			t.Fatalf("%s: row %d has slack %v, kept as %v", what, i, sum, l.slack[i])
		}
	}
	if v := l.Value(); v > cost+1e-9 || v < cost-1e-5 {
		t.Fatalf("%s: cost %v, bound %v", what, cost, v)
	}
}

// addRandomRow adds a covering row of small integers.
func addRandomRow(r *rng.Stream, l *Problem) {
	var col []int32
	var val []float64
	for j := range l.X {
		if r.Float64() < 0.3 {
			col = append(col, int32(j))
			val = append(val, float64(1+r.IntN(3)))
		}
	}
	if len(col) == 0 {
		return
	}
	l.Add(col, val, float64(1+r.IntN(len(col))))
}

func TestProvesItsSolutions(t *testing.T) {
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
		l := New(cost, perturbed)
		for step := range 12 {
			for range 1 + r.IntN(6) {
				addRandomRow(r, l)
			}
			// As in branch and bound: some variables are set, and let go again.
			for j := range int32(m) {
				switch r.IntN(12) {
				case 0:
					l.Bound(j, 1, 1)
				case 1, 2, 3:
					l.Bound(j, 0, 1)
				}
			}
			l.Place()
			if step == 6 {
				l.refresh()
			}
			if status := l.Solve(math.Inf(1), math.MaxInt64); status != Optimal {
				t.Fatalf("instance %d, step %d: status %d", k, step, status)
			}
			checkLP(t, l, "optimal")
			if step%4 == 3 {
				before, rows := l.Value(), l.Rows()
				l.Purge()
				checkLP(t, l, "purged")
				if after := l.Value(); math.Abs(after-before) > 1e-9 || rows-l.Rows() < 0 {
					t.Fatalf("instance %d: value %v of %d rows, %v of %d", k, before, rows, after, l.Rows())
				}
				dropped += rows - l.Rows()
			}
		}
	}
}

func TestFindsThatThereIsNoSolution(t *testing.T) {
	l := New([]float64{1, 1, 1}, []float64{1, 1, 1})
	l.Add([]int32{0, 1}, []float64{1, 1}, 1)
	l.Add([]int32{1, 2}, []float64{1, 1}, 1)
	l.Bound(0, 0, 0)
	l.Bound(1, 0, 0)
	l.Place()
	if status := l.Solve(3.5, math.MaxInt64); status != Cutoff {
		t.Errorf("status %d", status)
	}
	l.Bound(1, 0, 1)
	l.Place()
	if status := l.Solve(3.5, math.MaxInt64); status != Optimal || math.Abs(l.Value()-1) > 1e-9 {
		t.Errorf("status %d, value %v, want 1", status, l.Value())
	}
	if status := l.Solve(3.5, 0); status != Limited {
		t.Errorf("without work: status %d", status)
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
	l := New(cost, perturbed)
	for range 6 {
		for range 10 {
			addRandomRow(r, l)
		}
		l.Place()
		l.Solve(math.Inf(1), math.MaxInt64)
	}
	k := &l.Kernel
	if k.size() < 10 || l.stale == 0 {
		t.Fatalf("%d variables, %d pivots since the last inverse", k.size(), l.stale)
	}
	for _, fresh := range []bool{false, true} {
		if fresh {
			k.invert(l)
		}
		for p := range k.Basic {
			row := k.Row(p)
			product := make([]float64, k.size())
			for t, i := range k.Tight {
				col, val := l.Entries(i)
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
