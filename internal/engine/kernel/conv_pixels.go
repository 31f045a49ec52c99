package kernel

// bandLimit bounds the padded rows of a band, in numbers: they stay in the
// second cache beside a panel of weights.
const bandLimit = 1 << 15

// splitRows chooses the padding of rows and the bands of an image.
func (j *correlateJob) splitRows() {
	j.before, j.all = 0, j.w
	oh, kh := 1, 1
	for i := range j.parts {
		p := &j.parts[i]
		oh, kh = max(oh, p.oh), max(kh, p.kh)
		if p.kw == 0 || p.ow == 0 {
			continue
		}
		j.before = max(j.before, -p.left)
		j.all = max(j.all, (p.ow-1)*j.sw+p.left+p.kw)
	}
	j.all += j.before
	// Neighboring bands both copy the rows between them.
	rows := max(kh, (bandLimit/(j.all*j.c)-kh)/j.sh)
	if want := ceilDiv(manyTasks(), j.n); want > 1 {
		rows = min(rows, max(ceilDiv(oh, want), ceilDiv(kh, j.sh)))
	}
	j.bands = ceilDiv(oh, rows)
	j.bandRows = ceilDiv(oh, j.bands)
	j.bands = ceilDiv(oh, j.bandRows)
}

// paddedRows are rows [from, ...) of an image with zeros left and right: row y
// begins at (y-from)*pitch, and pixel 0 is before pixels from there.
type paddedRows struct {
	data          []float32
	from, pitch   int
	before, width int
}

// pad copies rows [from, to) of an image of width pixels of c numbers to s, with
// room for all pixels, of which before are left of the image; where that is no
// more than the image, it stays where it is.
func (s *convScratch) pad(image []float32, from, to, width, c, before, all int) paddedRows {
	r := paddedRows{data: image, from: 0, pitch: width * c, before: before, width: width}
	if all == width || from >= to {
		return r
	}
	r.from, r.pitch = from, all*c
	grow(&s.a, (to-from)*r.pitch)
	r.data = s.a
	left, row := before*c, width*c
	for y := from; y < to; y++ {
		out := s.a[(y-from)*r.pitch:][:r.pitch]
		clear(out[:left])
		copy(out[left:left+row], image[y*row:(y+1)*row])
		clear(out[left+row:])
	}
	return r
}

// at returns the rows from pixel x of row y on.
func (r *paddedRows) at(y, x, c int) []float32 {
	return r.data[(y-r.from)*r.pitch+(x+r.before)*c:]
}

// pixelBand computes a band of an image's outputs, in the block of panels that
// begins at panel first.
func (j *correlateJob) pixelBand(s *convScratch, image, band, first int) {
	o0 := band * j.bandRows
	o1 := o0 + j.bandRows
	from, to := j.h, 0
	for i := range j.parts {
		p := &j.parts[i]
		if rows := min(o1, p.oh); o0 < rows && p.kh > 0 {
			from = min(from, max(0, o0*j.sh+p.top))
			to = max(to, min(j.h, (rows-1)*j.sh+p.top+p.kh))
		}
	}
	size := j.h * j.w * j.c
	x := s.pad(j.x[image*size:(image+1)*size], from, to, j.w, j.c, j.before, j.all)
	y := j.y[image*j.imageOut : (image+1)*j.imageOut]
	last := min(first+j.panels, ceilDiv(j.o, j.level.shape().wide))
	for i := range j.parts {
		p := &j.parts[i]
		if j.blanks(p, o0, min(o1, p.oh), first, last, y) {
			continue
		}
		for panel := first; panel < last; panel++ {
			j.pixelPanel(p, panel, o0, min(o1, p.oh), &x, y)
		}
	}
}

func (j *correlateJob) pixelPanel(p *correlation, panel, o0, o1 int, x *paddedRows, y []float32) {
	t, col, weights := j.panel(p, panel)
	t.k, t.rsa, t.csa, t.nexta, t.ldc = p.kw*j.c, j.sw*j.c, 1, x.pitch, p.step
	step := j.passRows(p)
	for from := 0; from == 0 || from < p.kh; from += step {
		to := min(from+step, p.kh)
		for oy := o0; oy < o1; oy++ {
			iy := oy*j.sh + p.top
			k0, k1 := window(iy, p.kh, j.h)
			out := y[p.at+oy*p.rowStep:]
			if k0 >= k1 {
				if from == 0 {
					for ox := range p.ow {
						j.blank(out[ox*p.step+col:], col, t.cols)
					}
				}
				continue
			}
			a, b := max(k0, from), min(k1, to)
			if a >= b {
				continue
			}
			j.ends(&t, col, from, to, k0, k1)
			t.outer = b - a
			j.level.tileColumn(&t, p.ow, x.at(iy+a, p.left, j.c), weights[a*t.nextb:], out[col:])
		}
	}
}
