package kernel

import "tercet/internal/par"

// fewJob computes an input gradient of few channels, where vectors along the
// channels would be almost empty: they run along the pixels of a row instead.
// For each input row, the KW*C rows of the weights that meet it, for each kernel
// row, are multiplied by transposed rows of dy (OutC, ow),
//
//	t[kx, c, ox] = sum over ky, o of w[ky, kx, c, o] * dy[oy(ky), ox, o],
//
// and t is added up along its diagonals, where ox*StrideW + kx is the same.
// It is the par.Runner of the bands of input rows.
type fewJob struct {
	g           Conv
	level       Level
	oh, ow      int
	dy, w, dx   []float32
	bands, rows int // of each image
}

var fewJobs par.Free[fewJob]

// fewLimit bounds the transposed rows of dy of a band, in numbers.
const fewLimit = 3 << 16

// fewChannels reports whether vectors along the input's channels are too empty.
func (g Conv) fewChannels(l Level) bool { return 2*g.C <= l.shape().narrow }

func (g Conv) inputFew(l Level, n, oh, ow int, dy, w, dx []float32) {
	j := fewJobs.Get()
	j.g, j.level, j.oh, j.ow, j.dy, j.w, j.dx = g, l, oh, ow, dy, w, dx
	// Neighboring bands both transpose the rows of dy between them.
	least := max(g.KH, g.StrideH)
	j.rows = max(least, (fewLimit/(g.OutC*j.pitch())-ceilDiv(g.KH, g.StrideH))*g.StrideH)
	if want := ceilDiv(manyTasks(), n); want > 1 {
		j.rows = min(j.rows, max(least, ceilDiv(g.H, want)))
	}
	j.bands = ceilDiv(g.H, j.rows)
	j.rows = ceilDiv(g.H, j.bands)
	j.bands = ceilDiv(g.H, j.rows)
	par.Do(n*j.bands, 1, j)
	j.dy, j.w, j.dx = nil, nil, nil
	fewJobs.Put(j)
}

// pitch returns the distance of transposed rows of dy.
func (j *fewJob) pitch() int { return roundUp(j.ow, 16) }

// Run computes bands [lo, hi).
func (j *fewJob) Run(lo, hi int) {
	s := convScratches.Get()
	for t := lo; t < hi; t++ {
		y0 := t % j.bands * j.rows
		j.band(s, t/j.bands, y0, min(y0+j.rows, j.g.H))
	}
	convScratches.Put(s)
}

// band computes input rows [y0, y1) of an image.
func (j *fewJob) band(s *convScratch, image, y0, y1 int) {
	g := &j.g
	pitch := j.pitch()
	block := g.OutC * pitch
	// Rows of dy that reach the band, the last one first: as ky grows, oy falls.
	top := min(j.oh-1, (y1-1+g.PadH)/g.StrideH)
	bottom := max(0, ceilDiv(max(0, y0+g.PadH-g.KH+1), g.StrideH))
	grow(&s.a, max(0, top-bottom+1)*block)
	if line := j.ow * g.OutC; bottom <= top { // transposing asks for few lines at a time
		readLines(1, (top-bottom+1)*line, j.dy[(image*j.oh+bottom)*line:], 0)
	}
	for oy := bottom; oy <= top; oy++ {
		from := j.dy[(image*j.oh+oy)*j.ow*g.OutC:][:j.ow*g.OutC]
		j.level.turn(j.ow, g.OutC, from, g.OutC, s.a[(top-oy)*block:], pitch)
	}
	taps, plane := g.KW*g.C, roundUp(ceilDiv(g.W, g.StrideW), 16)
	grow(&s.b, taps*pitch+g.StrideW*g.C*plane)
	planes := s.b[taps*pitch:][:g.StrideW*g.C*plane]
	for iy := y0; iy < y1; iy++ {
		row := j.dx[(image*g.H+iy)*g.W*g.C:][:g.W*g.C]
		a := newAxisPhase(iy%g.StrideH, g.KH, g.StrideH, g.PadH)
		last := (iy + g.PadH) / g.StrideH // the row of dy that a.first sees
		m0, m1 := max(0, last-(j.oh-1)), min(a.taps, last+1)
		if m0 >= m1 {
			clear(row)
			continue
		}
		j.products(s.b, s.a[(top-last+m0)*block:], a.first+m0*g.StrideH, m1-m0)
		if g.StrideW == 1 && g.C == 1 {
			j.diagonals(row, s.b, len(row))
			continue
		}
		j.diagonals(planes, s.b, plane)
		for i := range g.StrideW * g.C {
			at := i
			for _, v := range planes[i*plane:][:ceilDiv(max(0, len(row)-i), g.StrideW*g.C)] {
				row[at] = v
				at += g.StrideW * g.C
			}
		}
	}
}

// diagonals adds up t. Pixel x and channel c of the input row come to lie at
// x/StrideW in plane number x%StrideW*C + c, in which a diagonal is a shift.
func (j *fewJob) diagonals(planes, t []float32, plane int) {
	g, pitch := &j.g, j.pitch()
	clear(planes)
	for kx := range g.KW {
		shift := floorDiv(kx-g.PadW, g.StrideW)
		rest := kx - g.PadW - shift*g.StrideW
		x0, x1 := max(0, -shift), min(j.ow, ceilDiv(max(0, g.W-rest), g.StrideW)-shift)
		if x0 >= x1 {
			continue
		}
		for c := range g.C {
			to := planes[(rest*g.C+c)*plane+x0+shift:][:x1-x0]
			j.level.add(to, t[(kx*g.C+c)*pitch+x0:][:x1-x0], to)
		}
	}
}

// products computes t from rows kernel rows, ky and every StrideH-th after it.
func (j *fewJob) products(t, dy []float32, ky, rows int) {
	g, s, pitch := &j.g, j.level.shape(), j.pitch()
	taps := g.KW * g.C
	args := tileArgs{
		k: g.OutC, outer: rows, rsa: g.OutC, csa: 1, nexta: g.StrideH * taps * g.OutC,
		rsb: pitch, nextb: g.OutC * pitch, ldc: pitch, alpha: 1,
	}
	for ox := 0; ox < j.ow; ox += s.wide {
		args.cols = min(s.wide, j.ow-ox)
		j.level.tileColumn(&args, taps, j.w[ky*taps*g.OutC:], dy[ox:], t[ox:])
	}
}
