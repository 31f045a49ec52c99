package worst

import (
	"math"

	"tercet/internal/engine/array"
)

// RayS (Chen & Gu, KDD 2020, arXiv 2006.12792) needs decisions alone: whether an image is
// broken, no score. It looks for the direction, all pixels up or down by the same amount, in
// which the nearest broken image is, flips blocks of pixels, halves, quarters and so on, and
// keeps a flip if the image at the present distance stays broken. It is for the maximum norm.
const (
	rayTolerance = 1e-3 // of a distance, in the Euclidean norm of all pixels
	rayTries     = 2    // decisions for each image of Square
)

// rays is one run on some queries.
type rays struct {
	r    *runner
	w    *batch
	each []ray
}

// ray is the search of a query.
type ray struct {
	down      []bool  // direction of each pixel
	far       float64 // distance of the nearest broken image, at most 1; infinite: none is known
	low, high float64 // where its end lies; high 0: a flip is to be tried
	from, to  int     // the block that is flipped; an empty one: none
	size      int     // of blocks
}

func (r *runner) rays(b *batch) error {
	rows := b.open()
	if len(rows) == 0 {
		return nil
	}
	w := r.sub.take(b, rows)
	copy(w.adv.Data, w.x.Data)
	s := &rays{r: r, w: w}
	for range rows {
		s.each = append(s.each, ray{down: make([]bool, w.x.Cols()), far: math.Inf(1), size: w.x.Cols()})
	}
	return r.tryBlind(b, rows, w, rayTries*r.o.Squares, s)
}

// at is the distance that is tried next.
func (y *ray) at() float64 {
	if y.high > 0 {
		return (y.low + y.high) / 2
	}
	return min(y.far, 1)
}

// flip turns the pixels of the block.
func (y *ray) flip() {
	for k := y.from; k < y.to; k++ {
		y.down[k] = !y.down[k]
	}
}

// next flips the next block; after single pixels it begins again with all.
func (y *ray) next() {
	y.high = 0
	if y.from = y.to; y.from >= len(y.down) {
		y.from = 0
		if y.size == 1 {
			y.size = 2 * len(y.down)
		}
		y.size = (y.size + 1) / 2
	}
	y.to = min(y.from+y.size, len(y.down))
	y.flip()
}

// learn takes the decision on the image that was tried.
func (y *ray) learn(broken bool, tolerance float64) {
	at := y.at()
	switch {
	case y.high > 0 && broken:
		y.high = at
	case y.high > 0:
		y.low = at
	case broken:
		y.low, y.high = 0, at
	default:
		y.flip()
		y.next()
		return
	}
	if y.high-y.low <= tolerance {
		y.far = y.high
		y.next()
	}
}

// propose implements blind.
func (s *rays) propose(_, i int, out []float32) {
	y, at := &s.each[i], s.each[i].at()
	for k, c := range s.w.x.Row(i) {
		d := at
		if y.down[k] {
			d = -at
		}
		out[k] = float32(min(max(float64(c)+d, 0), 1))
	}
}

// look implements blind.
func (s *rays) look(z *array.Array) { s.r.field.find(z, s.r.field.depth()) }

// seen implements blind: a broken image of the ball is a success.
func (s *rays) seen(i, k int, x []float32) bool {
	y, broken := &s.each[i], beaten(s.r.field, k)
	if broken && y.at() <= s.r.o.Eps {
		copy(s.w.adv.Row(i), x)
		return true
	}
	y.learn(broken, rayTolerance/math.Sqrt(float64(len(x))))
	return false
}
