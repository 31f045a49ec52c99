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
// V and Z of some hundred tiles are made at a time, so that they stay in the
// second and third cache, then multiplied and added to P; at the end P is
// transformed to the gradient. How many tiles a product has depends on the sizes
// of the convolution alone, since it decides the order of sums.
type winogradGradient struct {
	g          Conv
	level      Level
	kind       *winogradKind
	grid       winogradTiles
	x, dy, dw  []float32
	zeros      []float32 // a pixel of padding
	in, out    winogradRuns
	v, z, p    []float32
	vpos, zpos int // distances of positions
	ppos       int
	first      int // of the tiles in V and Z
	count      int // of them
	beta       float32
}

var winogradGradients par.Free[winogradGradient]

// winogradTileRun is the least number of tiles in V and Z, and the largest of
// one product, its summed index: a panel of Z (24 KiB) stays in the first cache.
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
	grow(&j.zeros, max(g.C, g.OutC))
	clear(j.zeros)
	j.in, j.out = newWinogradRuns(g.C), newWinogradRuns(g.OutC)
	j.run()
	j.x, j.dy, j.dw = nil, nil, nil
	winogradGradients.Put(j)
}

func (j *winogradGradient) run() {
	positions, pairs := j.kind.positions(), j.in.count*j.out.count
	j.ppos = oddLines(j.in.size * j.out.size)
	channels := j.in.size*j.in.count + j.out.size*j.out.count
	span := max(winogradTileRun, winogradShared/(positions*channels))
	// With many channels P is large; where all tiles fit at once, a pair's part
	// need not leave the second cache.
	once := j.grid.count <= span && pairs >= targetTasks
	if !once {
		grow(&j.p, pairs*positions*j.ppos)
	}
	j.beta = 0
	for first := 0; first < j.grid.count; first += span {
		tiles := min(span, j.grid.count-first)
		step := tiles
		if !once { // P is in memory anyway, and V and Z of fewer tiles are nearer
			step = winogradStep(tiles)
		}
		for t := 0; t < tiles; t += step {
			j.first, j.count = first+t, min(step, tiles-t)
			j.add(once)
		}
	}
	if !once {
		par.Do(j.in.channels*j.out.count, 4, (*winogradGatherJob)(j))
	}
}

// winogradStep returns the extent of the equal products into which tiles are cut.
func winogradStep(tiles int) int { return ceilDiv(tiles, ceilDiv(tiles, winogradTileRun)) }

// add makes V and Z of the current tiles and adds their products.
func (j *winogradGradient) add(once bool) {
	positions, pairs := j.kind.positions(), j.in.count*j.out.count
	j.vpos, j.zpos = oddLines(j.count*j.in.size), oddLines(j.count*j.out.size)
	grow(&j.v, j.in.count*positions*j.vpos)
	grow(&j.z, j.out.count*positions*j.zpos)
	par.Do(2*j.count, max(1, ceilDiv(2*j.count, manyTasks())), (*winogradSpreadJob)(j))
	if once {
		par.Do(pairs, 1, (*winogradPairJob)(j))
	} else {
		par.Do(pairs*positions, 1, j)
	}
	j.beta = 1
}

// winogradSpreadJob makes V and Z: all tiles of the first half of the positions, then all of
// the second. Both halves read the inputs, but half of the threads then multiply what
// they made themselves: V and Z are several times as large as the inputs, and come slowly
// from another core.
type winogradSpreadJob winogradGradient

// Run does tiles [lo, hi) of those in V and Z, counted twice.
func (t *winogradSpreadJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	for half := range j.kind.halves {
		from, to := max(lo-half*j.count, 0), min(hi-half*j.count, j.count)
		if from < to {
			j.spread(&j.kind.halves[half], from, to)
		}
	}
}

