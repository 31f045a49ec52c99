package kernel

// span is the part of one kernel row of one patch: columns [q0, q1) of the
// kernel row's KW*C numbers are asked for, of which [v0, v1) lie in the image,
// where number 0 would be at index at. The rest is padding.
type span struct{ q0, q1, v0, v1, at int }

// pixel is the place of one output: its image, its own coordinates, and the
// input coordinates of the upper left corner of its patch.
type pixel struct{ image, oy, ox, y, x int }

func (g *Conv) pixel(r, oh, ow int) pixel {
	ox := r % ow
	r /= ow
	oy := r % oh
	return pixel{r / oh, oy, ox, oy*g.StrideH - g.PadH, ox*g.StrideW - g.PadW}
}

// next moves p to the next output in memory.
func (g *Conv) next(p *pixel, oh, ow int) {
	p.ox++
	p.x += g.StrideW
	if p.ox < ow {
		return
	}
	p.ox, p.x = 0, -g.PadW
	p.oy++
	p.y += g.StrideH
	if p.oy < oh {
		return
	}
	p.oy, p.y = 0, -g.PadH
	p.image++
}

// window returns the part of p's patch that lies in the image: kernel rows
// [k0, k1) and, of the KW*C numbers of each, [q0, q1). at is the index of the
// patch's first number, which may lie outside.
func (g *Conv) window(p *pixel) (k0, k1, q0, q1, at int) {
	return max(0, -p.y), min(g.KH, g.H-p.y), max(0, -p.x*g.C), min(g.KW*g.C, (g.W-p.x)*g.C),
		((p.image*g.H+p.y)*g.W + p.x) * g.C
}

// span cuts kernel row ky of the patch at p to the patch columns [p0, p1).
func (g *Conv) span(p *pixel, ky, p0, p1 int) span {
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
func (g *Conv) gather(dst []float32, ld int, x []float32, oh, ow, r0, r1, p0, p1 int) {
	if p0 == 0 && p1 == g.patch() {
		g.gatherWhole(dst, ld, x, oh, ow, r0, r1)
		return
	}
	run := g.KW * g.C
	p := g.pixel(r0, oh, ow)
	for r := range r1 - r0 {
		row := dst[r*ld:][:p1-p0]
		for ky := p0 / run; ky*run < p1; ky++ {
			s := g.span(&p, ky, p0, p1)
			out := row[ky*run+s.q0-p0:][:s.q1-s.q0]
			left, right := s.v0-s.q0, s.v1-s.q0
			clear(out[:left])
			if left < right {
				copy(out[left:right], x[s.at+s.v0:])
			}
			clear(out[right:])
		}
		g.next(&p, oh, ow)
	}
}

func (g *Conv) gatherWhole(dst []float32, ld int, x []float32, oh, ow, r0, r1 int) {
	run, pitch, patch := g.KW*g.C, g.W*g.C, g.patch()
	p := g.pixel(r0, oh, ow)
	for r := range r1 - r0 {
		row := dst[r*ld:][:patch]
		k0, k1, q0, q1, at := g.window(&p)
		g.next(&p, oh, ow)
		if k1-k0 < g.KH || q1-q0 < run {
			clear(row)
			if q0 >= q1 {
				continue
			}
		}
		for ky := k0; ky < k1; ky++ {
			to, from := row[ky*run+q0:ky*run+q1], x[at+ky*pitch+q0:at+ky*pitch+q1]
			if run >= 16 {
				copy(to, from)
				continue
			}
			//lint:ignore S1001 a call of copy takes longer than so few elements
			for i, v := range from {
				to[i] = v
			}
		}
	}
}

// scatter adds whole patches of outputs [r0, r1), as gather lays them out, to
// the rows [y0, y1) of their images in dx.
func (g *Conv) scatter(dx []float32, src []float32, ld int, oh, ow, r0, r1, y0, y1 int) {
	run, pitch, patch := g.KW*g.C, g.W*g.C, g.patch()
	p := g.pixel(r0, oh, ow)
	for r := range r1 - r0 {
		row := src[r*ld:][:patch]
		k0, k1, q0, q1, at := g.window(&p)
		k0, k1 = max(k0, y0-p.y), min(k1, y1-p.y)
		g.next(&p, oh, ow)
		if q0 >= q1 {
			continue
		}
		for ky := k0; ky < k1; ky++ {
			to := dx[at+ky*pitch+q0 : at+ky*pitch+q1]
			for i, v := range row[ky*run+q0 : ky*run+q1] {
				to[i] += v
			}
		}
	}
}
