package multicut

import (
	"context"
	"fmt"

	"tercet/internal/par"
)

// denseContraction contracts a complete graph. It keeps the weights between clusters in a
// triangle and, for each row, the best partner to the right: the largest weight of
// all rows is the next contraction. A contraction may lower a row's best weight;
// the row then keeps the old one as an upper bound and is read again only when the
// bound is the largest of all (as fastcluster does, Muellner 2011). Rows are in the
// order of their clusters' first nodes.
type denseContraction struct {
	rule  rule
	n     int       // rows
	left  int       // clusters among them
	w     []float64 // rows of the upper triangle, one after the other
	node  []int32   // (n) first node of the row's cluster
	size  []float64 // (n) nodes of the cluster, 0 where it was joined to another
	best  []float64 // (n) largest priority of the row, or above it where stale; 0 where none is positive
	with  []int32   // (n) column of best
	stale []bool
	root  []int32   // of each node
	toA   []float64 // weights of the clusters to be joined with all others
	toB   []float64
	fixed fixation
}

// maxTriangle bounds the memory of the triangle where the costs come without a
// matrix of their own, in bytes.
const maxTriangle = 4 << 30

func triangleBytes(n int) int64 { return int64(n) * int64(n-1) * 4 }

func errTooLarge(n int) error {
	return fmt.Errorf("%w: the complete graph of %d nodes needs %d MB for its costs, more than %d: use the factored solver or a sparse graph",
		ErrInput, n, int64(n)*int64(n)*4>>20, maxTriangle>>20)
}

func contractDense(ctx context.Context, c Costs, r rule) ([]int32, error) {
	n := c.Nodes()
	if _, ok := c.(*Dense); !ok && triangleBytes(n) > maxTriangle {
		return nil, errTooLarge(n)
	}
	d := &denseContraction{rule: r, n: n, left: n, node: make([]int32, n), size: make([]float64, n), best: make([]float64, n),
		with: make([]int32, n), stale: make([]bool, n), root: make([]int32, n), toA: make([]float64, n), toB: make([]float64, n)}
	d.load(c)
	for i := range d.node {
		d.node[i], d.root[i], d.size[i] = int32(i), int32(i), 1
	}
	if r == fixationRule {
		d.fixed.since = make([]int32, n)
	}
	par.Each(n, 64, func(i int) {
		d.scan(i)
	})
	for step := 0; ; step++ {
		if step%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := d.top()
		if a < 0 {
			return mergedLabels(d.root), nil
		}
		d.join(a, int(d.with[a]))
		if d.left < d.n/2 {
			d.squeeze()
		}
	}
}

// offset returns the place of column 0 of row i, as if it were there.
func (d *denseContraction) offset(i int) int { return i*(2*d.n-i-1)/2 - i - 1 }

func (d *denseContraction) load(c Costs) {
	n := d.n
	d.w = make([]float64, n*(n-1)/2)
	g, ok := c.(*Dense)
	if !ok {
		c.Each(func(i, j int32, cost float64) { d.w[d.offset(int(i))+int(j)] = cost })
		return
	}
	par.Each(n, 64, func(i int) {
		row := d.w[d.offset(i)+i+1:][:n-i-1]
		for j, v := range g.Row(int32(i))[i+1:] {
			row[j] = float64(v)
		}
	})
}

// top returns the row of the best contraction, -1 where there is none.
func (d *denseContraction) top() int {
	for {
		at, most := -1, 0.0
		for i, b := range d.best[:d.n] {
			if b > most {
				at, most = i, b
			}
		}
		if at < 0 || !d.stale[at] {
			return at
		}
		d.scan(at)
	}
}

