package factored

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/par"
)

func TestAssignerAgainstPairs(t *testing.T) {
	defer par.SetThreads(0)
	const n, d, m = 300, 7, 200
	x, truth, tau := sphere(6, n+m, d, 9, 1.3)
	for i := range x {
		x[i] += 3 // far from the mean
	}
	f := mustGraph(t, x[:n*d], n, d, tau, 1.5)
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = 10 * truth[i]
		if truth[i] == 4 {
			labels[i] = -1
		}
	}
	w := plainCosts(x, n+m, d, tau, 1.5)
	a := f.Assigner(labels)
	if a.Clusters() != 8 {
		t.Fatalf("%d clusters", a.Clusters())
	}
	alone := 0
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		got, gain, err := a.Assign(x[n*d:], m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			sums := map[int32]float64{}
			for j := range n {
				if labels[j] >= 0 {
					sums[labels[j]] += w[(n+i)*(n+m)+j]
				}
			}
			best, most := int32(-1), 0.0
			for l, v := range sums {
				if v > most {
					best, most = l, v
				}
			}
			if best == -1 {
				alone++
			}
			if got[i] != best || math.Abs(gain[i]-most) > 1e-4 {
				t.Fatalf("point %d goes to %d for %v, want %d for %v", i, got[i], gain[i], best, most)
			}
		}
	}
	if alone == 0 {
		t.Error("no point was left alone: the test shows less than it should")
	}
}

func TestAssignerEdgeCases(t *testing.T) {
	f := mustGraph(t, []float32{0, 0, 1, 10, 11, 11}, 6, 1, 3, 1)
	a := f.Assigner([]int32{5, 5, 5, 2, 2, 2})
	y := []float32{0, 10.5, 5.5, -3e38, 3e38, 5.4}
	labels, gain, err := a.Assign(y, 6)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(labels, []int32{5, 2, -1, -1, -1, -1}) {
		t.Errorf("labels %v, gains %v", labels, gain)
	}
	if math.Abs(gain[0]-26) > 1e-5 || gain[2] != 0 {
		t.Errorf("gains %v", gain)
	}
	if labels, _, err := a.Assign(nil, 0); err != nil || len(labels) != 0 {
		t.Errorf("no points: %v %v", labels, err)
	}
	// Equal gains: the cluster of the first node.
	tie := mustGraph(t, []float32{-1, 1}, 2, 1, 2, 1).Assigner([]int32{3, 1})
	if labels, _, _ := tie.Assign([]float32{0}, 1); labels[0] != 3 {
		t.Errorf("a tie goes to %d", labels[0])
	}
	none := f.Assigner([]int32{-1, -1, -1, -1, -1, -1})
	if labels, gain, err := none.Assign([]float32{1}, 1); err != nil || labels[0] != -1 || gain[0] != 0 {
		t.Errorf("without clusters: %v %v %v", labels, gain, err)
	}
	for _, bad := range [][]float32{{1, 2}, {float32(math.NaN())}, {float32(math.Inf(-1))}} {
		if _, _, err := a.Assign(bad, 1); !errors.Is(err, multicut.ErrInput) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
