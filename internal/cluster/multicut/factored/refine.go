package factored

import "context"

// refiner brings a clustering to a local optimum: no single move, no join of
// two clusters, no division that its searches find and no series of moves between
// two clusters gains.
type refiner struct {
	s        *state
	mover    *mover
	joiner   joiner
	split    splitter
	exchange exchanger
}

func newRefiner(f *Graph) *refiner {
	s := newState(f)
	r := &refiner{s: s, mover: newMover(s)}
	r.joiner.s, r.split.s, r.exchange.s = s, s, s
	return r
}

// set begins with labels. Clusters that they share with settled, where that is not
// nil, are local optima by themselves.
func (r *refiner) set(labels, settled []int32) {
	r.s.set(labels)
	if settled != nil {
		r.s.settle(settled)
	}
	r.mover.forget()
}

// refine runs until nothing gains or most rounds are over, and returns their number.
func (r *refiner) refine(ctx context.Context, most int, progress func(round int)) (rounds int, err error) {
	for rounds < most {
		rounds++
		if progress != nil {
			progress(rounds)
		}
		splits, err := r.split.run(ctx)
		if err != nil {
			return rounds, err
		}
		joins, err := r.joiner.run(ctx)
		if err != nil {
			return rounds, err
		}
		moves, err := r.mover.rounds(ctx, maxMoves)
		if err != nil {
			return rounds, err
		}
		if splits+moves+joins > 0 && rounds < most {
			continue
		}
		exchanges, err := r.exchange.run(ctx, r.mover, maxMoves)
		if err != nil || exchanges == 0 {
			return rounds, err
		}
	}
	return rounds, nil
}

// maxMoves is the most rounds of moves between joins and splits.
const maxMoves = 100
