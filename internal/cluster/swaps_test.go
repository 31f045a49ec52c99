package cluster

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/testutil"
)

// plainPotential is the sum of squared distances of rows to their mean, or to its
// direction.
func plainPotential(data *centered, rows []int) (s float64) {
	mean := make([]float64, data.d)
	for _, i := range rows {
		for j, v := range data.row(i) {
			mean[j] += float64(v)
		}
	}
	size := float64(len(rows))
	if data.unit {
		size = math.Sqrt(squareOf(mean))
	}
	for _, i := range rows {
		for j, v := range data.row(i) {
			e := float64(v) - mean[j]/size
			s += e * e
		}
	}
	return s
}

// What taking a center away costs and splitting a cluster gains, against sums of
// squares.
func TestSwapsAgainstLoops(t *testing.T) {
	const n, d, k = 700, 6, 9
	x, _ := clustertest.Blobs(17, n, d, 12, 2)
	for _, unit := range []bool{false, true} {
		f := frameOf(x, n, d)
		if unit {
			f, _ = unitFrame(x, n, d)
		}
		data := f.all(x, n)
		l := newLloyd(data, k)
		for c := range k {
			l.setCenter(c, c*71)
		}
		if _, _, err := l.iterate(context.Background(), 300, -1, func(int) {}); err != nil {
			t.Fatal(err)
		}
		members := make([][]int, k)
		for i, c := range l.labels {
			members[c] = append(members[c], i)
		}
		s := newSwaps(l)
		s.measure()
		for c := range k {
			joined := slices.Clone(members)
			joined[c] = nil
			for _, i := range members[c] {
				best, at := math.Inf(1), 0
				for o := range k {
					if v := l.exact(i, o); o != c && v < best {
						best, at = v, o
					}
				}
				joined[at] = append(slices.Clip(joined[at]), i)
			}
			var cost float64
			for o := range k {
				cost -= plainPotential(data, members[o])
				if len(joined[o]) > 0 {
					cost += plainPotential(data, joined[o])
				}
			}
			if !testutil.WithinRelative(s.cost[c], cost, 1e-6) {
				t.Errorf("unit %v: taking center %d away costs %v, want %v", unit, c, s.cost[c], cost)
			}
			// The halves are those of the two centers.
			var halves [2][]int
			for _, i := range members[c] {
				var v [2]float64
				for j, a := range data.row(i) {
					for side := range 2 {
						e := float64(a) - s.halves[c][side*d+j]
						v[side] += e * e
					}
				}
				if v[1] < v[0] {
					halves[1] = append(halves[1], i)
				} else {
					halves[0] = append(halves[0], i)
				}
			}
			gain := plainPotential(data, members[c]) - plainPotential(data, halves[0]) - plainPotential(data, halves[1])
			if s.gain[c] <= 0 || s.gain[c] > gain*(1+1e-9) || s.gain[c] < .98*gain {
				t.Errorf("unit %v: splitting cluster %d gains %v, want %v", unit, c, s.gain[c], gain)
			}
		}
	}
}

// From centers that Lloyd's algorithm cannot move to where they are missing, swaps find
// the blobs.
func TestSwapsFindBlobs(t *testing.T) {
	const n, d, k = 2000, 5, 12
	x, truth := clustertest.Blobs(19, n, d, k, 20)
	data := center(x, n, d)
	l := newLloyd(data, k)
	c := 0
	for i, b := range truth { // four centers in each of three blobs
		if b < 3 && c < k && int(b) == c/4 {
			l.setCenter(c, i)
			c++
		}
	}
	_, converged, err := l.iterate(context.Background(), 300, 1e-4*data.variance, func(int) {})
	if err != nil || !converged {
		t.Fatal(converged, err)
	}
	bad := l.inertia()
	good, err := l.improve(context.Background(), bad, 300, 1e-4*data.variance, new(budget))
	if err != nil {
		t.Fatal(err)
	}
	clustertest.SamePartition(t, l.labels, truth)
	if want, _ := plainInertia(data.x, n, d, k, truth); bad < 10*good || !testutil.WithinRelative(good, want, 1e-6) {
		t.Errorf("inertia %v before, %v after, want %v", bad, good, want)
	}
}
