package mahalanobis

// Costs of one anchor with n positives and k negatives, in units of one triplet's
// sigmoid and its sums (1.5 ns on the machine where they were measured).

// tripleSums is of the sums of a gradient over triplets, panelSums over panels.
func tripleSums(n, k int) float64 { return float64(n) * float64(k) }

func panelSums(n, k int, spread float64) float64 {
	inUse := spread / width
	return float64(20*float64(n+k)) + float64(100*inUse*min(inUse, reach))
}

// tripleHessian and panelHessian are of T of a Hessian of m parameters.
func tripleHessian(n, k, m int) float64 {
	return float64(n) * float64(k) * (2.2 + float64(0.08*float64(m)))
}
func panelHessian(n, k, m int) float64 { return 24 * float64(n+k) * float64(m) }

// hessianCost estimates how many evaluations of the gradient a Hessian takes.
func (r *Risk) hessianCost() float64 {
	m := r.Dim()
	hessian, gradient := 0.0, 0.0
	for _, t := range r.parts {
		n, points := float64(t.n), float64(t.n+t.m)
		hessian += float64(n * (min(tripleHessian(t.n, t.m, m), panelHessian(t.n, t.m, m)) + float64(0.15*points*float64(m*m))))
		gradient += float64(n * (min(tripleSums(t.n, t.m), 20*points) + float64((10+float64(1.5*float64(r.d)))*points)))
	}
	return hessian / gradient
}
