package labeled

import (
	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "snr", Doc: "contrastive loss on the ratio of noise to signal of two embeddings (Yuan et al.)", Defaults: SNRDefaults()})
}

// SNROptions are the keys of an SNRLoss.
type SNROptions struct {
	PositiveMargin float64 `yaml:"positive_margin" check:">=0,<=1000" doc:"positives are pulled below this ratio"`
	NegativeMargin float64 `yaml:"negative_margin" check:">0,<=1000" doc:"negatives are pushed above this ratio"`
	ZeroMean       float64 `yaml:"zero_mean" check:">=0,<=1000" doc:"weight of the mean absolute sum of an embedding's numbers"`
}

// SNRDefaults returns margins 0 and 1 and no term of the sums, as pytorch-metric-learning.
func SNRDefaults() SNROptions { return SNROptions{NegativeMargin: 1} }

// New implements Options.
func (o SNROptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("snr", o, &SNRLoss{o: o, t: loss.NewTable(loss.Squared)})
}

// Takes implements Options.
func (SNROptions) Takes() loss.Kind { return loss.Labels }

// SNRLoss is the mean over ordered pairs (i, j) of a class of max(0, r_ij - positive margin),
// and that over pairs of two classes of max(0, negative margin - r_ij), each over the pairs
// above 0 alone, and a multiple of the mean of |sum_k z_ik|. r_ij = var(z_j - z_i) / var(z_i)
// are variances over the numbers of an embedding (Yuan et al., "Signal-to-Noise Ratio: A
// Robust Distance Metric for Deep Metric Learning", CVPR 2019, eq. 3). Pairs whose first
// embedding has variance 0 have no loss. It serves one goroutine at a time.
type SNRLoss struct {
	o      SNROptions
	t      loss.Table   // squared distances of rows
	rows   *array.Array // (B, D) embeddings without their means
	signal []float64    // squared lengths of rows
	own    []float64    // factor of a row in its own gradient
	sums   []float64    // of the numbers of an embedding
}

// Margin returns the margin of negatives.
func (l *SNRLoss) Margin() float64 { return l.o.NegativeMargin }

// Eval implements Objective on t.Labels. The tuples are ordered pairs. Positive and Negative
// of the result are means of r. A gradient beyond float32, as of a signal of nearly 0, is an
// error.
func (l *SNRLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.center(z)
	if err := l.t.Measure(l.rows); err != nil {
		return loss.Result{}, err
	}
	pull, push := l.hinges(t.Labels)
	all := l.terms(t.Labels, 1/float64(max(pull, 1)), 1/float64(max(push, 1)))
	for _, s := range l.sums {
		all.value += float64(l.o.ZeroMean / float64(n) * max(s, -s))
	}
	if grad == nil {
		return addTerms([]rowTerm{all}), nil
	}
	l.t.Pull(1, grad)
	for i := range n {
		l.finish(grad.Row(i), l.rows.Row(i), l.own[i], float64(l.o.ZeroMean/float64(n)*sign(l.sums[i])))
	}
	if i, ok := kernel.AllFinite(grad.Data); !ok {
		return loss.Result{}, tooLarge(i / z.Shape[1])
	}
	return addTerms([]rowTerm{all}), nil
}

// center sets rows and what is known of each.
func (l *SNRLoss) center(z *array.Array) {
	n, d := z.Shape[0], z.Shape[1]
	if l.rows == nil || l.rows.Cols() != d {
		l.rows = array.New(n, d)
	}
	l.rows.SetRows(n)
	l.signal, l.own, l.sums = loss.Grow(l.signal, n), loss.Grow(l.own, n), loss.Grow(l.sums, n)
	for i := range n {
		l.sums[i] = kernel.Sum(z.Row(i))
		mean, row := l.sums[i]/float64(d), l.rows.Row(i)
		for k, v := range z.Row(i) {
			row[k] = float32(float64(v) - mean)
		}
		l.signal[i] = kernel.SumSquares(row)
	}
}

// cost returns what the ordered pair (i, j) costs, and the sign of its slope in r.
func (l *SNRLoss) cost(similar bool, r float64) (value, slope float64) {
	if similar {
		return max(0, r-l.o.PositiveMargin), 1
	}
	return max(0, l.o.NegativeMargin-r), -1
}

// hinges counts the pairs above 0.
func (l *SNRLoss) hinges(labels []int32) (pull, push int) {
	l.each(labels, func(i, j int, similar bool, r float64) {
		if v, _ := l.cost(similar, r); v > 0 {
			if similar {
				pull++
			} else {
				push++
			}
		}
	})
	return pull, push
}

// terms adds the pairs up, and writes the slopes of the squared distances and of signals.
func (l *SNRLoss) terms(labels []int32, pull, push float64) (all rowTerm) {
	clear(l.own)
	n := len(labels)
	l.each(labels, func(i, j int, similar bool, r float64) {
		all.tuples++
		weight := push
		if similar {
			all.positives, all.positive, weight = all.positives+1, all.positive+r, pull
		} else {
			all.others, all.negative = all.others+1, all.negative+r
		}
		v, slope := l.cost(similar, r)
		if v <= 0 {
			return
		}
		all.active++
		all.value += float64(weight * v)
		l.t.Coef[i*n+j] = slope * weight / l.signal[i]
		l.own[i] -= float64(2 * slope * weight * r / l.signal[i])
	})
	return all
}

// each calls f of the ordered pairs whose first embedding has a signal.
func (l *SNRLoss) each(labels []int32, f func(i, j int, similar bool, r float64)) {
	n := len(labels)
	for i, y := range labels {
		if l.signal[i] == 0 {
			continue
		}
		for j, other := range labels {
			if j != i {
				f(i, j, other == y, l.t.Dist[i*n+j]/l.signal[i])
			}
		}
	}
}

// finish adds own times the row to its gradient, takes the mean out, and adds shift.
func (l *SNRLoss) finish(grad, row []float32, own, shift float64) {
	mean := 0.0
	for k, g := range grad {
		grad[k] = float32(float64(g) + float64(own*float64(row[k])))
		mean += float64(grad[k])
	}
	mean /= float64(len(grad))
	for k, g := range grad {
		grad[k] = float32(float64(g) - mean + shift)
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
