package data

import (
	"slices"
	"testing"
)

// numbered is a sampler whose batch s of epoch e is the item 100 e + s.
type numbered struct{ steps int }

func (n numbered) Steps() int     { return n.steps }
func (n numbered) BatchSize() int { return 1 }
func (n numbered) Layout() string { return LayoutGeneral }
func (n numbered) Plan(epoch int) (out [][]int32) {
	for s := range n.steps {
		out = append(out, []int32{int32(100*epoch + s)})
	}
	return out
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := Replay(numbered{5}, 3)
	var got []int32
	for epoch := range 4 {
		plan := s.Plan(epoch)
		if len(plan) != 5 {
			t.Fatalf("epoch %d has %d batches", epoch, len(plan))
		}
		for _, b := range plan {
			got = append(got, b...)
		}
	}
	if want := []int32{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 100, 100, 100, 101, 101}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s.Steps() != 5 || s.BatchSize() != 1 || s.Layout() != LayoutGeneral || Replay(numbered{5}, 1) != Sampler(numbered{5}) {
		t.Error("a replay changes more than the order")
	}
}
