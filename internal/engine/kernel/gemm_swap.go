package kernel

import "tercet/internal/par"

// A product with few columns leaves most lanes of its tiles empty. Swapped, it
// is the product of op(B)ᵀ and op(A)ᵀ, whose tiles are full: its few rows are
// those columns. The sums are the same, bit for bit, since a product of two
// numbers does not depend on their order.

// swapJob turns C round into the result of the swapped product, and that round
// into C; it is a par.Runner over the rows of C.
type swapJob struct {
	product
	out  []float32 // (n, m)
	back bool
}

var swapJobs par.Free[swapJob]

// swapsWell reports whether the swapped product is the faster one: where A is
// stored transposed, so that it is read as it lies.
func (x *product) swapsWell(l Level) bool {
	s := l.shape()
	return x.n <= s.narrow*3/4 && x.m >= 2*s.wide && x.k >= 8 && x.a.cs != 1 && x.part == whole
}

func gemmSwapped(l Level, x product) {
	j := swapJobs.Get()
	j.product, j.back = x, false
	grow(&j.out, x.n*x.m)
	if x.beta != 0 {
		par.Do(x.m, max(1, elems/x.n), j)
	}
	gemm(l, product{
		m: x.n, n: x.m, k: x.k, alpha: x.alpha, a: x.b.transposed(), b: x.a.transposed(),
		beta: x.beta, c: j.out, ldc: x.m,
	})
	j.back = true
	par.Do(x.m, max(1, elems/x.n), j)
	j.product = product{}
	swapJobs.Put(j)
}

// Run does rows [lo, hi) of C.
func (j *swapJob) Run(lo, hi int) {
	for col := range j.n {
		out := j.out[col*j.m+lo : col*j.m+hi]
		if !j.back {
			for i := range out {
				out[i] = j.c[(lo+i)*j.ldc+col]
			}
			continue
		}
		for i, v := range out {
			if j.bias != nil {
				v += j.bias[col]
			}
			if j.relu && v <= 0 {
				v = 0
			}
			j.c[(lo+i)*j.ldc+col] = v
		}
	}
}
