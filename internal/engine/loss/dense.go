package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Table holds the distances of all pairs of rows, and the gradient with respect to
// each: for losses with more tuples than there are pairs of rows, whose tuples then
// look distances up. Scratch grows to the largest batch seen and is then reused.
type Table struct {
	distance Distance
	eps      float64

	z    *array.Array
	rows int
	sums rowSums   // (rows) sums of the coordinates; Euclidean with eps only
	Dist []float64 // (rows, rows): Dist[i*rows+j] is that of i and j, in this order
	Coef []float64 // (rows, rows): dLoss/d(dist)

	multiplied bool      // Dist is by products
	products   *products // nil: all in float64, by differences

	measuring tableJob
	pulling   tablePullJob
}

// NewTable returns a table of distances without eps.
func NewTable(d Distance) Table { return Table{distance: d} }

// crowded reports whether so many edges on so many rows are better served by a
// table of all pairs. In 64 bits: the square of 60,000 rows is no int on a 32-bit machine.
func crowded(edges, rows int) bool { return int64(edges) >= int64(rows)*int64(rows)/2 }

// Measure fills Dist and clears Coef. A distance that is NaN or infinite is an
// error, whether a tuple uses it or not.
func (t *Table) Measure(z *array.Array) error {
	t.z, t.rows = z, z.Shape[0]
	n := t.rows
	t.Dist, t.Coef = Grow(t.Dist, n*n), Grow(t.Coef, n*n)
	clear(t.Coef)
	if t.multiplied = t.products != nil && n >= manyRows && t.multiply(); t.multiplied {
		return nil
	}
	if t.eps != 0 {
		t.sums.fill(z)
	}
	t.measuring.t = t
	par.Do(n, 1, &t.measuring)
	for e, d := range t.Dist {
		if d-d != 0 {
			return fmt.Errorf("loss: %w: rows %d and %d of the batch are %v apart; their embeddings hold NaN or infinite numbers", ErrNonFinite, e/n, e%n, d)
		}
	}
	return nil
}

// entry is the distance of two rows and its slope.
type entry struct{ dist, coef *float64 }

// at returns the entry of rows i and j, in this order.
func (t *Table) at(i, j int32) entry {
	e := int(i)*t.rows + int(j)
	return entry{&t.Dist[e], &t.Coef[e]}
}

type tableJob struct{ t *Table }

// Run measures rows [lo, hi) against themselves and those before.
func (m *tableJob) Run(lo, hi int) {
	t := m.t
	n, cols := t.rows, t.z.Shape[1]
	for i := lo; i < hi; i++ {
		x := t.z.Data[i*cols:][:cols]
		for j := range i + 1 {
			square := kernel.SquaredDistance(x, t.z.Data[j*cols:][:cols])
			there, back := square, square
			if t.eps != 0 {
				there, back = t.sums.shift(square, i, j, cols, t.eps), t.sums.shift(square, j, i, cols, t.eps)
			}
			if t.distance == Euclidean {
				there, back = math.Sqrt(there), math.Sqrt(back)
			}
			t.Dist[i*n+j], t.Dist[j*n+i] = there, back
		}
	}
}

// evalPairs is Eval of losses on pairs whose terms are of their distances alone: of many
// pairs, which look them up.
func (t *Table) evalPairs(z *array.Array, pairs []Pair, at func(similar bool, distance float64) pairTerm, reduce Reduction, grad *array.Array) (Result, error) {
	if err := t.Measure(z); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for _, p := range pairs {
		e := t.at(p.I, p.J)
		term := at(p.Similar, *e.dist)
		*e.coef += term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(reduce)
	if grad != nil {
		t.Pull(scale, grad)
	}
	return res, nil
}

// Pull overwrites grad with the sum over pairs of scale * coef * d(dist)/dz. With
// weights q = scale coef/dist (2 scale coef for squared distances) the gradient of
// row i is
//
//	sum_j (q_ij + q_ji) (x_i - x_j) + eps (q_ij - q_ji),
//
// summed in float64 in the order of j.
func (t *Table) Pull(scale float64, grad *array.Array) {
	if t.multiplied {
		t.pullProducts(scale, grad)
		return
	}
	for e, c := range t.Coef {
		switch d := t.Dist[e]; {
		case t.distance == Squared:
			t.Coef[e] = 2 * scale * c
		case d > 0:
			t.Coef[e] = scale * c / d
		default:
			t.Coef[e] = 0
		}
	}
	t.pulling = tablePullJob{t, grad}
	par.Do(t.rows, 1, &t.pulling)
}

// pullBlock is Block of Pull, which reads a row and a column of slopes for each.
const pullBlock = 8 * Block

type tablePullJob struct {
	t    *Table
	grad *array.Array
}

// Run writes the gradients of rows [lo, hi).
func (p *tablePullJob) Run(lo, hi int) {
	t := p.t
	n, cols := t.rows, t.z.Shape[1]
	var acc [pullBlock]float64
	for i := lo; i < hi; i++ {
		own, shift := 0.0, 0.0
		for j := range n {
			if j != i {
				own += t.Coef[i*n+j] + t.Coef[j*n+i]
				shift += t.Coef[i*n+j] - t.Coef[j*n+i]
			}
		}
		for from := 0; from < cols; from += pullBlock {
			to := min(from+pullBlock, cols)
			sum := acc[:to-from]
			for k := range sum {
				sum[k] = t.eps * shift
			}
			kernel.AddScaled(own, t.z.Data[i*cols+from:i*cols+to], sum)
			p.others(i, from, to, sum)
			Narrow(sum, p.grad.Data[i*cols+from:i*cols+to])
		}
	}
}

// others subtracts from sum columns [from, to) of the rows j other than i, each
// times q_ij + q_ji, four rows at a time.
func (p *tablePullJob) others(i, from, to int, sum []float64) {
	t := p.t
	n, cols := t.rows, t.z.Shape[1]
	var w [4]float64
	var x [4][]float32
	held := 0
	for j := range n {
		q := t.Coef[i*n+j] + t.Coef[j*n+i]
		if j == i || q == 0 {
			continue
		}
		w[held], x[held] = q, t.z.Data[j*cols+from:j*cols+to]
		if held++; held == 4 {
			kernel.SubtractFour(&w, x[0], x[1], x[2], x[3], sum)
			held = 0
		}
	}
	for h := range held {
		kernel.AddScaled(-w[h], x[h], sum)
	}
}

// rowSums are the sums of the coordinates of rows, which tell how a distance changes
// when eps is added to every coordinate difference.
type rowSums struct {
	sum []float64
	z   *array.Array
}

func (s *rowSums) fill(z *array.Array) {
	s.sum, s.z = Grow(s.sum, z.Shape[0]), z
	par.Do(z.Shape[0], rowChunk(z.Shape[1]), s)
}

// Run sums rows [lo, hi).
func (s *rowSums) Run(lo, hi int) {
	cols := s.z.Shape[1]
	for r := lo; r < hi; r++ {
		s.sum[r] = kernel.Sum(s.z.Data[r*cols:][:cols])
	}
}

// shift returns |x_i - x_j + eps|^2, given |x_i - x_j|^2.
func (s *rowSums) shift(square float64, i, j, cols int, eps float64) float64 {
	return max(square+float64(2*eps*(s.sum[i]-s.sum[j]))+float64(float64(cols)*eps*eps), 0)
}
