package kernel

import "tercet/internal/par"

// splitImages chooses the strips of images. Where several tasks share a strip,
// all strips are interleaved beforehand.
func (j *correlateJob) splitImages(rows, panels int) {
	j.strips = ceilDiv(j.n, rows)
	j.across = max(1, min(panels, manyTasks()/j.strips))
	if j.across > 1 {
		size := j.h * j.w * j.c
		grow(&j.mixed, j.n*size)
		j.pieces = ceilDiv(size, 8192)
		par.Do(j.strips*j.pieces, 1, (*mixJob)(j))
	}
}

// strip returns the images of a strip; their numbers differ by 1 at most.
func (j *correlateJob) strip(i int) (from, to int) {
	return i * j.n / j.strips, (i + 1) * j.n / j.strips
}

// mixJob is the par.Runner of the interleaving of all strips, in pieces.
type mixJob correlateJob

// Run interleaves pieces [lo, hi).
func (m *mixJob) Run(lo, hi int) {
	j := (*correlateJob)(m)
	size := j.h * j.w * j.c
	for t := lo; t < hi; t++ {
		i0, i1 := j.strip(t / j.pieces)
		p, q := t%j.pieces*size/j.pieces, (t%j.pieces+1)*size/j.pieces
		j.level.turn(i1-i0, q-p, j.x[i0*size+p:], size, j.mixed[i0*size+p*(i1-i0):], i1-i0)
	}
}

// imageStrip computes the outputs of a strip of images, in the block of panels
// that begins at panel first. The images are interleaved, number by number, so
// that the rows of a tile lie side by side; a tile holds one output pixel of
// each and its taps are those that lie in the image.
func (j *correlateJob) imageStrip(s *convScratch, strip, first int) {
	i0, i1 := j.strip(strip)
	rows, size := i1-i0, j.h*j.w*j.c
	var x []float32
	if j.across > 1 {
		x = j.mixed[i0*size : i1*size]
	} else {
		grow(&s.a, rows*size)
		x = s.a
		j.level.turn(rows, size, j.x[i0*size:], size, x, rows)
	}
	y := j.y[i0*j.imageOut:]
	last := min(first+j.panels, ceilDiv(j.o, j.level.shape().wide))
	for i := range j.parts {
		p := &j.parts[i]
		blank := false
		for m := range rows {
			blank = j.blanks(p, 0, p.oh, first, last, y[m*j.imageOut:])
		}
		if blank {
			continue
		}
		for panel := first; panel < last; panel++ {
			j.imagePanel(p, panel, rows, x, y)
		}
	}
}

func (j *correlateJob) imagePanel(p *correlation, panel, rows int, x, y []float32) {
	t, col, weights := j.panel(p, panel)
	t.rows, t.rsa, t.csa, t.nexta, t.ldc = rows, 1, rows, j.w*j.c*rows, j.imageOut
	step := j.passRows(p)
	for from := 0; from == 0 || from < p.kh; from += step {
		to := min(from+step, p.kh)
		for oy := range p.oh {
			iy := oy*j.sh + p.top
			k0, k1 := window(iy, p.kh, j.h)
			a, b := max(k0, from), min(k1, to)
			if a >= b && (k0 < k1 || from > 0) {
				continue
			}
			j.ends(&t, col, from, to, k0, k1)
			t.outer = b - a
			for ox := range p.ow {
				ix := ox*j.sw + p.left
				q0, q1 := window(ix, p.kw, j.w)
				out := y[p.at+oy*p.rowStep+ox*p.step+col:]
				switch {
				case k0 < k1 && q0 < q1:
					t.k = (q1 - q0) * j.c
					j.level.tile(&t, x[((iy+a)*j.w+ix+q0)*j.c*rows:], weights[(a*p.kw+q0)*j.c*t.rsb:], out)
				case from <= k0: // sees padding alone
					for i := range rows {
						j.blank(out[i*j.imageOut:], col, t.cols)
					}
				}
			}
		}
	}
}

// turn is transpose with the last rows done together with some before them where
// they are no multiple of eight, which is how many are done at once: dst must not
// overlap src.
func (l Level) turn(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	if rows <= 8 {
		l.transpose(rows, cols, src, lds, dst, ldd)
		return
	}
	for i := 0; i < rows; i += 8 {
		i = min(i, rows-8)
		l.transpose(8, cols, src[i*lds:], lds, dst[i:], ldd)
	}
}
