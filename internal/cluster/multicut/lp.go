package multicut

import (
	"math"
	"slices"
)

// lpStatus says how a linear programme's solution ended.
type lpStatus int

const (
	lpOptimal lpStatus = iota
	lpCutoff           // the value is not below the wanted one, or there is no solution
	lpLimit            // out of work
	lpStuck            // rounding allows no further pivot
)

const (
	lpFeasible = 1e-9 // infeasibility of a variable or row that is let be
	lpPivot    = 1e-8 // smallest pivot
	lpDrift    = 1e-7 // disagreement of a pivot's two computations that asks for a fresh inverse
	lpFresh    = 400  // pivots between two fresh inverses
	lpWeight   = 1e7  // a weight of pricing that has all start again
)

// lp is the linear programme
//
//	min c x  where  A x >= b,  lo <= x <= hi  within [0, 1],
//
// solved by the dual simplex method with bounded variables (Koberstein 2005). Rows
// may be added at any time and bounds be changed: the basis stays dual feasible.
//
// A has small integers. Most rows are slack and most variables at a bound, so that
// the basis is kept by its kernel, the tight rows by the variables between their
// bounds, whose dense inverse is updated in O(k^2).
type lp struct {
	cost   []float64 // (m) what is minimised: true with a perturbation against ties
	truth  []float64 // (m) true costs
	lo, hi []float64 // (m)

	start []int32 // (rows+1) of the rows' entries
	col   []int32
	val   []float64
	rhs   []float64 // (rows)
	cols  [][]lpEntry

	x       []float64 // (m)
	upper   []bool    // (m) a variable outside the basis stands at hi
	reduced []float64 // (m) reduced costs, 0 in the basis
	slack   []float64 // (rows) A x - b
	dual    []float64 // (rows) >= 0, 0 for rows that are not tight
	weight  []float64 // (m + rows) of pricing, variables first: dual Devex

	kernel lpKernel

	// Scratch of a pivot.
	row    []float64 // (m) the leaving variable's row of the tableau
	marked []int32   // its entries
	mark   []bool    // (m)
	rho    []float64 // (k) the row's part of tight rows
	dx     []float64 // (k) how the basic variables move
	ds     []float64 // (rows) how the slacks move
	moved  []int32   // rows with ds
	rowHit []bool    // (rows)

	stop   func() bool // whether to end at once, as at a limit; nil: never
	pivots int
	work   int64 // multiplications, about
	stale  int   // pivots since the last fresh inverse
}

type lpEntry struct {
	row int32
	val float64
}

// newLP returns a programme without rows; x = 0 is its solution. cost >= 0.
func newLP(cost, perturbed []float64) *lp {
	m := len(cost)
	l := &lp{
		cost: perturbed, truth: cost, lo: make([]float64, m), hi: make([]float64, m), start: []int32{0}, cols: make([][]lpEntry, m),
		x: make([]float64, m), upper: make([]bool, m), reduced: slices.Clone(perturbed), weight: make([]float64, m),
		row: make([]float64, m), mark: make([]bool, m),
	}
	for j := range m {
		l.hi[j], l.weight[j] = 1, 1
	}
	l.kernel.at = make([]int32, m)
	for j := range m {
		l.kernel.at[j] = -1
	}
	return l
}

// rows returns the number of rows.
func (l *lp) rows() int { return len(l.rhs) }

// entries returns row i's variables and their values.
func (l *lp) entries(i int32) ([]int32, []float64) {
	return l.col[l.start[i]:l.start[i+1]], l.val[l.start[i]:l.start[i+1]]
}

// add appends the row val x[col] >= rhs. The slices are copied.
func (l *lp) add(col []int32, val []float64, rhs float64) {
	i := int32(l.rows())
	slack := -rhs
	for e, j := range col {
		l.cols[j] = append(l.cols[j], lpEntry{i, val[e]})
		slack += val[e] * l.x[j]
	}
	l.col, l.val = append(l.col, col...), append(l.val, val...)
	l.start = append(l.start, int32(len(l.col)))
	l.rhs = append(l.rhs, rhs)
	l.slack, l.dual = append(l.slack, slack), append(l.dual, 0)
	l.weight = append(l.weight, 1)
	l.ds, l.rowHit = append(l.ds, 0), append(l.rowHit, false)
	l.kernel.tightAt = append(l.kernel.tightAt, -1)
}