// scan reads row i and finds its best partner.
func (d *denseContraction) scan(i int) {
	most, at := 0.0, -1
	row := d.w[d.offset(i)+i+1:][:d.n-i-1]
	size := d.size[i+1 : d.n]
	if d.rule == balancedRule {
		own := d.size[i]
		for j, w := range row {
			if w > 0 && size[j] > 0 && w/(own+size[j]) > most {
				most, at = w/(own+size[j]), j
			}
		}
	} else {
		for j, w := range row {
			if w > most && size[j] > 0 {
				most, at = w, j
			}
		}
	}
	d.best[i], d.with[i], d.stale[i] = most, int32(at+i+1), false
}

// join joins the cluster of row b to that of row a, a < b.
func (d *denseContraction) join(a, b int) {
	d.root[d.node[b]] = d.node[a]
	d.gather(a, d.toA)
	d.gather(b, d.toB)
	d.combine(a, b)
	d.size[a] += d.size[b]
	d.size[b], d.best[b], d.stale[b] = 0, 0, false
	d.left--
	d.scatter(a)
	for x, size := range d.size[:a] {
		if size > 0 {
			d.renew(x, a, b)
		}
	}
	for x := a + 1; x < b; x++ {
		if int(d.with[x]) == b && d.best[x] > 0 {
			d.stale[x] = true
		}
	}
	d.scan(a)
}

// gather copies the weights of cluster a with all others to out.
func (d *denseContraction) gather(a int, out []float64) {
	at := a - 1 // of (0, a)
	for x, size := range d.size[:a] {
		if size > 0 {
			out[x] = d.w[at]
		}
		at += d.n - x - 2
	}
	copy(out[a+1:d.n], d.w[at+1:])
}

// scatter is gather the other way, from toA.
func (d *denseContraction) scatter(a int) {
	at := a - 1
	for x, size := range d.size[:a] {
		if size > 0 {
			d.w[at] = d.toA[x]
		}
		at += d.n - x - 2
	}
	copy(d.w[at+1:], d.toA[a+1:d.n])
}

// combine sets toA to what the joined cluster of a and b costs with the others.
func (d *denseContraction) combine(a, b int) {
	toA, toB := d.toA[:d.n], d.toB[:d.n]
	switch d.rule {
	case mutexRule:
		for x, w := range toB {
			if m := max(w, -w); m > max(toA[x], -toA[x]) || w == m && w == -toA[x] {
				toA[x] = w
			}
		}
	case fixationRule:
		d.fixed.combine(a, b, d.best[a], toA, toB)
	default:
		for x, w := range toB {
			toA[x] += w
		}
	}
}

// renew takes the new weight of rows x < a with cluster a, which has swallowed b,
// into account.
func (d *denseContraction) renew(x, a, b int) {
	p := d.toA[x]
	if d.rule == balancedRule {
		p /= d.size[x] + d.size[a]
	}
	with := int(d.with[x])
	switch {
	case p > d.best[x]:
		d.best[x], d.with[x], d.stale[x] = p, int32(a), false
	case d.best[x] == 0 || d.stale[x]:
	case p == d.best[x] && (a <= with || b == with):
		d.with[x] = int32(a)
	case a == with || b == with:
		d.stale[x] = true
	}
}

// squeeze drops the rows and columns of clusters that are gone.
func (d *denseContraction) squeeze() {
	to := make([]int32, d.n)
	live := make([]int32, 0, d.left)
	for i, size := range d.size[:d.n] {
		to[i] = int32(len(live))
		if size > 0 {
			live = append(live, int32(i))
		}
	}
	next := 0
	for k, i := range live {
		at := d.offset(int(i))
		for _, j := range live[k+1:] {
			d.w[next] = d.w[at+int(j)]
			next++
		}
		with := int32(0)
		if d.best[i] > 0 && !d.stale[i] {
			with = to[d.with[i]]
		}
		d.node[k], d.size[k], d.best[k], d.stale[k], d.with[k] = d.node[i], d.size[i], d.best[i], d.stale[i], with
	}
	d.fixed.squeeze(live)
	d.n = len(live)
	d.w = d.w[:next]
}
