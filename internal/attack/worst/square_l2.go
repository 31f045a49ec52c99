package worst

import (
	"math"

	"tercet/internal/rng"
)

// leastWindow is the smallest side of a window in l2, where windows have odd sides: a bump
// has two halves of opposite signs.
const leastWindow = 3

// oddSide is the side of the windows of iteration t in l2.
func oddSide(t, h, w int) int {
	side := max(squareSide(t, h, w), leastWindow)
	if side%2 == 0 {
		side++
	}
	for side > h || side > w {
		side -= 2
	}
	return max(side, 1)
}

// bump fills out (side, side) with a pattern of length 1 whose two halves have opposite
// signs: in each half, centered squares of growing size are added with weights 1/(k+1)^2.
// turned exchanges rows and columns.
func bump(side int, turned bool, out []float64) {
	clear(out)
	upper := side / 2
	for row := range side {
		top, height, sign := 0, upper, 1.0
		if row >= upper {
			top, height, sign = upper, side-upper, -1
		}
		for col := range side {
			v := sign * concentric(row-top, col, height, side)
			if turned {
				out[col*side+row] = v
			} else {
				out[row*side+col] = v
			}
		}
	}
	scale(out, 1)
}

// concentric is the sum of the weights of the squares around the middle of (height, width)
// that hold a place: square k reaches k places to each side of it.
func concentric(row, col, height, width int) float64 {
	far := max(distance(row, height/2), distance(col, width/2))
	sum := 0.0
	for k := far; k <= max(height, width)/2; k++ {
		sum += 1 / float64((k+1)*(k+1))
	}
	return sum
}

func distance(a, b int) int { return max(a-b, b-a) }

// scale gives v a length; what has none stays.
func scale(v []float64, length float64) {
	square := energy(v)
	if square == 0 {
		return
	}
	by := length / math.Sqrt(square)
	for k := range v {
		v[k] *= by
	}
}

func energy(v []float64) (square float64) {
	for _, x := range v {
		square += float64(x * x)
	}
	return square
}

// bumps is the first proposal in l2: a grid of bumps of a fifth of the image's side, of
// random signs, scaled to the radius.
func (s *squares) bumps(i int, out []float32) {
	r := &s.streams[i]
	side := max(1, min(s.h, s.wide)/5)
	delta, one := make([]float64, len(out)), make([]float64, side*side)
	for top := s.h % side / 2; top+side <= s.h; top += side {
		for left := s.wide % side / 2; left+side <= s.wide; left += side {
			bump(side, r.IntN(2) == 1, one)
			for ch := range s.c {
				sign := coin(r)
				for k, v := range one {
					delta[s.at(top+k/side, left+k%side, ch)] += float64(sign * v)
				}
			}
		}
	}
	s.put(i, delta, out)
}

func coin(r *rng.Stream) float64 { return 2*float64(r.IntN(2)) - 1 }

func (s *squares) at(row, col, ch int) int { return (row*s.wide+col)*s.c + ch }

// put writes the query with a perturbation scaled to the radius, within [0, 1].
func (s *squares) put(i int, delta []float64, out []float32) {
	scale(delta, s.r.o.Eps)
	for k, x := range s.w.x.Row(i) {
		out[k] = float32(min(max(float64(x)+delta[k], 0), 1))
	}
}

// moveEnergy takes two windows of the best image so far. The perturbation in both, and what
// of the radius clipping has left unused, goes into the first one, in the direction of what
// is there plus a bump of random sign; the second one becomes clean.
func (s *squares) moveEnergy(t, i int, out []float32) {
	r, x0, best := &s.streams[i], s.w.x.Row(i), s.w.adv.Row(i)
	side := oddSide(t, s.h, s.wide)
	delta, one := make([]float64, len(out)), make([]float64, side*side)
	for k, v := range best {
		delta[k] = float64(v) - float64(x0[k])
	}
	unused := max(0, float64(s.r.o.Eps*s.r.o.Eps)-energy(delta)) / float64(s.c)
	window := func() (top, left int) { return r.IntN(s.h - side + 1), r.IntN(s.wide - side + 1) }
	top, left := window()
	top2, left2 := window()
	bump(side, r.IntN(2) == 1, one)
	for ch := range s.c {
		sign, total := coin(r), unused
		old := make([]float64, side*side)
		for k := range old {
			v := delta[s.at(top+k/side, left+k%side, ch)]
			old[k] = v
			total += float64(v * v)
		}
		for k := range old {
			at := s.at(top2+k/side, left2+k%side, ch)
			if row, col := top2+k/side-top, left2+k%side-left; row < 0 || row >= side || col < 0 || col >= side {
				total += float64(delta[at] * delta[at]) // places of both windows count once
			}
			delta[at] = 0
		}
		scale(old, 1)
		for k := range old {
			old[k] += float64(sign * one[k])
		}
		scale(old, math.Sqrt(total))
		for k, v := range old {
			delta[s.at(top+k/side, left+k%side, ch)] = v
		}
	}
	s.put(i, delta, out)
}
