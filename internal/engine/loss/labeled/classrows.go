package labeled

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// classRows is the frame of losses that classify each row of a batch by its cosines to
// rows of parameters, so many for each class: those of class c are c*each and on.
type classRows struct {
	name string
	each int
	// smoothing is the share of the target that is spread evenly over all classes
	// (Szegedy et al., "Rethinking the Inception Architecture", CVPR 2016, section 7).
	smoothing float64
	// row replaces the cosines of a row of that label by their slopes times mean, and
	// returns the row's loss.
	row  func(cos []float32, label int, mean float64) float64
	more func() // adds to the gradient of the parameters' directions; may be nil

	param   *nn.Param // (classes*each, D)
	classes int
	c       crossCosines
	labels  []int32
	extra   float64 // a further part of the loss, from more
	terms   []rowTerm
}

// Begin implements Parametric: the rows are drawn from a normal law, about of length 1.
func (l *classRows) Begin(dim, classes int, r *rng.Stream) (err error) {
	l.classes = classes
	l.param, err = newRows(l.name, classes*l.each, dim, 1/math.Sqrt(float64(dim)), r)
	return err
}

// Params implements Parametric.
func (l *classRows) Params() []*nn.Param { return []*nn.Param{l.param} }

// Eval implements Objective on t.Labels. The tuples are rows; Positive and Negative of the
// result are means of 1 - s over parameters of the row's class and of others.
func (l *classRows) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, l.classes)
	if n == 0 || err != nil {
		if grad != nil {
			clear(l.param.Grad.Data)
		}
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.c.load(z, l.param.Value)
	l.terms = loss.Grow(l.terms, n)
	par.Do(n, max(1, 8192/l.c.b.Rows), l)
	if grad != nil {
		l.c.turns()
	}
	if l.extra = 0; l.more != nil {
		l.more()
	}
	if grad != nil {
		l.c.a.Pull(grad)
		l.c.b.Pull(l.param.Grad)
	}
	res := addTerms(l.terms)
	res.Loss = res.Loss/float64(n) + l.extra
	return res, nil
}

// Run does rows [lo, hi).
func (l *classRows) Run(lo, hi int) {
	mean := 1 / float64(len(l.labels))
	for i := lo; i < hi; i++ {
		y, cos := int(l.labels[i]), l.c.row(i)
		t := l.apart(cos, y)
		if t.value = l.row(cos, y, mean); t.value > 0 {
			t.active = 1
		}
		l.terms[i] = t
	}
}

// apart sums 1 - s of the parameters of class y, and of the others.
func (l *classRows) apart(cos []float32, y int) (t rowTerm) {
	own := cos[y*l.each : (y+1)*l.each]
	all, mine := kernel.Sum(cos), kernel.Sum(own)
	t.tuples, t.positives, t.others = 1, len(own), len(cos)-len(own)
	t.positive, t.negative = float64(t.positives)-mine, float64(t.others)-(all-mine)
	return t
}

// crossEntropy turns logits into their slopes times factor, and returns the loss, for the
// target (1 - smoothing) 1_y + smoothing / classes.
func (l *classRows) crossEntropy(logit []float32, y int, factor float64) float64 {
	if l.smoothing == 0 {
		return crossEntropy(logit, y, factor)
	}
	share := l.smoothing / float64(len(logit))
	ahead := float64(kernel.Sum(logit)*share) - float64(l.smoothing*float64(logit[y]))
	value := crossEntropy(logit, y, factor) - ahead
	for c := range logit {
		logit[c] -= float32(share * factor)
	}
	logit[y] += float32(l.smoothing * factor)
	return value
}

// crossEntropy turns logits into softmax - 1_y, their slopes, times factor, and returns -log
// softmax_y.
func crossEntropy(logit []float32, y int, factor float64) float64 {
	gap, rest := split(logit, y)
	own := math.Exp(-gap)
	kernel.ScaleRow(float32(factor/(own+rest)), logit)
	logit[y] = float32(-factor * rest / (own + rest)) // not softmax - 1, which would cancel
	if gap == 0 {
		return math.Log1p(rest)
	}
	return gap + math.Log(own+rest)
}

// split turns logits into their exponentials relative to the largest, but for that of y,
// which becomes 0. It returns how far that one was below the largest, and the sum of the
// others.
func split(logit []float32, y int) (gap, rest float64) {
	top := kernel.Greatest(logit)
	gap = float64(top) - float64(logit[y])
	logit[y] = top
	kernel.ExpLess(top, logit)
	logit[y] = 0
	return gap, kernel.Sum(logit)
}
