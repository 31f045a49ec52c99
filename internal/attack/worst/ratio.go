package worst

import (
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
)

// ratioStarts is the number of random starts of the member apgd-r.
const ratioStarts = 5

// apgdRatio runs APGD on the ratio from random images; with fewer than three labels there is
// none, and on the margin.
func (r *runner) apgdRatio(b *batch) error {
	var l loss = ratioLoss{}
	if r.field.labels() < 3 {
		l = marginLoss{}
	}
	return r.repeat(b, l, ratioStarts)
}

// repeat runs APGD from so many random images.
func (r *runner) repeat(b *batch, l loss, starts int) error {
	for run := range starts {
		if err := r.apgd(b, l, adversary.FromRandom, run); err != nil {
			return err
		}
	}
	return nil
}

// ratioLoss is what the nearest wrong row (at depth k, the k-th nearest) is farther away than
// the nearest right one, as a part of what the third nearest label is farther away than the
// nearest: the difference-of-logits ratio of AutoAttack for retrieval. The distance of a label
// is that of its nearest row; labels are looked for among the softRows nearest wrong rows,
// and where these are of fewer labels, the last of them stands for the third.
type ratioLoss struct{}

func (ratioLoss) searched() int   { return softRows }
func (l ratioLoss) of([]int) loss { return l }
func (ratioLoss) retain([]int)    {}
func (ratioLoss) at(f field, i int, z, grad []float32) float64 {
	right, list := f.right(i)[0], f.wrong(i)
	wrong, first := list[f.depth()-1], []retrieval.Neighbor{right}
	var seen []int32
	for _, n := range list {
		if label := f.label(n.Row); !slices.Contains(seen, label) {
			seen, first = append(seen, label), append(first, n)
		}
		if len(first) == 3 {
			break
		}
	}
	if len(first) < 3 {
		first = append(first, list[len(list)-1])
	}
	slices.SortFunc(first, retrieval.Neighbor.Compare)
	near, third := first[0], first[len(first)-1]
	apart := root(wrong.Square) - root(right.Square)
	over := root(third.Square) - root(near.Square) + 1e-12
	if grad != nil {
		clear(grad)
		away(f, i, z, wrong, 1/over, grad)
		away(f, i, z, right, -1/over, grad)
		away(f, i, z, third, -apart/(over*over), grad)
		away(f, i, z, near, apart/(over*over), grad)
	}
	return apart / over
}

// away adds scale times the gradient of the distance of z from a row.
func away(f field, i int, z []float32, n retrieval.Neighbor, scale float64, grad []float32) {
	scale /= max(math.Sqrt(n.Square), 1e-12)
	for k, v := range f.vector(i, n.Row) {
		grad[k] += float32(scale * (float64(z[k]) - float64(v)))
	}
}
