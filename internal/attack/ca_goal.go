package attack

import (
	"math"
	"sort"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// candidateGoal evaluates the objective of CA. Its hinges are summed by the place
// of d(c, q) among the sorted d(x, q), which stay the same while c moves: no term
// of the sum is visited.
type candidateGoal struct {
	*ca
	z      *array.Array
	per    []float64
	grad   *array.Array
	direct []float64 // (B, D)
}

// Run does candidates [lo, hi).
func (c *candidateGoal) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		z := c.z.Row(i)
		direct := c.direct[i*len(z) : (i+1)*len(z)]
		clear(direct)
		value := 0.0
		for r, target := range c.Targets(i) {
			q := c.g.X.Row(int(target))
			v, slope := c.hinges(i*c.w+r, math.Sqrt(kernel.SquaredDistanceLanes(z, q)))
			value += v
			addDirection(direct, z, q, slope)
		}
		c.per[i] = value / float64(c.w)
		if c.grad == nil {
			continue
		}
		g := c.grad.Row(i)
		for k, v := range direct {
			g[k] = float32(v / float64(c.w))
		}
	}
}

// hinges returns the objective of one query at distance d(c, q), and its slope.
func (c *candidateGoal) hinges(table int, at float64) (value, slope float64) {
	switch {
	case c.pure && c.up:
		return at, 1
	case c.pure:
		return -at, -1
	}
	n := float64(c.tables.n)
	if c.up {
		count, sum, _ := c.tables.below(table, at)
		return (float64(float64(count)*at) - sum) / n, float64(count) / n
	}
	count, sum, all := c.tables.below(table, math.Nextafter(at, math.Inf(1)))
	more := n - float64(count)
	return (all - sum - float64(more*at)) / n, -more / n
}

// sumBlock is the number of sorted distances between two stored sums.
const sumBlock = 64

// tables are sorted distances, and sums of their beginnings.
type tables struct {
	b, w, n int
	sorted  []float32 // (B W, N)
	sums    []float64 // (B W, blocks + 1): of the first 0, 64, 128, ... and of all

	r int // while fill runs
	d *retrieval.Distances
}

func (t *tables) blocks() int { return t.n / sumBlock }

// begin makes room for b times w tables of n distances.
func (t *tables) begin(b, w, n int) {
	t.b, t.w, t.n = b, w, n
	if size := b * w * n; cap(t.sorted) < size {
		t.sorted, t.sums = make([]float32, size), make([]float64, b*w*(t.blocks()+2))
	}
}

// fill makes the tables of place r from distances just begun, and hands those
// back.
func (t *tables) fill(r int, d *retrieval.Distances) {
	t.r, t.d = r, d
	par.Do(t.b, 1, t)
	d.Release()
	t.d = nil
}

// of returns table k.
func (t *tables) of(k int) (sorted []float32, sums []float64) {
	s := t.blocks() + 2
	return t.sorted[k*t.n : (k+1)*t.n], t.sums[k*s : (k+1)*s]
}

// Run makes the tables of candidates [lo, hi).
func (t *tables) Run(lo, hi int) {
	spare := spareRows.Get()
	for i := lo; i < hi; i++ {
		t.d.Finish(i)
		sorted, sums := t.of(i*t.w + t.r)
		copy(sorted, t.d.Row(i))
		retrieval.Ascending(sorted, spare)
		sum := 0.0
		for j, v := range sorted {
			if j%sumBlock == 0 {
				sums[j/sumBlock] = sum
			}
			sum += float64(v)
		}
		if t.n%sumBlock == 0 {
			sums[t.blocks()] = sum
		}
		sums[t.blocks()+1] = sum
	}
	spareRows.Put(spare)
}

// below returns how many distances of table k are below x, their sum, and the sum
// of all.
func (t *tables) below(k int, x float64) (count int, sum, all float64) {
	sorted, sums := t.of(k)
	count = sort.Search(len(sorted), func(j int) bool { return !(float64(sorted[j]) < x) })
	sum = sums[count/sumBlock]
	for _, v := range sorted[count/sumBlock*sumBlock : count] {
		sum += float64(v)
	}
	return count, sum, sums[len(sums)-1]
}
