package evaluate

import (
	"context"
	"math"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/progress"
	"tercet/internal/wire"
)

// pairLosses returns the loss of each pair of epoch 0 by itself.
func pairLosses(ctx context.Context, t *wire.Assembled, batch int, say progress.Count) ([]float64, error) {
	s, err := wire.NewPairSet(t.Sets.Seen(), t.Tuples.Pairs(0))
	if err != nil {
		return nil, err
	}
	z, err := embed.Batches(ctx, t.Model, s.Ds, batch, say)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(s.Pairs))
	two := array.New(2, z.Cols())
	one := &loss.Tuples{Pairs: make([]loss.Pair, 1)}
	for k, p := range s.Pairs {
		copy(two.Row(0), z.Row(int(p.I)))
		copy(two.Row(1), z.Row(int(p.J)))
		one.Pairs[0] = loss.Pair{I: 0, J: 1, Similar: p.Similar}
		r, err := t.Objective.Eval(two, one, nil)
		if err != nil {
			return nil, err
		}
		out[k] = r.Loss
	}
	return out, nil
}

// tripletLosses returns log(1 + exp(D/s)) of each triplet of epoch 0, D the gap
// d_ap - d_an of its squared distances and s the mean of |D|: a loss of one slope for
// right and wrong triplets, whatever the run's.
func tripletLosses(ctx context.Context, t *wire.Assembled, cfg *config.Config, say progress.Count) ([]float64, error) {
	z, err := embed.Batches(ctx, t.Model, t.Sets.Seen(), cfg.Eval.Batch, say)
	if err != nil {
		return nil, err
	}
	plan := t.Sampler.Plan(0)
	var gaps []float64
	scale := 0.0
	for _, ids := range plan {
		for r := 0; r+2 < len(ids); r += 3 {
			a := z.Row(int(ids[r]))
			g := kernel.SquaredDistance(a, z.Row(int(ids[r+1]))) - kernel.SquaredDistance(a, z.Row(int(ids[r+2])))
			gaps = append(gaps, g)
			scale += math.Abs(g)
		}
	}
	scale /= float64(max(len(gaps), 1))
	for k, g := range gaps {
		gaps[k] = loss.Softplus(g / max(scale, math.SmallestNonzeroFloat64))
	}
	return gaps, nil
}

// labelLosses returns for each image the cross entropy of its label, when classes are
// told by the squared distance to the mean embedding of those that carry a label, in
// units of the mean distance to the own one. Images that look like another class than
// theirs have a large one.
func labelLosses(ctx context.Context, t *wire.Assembled, cfg *config.Config, limit int, say progress.Count) ([]float64, error) {
	ds, err := embed.Sample(data.Compact(t.Sets.Seen()), limit)
	if err != nil {
		return nil, err
	}
	z, err := embed.Batches(ctx, t.Model, ds, cfg.Eval.Batch, say)
	if err != nil {
		return nil, err
	}
	return centerLosses(z, ds.Labels(), len(ds.Classes())), nil
}

// centerLosses does the arithmetic of labelLosses for embeddings z (N, D).
func centerLosses(z *array.Array, labels []int32, classes int) []float64 {
	n, d := z.Rows(), z.Cols()
	center, count := make([]float64, classes*d), make([]float64, classes)
	for i, y := range labels {
		count[y]++
		for k, v := range z.Row(i) {
			center[int(y)*d+k] += float64(v)
		}
	}
	for c := range count {
		for k := range d {
			center[c*d+k] /= max(count[c], 1)
		}
	}
	far := make([]float64, n*classes)
	unit := 0.0
	for i, y := range labels {
		for c := range classes {
			sum := 0.0
			for k, v := range z.Row(i) {
				x := float64(v) - center[c*d+k]
				sum += float64(x * x)
			}
			far[i*classes+c] = sum
		}
		unit += far[i*classes+int(y)] / float64(n)
	}
	unit = max(unit, math.SmallestNonzeroFloat64)
	out := make([]float64, n)
	for i, y := range labels {
		own, sum := far[i*classes+int(y)], 0.0
		for c := range classes {
			if c != int(y) && count[c] > 0 {
				sum += math.Exp(min((own-far[i*classes+c])/unit, 700))
			}
		}
		out[i] = math.Log1p(sum)
	}
	return out
}
