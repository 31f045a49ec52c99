package factored

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/rng"
)

// moved returns the state of a mover that has moved what it can from labels,
// and checks that no move of one node gains then.
func moved(t *testing.T, f *Graph, labels []int32) *state {
	t.Helper()
	s := newState(f)
	m := newMover(s)
	s.set(labels)
	m.forget()
	if _, err := m.rounds(context.Background(), 1000); err != nil {
		t.Fatal(err)
	}
	for v := range int32(f.n) {
		own := s.labels[v]
		stay := s.own(v)
		if gain := -stay; s.size[own] > 1 && gain > s.least(own) {
			t.Errorf("node %d gains %v alone", v, gain)
		}
		for c := range int32(len(s.size)) {
			if gain := s.score(v, c) - stay; c != own && s.size[c] > 0 && gain > s.least(own) {
				t.Errorf("node %d gains %v in cluster %d", v, gain, c)
			}
		}
	}
	return s
}

// A node that was alone is joined by others, which it had better not be with: all
// clusters but its own are as far as ever.
func TestMoverSeesANodeThatWasAlone(t *testing.T) {
	x, labels := []float32{0, 0.45}, []int32{0, 1}
	for range 5 {
		x, labels = append(x, 1.1), append(labels, 1)
	}
	for range 100 {
		x, labels = append(x, float32(1.1+math.Sqrt(1+3.8/100))), append(labels, 1)
	}
	moved(t, mustGraph(t, x, len(x), 1, 1, 1), labels)
}

// A cluster's size counts for what float32 may get wrong of a node's score with it.
func TestMoverChecksSmallGainsInLargeClusters(t *testing.T) {
	const n, d = 801, 512
	joined := 0
	for seed := range uint64(30) {
		r := rng.New(seed, "test/small-gains")
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		for j := range d {
			x[j] *= 1.2
		}
		sum := 0.0
		for i := 1; i < n; i++ {
			sum += kernel.SquaredDistance(x[:d], x[i*d:(i+1)*d])
		}
		f := mustGraph(t, x, n, d, math.Sqrt(sum/(n-1)*(1+2e-8)), 1)
		s := newState(f)
		labels := make([]int32, n)
		labels[0] = 1
		s.set(labels)
		if s.score(0, s.labels[1]) <= s.least(s.labels[0]) {
			continue
		}
		joined++
		if s := moved(t, f, labels); s.size[s.labels[0]] == 1 {
			t.Errorf("seed %d: node 0 stays alone", seed)
		}
	}
	if joined < 10 {
		t.Errorf("%d of 30 gain by joining", joined)
	}
}

// Series of moves may empty a cluster and come back to it: it is in use then.
func TestAddsNoClusterThatIsInUse(t *testing.T) {
	s := newState(mustGraph(t, []float32{0, 1, 2, 3}, 4, 1, 1, 1))
	s.set([]int32{0, 1, 1, 1})
	s.move(0, 1)
	s.move(2, 0)
	c := s.add()
	if s.size[c] != 0 {
		t.Fatalf("cluster %d of %d nodes is added as a new one", c, s.size[c])
	}
	s.move(3, c)
	if k := s.pack(); k != 3 || s.labels[2] == s.labels[3] || s.labels[0] != s.labels[1] {
		t.Errorf("%d clusters, labels %v", k, s.labels)
	}
}
