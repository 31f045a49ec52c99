package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

// Pool says which pairs a circle loss puts into one term.
type Pool string

const (
	// PoolAnchor has a term for each row that has positives and negatives.
	PoolAnchor Pool = "anchor"
	// PoolBatch has one term of all pairs.
	PoolBatch Pool = "batch"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "circle", Doc: "pairs weighted by how far their cosines are from their optimum (Sun et al.)", Defaults: CircleDefaults()})
}

// CircleOptions are the keys of a CircleLoss.
type CircleOptions struct {
	Gamma  float64 `yaml:"gamma" check:">0,<=1000" doc:"factor of the weighted cosines; 256 for faces"`
	Margin float64 `yaml:"margin" check:">=0,<=1" doc:"m: positives are pulled above the cosine 1 - m, negatives pushed below m; 0.25 for faces"`
	Pool   Pool    `yaml:"pool" enum:"anchor|batch" doc:"anchor: a term for each image of a batch, as in pytorch-metric-learning; batch: one term of all pairs"`
}

// CircleDefaults returns gamma 80, margin 0.4, and a term for each anchor.
func CircleDefaults() CircleOptions { return CircleOptions{Gamma: 80, Margin: 0.4, Pool: PoolAnchor} }

// New implements Options.
func (o CircleOptions) New() (loss.Objective, error) {
	l := &CircleLoss{o: o}
	l.counts, l.row = both, l.anchor
	return loss.Checked[loss.Objective]("circle", o, l)
}

// Takes implements Options.
func (CircleOptions) Takes() loss.Kind { return loss.Labels }

// Detached implements Detached: the weights of pairs are held fixed.
func (CircleOptions) Detached() bool { return true }

// CircleLoss is the circle loss,
//
//	log(1 + sum_n exp(gamma a_n (s_n - m)) sum_p exp(-gamma a_p (s_p - 1 + m)))
//
// with a_p = max(0, 1 + m - s_p) and a_n = max(0, s_n + m), which have no gradient, over the
// positives and negatives of a row, as a mean over rows that have both, or over those of the
// whole batch (Sun et al., "Circle Loss: A Unified Perspective of Pair Similarity
// Optimization", CVPR 2020, eq. 6 to 8). It serves one goroutine at a time.
type CircleLoss struct {
	ownRows
	o CircleOptions
}

// Margin returns m.
func (l *CircleLoss) Margin() float64 { return l.o.Margin }

// Eval implements Objective on t.Labels. The tuples are the terms: rows, or one for the
// batch.
func (l *CircleLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	if l.o.Pool == PoolAnchor {
		return l.ownRows.Eval(z, t, grad)
	}
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.c.Load(z)
	var all rowTerm
	var positives, negatives logSum
	for i := range n {
		cos, _ := l.c.Row(i)
		for j, c := range cos[:i] {
			all.apart(l.labels[i] == l.labels[j], c)
			l.add(i, j, c, &positives, &negatives)
		}
	}
	if both(all.positives, all.others) {
		all.tuples = 1
		x := positives.log() + negatives.log()
		all.value = loss.Softplus(x)
		for i := range n {
			cos, slope := l.c.Row(i)
			for j, c := range cos[:i] {
				slope[j] = float32(loss.Logistic(x) * l.slope(i, j, c, &positives, &negatives))
				if slope[j] != 0 {
					all.active = 1
				}
			}
		}
	}
	if grad != nil {
		l.c.Fold()
		l.c.Turns(1, grad)
	}
	l.terms = append(l.terms[:0], all)
	return addTerms(l.terms), nil
}

// anchor is ownRows.row. The exponents of negatives, then their exponentials, stand in the
// slopes.
func (l *CircleLoss) anchor(i int) float64 {
	cos, slope := l.c.Row(i)
	mates := l.rows.of(l.labels[i])
	var positives logSum
	for _, j := range mates {
		if int(j) != i {
			_, x, _ := l.exponent(true, cos[j])
			positives.add(x)
		}
	}
	gamma, m, top := l.o.Gamma, l.o.Margin, math.Inf(-1)
	own := mates
	for j, c := range cos {
		if len(own) > 0 && int(own[0]) == j {
			own = own[1:]
		} else if x := gamma * max(0, float64(c)+m) * (float64(c) - m); x > top {
			top = x
		}
	}
	for j, c := range cos {
		slope[j] = float32(float64(gamma*max(0, float64(c)+m)*(float64(c)-m)) - top)
	}
	for _, j := range mates {
		slope[j] = vanishing
	}
	kernel.ExpLess(0, slope)
	for _, j := range mates {
		slope[j] = 0
	}
	sum := kernel.Sum(slope)
	x := top + math.Log(sum) + positives.log()
	weight := loss.Logistic(x)
	share, shift := float32(weight/sum*gamma), float32(m)
	for j, c := range cos {
		slope[j] *= float32(share * max(0, c+shift))
	}
	for _, j := range mates {
		if int(j) != i {
			_, x, turn := l.exponent(true, cos[j])
			slope[j] = float32(turn * weight * positives.share(x))
		}
	}
	return loss.Softplus(x)
}

// exponent returns 1 for positives and 0 for negatives, the exponent of a pair, and its
// derivative with the weight held.
func (l *CircleLoss) exponent(similar bool, c float32) (kind int, x, turn float64) {
	s, m := float64(c), l.o.Margin
	if similar {
		turn = -l.o.Gamma * max(0, 1+m-s)
		return 1, float64(turn * (s - 1 + m)), turn
	}
	turn = l.o.Gamma * max(0, s+m)
	return 0, float64(turn * (s - m)), turn
}

func (l *CircleLoss) add(i, j int, c float32, positives, negatives *logSum) {
	similar := l.labels[i] == l.labels[j]
	_, x, _ := l.exponent(similar, c)
	if similar {
		positives.add(x)
	} else {
		negatives.add(x)
	}
}

// slope is the derivative of the sum of the two logarithms.
func (l *CircleLoss) slope(i, j int, c float32, positives, negatives *logSum) float64 {
	similar := l.labels[i] == l.labels[j]
	_, x, turn := l.exponent(similar, c)
	if similar {
		return turn * positives.share(x)
	}
	return turn * negatives.share(x)
}

// logSum is the logarithm of a sum of exponentials, added one by one.
type logSum struct {
	top, sum float64
	any      bool
}

func (s *logSum) add(x float64) {
	switch {
	case !s.any:
		*s = logSum{x, 1, true}
	case x > s.top:
		s.sum = float64(s.sum*math.Exp(s.top-x)) + 1
		s.top = x
	default:
		s.sum += math.Exp(x - s.top)
	}
}

// log is -Inf of no terms.
func (s *logSum) log() float64 {
	if !s.any {
		return math.Inf(-1)
	}
	return s.top + math.Log(s.sum)
}

// share is that of the term x.
func (s *logSum) share(x float64) float64 { return math.Exp(x-s.top) / s.sum }
