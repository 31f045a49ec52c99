package metric

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"tercet/internal/engine/kernel"
	"tercet/internal/progress"
)

// pairCounts counts the unordered pairs of rows of x by distance, and those at or
// below a limit.
type pairCounts struct {
	x     []float32 // (n, d)
	n, d  int
	class []int32
	limit float64 // of squared distances

	accepted, wrong atomic.Int64
	curve           []rung

	// Of many pairs: rows centered and scaled, whose products give distances to
	// within err (norm + norm).
	sweep sweep
	norm  []float64
	scale float64 // of squared distances
	near  float64 // the limit, scaled
	err   float64
	bins  *distanceBins
}

// sorted counts few pairs by sorting their distances.
func (p *pairCounts) sorted(ctx context.Context) error {
	var same, different []float64
	var accepted, wrong int64
	for i := range p.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := range i {
			s := p.square(i, j)
			if p.class[i] == p.class[j] {
				same = append(same, s)
			} else {
				different = append(different, s)
			}
			if s <= p.limit {
				accepted++
				if p.class[i] != p.class[j] {
					wrong++
				}
			}
		}
	}
	p.accepted.Store(accepted)
	p.wrong.Store(wrong)
	slices.Sort(same)
	slices.Sort(different)
	for len(same)+len(different) > 0 {
		at := math.Inf(1)
		if len(same) > 0 {
			at = same[0]
		}
		if len(different) > 0 {
			at = min(at, different[0])
		}
		r := rung{distance: math.Sqrt(at)}
		for ; len(same) > 0 && same[0] == at; same = same[1:] {
			r.same++
		}
		for ; len(different) > 0 && different[0] == at; different = different[1:] {
			r.different++
		}
		p.curve = append(p.curve, r)
	}
	return nil
}

// square returns the squared distance of two rows, in float64.
func (p *pairCounts) square(i, j int) float64 {
	return kernel.SquaredDistance(p.x[i*p.d:(i+1)*p.d], p.x[j*p.d:(j+1)*p.d])
}

// blurred is how many times the error of a product a squared distance must be for
// the product to do: otherwise it is taken from the differences.
const blurred = 64

// binned counts many pairs, in blocks of products, into bins of distances.
func (p *pairCounts) binned(ctx context.Context, told progress.Count) error {
	rows, _ := centered(p.x, p.x, p.d)
	scale := spaciousScale(kernel.MaxAbs(rows), p.d)
	p.scale = float64(scale) * float64(scale)
	p.near = p.limit * p.scale
	p.err = 2 * float64(p.d+2) * 0x1p-24 // twice the bound of float32 products
	rows = scaled(rows, scale)
	p.norm = squares(rows, p.n, p.d)
	p.bins = p.sampledBins()
	p.sweep = sweep{d: p.d, rows: rows, cols: rows, self: true, user: p}
	if err := p.sweep.run(ctx, told); err != nil {
		return err
	}
	p.curve = p.bins.rungs(p.scale)
	return nil
}

// use counts the block's pairs; on the diagonal, those above it.
func (p *pairCounts) use(b *block, _ *sync.Mutex) {
	var accepted, wrong int64
	for i := range b.m {
		row := b.i + i
		norm, class := p.norm[row], p.class[row]
		dots := b.dots[i*blockCols:][:b.n]
		for c := max(0, row+1-b.j); c < b.n; c++ {
			sum := norm + p.norm[b.j+c]
			s, err := sum-2*float64(dots[c]), p.err*sum
			if s <= blurred*err || math.Abs(s-p.near) <= err {
				s = p.square(row, b.j+c) * p.scale
			}
			same := class == p.class[b.j+c]
			if s <= p.near {
				accepted++
				if !same {
					wrong++
				}
			}
			p.bins.add(s, same)
		}
	}
	p.accepted.Add(accepted)
	p.wrong.Add(wrong)
}
