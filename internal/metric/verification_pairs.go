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

// pairCounts counts the unordered pairs of rows of x, or those of a row of x and one of
// g, by distance, and those at or below a limit.
type pairCounts struct {
	x, g   []float32 // (n, d), (ng, d)
	n, ng  int
	d      int
	self   bool    // one set
	class  []int32 // of rows of x; -1 where g has none of it
	of     []int32 // of rows of g
	size   []int   // rows of g of each class
	except *exclusion
	limit  float64 // of squared distances

	accepted, wrong atomic.Int64
	curve           []rung

	// Of many pairs: rows centered and scaled, whose products give distances to
	// within err (norm + norm).
	sweep sweep
	norm  []float64 // of rows of x
	other []float64 // of rows of g
	scale float64   // of squared distances
	near  float64   // the limit, scaled
	err   float64
	bins  *distanceBins
}

func newPairCounts(x []float32, n, d int, labels []int32, o *VerificationOptions) (*pairCounts, error) {
	p := &pairCounts{x: x, g: x, n: n, ng: n, d: d, self: o.Gallery == nil && o.GalleryLabels == nil}
	galleryLabels := labels
	if !p.self {
		p.g, galleryLabels, p.ng = o.Gallery, o.GalleryLabels, len(o.GalleryLabels)
		if err := checkRows("gallery embeddings", p.g, p.ng, d, galleryLabels); err != nil {
			return nil, err
		}
	}
	c := classesOf(galleryLabels)
	p.of, p.size, p.class = c.of, c.size, c.of
	if !p.self {
		p.class = c.places(labels)
	}
	var err error
	p.except, err = o.Exclude.index(n, p.ng, p.self)
	return p, err
}

// totals counts the pairs of one class, and those of two.
func (p *pairCounts) totals() (same, different int64) {
	var all int64
	for q, k := range p.class {
		all += int64(p.ng - len(p.except.of(q)))
		if k >= 0 {
			same += int64(p.size[k] - p.except.relevant(q, p.of, k))
		}
	}
	if p.self { // each pair twice, and each row with itself
		all, same = (all-int64(p.n))/2, (same-int64(p.n))/2
	}
	return same, all - same
}

// first is the first column of a row's pairs, from lo on.
func (p *pairCounts) first(row, lo int) int {
	if p.self {
		return max(lo, row+1)
	}
	return lo
}

// sorted counts few pairs by sorting their distances.
func (p *pairCounts) sorted(ctx context.Context) error {
	var same, different []float64
	var accepted, wrong int64
	for i := range p.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := p.except.of(i)
		for j := p.first(i, 0); j < p.ng; j++ {
			if len(left) > 0 && int(left[0]) == j {
				left = left[1:]
				continue
			}
			s := p.square(i, j)
			if p.class[i] == p.of[j] {
				same = append(same, s)
			} else {
				different = append(different, s)
			}
			if s <= p.limit {
				accepted++
				if p.class[i] != p.of[j] {
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

// square returns the squared distance of row i of x and row j of g, in float64.
func (p *pairCounts) square(i, j int) float64 {
	return kernel.SquaredDistance(p.x[i*p.d:(i+1)*p.d], p.g[j*p.d:(j+1)*p.d])
}

// blurred is how many times the error of a product a squared distance must be for
// the product to do: otherwise it is taken from the differences.
const blurred = 64

// binned counts many pairs, in blocks of products, into bins of distances.
func (p *pairCounts) binned(ctx context.Context, told progress.Count) error {
	rows, cols := centered(p.x, p.g, p.d)
	scale := spaciousScale(max(kernel.MaxAbs(rows), kernel.MaxAbs(cols)), p.d)
	p.scale = float64(scale) * float64(scale)
	p.near = p.limit * p.scale
	p.err = 2 * float64(p.d+2) * 0x1p-24 // twice the bound of float32 products
	rows = scaled(rows, scale)
	p.norm = squares(rows, p.n, p.d)
	p.other = p.norm
	if p.self {
		cols = rows
	} else {
		cols = scaled(cols, scale)
		p.other = squares(cols, p.ng, p.d)
	}
	p.bins = p.sampledBins()
	p.sweep = sweep{d: p.d, rows: rows, cols: cols, self: p.self, user: p}
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
		left := p.except.of(row)
		for c := p.first(row, b.j) - b.j; c < b.n; c++ {
			for len(left) > 0 && int(left[0]) < b.j+c {
				left = left[1:]
			}
			if len(left) > 0 && int(left[0]) == b.j+c {
				continue
			}
			sum := norm + p.other[b.j+c]
			s, err := sum-2*float64(dots[c]), p.err*sum
			if s <= blurred*err || math.Abs(s-p.near) <= err {
				s = p.square(row, b.j+c) * p.scale
			}
			same := class == p.of[b.j+c]
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
