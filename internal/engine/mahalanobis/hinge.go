package mahalanobis

import "math"

// softHinge is the hinge with its kink rounded over a width tau, the Delta of a Loss:
//
//	phi_tau(u) = u/2 + huber(u)/tau + tau/8,  huber with delta = tau/2,
//
// which is max(0, u) outside |u| < tau/2 and has the slope s = u/tau + 1/2 inside.
const softHinge = "soft hinge"

// hinged begins with tau = zeta and narrows it by this, down to this share.
const (
	narrowed = 0.2
	leastTau = 1e-9
)

// epsilon is the distance of 1 to the next float64. What the two sides may have lost to
// rounding, of numbers u as large as zeta, counts for their difference; a dual above the
// objective tells of more.
const epsilon = 0x1p-52

// hinged minimizes F_S of the hinge. It rounds the kink over ever smaller widths tau,
// each time from the last minimizer, until the certificate is small enough. That comes
// from the dual: max(0, u) is the largest s u over s in [0, 1], so that for any such
// s_ijk, with means over triplets and M = aa^T - bb^T,
//
//	F_S(A(S)) >= D(s) = zeta mean(s) + <mean(s M), w_0> - ||mean(s M)||^2 / (2 sigma),
//
// w_0 the prior, and ||w - A(S)||^2 <= 2 (F_S(w) - D(s)) / sigma by strong convexity, with the slopes of
// the rounded hinge as s. The solution's GradNorm is that of the rounded objective.
func (f *objective) hinged(o RRMOptions) (Solution, error) {
	hinge := f.r.loss
	defer f.r.setLoss(hinge)
	var best Solution
	best.Certificate = math.Inf(1)
	var why error
	wanted := f.tol
	for tau := hinge.Zeta; tau > leastTau*hinge.Zeta; tau *= narrowed {
		f.r.setLoss(Loss{Name: softHinge, Zeta: hinge.Zeta, Delta: tau})
		f.tol = wanted / 10
		f.restart()
		why = f.minimize(o.Method)
		s := f.solution()
		grad := make([]float64, len(s.Theta))
		f.r.ValueGrad(s.Theta, grad)
		dual := float64(hinge.Zeta*f.r.meanSlope()) + dot(grad, f.prior) - dot(grad, grad)/(2*f.sigma)
		f.r.setLoss(hinge)
		s.Risk = f.r.Value(s.Theta)
		s.Objective = s.Risk + f.regularizer(s.Theta)
		lost := float64(4 * epsilon * (hinge.Zeta + math.Abs(s.Objective) + math.Abs(dual)))
		s.Certificate = math.Sqrt(2 * (math.Abs(s.Objective-dual) + lost) / f.sigma)
		if s.Certificate < best.Certificate {
			s.Theta = append([]float64(nil), s.Theta...)
			best = s
		}
		best.Iterations, best.Evaluations = f.iterations, f.evaluations
		if best.Certificate <= wanted || f.ctx.Err() != nil || f.evaluations >= f.most {
			break
		}
	}
	f.tol = wanted
	return best, f.nearEnough(best, why)
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// setLoss changes the loss of the risk.
func (r *Risk) setLoss(l Loss) {
	r.loss = l
	for _, p := range r.parts {
		p.loss = l
	}
}

// meanSlope returns the mean of phi' over all triplets of each problem, over problems,
// as the last ValueGrad left it: the column sums of positives add up to it.
func (r *Risk) meanSlope() float64 {
	sum := 0.0
	for _, p := range r.parts {
		for _, v := range p.weight[:p.n] {
			sum += float64(v * p.scale)
		}
	}
	return sum / float64(len(r.parts))
}
