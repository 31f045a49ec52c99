package measure

import (
	"context"
	"fmt"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// OnAverageOptions says what OnAverage replaces.
type OnAverageOptions struct {
	Source  Source
	Learner Learner
	Sizes   record.Sizes
	Repeats int
	Triples int // (i, j, k) in each repeat
	Seed    uint64
}

// OnAverage measures on-average stability: in each repeat it draws a sample, replaces two
// positives and a negative of it by fresh points, learns again, and compares the losses of
// the triplet that was taken away.
//
// Errors: those of the source and the learner; fewer than one repeat or triple.
func OnAverage(ctx context.Context, o OnAverageOptions) (*record.OnAverageResult, error) {
	if o.Triples < 1 {
		return nil, fmt.Errorf("%w: %d triples (i, j, k); one or more are needed", ErrInput, o.Triples)
	}
	values, moved := make([]float64, max(o.Repeats, 0)), make([]float64, max(o.Repeats, 0))
	err := repeated(ctx, o.Repeats, func(rep int) (err error) {
		values[rep], moved[rep], err = o.run(ctx, rep)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &record.OnAverageResult{Sizes: o.Sizes, Value: EstimateOf(values), Values: values, Moved: EstimateOf(moved)}, nil
}

func (o OnAverageOptions) run(ctx context.Context, rep int) (value, moved float64, err error) {
	r := rng.New(o.Seed, "measure/on-average", uint64(rep))
	s, h, err := o.Source.Draw(o.Sizes, record.Sizes{Pos: 2 * o.Triples, Neg: o.Triples}, r)
	if err != nil {
		return 0, 0, err
	}
	chance := r.Uint64()
	learned, err := o.Learner.Learn(ctx, s, chance, nil)
	if err != nil {
		return 0, 0, err
	}
	loss, d := o.Learner.Criterion(), s.D
	for n, t := range mahalanobis.DrawIndices(s.NPos(), s.NNeg(), o.Triples, o.Seed, fmt.Sprintf("measure/triples/%d", rep)) {
		other := replace(s, 0, int(t.I), h.Positive[2*n*d:(2*n+1)*d])
		other = replace(other, 0, int(t.J), h.Positive[(2*n+1)*d:(2*n+2)*d])
		other = replace(other, 1, int(t.K), h.Negative[n*d:(n+1)*d])
		l, err := o.Learner.Learn(ctx, other, chance, learned.Theta)
		if err != nil {
			return 0, 0, err
		}
		one := []mahalanobis.Index{t}
		value += mahalanobis.MeanLoss(s, loss, l.Theta, one) - mahalanobis.MeanLoss(s, loss, learned.Theta, one)
		far := distance(l.Theta, learned.Theta)
		moved += float64(far * far)
	}
	k := float64(o.Triples)
	return value / k, moved / k, nil
}
