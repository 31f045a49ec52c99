package optim

import (
	"cmp"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

func TestSpansCoverEachNumberOnceInTasksOfOneSize(t *testing.T) {
	var ps []*nn.Param
	for _, n := range []int{7, chunk, 0, 3*chunk + 5, 1, 1, 1, 2, chunk - 9, 64} {
		ps = append(ps, &nn.Param{Value: array.New(n), Grad: array.New(n)}, &nn.Param{Value: array.New(5)})
	}
	var s spans
	for range 2 { // the second time in the first one's storage
		s.cut(ps)
		if !slices.IsSortedFunc(s.tasks, func(a, b task) int { return cmp.Compare(a.place, b.place) }) {
			t.Fatalf("not in the order of places: %v", s.tasks)
		}
		slices.SortFunc(s.tasks, func(a, b task) int { return a.from - b.from })
		next, lo := 0, 0
		for k := range s.tasks {
			size := 0
			for _, piece := range s.task(k) {
				for piece.param > next && (ps[next].Grad == nil || lo == len(ps[next].Grad.Data)) {
					next, lo = next+1, 0
				}
				if piece.param != next || piece.lo != lo || piece.hi <= lo {
					t.Fatalf("task %d: piece %v, want parameter %d from %d", k, piece, next, lo)
				}
				size += piece.hi - lo
				lo = piece.hi
			}
			if last := k == len(s.tasks)-1; size > chunk || size < chunk && !last {
				t.Fatalf("task %d holds %d numbers", k, size)
			}
		}
		if next != len(ps)-2 || lo != 64 {
			t.Fatalf("ended in parameter %d at %d", next, lo)
		}
	}
	s.cut(nil)
	s.each(nil) // no task: nothing runs
}

func TestManySmallParametersAreOneTask(t *testing.T) {
	var ps []*nn.Param
	for range 60 {
		ps = append(ps, &nn.Param{Value: array.New(64), Grad: array.New(64)})
	}
	var s spans
	s.cut(ps)
	if len(s.tasks) != 1 || len(s.pieces) != 60 {
		t.Fatalf("%d tasks of %d pieces", len(s.tasks), len(s.pieces))
	}
}
