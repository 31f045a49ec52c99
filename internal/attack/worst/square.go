package worst

import (
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// Square (Andriushchenko et al., ECCV 2020) needs scores alone, here the margin: it sets
// random squares of pixels to the edge of the ball and keeps what lowers the margin. The
// schedule is AutoAttack's. Unlike there, each query has windows of its own, windows reach
// the last row and column, and a proposal that changes nothing is drawn again.
const (
	squareShare   = 0.8 // of the pixels in the first windows
	squareRedraws = 100
)

// squareHalves are the iterations after which the share is halved.
var squareHalves = []int{10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000}

// squareSide is the side of the windows of iteration i on images of h x w.
func squareSide(i, h, w int) int {
	share := squareShare
	for _, after := range squareHalves {
		if i > after {
			share /= 2
		}
	}
	return min(h, w, max(1, int(math.Round(math.Sqrt(share*float64(h*w))))))
}

// squares is one run on the queries of a batch that are not broken; those that are leave.
type squares struct {
	r       *runner
	w       *batch
	h, wide int
	c       int
	lowest  []float64 // score of the best image of each query, in w.adv
	streams []rng.Stream
	ranks   bool // whether the score is of ranks alone
	score   []float64
}

func (r *runner) square(b *batch) error { return r.squares(b, false) }

// squares runs Square on the margin, or on ranks.
func (r *runner) squares(b *batch, ranks bool) error {
	rows := b.open()
	if len(rows) == 0 {
		return nil
	}
	w := r.sub.take(b, rows)
	copy(w.adv.Data, w.x.Data)
	s := &squares{r: r, w: w, lowest: make([]float64, len(rows)), streams: make([]rng.Stream, len(rows)), ranks: ranks}
	s.h, s.wide, s.c = w.x.Shape[1], w.x.Shape[2], w.x.Shape[3]
	for i, item := range w.items {
		s.streams[i].Reset(r.o.Seed, "worst."+r.member.name, uint64(item))
		s.lowest[i] = math.Inf(1)
	}
	return r.tryBlind(b, rows, w, r.o.Squares, s)
}

// look implements blind.
func (s *squares) look(z *array.Array) {
	f := s.r.field
	if s.ranks {
		s.score = rankScores(f, z, s.score)
		return
	}
	f.find(z, f.depth())
	s.score = s.score[:0]
	for k := range z.Rows() {
		s.score = append(s.score, margin(f, k))
	}
}

// seen implements blind: an image that lowers the score is kept.
func (s *squares) seen(i, k int, x []float32) bool {
	broken := beaten(s.r.field, k)
	if broken || s.score[k] < s.lowest[i] {
		s.lowest[i] = s.score[k]
		copy(s.w.adv.Row(i), x)
	}
	return broken
}

// propose implements blind.
func (s *squares) propose(t, i int, out []float32) {
	switch {
	case s.r.o.Norm == adversary.Linf:
		s.proposeLinf(t, i, out)
	case t == 0:
		s.bumps(i, out)
	default:
		s.moveEnergy(t, i, out)
	}
}

// proposeLinf is first vertical stripes, then the best image so far with a window of random
// signs, one for each channel.
func (s *squares) proposeLinf(t, i int, out []float32) {
	x0, best, eps, r := s.w.x.Row(i), s.w.adv.Row(i), s.r.o.Eps, &s.streams[i]
	edge := func(k int, up bool) float32 {
		if up {
			return float32(min(1, float64(x0[k])+eps))
		}
		return float32(max(0, float64(x0[k])-eps))
	}
	if t == 0 {
		for col := range s.wide {
			for ch := range s.c {
				up := r.IntN(2) == 1
				for row := range s.h {
					k := (row*s.wide+col)*s.c + ch
					out[k] = edge(k, up)
				}
			}
		}
		return
	}
	side := squareSide(t, s.h, s.wide)
	signs := make([]bool, s.c)
	for range squareRedraws {
		copy(out, best)
		top, from := r.IntN(s.h-side+1), r.IntN(s.wide-side+1)
		for ch := range signs {
			signs[ch] = r.IntN(2) == 1
		}
		for row := top; row < top+side; row++ {
			for col := from; col < from+side; col++ {
				for ch, up := range signs {
					k := (row*s.wide+col)*s.c + ch
					out[k] = edge(k, up)
				}
			}
		}
		if !slices.Equal(out, best) {
			return
		}
	}
}
