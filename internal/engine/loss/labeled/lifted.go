package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "lifted-structured", Doc: "each positive pair against all negatives of both its images (Oh Song et al.)", Defaults: LiftedDefaults()})
	loss.Family.Register(component.Component[loss.Options]{Name: "lifted-generalized", Doc: "each image's positives against its negatives, both as soft maxima (Hermans et al.)", Defaults: GeneralizedLiftedDefaults()})
}

// LiftedOptions are the keys of the lifted structured loss.
type LiftedOptions struct {
	Margin float64 `yaml:"margin" check:">0,<=100" doc:"distance that negatives shall have beyond positives"`
}

// LiftedDefaults returns margin 1.
func LiftedDefaults() LiftedOptions { return LiftedOptions{Margin: 1} }

// New implements Options.
func (o LiftedOptions) New() (loss.Objective, error) {
	return newLifted("lifted-structured", o, o.Margin, false)
}

// Takes implements Options.
func (LiftedOptions) Takes() loss.Kind { return loss.Labels }

// GeneralizedLiftedOptions are the keys of the generalized lifted loss.
type GeneralizedLiftedOptions struct {
	Margin float64 `yaml:"margin" check:">0,<=100" doc:"distance that negatives shall have beyond positives"`
}

// GeneralizedLiftedDefaults returns margin 1.
func GeneralizedLiftedDefaults() GeneralizedLiftedOptions { return GeneralizedLiftedOptions{Margin: 1} }

// New implements Options.
func (o GeneralizedLiftedOptions) New() (loss.Objective, error) {
	return newLifted("lifted-generalized", o, o.Margin, true)
}

// Takes implements Options.
func (GeneralizedLiftedOptions) Takes() loss.Kind { return loss.Labels }

// lifted is the lifted structured loss, the mean over pairs (i, j) of a class of
//
//	1/2 max(0, d_ij + log( sum_n exp(m - d_in) + sum_n exp(m - d_jn) ))^2
//
// (Oh Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding", CVPR 2016,
// eq. 4), or the generalized one, the mean over rows i with positives and negatives of
//
//	max(0, log sum_p exp(d_ip) + log sum_n exp(m - d_in))
//
// (Hermans et al., "In Defense of the Triplet Loss for Person Re-Identification", 2017, eq.
// 6), d the Euclidean distance, n the rows of other classes. It serves one goroutine at a
// time.
type lifted struct {
	margin      float64
	generalized bool
	t           loss.Table
	exps        []float32 // (B, B) of negatives
	labels      []int32
	rows        classMates
	terms       []rowTerm
	negatives   []logSum  // of each row
	weights     []float64 // how much each row's sum of negatives counts
}

func newLifted(name string, o loss.Options, margin float64, generalized bool) (*lifted, error) {
	return loss.Checked(name, o, &lifted{margin: margin, generalized: generalized, t: loss.NewProducts(loss.Euclidean)})
}

// Margin returns the margin.
func (l *lifted) Margin() float64 { return l.margin }

// Eval implements Objective on t.Labels. The tuples are pairs of a class, or rows.
func (l *lifted) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	if err := l.t.Measure(z); err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.rows.group(t.Labels)
	l.exps = loss.Grow(l.exps, n*n)
	l.negatives, l.weights, l.terms = loss.Grow(l.negatives, n), loss.Grow(l.weights, n), loss.Grow(l.terms, n)
	clear(l.weights)
	par.Do(n, 4, l)
	all := rowTerm{}
	for _, t := range l.terms {
		all.positives, all.positive = all.positives+t.positives, all.positive+t.positive
		all.others, all.negative = all.others+t.others, all.negative+t.negative
	}
	if l.generalized {
		l.anchors(t.Labels, &all)
	} else {
		l.pairs(t.Labels, &all)
	}
	par.Do(n, 8, (*liftedShares)(l))
	scale := 1 / float64(max(all.tuples, 1))
	all.value *= scale
	if grad != nil {
		l.t.Pull(scale, grad)
	}
	l.terms = append(l.terms[:0], all)
	return addTerms(l.terms), nil
}

// Run sums the negatives of rows [lo, hi), and keeps their exponentials.
func (l *lifted) Run(lo, hi int) {
	n := len(l.labels)
	for i := lo; i < hi; i++ {
		dist, exps := l.t.Dist[i*n:][:n], l.exps[i*n:][:n]
		mates := l.rows.of(l.labels[i]) // and i itself
		t := rowTerm{positives: len(mates) - 1, others: n - len(mates)}
		for j, d := range dist {
			exps[j] = float32(-d)
		}
		for _, j := range mates {
			t.positive, exps[j] = t.positive+dist[j], 0
		}
		t.negative = -kernel.Sum(exps)
		s := logSum{any: t.others > 0}
		for _, j := range mates {
			exps[j] = float32(math.Inf(-1))
		}
		top := kernel.Greatest(exps)
		s.top = l.margin + float64(top)
		for _, j := range mates {
			exps[j] = top
		}
		kernel.ExpLess(top, exps)
		for _, j := range mates {
			exps[j] = 0
		}
		s.sum = kernel.Sum(exps)
		l.negatives[i], l.terms[i] = s, t
	}
}

// liftedShares adds the slopes of the negatives, given their exponentials.
type liftedShares lifted

// Run does rows [lo, hi).
func (l *liftedShares) Run(lo, hi int) {
	n := len(l.labels)
	for i := lo; i < hi; i++ {
		if l.weights[i] == 0 {
			continue
		}
		share, exps, coef := -l.weights[i]/l.negatives[i].sum, l.exps[i*n:][:n], l.t.Coef[i*n:][:n]
		for j, e := range exps {
			coef[j] += float64(share * float64(e))
		}
	}
}

// pairs adds the terms of pairs of a class that have negatives.
func (l *lifted) pairs(labels []int32, all *rowTerm) {
	n := len(labels)
	for i, y := range labels {
		for _, mate := range l.rows.of(y) {
			j := int(mate)
			if j >= i || !l.negatives[i].any {
				break
			}
			all.tuples++
			a, b := l.negatives[i].log(), l.negatives[j].log()
			cost := l.t.Dist[i*n+j] + max(a, b) + loss.Softplus(-math.Abs(a-b))
			if cost <= 0 {
				continue
			}
			all.active++
			all.value += float64(cost * cost / 2)
			l.t.Coef[i*n+j] += cost
			l.weights[i] += float64(cost * loss.Logistic(a-b))
			l.weights[j] += float64(cost * loss.Logistic(b-a))
		}
	}
}

// anchors adds the terms of rows.
func (l *lifted) anchors(labels []int32, all *rowTerm) {
	n := len(labels)
	for i, y := range labels {
		var positives logSum
		for _, j := range l.rows.of(y) {
			if int(j) != i {
				positives.add(l.t.Dist[i*n+int(j)])
			}
		}
		if !positives.any || !l.negatives[i].any {
			continue
		}
		all.tuples++
		cost := positives.log() + l.negatives[i].log()
		if cost <= 0 {
			continue
		}
		all.active++
		all.value += cost
		l.weights[i] = 1
		for _, j := range l.rows.of(y) {
			if e := i*n + int(j); int(j) != i {
				l.t.Coef[e] += positives.share(l.t.Dist[e])
			}
		}
	}
}
