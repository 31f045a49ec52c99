package lp

import (
	"math"
	"slices"
)

// kernel is a basis of an lp: the tight rows and the basic variables, and the
// inverse of the square matrix that they make. Slack rows and variables at a bound
// need no more.
type kernel struct {
	Basic   []int32 // (k) variables
	Tight   []int32 // (k) rows
	at      []int32 // (m) place of a variable in basic, or -1
	tightAt []int32 // (rows) place of a row in tight, or -1

	inverse []float64 // (k, k) by basic and tight, rows wide apart
	wide    int
}

func (k *kernel) size() int { return len(k.Basic) }

// Row returns the inverse's row of the variable at place p.
func (k *kernel) Row(p int) []float64 { return k.inverse[p*k.wide:][:len(k.Tight)] }

// swapColumn lets variable in take the place p of another: its column times the
// inverse is w.
func (k *kernel) swapColumn(p int, in int32, w []float64) {
	k.at[k.Basic[p]] = -1
	k.Basic[p], k.at[in] = in, int32(p)
	pivot := k.Row(p)
	f := 1 / w[p]
	for t := range pivot {
		pivot[t] *= f
	}
	for q := range k.Basic {
		if q != p && w[q] != 0 {
			addScaled(k.Row(q), pivot, -w[q])
		}
	}
}

// swapRow lets row in take the place t of another: the inverse times it is rho.
func (k *kernel) swapRow(t int, in int32, rho []float64) {
	k.tightAt[k.Tight[t]] = -1
	k.Tight[t], k.tightAt[in] = in, int32(t)
	for p := range k.Basic {
		row := k.Row(p)
		if f := row[t] / rho[t]; f != 0 {
			addScaled(row, rho, -f)
			row[t] = f
		}
	}
}

// grow adds variable j and row i, whose tableau entry is g: w is the column of j and
// rho the row of i in terms of the basis.
func (k *kernel) grow(j, i int32, g float64, w, rho []float64) {
	n := k.size()
	if n == k.wide {
		wide := max(64, 2*k.wide)
		inverse := make([]float64, wide*wide)
		for p := range n {
			copy(inverse[p*wide:], k.Row(p))
		}
		k.inverse, k.wide = inverse, wide
	}
	k.Basic, k.Tight = append(k.Basic, j), append(k.Tight, i)
	k.at[j], k.tightAt[i] = int32(n), int32(n)
	for p := range n {
		f := w[p] / g
		row := k.Row(p)
		if f != 0 {
			addScaled(row[:n], rho, f)
		}
		row[n] = -f
	}
	last := k.Row(n)
	for t := range n {
		last[t] = -rho[t] / g
	}
	last[n] = 1 / g
}

// shrink takes out the variable at p and the row at t; what comes last fills their
// places.
func (k *kernel) shrink(p, t int) {
	n := k.size() - 1
	pivot := slices.Clone(k.Row(p))
	for q := range k.Basic {
		row := k.Row(q)
		if f := row[t] / pivot[t]; f != 0 && q != p {
			addScaled(row, pivot, -f)
		}
		row[t] = row[n]
	}
	copy(k.Row(p), k.Row(n))
	k.at[k.Basic[p]], k.tightAt[k.Tight[t]] = -1, -1
	if p != n {
		k.Basic[p] = k.Basic[n]
		k.at[k.Basic[p]] = int32(p)
	}
	if t != n {
		k.Tight[t] = k.Tight[n]
		k.tightAt[k.Tight[t]] = int32(t)
	}
	k.Basic, k.Tight = k.Basic[:n], k.Tight[:n]
}

// invert computes the inverse by Gauss-Jordan elimination. Variables whose
// column depends on others, and as many rows, leave. It returns false where l was
// stopped.
func (k *kernel) invert(l *Problem) bool {
	n := k.size()
	if n == 0 {
		return true
	}
	// The matrix by rows, and beside it what becomes the inverse.
	wide := 2 * n
	a := make([]float64, n*wide)
	count := make([]int, n)
	for t, i := range k.Tight {
		col, val := l.Entries(i)
		for e, j := range col {
			if p := k.at[j]; p >= 0 {
				a[t*wide+int(p)] = val[e]
				count[p]++
			}
		}
		a[t*wide+n+t] = 1
	}
	order := make([]int, n)
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(p, q int) int { return count[p] - count[q] })
	pivotRow := make([]int, n) // of each column, or -1
	used := make([]bool, n)
	var dropped []int
	for done, p := range order {
		if done%16 == 0 && l.Stopped() {
			return false
		}
		best, at := 1e-9, -1
		for t := range n {
			if v := math.Abs(a[t*wide+p]); !used[t] && v > best {
				best, at = v, t
			}
		}
		pivotRow[p] = at
		if at < 0 {
			dropped = append(dropped, p)
			continue
		}
		used[at] = true
		pivot := a[at*wide:][:wide]
		f := 1 / pivot[p]
		for c := range pivot {
			pivot[c] *= f
		}
		for t := range n {
			if f := a[t*wide+p]; t != at && f != 0 {
				addScaled(a[t*wide:][:wide], pivot, -f)
				l.Work += int64(wide)
			}
		}
		l.Work += int64(wide + n)
	}
	if len(dropped) > 0 {
		k.drop(dropped, used)
		return k.invert(l)
	}
	for p, t := range pivotRow {
		copy(k.Row(p), a[t*wide+n:][:n])
	}
	return true
}

// drop takes the variables at these places and the rows without a pivot out of the
// basis; the inverse is then void.
func (k *kernel) drop(places []int, used []bool) {
	for _, p := range places {
		k.at[k.Basic[p]] = -1
		k.Basic[p] = -1
	}
	for t, ok := range used {
		if !ok {
			k.tightAt[k.Tight[t]] = -1
			k.Tight[t] = -1
		}
	}
	gone := func(v int32) bool { return v < 0 }
	k.Basic, k.Tight = slices.DeleteFunc(k.Basic, gone), slices.DeleteFunc(k.Tight, gone)
	for p, j := range k.Basic {
		k.at[j] = int32(p)
	}
	for t, i := range k.Tight {
		k.tightAt[i] = int32(t)
	}
}
