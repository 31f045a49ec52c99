package kernel

import (
	"slices"

	"tercet/internal/par"
)

// weightJob computes a weight gradient. For one tap (ky, kx) it is the product of
// the inputs that the tap sees, transposed, (C, outputs), and dy (outputs, OutC):
// a tile sums over the pixels of an output row and over the rows that see the
// image. Where images are small, several are laid pixel by pixel beside
// each other first (conv_unit.go); where there are few channels, a tile takes all
// columns of a kernel row at once, from rows that are padded with zeros.
//
// Units of images or bands of an image form groups. Where there is more than one
// group, each sums into its own part, and the parts are added in their order.
// Units and groups depend on the sizes alone. A task is a group and a run of the
// panels and taps. weightJob is the par.Runner of the tasks.
type weightJob struct {
	g           Conv
	level       Level
	n, oh, ow   int
	x, dy, dw   []float32
	few         bool
	unit        units
	groups      int
	span        int // units of a group
	chunks      int // runs of panels and taps
	items       int // panels and taps of a run
	sharing     int // panels that read one copy of a strip; 1: in place
	panels      int
	taps        int // of a panel: KH*KW, or KH where a tile takes a row of them
	parts       []float32
	before, all int       // pixels of a padded row, where there are few channels
	sums        []float64 // of dy's columns, of each group; empty where not wanted
	add         addParts
}

var weightJobs par.Free[weightJob]

const (
	// partsLimit bounds the parts of all groups, in numbers.
	partsLimit = 1 << 20
	// groupOutputs is the least number of outputs that is worth a part.
	groupOutputs = 2048
	// fewRows is the number of channels below which a tile takes a row of taps.
	fewRows = 8
)

// BackwardWeights adds the gradients with respect to the weights to dw and,
// where db is not nil, those with respect to the bias, summed in float64, to db.
func (g Conv) BackwardWeights(n int, x, dy, dw, db []float32) {
	oh, ow := g.check(n, len(x), len(dw), len(dy))
	g.checkBias(db)
	if n == 0 {
		return
	}
	j := weightJobs.Get()
	j.g, j.level, j.n, j.oh, j.ow = g, Current(), n, oh, ow
	j.x, j.dy, j.dw = x, dy, dw
	j.split()
	j.sums = j.sums[:0]
	if db != nil {
		j.sums = slices.Grow(j.sums, j.groups*g.OutC)[:j.groups*g.OutC]
		clear(j.sums)
	}
	if j.unit.images > 1 {
		j.unit.pack(j)
	}
	par.Do(j.groups*j.chunks, 1, j)
	if j.groups > 1 {
		j.add = addParts{j.parts, dw, j.groups}
		par.Do(len(dw), 4096, &j.add)
		j.add = addParts{}
	}
	for o := range db {
		sum := 0.0
		for at := o; at < len(j.sums); at += g.OutC {
			sum += j.sums[at]
		}
		db[o] += float32(sum)
	}
	j.x, j.dy, j.dw = nil, nil, nil
	weightJobs.Put(j)
}

func (j *weightJob) split() {
	g := &j.g
	j.few = g.C < fewRows
	j.taps = g.KH * g.KW
	if j.few {
		j.taps = g.KH
		j.before = g.PadW
		j.all = g.PadW + max(g.W, (j.ow-1)*g.StrideW+g.KW-g.PadW)
	}
	j.unit.split(g, j.n, j.oh, j.ow, j.few)
	j.groups = min(targetTasks, j.unit.count, max(1, j.n*j.oh*j.ow/groupOutputs), max(1, partsLimit/len(j.dw)))
	j.span = ceilDiv(j.unit.count, j.groups)
	j.groups = ceilDiv(j.unit.count, j.span)
	if j.groups > 1 {
		grow(&j.parts, j.groups*len(j.dw))
	}
	j.panels, j.sharing = ceilDiv(g.OutC, j.level.shape().wide), j.share()
	all := j.panels * j.taps
	j.items = all
	if par.Threads() > 1 {
		j.items = ceilDiv(all, min(all, ceilDiv(manyTasks(), j.groups)))
	}
	j.chunks = ceilDiv(all, j.items)
}

