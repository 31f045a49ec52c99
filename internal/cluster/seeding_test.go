package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// The greedy step against plain loops: potentials of the candidates, the choice
// of the least, and draws in proportion to the squared distances.
func TestSeedingAgainstLoops(t *testing.T) {
	const n, d = 2500, 6 // three chunks
	x, _ := clustertest.Blobs(21, n, d, 5, 3)
	l := newLloyd(center(x, n, d), 40)
	s := newSeeding(l)
	if len(s.rows) != 5 { // 2 + floor(ln 40)
		t.Fatalf("%d candidates", len(s.rows))
	}
	square := func(i, j int) float64 {
		var v float64
		for c := range d {
			e := float64(l.data.x[i*d+c]) - float64(l.data.x[j*d+c])
			v += e * e
		}
		return v
	}
	nearest := make([]float64, n)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	r := rng.New(3, "test")
	for round, rows := range [][]int{{17}, {3, 999, 2400, 17, 1500}, {8, 1024, 5, 2499, 77}} {
		best, least := 0, math.Inf(1)
		for c, row := range rows {
			var potential float64
			for i := range n {
				potential += min(nearest[i], square(i, row))
			}
			if potential < least {
				best, least = c, potential
			}
		}
		got := s.try(rows)
		s.take(got)
		if total := s.chunk[len(s.chunk)-1]; got != best || !testutil.WithinRelative(total, least, 1e-5) {
			t.Fatalf("round %d: candidate %d with potential %v, want %d with %v", round, got, total, best, least)
		}
		for i := range n {
			nearest[i] = min(nearest[i], square(i, rows[best]))
		}
		if s.nearest[rows[best]] != 0 {
			t.Errorf("round %d: the chosen row is at %v from itself", round, s.nearest[rows[best]])
		}
	}
	const draws, parts = 40000, 10
	var want, count [parts]float64
	var total float64
	for i, v := range nearest {
		want[i*parts/n] += v
		total += v
	}
	for range draws {
		i := s.draw(r)
		if s.nearest[i] == 0 {
			t.Fatalf("row %d is a center already", i)
		}
		count[i*parts/n]++
	}
	for p := range parts {
		e := draws * want[p] / total
		if math.Abs(count[p]-e) > 4.5*math.Sqrt(e) {
			t.Errorf("part %d: %v draws, expected %v", p, count[p], e)
		}
	}
}

// Two centers that float32 cannot tell apart: labels are those of float64.
func TestAssignNearTies(t *testing.T) {
	const n, d, k = 400, 60, 6
	r := rand.New(rand.NewPCG(31, 1))
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	l := newLloyd(center(x, n, d), k)
	for j := range d {
		v := .01 * r.NormFloat64()
		for c := range k {
			l.center[c*d+j] = v + 1e-9*r.NormFloat64()
		}
	}
	copy(l.center[(k-1)*d:], l.center[:d]) // and a true tie: the lower number wins
	if err := l.assign(context.Background()); err != nil {
		t.Fatal(err)
	}
	used := map[int32]int{}
	for i := range n {
		best, at := math.Inf(1), 0
		for c := range k {
			var s float64
			for j := range d {
				e := float64(l.data.x[i*d+j]) - l.center[c*d+j]
				s += e * e
			}
			if s < best {
				best, at = s, c
			}
		}
		if l.labels[i] != int32(at) {
			t.Fatalf("row %d: center %d, want %d", i, l.labels[i], at)
		}
		used[l.labels[i]]++
	}
	if len(used) != k-1 {
		t.Errorf("centers used: %v", used)
	}
}
