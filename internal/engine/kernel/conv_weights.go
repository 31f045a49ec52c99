package kernel

import "tercet/internal/par"

// weightJob computes a weight gradient: the product of the transposed patch
// matrix (KH*KW*C, n*oh*ow) and dy (n*oh*ow, OutC). Its tasks own a chunk of
// the patch's columns and a group of outputs. Where there is more than one
// group, each sums into its own part, and the parts are added in their order.
// Chunks and groups depend on the sizes alone.
type weightJob struct {
	g            Conv
	level        Level
	oh, ow, rows int
	x, dy, dw    []float32
	chunks, cols int // chunks of the patch, columns of one
	groups, span int // groups of outputs, outputs of one
	parts        []float32
	add          addParts
}

var weightJobs par.Free[weightJob]

// blockRows is the number of outputs whose patches are multiplied at once, the
// summed index of one product: a panel of dy (16 KiB) stays in the first cache,
// the patches (at most 144 KiB) in the second.
const blockRows = 128

// BackwardWeights adds the gradients with respect to the weights to dw and,
// where db is not nil, those with respect to the bias to db.
func (g Conv) BackwardWeights(n int, x, dy, dw, db []float32) {
	oh, ow := g.check(n, len(x), len(dw), len(dy))
	g.checkBias(db)
	if n == 0 {
		return
	}
	j := weightJobs.Get()
	j.g, j.level, j.oh, j.ow, j.rows = g, Current(), oh, ow, n*oh*ow
	j.x, j.dy, j.dw = x, dy, dw
	j.chunks = max(1, min(g.patch()/192, targetTasks), ceilDiv(g.patch(), 288)) // columns: 192 to 288 in large patches
	j.cols = ceilDiv(g.patch(), j.chunks)
	j.chunks = ceilDiv(g.patch(), j.cols)
	blocks := ceilDiv(j.rows, blockRows)
	j.span = ceilDiv(blocks, min(blocks, max(1, targetTasks/j.chunks))) * blockRows
	j.groups = ceilDiv(j.rows, j.span)
	if j.groups > 1 {
		grow(&j.parts, j.groups*len(dw))
	}
	par.Do(j.groups*j.chunks, 1, j)
	if j.groups > 1 {
		j.add = addParts{j.parts, dw, j.groups}
		par.Do(len(dw), 4096, &j.add)
		j.add = addParts{}
	}
	if db != nil {
		AddColumnSums(j.rows, g.OutC, dy, db)
	}
	j.x, j.dy, j.dw = nil, nil, nil
	weightJobs.Put(j)
}

// Run does tasks [lo, hi).
func (j *weightJob) Run(lo, hi int) {
	g := &j.g
	shape := j.level.shape()
	s := gemmScratches.Get()
	grow(&s.edge, edgeSize)
	for t := lo; t < hi; t++ {
		group, p0 := t/j.chunks, t%j.chunks*j.cols
		p1 := min(p0+j.cols, g.patch())
		out, beta := j.dw, float32(1)
		if j.groups > 1 {
			out, beta = j.parts[group*len(j.dw):], 0
		}
		out = out[p0*g.OutC : p1*g.OutC]
		ld := oddLines(p1 - p0)
		grow(&s.a, blockRows*ld)
		end := min((group+1)*j.span, j.rows)
		for r := group * j.span; r < end; r += blockRows {
			k := min(blockRows, end-r)
			g.gather(s.a, ld, j.x, j.oh, j.ow, r, r+k, p0, p1)
			b := panels{data: j.dy[r*g.OutC:], ld: g.OutC}
			if g.OutC > 2*shape.wide || g.OutC%shape.narrow != 0 {
				grow(&s.b, k*shape.packedCols(g.OutC))
				j.level.pack(s.b, k, g.OutC, view{b.data, g.OutC, 1}, 0, ceilDiv(g.OutC, shape.wide))
				b = panels{data: s.b}
			}
			j.level.multiply(p1-p0, g.OutC, k, 1, view{s.a, 1, ld}, b, beta, out, g.OutC, s.edge)
			beta = 1
		}
	}
	gemmScratches.Put(s)
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
