package kernel

import "tercet/internal/par"

// winogradGradient is a weight gradient in progress: for each position the
// product of V transposed, the transformed inputs, and Z, the spread gradients
// of the outputs, summed over tiles:
//
//	V: [run of inputs][position][tile][channel of the run]
//	Z: [run of outputs][position][tile][channel of the run]
//	P: [run of inputs][run of outputs][position][input][output]
//
// Some tiles at a time are transformed, then multiplied and added to P; at the
// end P is transformed to the gradient. How many depends on the sizes alone.
type winogradGradient struct {
	g          Conv
	level      Level
	kind       *winogradKind
	grid       winogradTiles
	x, dy, dw  []float32
	in, out    winogradRuns
	v, z, p    []float32
	vpos, zpos int // distances of positions
	ppos       int
	first      int // of the tiles in V and Z
	count      int
	step       int // tiles of one product
	beta       float32
	once       bool // all tiles at once, each task all positions: P is each task's own
}

var winogradGradients par.Free[winogradGradient]

// winogradTileRun is the number of tiles of one product, its summed index: a
// panel of Z (24 KiB) stays in the first cache.
const winogradTileRun = 192

// winogradWeights adds the gradient with respect to the weights to dw.
func (g Conv) winogradWeights(alg Algorithm, n int, x, dy, dw []float32) {
	oh, ow := g.check(n, len(x), len(dw), len(dy))
	if n == 0 {
		return
	}
	j := winogradGradients.Get()
	j.g, j.level, j.kind = g, Current(), g.winogradKindOf(alg)
	j.grid = j.kind.tiles(&g, n, oh, ow)
	j.x, j.dy, j.dw = x, dy, dw
	j.in, j.out = newWinogradRuns(g.C), newWinogradRuns(g.OutC)
	positions := j.kind.positions()
	channels := j.in.size*j.in.count + j.out.size*j.out.count
	span := max(winogradTileRun, winogradShared/(positions*channels)/winogradTileRun*winogradTileRun)
	pairs := j.in.count * j.out.count
	j.ppos = oddLines(j.in.size * j.out.size)
	j.once = j.grid.count <= span && pairs >= targetTasks
	if !j.once {
		grow(&j.p, pairs*positions*j.ppos)
	}
	j.beta = 0
	for j.first = 0; j.first < j.grid.count; j.first += span {
		j.count = min(span, j.grid.count-j.first)
		j.step = ceilDiv(j.count, ceilDiv(j.count, winogradTileRun))
		j.vpos, j.zpos = oddLines(j.count*j.in.size), oddLines(j.count*j.out.size)
		grow(&j.v, j.in.count*positions*j.vpos)
		grow(&j.z, j.out.count*positions*j.zpos)
		par.Do(j.count, max(1, ceilDiv(j.count, manyTasks())), (*winogradSpreadJob)(j))
		if j.once {
			par.Do(pairs, 1, (*winogradPairJob)(j))
		} else {
			par.Do(pairs*positions, 1, j)
		}
		j.beta = 1
	}
	if !j.once {
		par.Do(j.in.channels*j.out.count, 4, (*winogradGatherJob)(j))
	}
	j.x, j.dy, j.dw = nil, nil, nil
	winogradGradients.Put(j)
}

// winogradSpreadJob makes V and Z.
type winogradSpreadJob winogradGradient

// Run does tiles [lo, hi) of those in V and Z.
func (t *winogradSpreadJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	s := winogradScratches.Get()
	alpha, m := j.kind.alpha, j.kind.m
	grow(&s.patch, alpha*alpha*max(j.g.C, j.g.OutC))
	for t := lo; t < hi; t++ {
		w := j.grid.input(j.first + t)
		src, row := w.in(s.patch, alpha, j.x, j.g.H, j.g.W, j.g.C)
		j.in.transform(j.level, j.kind.input, src, row, j.v, alpha, j.vpos, t)
		w = j.grid.output(j.first + t)
		src, row = w.in(s.patch, m, j.dy, j.grid.oh, j.grid.ow, j.g.OutC)
		j.out.transform(j.level, j.kind.spread, src, row, j.z, alpha, j.zpos, t)
	}
	winogradScratches.Put(s)
}

// multiply adds to P, or sets where beta is 0, one position of a pair of runs.
func (j *winogradGradient) multiply(p []float32, in, out, position int) {
	positions := j.kind.positions()
	v, z := j.v[(in*positions+position)*j.vpos:], j.z[(out*positions+position)*j.zpos:]
	beta := j.beta
	for t := 0; t < j.count; t += j.step {
		k := min(j.step, j.count-t)
		a, b := view{v[t*j.in.size:], 1, j.in.size}, panels{data: z[t*j.out.size:], ld: j.out.size}
		j.level.multiply(j.in.of(in), j.out.of(out), k, 1, a, b, beta, p, j.out.size, nil)
		beta = 1
	}
}

// gather adds the gradients of a pair of runs for its inputs [c0, c1) to dw.
func (j *winogradGradient) gather(p []float32, in, out, c0, c1 int) {
	g, r := &j.g, j.kind.r
	pos := g.C * g.OutC
	for c := c0; c < c1; c++ {
		dst := j.dw[(in*j.in.size+c)*g.OutC+out*j.out.size:]
		j.level.winogradMap(j.kind.gather, j.out.of(out), p[c*j.out.size:], j.kind.alpha*j.ppos, j.ppos, dst, r*pos, pos)
	}
}

// Run does tasks [lo, hi), each one position of a pair of runs.
func (j *winogradGradient) Run(lo, hi int) {
	positions := j.kind.positions()
	for t := lo; t < hi; t++ {
		pair := t / positions
		j.multiply(j.p[t*j.ppos:], pair/j.out.count, pair%j.out.count, t%positions)
	}
}

// winogradPairJob does all of a pair of runs.
type winogradPairJob winogradGradient

// Run does pairs [lo, hi).
func (t *winogradPairJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	s := winogradScratches.Get()
	positions := j.kind.positions()
	grow(&s.m, positions*j.ppos)
	for pair := lo; pair < hi; pair++ {
		in, out := pair/j.out.count, pair%j.out.count
		for p := range positions {
			j.multiply(s.m[p*j.ppos:], in, out, p)
		}
		j.gather(s.m, in, out, 0, j.in.of(in))
	}
	winogradScratches.Put(s)
}

// winogradGatherJob transforms P to the gradient.
type winogradGatherJob winogradGradient

// Run does rows [lo, hi): one input channel of a run of outputs each.
func (t *winogradGatherJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	positions := j.kind.positions()
	for row := lo; row < hi; row++ {
		c, out := row/j.out.count, row%j.out.count
		in := c / j.in.size
		c -= in * j.in.size
		j.gather(j.p[(in*j.out.count+out)*positions*j.ppos:], in, out, c, c+1)
	}
}
