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
	row       func(i int, label int) rowTerm // writes the slopes of row i, without the mean over rows
	more      func()                         // adds to the gradient of the parameters' directions; may be nil

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
	mean := float32(1 / float64(len(l.labels)))
	for i := lo; i < hi; i++ {
		y := int(l.labels[i])
		cos, slope := l.c.row(i)
		apart := l.apart(cos, y)
		t := l.row(i, y)
		t.tuples, t.positives, t.others, t.positive, t.negative = 1, apart.positives, apart.others, apart.positive, apart.negative
		if t.value > 0 {
			t.active = 1
		}
		kernel.Scale(mean, slope)
		l.terms[i] = t
	}
}

// apart sums 1 - s of the parameters of class y, and of the others.
func (l *classRows) apart(cos []float32, y int) (t rowTerm) {
	own := cos[y*l.each : (y+1)*l.each]
	all, mine := kernel.Sum(cos), kernel.Sum(own)
	t.positives, t.others = len(own), len(cos)-len(own)
	t.positive, t.negative = float64(t.positives)-mine, float64(t.others)-(all-mine)
	return t
}

// crossEntropy is that of the target (1 - smoothing) 1_y + smoothing / classes.
func (l *classRows) crossEntropy(logit []float32, y int) float64 {
	if l.smoothing == 0 {
		return crossEntropy(logit, y)
	}
	share := l.smoothing / float64(len(logit))
	ahead := float64(kernel.Sum(logit)*share) - float64(l.smoothing*float64(logit[y]))
	value := crossEntropy(logit, y) - ahead
	for c := range logit {
		logit[c] -= float32(share)
	}
	logit[y] += float32(l.smoothing)
	return value
}

// crossEntropy turns logits into softmax - 1_y, their slopes, and returns -log softmax_y.
func crossEntropy(logit []float32, y int) float64 {
	gap, rest := split(logit, y)
	own := math.Exp(-gap)
	kernel.Scale(float32(1/(own+rest)), logit)
	logit[y] = float32(-rest / (own + rest)) // not softmax - 1, which would cancel
	if gap == 0 {
		return math.Log1p(rest)
	}
	return gap + math.Log(own+rest)
}

// split turns logits into their exponentials relative to the largest, but for that of y,
// which becomes 0. It returns how far that one was below the largest, and the sum of the
// others.
func split(logit []float32, y int) (gap, rest float64) {
	top := logit[0]
	for _, v := range logit {
		top = max(top, v)
	}
	gap = float64(top) - float64(logit[y])
	for j := range logit {
		logit[j] -= top
	}
	logit[y] = 0
	kernel.Exp(logit, logit)
	logit[y] = 0
	return gap, kernel.Sum(logit)
}
