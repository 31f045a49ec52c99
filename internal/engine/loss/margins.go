package loss

import (
	"fmt"
	"math"
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

// check returns an error unless alpha > beta > 0, both finite.
func (m margins) check(loss string) error {
	if !(m.beta > 0) || math.IsInf(m.beta, 0) {
		return fmt.Errorf("loss: %s: beta is %v, want a finite number > 0", loss, m.beta)
	}
	if !(m.alpha > m.beta) || math.IsInf(m.alpha, 0) {
		return fmt.Errorf("loss: %s: alpha is %v, want a finite number > beta (%v): no threshold lies between them otherwise", loss, m.alpha, m.beta)
	}
	return nil
}

// threshold is tau = sqrt((alpha+beta)/2), the middle of the two borders.
func (m margins) threshold() float64 { return math.Sqrt(m.alpha/2 + m.beta/2) }

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

func newMarginTriplets(loss string, m margins, r Reduction) (*marginTriplets, error) {
	if err := m.check(loss); err != nil {
		return nil, err
	}
	if err := r.validate(); err != nil {
		return nil, err
	}
	l := &marginTriplets{margins: m, reduce: r}
	l.termTriplets = newTermTriplets(Squared, 0, r, &l.margins)
	return l, nil
}
