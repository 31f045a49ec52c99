package lp

import (
	"math"
	"slices"
)

// Status says how a linear program's solution ended.
type Status int

const (
	Optimal Status = iota // solved
	Cutoff                // the value is not below the cutoff, or there is no solution
	Limited               // out of work
	Stuck                 // rounding allows no further pivot
)

const (
	feasible = 1e-9 // infeasibility of a variable or row that is let be
	pivot    = 1e-8 // smallest pivot
	drift    = 1e-7 // disagreement of a pivot's two computations that asks for a fresh inverse
	fresh    = 400  // pivots between two fresh inverses
	weight   = 1e7  // a weight of pricing that has all start again
)

// Problem is the linear program
//
//	min c x  where  A x >= b,  lo <= x <= hi  within [0, 1],
//
// solved by the dual simplex method with bounded variables (Koberstein 2005). Rows
// may be added at any time and bounds be changed: the basis stays dual feasible.
//
// A has small integers. Most rows are slack and most variables at a bound, so that
// the basis is kept by its kernel, the tight rows by the variables between their
// bounds, whose dense inverse is updated in O(k^2).
type Problem struct {
	cost   []float64 // (m) what is minimized: true with a perturbation against ties
	Truth  []float64 // (m) true costs
	Lo, Hi []float64 // (m)

	start []int32 // (rows+1) of the rows' entries
	col   []int32
	val   []float64
	RHS   []float64 // (rows)
	cols  [][]entry

	X       []float64 // (m)
	upper   []bool    // (m) a variable outside the basis stands at hi
	reduced []float64 // (m) reduced costs, 0 in the basis
	slack   []float64 // (rows) A x - b
	dual    []float64 // (rows) >= 0, 0 for rows that are not tight
	weight  []float64 // (m + rows) of pricing, variables first: dual Devex

	Kernel kernel

	// Scratch of a pivot.
	row    []float64 // (m) the leaving variable's row of the tableau
	marked []int32   // its entries
	mark   []bool    // (m)
	rho    []float64 // (k) the row's part of tight rows
	dx     []float64 // (k) how the basic variables move
	ds     []float64 // (rows) how the slacks move
	moved  []int32   // rows with ds
	rowHit []bool    // (rows)

	Stop   func() bool // whether to end at once, as at a limit; nil: never
	pivots int
	Work   int64 // multiplications, about
	stale  int   // pivots since the last fresh inverse
}

type entry struct {
	row int32
	val float64
}

// New returns a program without rows; x = 0 is its solution. cost >= 0.
func New(cost, perturbed []float64) *Problem {
	m := len(cost)
	l := &Problem{
		cost: perturbed, Truth: cost, Lo: make([]float64, m), Hi: make([]float64, m), start: []int32{0}, cols: make([][]entry, m),
		X: make([]float64, m), upper: make([]bool, m), reduced: slices.Clone(perturbed), weight: make([]float64, m),
		row: make([]float64, m), mark: make([]bool, m),
	}
	for j := range m {
		l.Hi[j], l.weight[j] = 1, 1
	}
	l.Kernel.at = make([]int32, m)
	for j := range m {
		l.Kernel.at[j] = -1
	}
	return l
}

// Rows returns the number of rows.
func (l *Problem) Rows() int { return len(l.RHS) }

// Entries returns row i's variables and their values.
func (l *Problem) Entries(i int32) ([]int32, []float64) {
	return l.col[l.start[i]:l.start[i+1]], l.val[l.start[i]:l.start[i+1]]
}

// Add appends the row val x[col] >= rhs. The slices are copied.
func (l *Problem) Add(col []int32, val []float64, rhs float64) {
	i := int32(l.Rows())
	slack := -rhs
	for e, j := range col {
		l.cols[j] = append(l.cols[j], entry{i, val[e]})
		slack += float64(val[e] * l.X[j])
	}
	l.col, l.val = append(l.col, col...), append(l.val, val...)
	l.start = append(l.start, int32(len(l.col)))
	l.RHS = append(l.RHS, rhs)
	l.slack, l.dual = append(l.slack, slack), append(l.dual, 0)
	l.weight = append(l.weight, 1)
	l.ds, l.rowHit = append(l.ds, 0), append(l.rowHit, false)
	l.Kernel.tightAt = append(l.Kernel.tightAt, -1)
}

// Purge drops all rows that are slack. Nothing else changes.
func (l *Problem) Purge() {
	k := &l.Kernel
	start, col, val, rhs := l.start, l.col, l.val, l.RHS
	slack, dual, tightAt, weight := l.slack, l.dual, k.tightAt, l.weight
	m := len(l.X)
	l.start, l.col, l.val, l.RHS = []int32{0}, nil, nil, nil
	l.slack, l.dual, l.ds, l.rowHit = nil, nil, nil, nil
	l.weight, k.tightAt = slices.Clone(weight[:m]), nil
	for j := range l.cols {
		l.cols[j] = l.cols[j][:0]
	}
	for i, t := range tightAt {
		if t < 0 && slack[i] > feasible {
			continue
		}
		row := int32(l.Rows())
		l.Add(col[start[i]:start[i+1]], val[start[i]:start[i+1]], rhs[i])
		l.slack[row], l.dual[row], l.weight[m+int(row)] = slack[i], dual[i], weight[m+i]
		if k.tightAt[row] = t; t >= 0 {
			k.Tight[t] = row
		}
	}
}

