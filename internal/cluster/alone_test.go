package cluster

import (
	"context"

	"tercet/internal/rng"
)

// One start alone, through the code that runs several in step.

// lone is the list of one start; the tests count allocations.
var lone [1]*lloyd

func only(l *lloyd) []*lloyd {
	lone[0] = l
	return lone[:]
}

func newLloyd(data *centered, k int) *lloyd { return newStart(newPoints(data), k) }

func (l *lloyd) seed(ctx context.Context, r *rng.Stream) error {
	return seed(ctx, []*lloyd{l}, []*rng.Stream{r})
}

func (l *lloyd) iterate(ctx context.Context, most int, tolerance float64, progress func(int)) (iterations int, converged bool, err error) {
	err = iterate(ctx, []*lloyd{l}, most, tolerance, func(_, i int) { progress(i) })
	return l.iterations, l.converged, err
}

func (l *lloyd) assign(ctx context.Context) error { return l.data.assigning.run(ctx, only(l)) }

func (l *lloyd) move() float64 {
	l.data.moving.run(only(l))
	return l.shift
}

// try measures all rows against the candidate rows and returns the best.
func (s *seeding) try(rows []int) int {
	s.trying = append(s.trying[:0], rows...)
	s.l.data.trying.run([]*seeding{s})
	return s.least()
}
