package generalize

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/metric"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/stat"
)

// mostMoved is the number of images in Movement.Most.
const mostMoved = 8

// probe is the images and triplets that networks are compared on.
type probe struct {
	ds       data.Dataset
	print    string // the fingerprint of ds
	items    []int  // of the whole set
	triplets []loss.Triplet
	loss     *tripletLoss
	batch    int
}

// standing is what a network makes of the probe.
type standing struct {
	model   *nn.Model
	z       *array.Array
	values  tripletValues
	nearest []int32
	recall  float64
}

// stand applies a network to the probe.
func (j *probe) stand(ctx context.Context, m *nn.Model, say progress.Count) (*standing, error) {
	s := &standing{model: m}
	var err error
	if s.z, err = embed.Batches(ctx, m, j.ds, j.batch, say); err != nil {
		return nil, err
	}
	if err := finiteRows(s.z, "held-out"); err != nil {
		return nil, err
	}
	if s.values, err = j.loss.eval(s.z, j.triplets); err != nil {
		return nil, err
	}
	near, err := metric.Neighbors(ctx, s.z.Data, s.z.Rows(), s.z.Cols(), metric.NeighborOptions{K: 1})
	if err != nil {
		return nil, err
	}
	s.nearest = near.Index
	labels := j.ds.Labels()
	count := map[int32]int{}
	for _, y := range labels {
		count[y]++
	}
	hits, queries := 0, 0
	for i, y := range labels {
		if count[y] < 2 {
			continue
		}
		queries++
		if labels[s.nearest[i]] == y {
			hits++
		}
	}
	s.recall = float64(hits) / float64(max(queries, 1))
	return s, nil
}

// compare tells how far now is from base. Networks of the same bits are 0 apart in
// everything.
func (j *probe) compare(base, now *standing) record.Movement {
	var m record.Movement
	n := float64(len(j.triplets))
	change := make([]float64, len(j.triplets))
	for k, l := range base.values.loss {
		d := math.Abs(now.values.loss[k] - l)
		change[k] = d
		m.LossMax = max(m.LossMax, d)
		m.LossMean += d / n
		m.LossShift += (now.values.loss[k] - l) / n
		if base.values.wrong[k] != now.values.wrong[k] {
			m.Turned += 1 / n
		}
	}
	slices.Sort(change)
	m.LossP50, m.LossP90, m.LossP99 = stat.NearestRank(change, 50), stat.NearestRank(change, 90), stat.NearestRank(change, 99)
	rows := base.z.Rows()
	apart, far := make([]float64, rows), make([]float64, rows)
	par.Each(rows, 64, func(i int) {
		apart[i] = cosineApart(base.z.Row(i), now.z.Row(i))
		far[i] = math.Sqrt(kernel.SquaredDistance(base.z.Row(i), now.z.Row(i)))
	})
	all := make([]record.Moved, rows)
	for i, d := range apart {
		m.CosineMean += d / float64(rows)
		m.CosineMax = max(m.CosineMax, d)
		m.DistanceMean += far[i] / float64(rows)
		if base.nearest[i] != now.nearest[i] {
			m.Neighbors += 1 / float64(rows)
		}
		all[i] = record.Moved{Item: j.items[i], Cosine: d}
	}
	slices.SortFunc(all, func(a, b record.Moved) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Item, b.Item))
	})
	for _, v := range all[:min(mostMoved, rows)] {
		if v.Cosine > 0 {
			m.Most = append(m.Most, v)
		}
	}
	m.Recall = now.recall - base.recall
	m.Weights, m.WeightsShare = weightsApart(base.model, now.model)
	return m
}

// cosineApart is 1 - cos(x, y) as half the squared distance of the directions: exact for
// directions that are next to one another, 0 for equal ones. What has no direction is 1
// from all that is not equal to it.
func cosineApart(x, y []float32) float64 {
	same := true
	xx, yy := 0.0, 0.0
	for k, v := range x {
		same = same && v == y[k]
		xx, yy = xx+float64(float64(v)*float64(v)), yy+float64(float64(y[k])*float64(y[k]))
	}
	switch {
	case same:
		return 0
	case xx == 0 || yy == 0:
		return 1
	}
	xx, yy = 1/math.Sqrt(xx), 1/math.Sqrt(yy)
	sum := 0.0
	for k, v := range x {
		d := float64(float64(v)*xx) - float64(float64(y[k])*yy)
		sum += float64(d * d)
	}
	return sum / 2
}

// weightsApart is |w' - w| over all trained weights, and that over |w|.
func weightsApart(a, b *nn.Model) (apart, share float64) {
	diff, size := 0.0, 0.0
	other := b.Params()
	for i, p := range a.Params() {
		if !p.Trained() {
			continue
		}
		diff += kernel.SquaredDistance(p.Value.Data, other[i].Value.Data)
		size += kernel.SumSquares(p.Value.Data)
	}
	apart = math.Sqrt(diff)
	if size > 0 {
		share = apart / math.Sqrt(size)
	}
	return apart, share
}
