package metric

import "slices"

// kthSmallest returns the k-th smallest number of v, counted from 1: that of a sorted
// v. It uses v up: other numbers than before may be left in it.
func kthSmallest(v []float64, k int) float64 {
	if k <= fewFirst {
		insertFirst(v, k)
	} else {
		quickselect(v, k)
	}
	return v[k-1]
}

// fewFirst is the largest k for which insertion is faster.
const fewFirst = 10

// insertFirst writes the k smallest numbers over the front, in order.
func insertFirst(v []float64, k int) {
	for i := 1; i < len(v); i++ { // the k smallest so far are in order
		x := v[i]
		if i >= k && x >= v[k-1] {
			continue
		}
		j := min(i, k-1)
		for ; j > 0 && v[j-1] > x; j-- {
			v[j] = v[j-1]
		}
		v[j] = x
	}
}

// quickselect brings the k-th smallest number to its place (Hoare 1961), the median
// of three as pivot. A part that a pivot leaves nearly whole, as equal numbers do, is
// sorted, so that the worst case is that of one sort.
func quickselect(v []float64, k int) {
	lo, hi := 0, len(v) // what is before lo is no larger, what is from hi on no smaller
	for hi-lo > shortPart {
		part := v[lo:hi]
		s := partition(part)
		switch at := k - 1 - lo; {
		case at == s:
			return
		case at < s:
			hi = lo + s
		default:
			lo += s + 1
		}
		if hi-lo > len(part)-len(part)/16 {
			break
		}
	}
	slices.Sort(v[lo:hi])
}

// shortPart is the length up to which slices.Sort inserts.
const shortPart = 12

// partition moves what is smaller than a pivot before it, and the rest behind it,
// and returns where the pivot is.
func partition(v []float64) int {
	last := len(v) - 1
	at := last
	switch middle(v[0], v[len(v)/2], v[last]) {
	case v[len(v)/2]:
		at = len(v) / 2
	case v[0]:
		at = 0
	}
	v[at], v[last] = v[last], v[at]
	m, s := v[last], 0
	for i, x := range v[:last] {
		v[i] = v[s]
		v[s] = x
		smaller := 0 // a number that is set, not a branch that cannot be foretold
		if x < m {
			smaller = 1
		}
		s += smaller
	}
	v[last], v[s] = v[s], m
	return s
}

// middle is the median of three.
func middle(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}