// Bound sets the bounds of variable j; Place must follow the last change.
func (l *Problem) Bound(j int32, lo, hi float64) { l.Lo[j], l.Hi[j] = lo, hi }

// Place puts the variables outside the basis to the bounds that their reduced costs
// ask for and recomputes the others and the slacks.
func (l *Problem) Place() {
	for j := range l.X {
		if l.Kernel.at[j] >= 0 {
			continue
		}
		l.upper[j] = l.reduced[j] < 0
		if l.upper[j] {
			l.X[j] = l.Hi[j]
		} else {
			l.X[j] = l.Lo[j]
		}
	}
	l.primal()
}

// primal computes the basic variables and all slacks from the others.
func (l *Problem) primal() {
	k := &l.Kernel
	right := make([]float64, k.size())
	for t, i := range k.Tight {
		s := l.RHS[i]
		col, val := l.Entries(i)
		for e, j := range col {
			if k.at[j] < 0 {
				s -= float64(val[e] * l.X[j])
			}
		}
		right[t] = s
	}
	for p, j := range k.Basic {
		l.X[j] = dot(k.Row(p), right)
	}
	for i := range l.RHS {
		if k.tightAt[i] >= 0 {
			l.slack[i] = 0
			continue
		}
		s := -l.RHS[i]
		col, val := l.Entries(int32(i))
		for e, j := range col {
			s += float64(val[e] * l.X[j])
		}
		l.slack[i] = s
	}
	l.Work += int64(len(l.val) + k.size()*k.size())
}

// prices computes the duals and the reduced costs from the basis. What rounding has
// made infeasible is set to 0.
func (l *Problem) prices() {
	k := &l.Kernel
	dual := make([]float64, k.size())
	for p, j := range k.Basic {
		if c := l.cost[j]; c != 0 {
			addScaled(dual, k.Row(p), c)
		}
	}
	clear(l.dual)
	copy(l.reduced, l.cost)
	for t, i := range k.Tight {
		y := max(0, dual[t])
		l.dual[i] = y
		if y == 0 {
			continue
		}
		col, val := l.Entries(i)
		for e, j := range col {
			l.reduced[j] -= float64(y * val[e])
		}
	}
	for _, j := range k.Basic {
		l.reduced[j] = 0
	}
	l.Work += int64(len(l.val) + k.size()*k.size())
}

// refresh inverts the kernel and computes all from it. Variables and rows that make
// it singular leave the basis. Where it is stopped it returns false: the duals are as
// they were, and bound the program still, but nothing can be solved on.
func (l *Problem) refresh() bool {
	if !l.Kernel.invert(l) {
		return false
	}
	l.stale = 0
	l.prices()
	l.Place()
	return true
}

// Stopped says whether Stop asks for an end.
func (l *Problem) Stopped() bool { return l.Stop != nil && l.Stop() }

// Value returns a lower bound on c x of the true costs over the program, from the
// duals alone (Neumaier and Shcherbina 2004): whatever they are, if not negative,
//
//	c x >= y b + sum over j of min over lo <= x_j <= hi of (c_j - y A_j) x_j.
//
// What its sums may lose is taken off.
func (l *Problem) Value() float64 {
	left := slices.Clone(l.Truth)
	size := make([]float64, len(left)) // of what went into left
	var sum, most float64
	longest := 1
	for i, y := range l.dual {
		if y <= 0 {
			continue
		}
		sum += float64(y * l.RHS[i])
		most += float64(y * math.Abs(l.RHS[i]))
		col, val := l.Entries(int32(i))
		for e, j := range col {
			left[j] -= float64(y * val[e])
			size[j] += float64(y * math.Abs(val[e]))
		}
	}
	for j, c := range left {
		longest = max(longest, len(l.cols[j]))
		// No variable is further from 0 than 1.
		if c >= 0 {
			sum += float64(c * l.Lo[j])
		} else {
			sum += float64(c * l.Hi[j])
		}
		most += size[j] + l.Truth[j]
	}
	l.Work += int64(len(l.val))
	return sum - float64(0x1p-51*float64(longest+len(l.dual)+len(left))*most)
}

func dot(a, b []float64) float64 {
	b = b[:len(a)]
	s := 0.0
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// addScaled adds f b to a.
func addScaled(a, b []float64, f float64) {
	b = b[:len(a)]
	for i, v := range b {
		a[i] += float64(f * v)
	}
}