// purge drops all rows that are slack. Nothing else changes.
func (l *lp) purge() {
	k := &l.kernel
	start, col, val, rhs := l.start, l.col, l.val, l.rhs
	slack, dual, tightAt, weight := l.slack, l.dual, k.tightAt, l.weight
	m := len(l.x)
	l.start, l.col, l.val, l.rhs = []int32{0}, nil, nil, nil
	l.slack, l.dual, l.ds, l.rowHit = nil, nil, nil, nil
	l.weight, k.tightAt = slices.Clone(weight[:m]), nil
	for j := range l.cols {
		l.cols[j] = l.cols[j][:0]
	}
	for i, t := range tightAt {
		if t < 0 && slack[i] > lpFeasible {
			continue
		}
		row := int32(l.rows())
		l.add(col[start[i]:start[i+1]], val[start[i]:start[i+1]], rhs[i])
		l.slack[row], l.dual[row], l.weight[m+int(row)] = slack[i], dual[i], weight[m+i]
		if k.tightAt[row] = t; t >= 0 {
			k.tight[t] = row
		}
	}
}

// bound sets the bounds of variable j; place must follow the last change.
func (l *lp) bound(j int32, lo, hi float64) { l.lo[j], l.hi[j] = lo, hi }

// place puts the variables outside the basis to the bounds that their reduced costs
// ask for and computes the others and the slacks anew.
func (l *lp) place() {
	for j := range l.x {
		if l.kernel.at[j] >= 0 {
			continue
		}
		l.upper[j] = l.reduced[j] < 0
		if l.upper[j] {
			l.x[j] = l.hi[j]
		} else {
			l.x[j] = l.lo[j]
		}
	}
	l.primal()
}

// primal computes the basic variables and all slacks from the others.
func (l *lp) primal() {
	k := &l.kernel
	right := make([]float64, k.size())
	for t, i := range k.tight {
		s := l.rhs[i]
		col, val := l.entries(i)
		for e, j := range col {
			if k.at[j] < 0 {
				s -= val[e] * l.x[j]
			}
		}
		right[t] = s
	}
	for p, j := range k.basic {
		l.x[j] = lpDot(k.row(p), right)
	}
	for i := range l.rhs {
		if k.tightAt[i] >= 0 {
			l.slack[i] = 0
			continue
		}
		s := -l.rhs[i]
		col, val := l.entries(int32(i))
		for e, j := range col {
			s += val[e] * l.x[j]
		}
		l.slack[i] = s
	}
	l.work += int64(len(l.val) + k.size()*k.size())
}

// prices computes the duals and the reduced costs from the basis. What rounding has
// made infeasible is set to 0.
func (l *lp) prices() {
	k := &l.kernel
	dual := make([]float64, k.size())
	for p, j := range k.basic {
		if c := l.cost[j]; c != 0 {
			lpAdd(dual, k.row(p), c)
		}
	}
	clear(l.dual)
	copy(l.reduced, l.cost)
	for t, i := range k.tight {
		y := max(0, dual[t])
		l.dual[i] = y
		if y == 0 {
			continue
		}
		col, val := l.entries(i)
		for e, j := range col {
			l.reduced[j] -= y * val[e]
		}
	}
	for _, j := range k.basic {
		l.reduced[j] = 0
	}
	l.work += int64(len(l.val) + k.size()*k.size())
}

// refresh inverts the kernel and computes all from it. Variables and rows that make
// it singular leave the basis. Where it is stopped it returns false: the duals are as
// they were, and bound the programme still, but nothing can be solved on.
func (l *lp) refresh() bool {
	if !l.kernel.invert(l) {
		return false
	}
	l.stale = 0
	l.prices()
	l.place()
	return true
}

func (l *lp) stopped() bool { return l.stop != nil && l.stop() }

// value returns a lower bound on c x of the true costs over the programme, from the
// duals alone (Neumaier and Shcherbina 2004): whatever they are, if not negative,
//
//	c x >= y b + sum over j of min over lo <= x_j <= hi of (c_j - y A_j) x_j.
//
// What its sums may lose is taken off.
func (l *lp) value() float64 {
	left := slices.Clone(l.truth)
	size := make([]float64, len(left)) // of what went into left
	var sum, most float64
	longest := 1
	for i, y := range l.dual {
		if y <= 0 {
			continue
		}
		sum += y * l.rhs[i]
		most += y * math.Abs(l.rhs[i])
		col, val := l.entries(int32(i))
		for e, j := range col {
			left[j] -= y * val[e]
			size[j] += y * math.Abs(val[e])
		}
	}
	for j, c := range left {
		longest = max(longest, len(l.cols[j]))
		// No variable is further from 0 than 1.
		if c >= 0 {
			sum += c * l.lo[j]
		} else {
			sum += c * l.hi[j]
		}
		most += size[j] + l.truth[j]
	}
	l.work += int64(len(l.val))
	return sum - 0x1p-51*float64(longest+len(l.dual)+len(left))*most
}

func lpDot(a, b []float64) float64 {
	b = b[:len(a)]
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// lpAdd adds f b to a.
func lpAdd(a, b []float64, f float64) {
	b = b[:len(a)]
	for i, v := range b {
		a[i] += f * v
	}
}
