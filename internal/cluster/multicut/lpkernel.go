package multicut

import (
	"math"
	"slices"
)

// lpKernel is a basis of an lp: the tight rows and the basic variables, and the
// inverse of the square matrix that they make. Slack rows and variables at a bound
// need no more.
type lpKernel struct {
	basic   []int32 // (k) variables
	tight   []int32 // (k) rows
	at      []int32 // (m) place of a variable in basic, or -1
	tightAt []int32 // (rows) place of a row in tight, or -1

	inverse []float64 // (k, k) by basic and tight, rows wide apart
	wide    int
}

func (k *lpKernel) size() int { return len(k.basic) }

// row returns the inverse's row of the variable at place p.
func (k *lpKernel) row(p int) []float64 { return k.inverse[p*k.wide:][:len(k.tight)] }

// swapColumn lets variable in take the place p of another: its column times the
// inverse is w.
func (k *lpKernel) swapColumn(p int, in int32, w []float64) {
	k.at[k.basic[p]] = -1
	k.basic[p], k.at[in] = in, int32(p)
	pivot := k.row(p)
	f := 1 / w[p]
	for t := range pivot {
		pivot[t] *= f
	}
	for q := range k.basic {
		if q != p && w[q] != 0 {
			lpAdd(k.row(q), pivot, -w[q])
		}
	}
}

// swapRow lets row in take the place t of another: the inverse times it is rho.
func (k *lpKernel) swapRow(t int, in int32, rho []float64) {
	k.tightAt[k.tight[t]] = -1
	k.tight[t], k.tightAt[in] = in, int32(t)
	for p := range k.basic {
		row := k.row(p)
		if f := row[t] / rho[t]; f != 0 {
			lpAdd(row, rho, -f)
			row[t] = f
		}
	}
}

// grow adds variable j and row i, whose tableau entry is g: w is the column of j and
// rho the row of i in terms of the basis.
func (k *lpKernel) grow(j, i int32, g float64, w, rho []float64) {
	n := k.size()
	if n == k.wide {
		wide := max(64, 2*k.wide)
		inverse := make([]float64, wide*wide)
		for p := range n {
			copy(inverse[p*wide:], k.row(p))
		}
		k.inverse, k.wide = inverse, wide
	}
	k.basic, k.tight = append(k.basic, j), append(k.tight, i)
	k.at[j], k.tightAt[i] = int32(n), int32(n)
	for p := range n {
		f := w[p] / g
		row := k.row(p)
		if f != 0 {
			lpAdd(row[:n], rho, f)
		}
		row[n] = -f
	}
	last := k.row(n)
	for t := range n {
		last[t] = -rho[t] / g
	}
	last[n] = 1 / g
}

// shrink takes out the variable at p and the row at t; what comes last fills their
// places.
func (k *lpKernel) shrink(p, t int) {
	n := k.size() - 1
	pivot := slices.Clone(k.row(p))
	for q := range k.basic {
		row := k.row(q)
		if f := row[t] / pivot[t]; f != 0 && q != p {
			lpAdd(row, pivot, -f)
		}
		row[t] = row[n]
	}
	copy(k.row(p), k.row(n))
	k.at[k.basic[p]], k.tightAt[k.tight[t]] = -1, -1
	if p != n {
		k.basic[p] = k.basic[n]
		k.at[k.basic[p]] = int32(p)
	}
	if t != n {
		k.tight[t] = k.tight[n]
		k.tightAt[k.tight[t]] = int32(t)
	}
	k.basic, k.tight = k.basic[:n], k.tight[:n]
}

// invert computes the inverse anew by Gauss-Jordan elimination. Variables whose
// column depends on others, and as many rows, leave. It returns false where l was
// stopped.
func (k *lpKernel) invert(l *lp) bool {
	n := k.size()
	if n == 0 {
		return true
	}
	// The matrix by rows, and beside it what becomes the inverse.
	wide := 2 * n
	a := make([]float64, n*wide)
	count := make([]int, n)
	for t, i := range k.tight {
		col, val := l.entries(i)
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
		if done%16 == 0 && l.stopped() {
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
				lpAdd(a[t*wide:][:wide], pivot, -f)
				l.work += int64(wide)
			}
		}
		l.work += int64(wide + n)
	}
	if len(dropped) > 0 {
		k.drop(dropped, used)
		return k.invert(l)
	}
	for p, t := range pivotRow {
		copy(k.row(p), a[t*wide+n:][:n])
	}
	return true
}

// drop takes the variables at these places and the rows without a pivot out of the
// basis; the inverse is then void.
func (k *lpKernel) drop(places []int, used []bool) {
	for _, p := range places {
		k.at[k.basic[p]] = -1
		k.basic[p] = -1
	}
	for t, ok := range used {
		if !ok {
			k.tightAt[k.tight[t]] = -1
			k.tight[t] = -1
		}
	}
	gone := func(v int32) bool { return v < 0 }
	k.basic, k.tight = slices.DeleteFunc(k.basic, gone), slices.DeleteFunc(k.tight, gone)
	for p, j := range k.basic {
		k.at[j] = int32(p)
	}
	for t, i := range k.tight {
		k.tightAt[i] = int32(t)
	}
}
