package worst

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

// decomposedRuns is the number of runs of the member md.
const decomposedRuns = 5

// decomposed runs half of the steps on one part of the margin from a random image, and half
// on the margin from the best image of these: where the gradient of one part outweighs that
// of the other, the margin alone hides it (margin decomposition, Jiang et al., arXiv
// 2006.13726; the schedule is ours). In turn the part is the nearest wrong row and the
// nearest right one.
func (r *runner) decomposed(b *batch) error {
	images := array.New(b.x.Shape...)
	p := r.pgd
	p.Start = adversary.FromRandom
	first := max(p.Iterations/2, 1)
	for run := range decomposedRuns {
		p.FromOut, p.Iterations = false, first
		if err := r.craft(b, partLoss{push: run%2 == 1}, p, run, images); err != nil {
			return err
		}
		p.FromOut, p.Iterations = true, max(r.pgd.Iterations-first, 1)
		if err := r.craft(b, marginLoss{}, p, run, images); err != nil {
			return err
		}
	}
	return nil
}

// partLoss is half the squared distance of the nearest wrong row (at depth k, the k-th
// nearest), or, to push, of the nearest right one, negative.
type partLoss struct{ push bool }

func (partLoss) searched() int   { return searchedRows }
func (l partLoss) of([]int) loss { return l }
func (partLoss) retain([]int)    {}
func (l partLoss) at(f field, i int, z, grad []float32) float64 {
	n, sign := f.wrong(i)[f.depth()-1], 1.0
	if l.push {
		n, sign = f.right(i)[0], -1
	}
	if grad != nil {
		for k, v := range f.vector(i, n.Row) {
			grad[k] = float32(sign * (float64(z[k]) - float64(v)))
		}
	}
	return sign * n.Square / 2
}