// Run does tasks [lo, hi).
func (j *weightJob) Run(lo, hi int) {
	s := convScratches.Get()
	for t := lo; t < hi; t++ {
		group, first := t/j.chunks, t%j.chunks*j.items
		last := min(first+j.items, j.panels*j.taps)
		out := j.dw
		if j.groups > 1 {
			out = j.parts[group*len(j.dw):][:len(j.dw)]
			for i := first; i < last; i++ {
				j.clear(out, i)
			}
		}
		for u := group * j.span; u < min((group+1)*j.span, j.unit.count); u++ {
			j.unit.fetch(j, u)
			if j.few {
				j.rowsOfTaps(s, u, first, last, out)
			} else {
				for i := first; i < last; {
					tap, panel := i/j.panels, i%j.panels
					panels := min(j.panels-panel, last-i, j.sharing)
					j.tapPanels(s, u, tap, panel, panel+panels, out)
					i += panels
				}
			}
			if first == 0 && len(j.sums) > 0 {
				j.addColumns(u, j.sums[group*j.g.OutC:][:j.g.OutC])
			}
		}
	}
	convScratches.Put(s)
}

// addColumns adds the columns of unit u's share of dy, which are in the cache now.
func (j *weightJob) addColumns(u int, sums []float64) {
	from, to := j.unit.outputs(j, u)
	step := 8 // streams from memory; a row of few numbers is no stream
	if len(sums) <= 32 {
		step = to - from
	}
	for ; from < to; from += step {
		rows := min(step, to-from)
		j.level.columnSums(rows, len(sums), j.dy[from*len(sums):(from+rows)*len(sums)], sums)
	}
}

// place returns the panel's first column, the columns, and the tap of an item.
func (j *weightJob) place(item int) (col, cols, tap int) {
	wide := j.level.shape().wide
	col = item % j.panels * wide
	return col, min(wide, j.g.OutC-col), item / j.panels
}

// clear sets an item of a part to zero.
func (j *weightJob) clear(part []float32, item int) {
	col, cols, tap := j.place(item)
	rows := j.g.patch() / j.taps
	for r := tap * rows; r < (tap+1)*rows; r++ {
		clear(part[r*j.g.OutC+col:][:cols])
	}
}

// sees returns the outputs [from, to) of n whose tap at kernel position k lies
// in the size inputs.
func sees(n, k, stride, pad, size int) (from, to int) {
	from = ceilDiv(max(0, pad-k), stride)
	return from, min(n, floorDiv(size-1+pad-k, stride)+1)
}

// tapPanels adds unit u's share of one tap and of panels [first, last) to dw. Panels that
// share read a strip of the input's channels from a copy, pixel beside pixel: in place
// its pixels would lie in the same few sets of the caches, and in another page each.
func (j *weightJob) tapPanels(s *convScratch, u, tap, first, last int, dw []float32) {
	g, shape := &j.g, j.level.shape()
	ky, kx := tap/g.KW, tap%g.KW
	v := j.unit.at(j, u)
	y0, y1 := sees(j.oh, ky, g.StrideH, g.PadH, g.H)
	y0, y1 = max(y0, v.y0), min(y1, v.y1)
	x0, x1 := sees(j.ow, kx, g.StrideW, g.PadW, g.W)
	if y0 >= y1 || x0 >= x1 {
		return
	}
	t := tileArgs{
		k: (x1 - x0) * v.images, outer: y1 - y0,
		rsa: 1, csa: v.xStep, nexta: g.StrideH * v.xRow,
		rsb: v.dyStep, nextb: v.dyRow,
		ldc: g.OutC, alpha: 1, beta: 1,
	}
	a := v.x[(y0*g.StrideH+ky-g.PadH)*v.xRow+v.column(g, x0, kx):]
	dy, to := v.dy[y0*v.dyRow+x0*v.images*v.dyStep:], dw[tap*g.C*g.OutC:]
	from, end := first*shape.wide, min(last*shape.wide, g.OutC)
	if j.sharing == 1 {
		for col := from; col < end; col += shape.wide {
			t.cols = min(shape.wide, g.OutC-col)
			j.level.tileColumn(&t, g.C, a, dy[col:], to[col:])
		}
		return
	}
	t.csa, t.nexta = stripPitch, t.k*stripPitch
	grow(&s.a, t.k*t.outer*stripPitch)
	strips := ceilDiv(g.C, shape.rows)
	for i := range strips {
		r, below := i*g.C/strips, (i+1)*g.C/strips
		t.rows = below - r
		copyStrip(s.a, a[r:], t.k, t.outer, v.xStep, g.StrideH*v.xRow, t.rows)
		for col := from; col < end; col += shape.wide {
			t.cols = min(shape.wide, g.OutC-col)
			j.level.tile(&t, s.a, dy[col:], to[r*g.OutC+col:])
		}
	}
}

