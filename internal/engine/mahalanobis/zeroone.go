package mahalanobis

import (
	"slices"
	"sort"

	"tercet/internal/par"
)

// ZeroOne returns the share of all triplets with u >= 0: the empirical risk of the
// paper's 0-1 loss, whose zeta is 0 for plain triplet errors. It is exact: each
// anchor's negatives are sorted, in O(n log n), and triplets with u = 0 count as
// errors.
func ZeroOne(p *Problem, theta []float64, zeta float64) float64 {
	t := newPart(p, Loss{Name: Hinge, Zeta: zeta}, Exact)
	t.transform(Smat(theta, p.D))
	wrong := make([]int64, len(t.chunks))
	par.For(t.n, t.size, func(lo, hi int) {
		a := t.borrow()
		count := int64(0)
		for i := lo; i < hi; i++ {
			a.distances(t, i)
			slices.Sort(a.q)
			for _, v := range a.p {
				count += int64(sort.Search(len(a.q), func(k int) bool { return v-a.q[k]+zeta < 0 }))
			}
		}
		wrong[lo/t.size] = count
		t.spare.Put(a)
	})
	sum := 0.0
	for _, n := range wrong {
		sum += float64(n)
	}
	return sum / p.Triplets()
}
