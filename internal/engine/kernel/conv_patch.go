package kernel

// span is the part of one kernel row of one patch: columns [q0, q1) of the
// kernel row's KW*C numbers are asked for, of which [v0, v1) lie in the image,
// where number 0 would be at index at. The rest is padding.
type span struct{ q0, q1, v0, v1, at int }

// pixel is the place of one output: its image and the input coordinates of the
// upper left corner of its patch.
type pixel struct{ image, y, x int }

func (g Conv) pixel(r, oh, ow int) pixel {
	ox := r % ow
	r /= ow
	return pixel{r / oh, r%oh*g.StrideH - g.PadH, ox*g.StrideW - g.PadW}
}

// span cuts kernel row ky of the patch at p to the patch columns [p0, p1).
func (g Conv) span(p pixel, ky, p0, p1 int) span {
	run := g.KW * g.C
	s := span{q0: max(p0-ky*run, 0), q1: min(p1-ky*run, run)}
	y := p.y + ky
	if y < 0 || y >= g.H {
		s.v0, s.v1 = s.q1, s.q1
		return s
	}
	s.v0 = min(max(s.q0, -p.x*g.C), s.q1)
	s.v1 = max(min(s.q1, (g.W-p.x)*g.C), s.v0)
	s.at = ((p.image*g.H+y)*g.W + p.x) * g.C
	return s
}

// gather writes columns [p0, p1) of the patches of outputs [r0, r1) to dst, one
// patch a row, ld apart: a block of the matrix known as im2col.
func (g Conv) gather(dst []float32, ld int, x []float32, oh, ow, r0, r1, p0, p1 int) {
	run := g.KW * g.C
	for r := r0; r < r1; r++ {
		p := g.pixel(r, oh, ow)
		row := dst[(r-r0)*ld:][:p1-p0]
		for ky := p0 / run; ky*run < p1; ky++ {
			s := g.span(p, ky, p0, p1)
			out := row[ky*run+s.q0-p0:][:s.q1-s.q0]
			left, right := s.v0-s.q0, s.v1-s.q0
			if right-left < 16 {
				for i := range left {
					out[i] = 0
				}
				if left < right {
					for i, v := range x[s.at+s.v0 : s.at+s.v1] {
						out[left+i] = v
					}
				}
				for i := right; i < len(out); i++ {
					out[i] = 0
				}
				continue
			}
			clear(out[:left])
			copy(out[left:right], x[s.at+s.v0:])
			clear(out[right:])
		}
	}
}

// scatter adds whole patches of outputs [r0, r1), as gather lays them out, to
// the rows [y0, y1) of their images in dx.
func (g Conv) scatter(dx []float32, src []float32, ld int, oh, ow, r0, r1, y0, y1 int) {
	run := g.KW * g.C
	for r := r0; r < r1; r++ {
		p := g.pixel(r, oh, ow)
		row := src[(r-r0)*ld:][:g.KH*run]
		for ky := max(0, y0-p.y); ky < min(g.KH, y1-p.y); ky++ {
			s := g.span(p, ky, 0, len(row))
			if s.v0 == s.v1 {
				continue
			}
			to := dx[s.at+s.v0 : s.at+s.v1]
			for i, v := range row[ky*run+s.v0 : ky*run+s.v1] {
				to[i] += v
			}
		}
	}
}