// stripPitch is the distance of the pixels of a copied strip: a cache line.
const stripPitch = 16

// share returns how many panels read a copy of a strip, 1 where they read it in place.
// A copy pays where pixels lie multiples of a kilobyte apart, from two on. The share of
// dy that the panels read stays in the second cache (256 KiB).
func (j *weightJob) share() int {
	s := j.level.shape()
	if step := j.unit.xStep; s.rows > stripPitch || step < 512 || step%256 != 0 {
		return 1
	}
	return max(2, (1<<16)/(j.unit.rows*j.ow*s.wide))
}

// copyStrip copies rows numbers of each of k pixels of each of outer rows.
func copyStrip(to, from []float32, k, outer, step, next, rows int) {
	for o := range outer {
		row := from[o*next:]
		for p := range k {
			at, src := to[(o*k+p)*stripPitch:], row[p*step:]
			if len(src) >= stripPitch {
				*(*[stripPitch]float32)(at) = *(*[stripPitch]float32)(src)
			} else {
				copy(at[:rows], src)
			}
		}
	}
}

// rowsOfTaps adds unit u's share of kernel rows and panels [first, last) to dw.
func (j *weightJob) rowsOfTaps(s *convScratch, u, first, last int, dw []float32) {
	g := &j.g
	v := j.unit.at(j, u)
	from, to := max(0, v.y0*g.StrideH-g.PadH), min(g.H, (v.y1-1)*g.StrideH-g.PadH+g.KH)
	x := s.pad(v.x, from, to, g.W, g.C, j.before, j.all)
	taps := g.KW * g.C
	for item := first; item < last; item++ {
		col, cols, ky := j.place(item)
		y0, y1 := sees(j.oh, ky, g.StrideH, g.PadH, g.H)
		y0, y1 = max(y0, v.y0), min(y1, v.y1)
		if y0 >= y1 {
			continue
		}
		t := tileArgs{
			k: j.ow, outer: y1 - y0,
			rsa: 1, csa: g.StrideW * g.C, nexta: g.StrideH * x.pitch,
			rsb: g.OutC, nextb: j.ow * g.OutC,
			ldc: g.OutC, alpha: 1, beta: 1, cols: cols,
		}
		a := x.at(y0*g.StrideH+ky-g.PadH, -g.PadW, g.C)
		b := v.dy[y0*v.dyRow+col:]
		c := dw[ky*taps*g.OutC+col:]
		j.level.tileColumn(&t, taps, a, b, c)
	}
}

// addParts adds the groups' parts to dw in their order.
type addParts struct {
	parts, dw []float32
	groups    int
}

// Run does elements [lo, hi).
func (a *addParts) Run(lo, hi int) {
	to := a.dw[lo:hi]
	for g := range a.groups {
		for i, v := range a.parts[g*len(a.dw)+lo : g*len(a.dw)+hi] {
			to[i] += v
		}
	}
}