// spread makes half of the positions of tiles [lo, hi).
func (j *winogradGradient) spread(half *winogradHalfMaps, lo, hi int) {
	s := winogradScratches.Get()
	alpha, positions := j.kind.alpha, j.kind.positions()
	outside, ahead := j.level.outside(j.x, j.zeros), j.grid.input.below(j.kind.m)
	place := j.grid.tile(j.first + lo)
	for t := lo; t < hi; t++ {
		base, at := j.grid.inputSquare(place, outside, &s.border)
		j.grid.next(&place)
		for r := range j.in.count {
			dst := j.v[r*positions*j.vpos+t*j.in.size:]
			j.level.winogradMap(half.input, j.in.of(r), j.x[base+r*j.in.size:], at, dst, alpha*j.vpos, j.vpos, ahead, &s.room)
		}
	}
	outside, ahead = j.level.outside(j.dy, j.zeros), j.grid.output.below(j.kind.m)
	place = j.grid.tile(j.first + lo)
	for t := lo; t < hi; t++ {
		base, at := j.grid.outputSquare(place, outside, &s.border)
		j.grid.next(&place)
		for r := range j.out.count {
			dst := j.z[r*positions*j.zpos+t*j.out.size:]
			j.level.winogradMap(half.spread, j.out.of(r), j.dy[base+r*j.out.size:], at, dst, alpha*j.zpos, j.zpos, ahead, &s.room)
		}
	}
	winogradScratches.Put(s)
}

// Run does tasks [lo, hi), each one position of a pair of runs: those of the first half
// of the positions, then those of the second.
func (j *winogradGradient) Run(lo, hi int) {
	positions, pairs := j.kind.positions(), j.in.count*j.out.count
	half := positions / 2
	for t := lo; t < hi; t++ {
		position, pair := j.kind.halves[t/(half*pairs)].positions[t%half], t/half%pairs
		j.multiply(j.p[(pair*positions+position)*j.ppos:], pair, position)
	}
}

// multiply adds to p, or sets where beta is 0, one position of a pair of runs.
func (j *winogradGradient) multiply(p []float32, pair, position int) {
	in, out, positions := pair/j.out.count, pair%j.out.count, j.kind.positions()
	v, z := j.v[(in*positions+position)*j.vpos:], j.z[(out*positions+position)*j.zpos:]
	step := winogradStep(j.count)
	args := tileArgs{outer: 1, rsa: 1, csa: j.in.size, rsb: j.out.size, ldc: j.out.size, alpha: 1, beta: j.beta}
	for t := 0; t < j.count; t += step {
		args.k = min(step, j.count-t)
		j.level.winogradMultiply(&args, j.in.of(in), j.out.of(out), v[t*j.in.size:], z[t*j.out.size:], p)
		args.beta = 1
	}
}

// winogradPairJob multiplies where no more tiles follow: P is the task's own.
type winogradPairJob winogradGradient

// Run does pairs of runs [lo, hi).
func (t *winogradPairJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	s := winogradScratches.Get()
	positions := j.kind.positions()
	grow(&s.m, positions*j.ppos)
	for pair := lo; pair < hi; pair++ {
		for p := range positions {
			j.multiply(s.m[p*j.ppos:], pair, p)
		}
		in, out := pair/j.out.count, pair%j.out.count
		for c := range j.in.of(in) {
			j.gather(s.m, in, out, c, &s.room)
		}
	}
	winogradScratches.Put(s)
}

// winogradGatherJob transforms P to the gradient.
type winogradGatherJob winogradGradient

// Run does rows [lo, hi): one input channel of a run of outputs each.
func (t *winogradGatherJob) Run(lo, hi int) {
	j := (*winogradGradient)(t)
	s := winogradScratches.Get()
	for row := lo; row < hi; row++ {
		c, out := row/j.out.count, row%j.out.count
		in := c / j.in.size
		j.gather(j.p[(in*j.out.count+out)*j.kind.positions()*j.ppos:], in, out, c-in*j.in.size, &s.room)
	}
	winogradScratches.Put(s)
}

// gather adds the gradients of a pair of runs for input c of its run to dw.
func (j *winogradGradient) gather(p []float32, in, out, c int, room *winogradRoom) {
	pos := j.g.C * j.g.OutC
	dst := j.dw[(in*j.in.size+c)*j.g.OutC+out*j.out.size:]
	j.level.winogradGather(j.kind.gather, j.out.of(out), p[c*j.out.size:], j.kind.alpha*j.ppos, j.ppos, dst, j.kind.r*pos, pos, 4*j.out.size, room)
}
