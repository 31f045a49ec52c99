package loss

import (
	"math"

	"tercet/internal/component"
)

// Thresholder is an objective that says how far apart two embeddings of one class
// may be.
type Thresholder interface {
	// Threshold returns the Euclidean distance up to which two embeddings count as
	// of one class.
	Threshold() float64
}

// margins are two borders of squared distances between which a threshold lies:
// positives belong below beta, negatives above alpha (Ho et al., "Learning
// Embeddings for Image Clustering", ICPR 2020). A triplet costs
//
//	max(0, alpha - d^2(a,n) + d^2(a,p)) + max(0, d^2(a,p) - beta)   coupled: L2
//	max(0, alpha - d^2(a,n))            + max(0, d^2(a,p) - beta)   not coupled: L3
type margins struct {
	alpha, beta float64
	coupled     bool
}

// checkBorders refuses margins between which no threshold lies.
func checkBorders(alpha, beta float64) []component.Fault {
	if alpha > beta {
		return nil
	}
	return []component.Fault{component.Faultf("alpha", "must be above loss.beta (%s), is %s: negatives have to be farther than positives may be", component.Number(beta), component.Number(alpha))}
}

// fitBorders refuses an alpha that no two embeddings can be apart.
func fitBorders(alpha float64, s Setting) []component.Fault {
	if !s.Normalized || alpha <= 4 {
		return nil
	}
	return []component.Fault{component.Faultf("alpha", "must be at most 4, is %s: embeddings of length 1 are at most 2 apart, 4 in squared distance; lower it, or set model.normalize: false", component.Number(alpha))}
}

// threshold is tau = sqrt((alpha+beta)/2), the middle of the two borders.
func (m margins) threshold() float64 { return math.Sqrt(float64(m.alpha/2) + float64(m.beta/2)) }

// at returns the value of a triplet and its slopes in the squared distances of the
// positive and of the negative; at a kink the slope is 0.
func (m margins) at(ap, an float64) (value, slopeP, slopeN float64) {
	gap := m.alpha - an
	if m.coupled {
		gap += ap
	}
	if gap > 0 {
		value, slopeN = gap, -1
		if m.coupled {
			slopeP = 1
		}
	}
	if over := ap - m.beta; over > 0 {
		value += over
		slopeP++
	}
	return value, slopeP, slopeN
}

// run implements termRun.
func (m *margins) run(ts []Triplet, dist, coef []float64) Result {
	b := *m
	var res Result
	for _, t := range ts {
		ap, an := dist[t.P], dist[t.N]
		res.Positive += ap
		res.Negative += an
		value, slopeP, slopeN := b.at(ap, an)
		if value > 0 {
			res.Active++
			res.Loss += value
			coef[t.P] += slopeP
			coef[t.N] += slopeN
		}
	}
	return res
}

// marginTriplets evaluates triplets by two margins. It serves one goroutine at a
// time.
type marginTriplets struct {
	margins
	termTriplets
	reduce Reduction
}

func newMarginTriplets(m margins, r Reduction) *marginTriplets {
	l := &marginTriplets{margins: m, reduce: r}
	l.termTriplets = newTermTriplets(Squared, 0, r, &l.margins)
	return l
}
