package labeled

import (
	"math"
	"slices"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

// Denominator says what a softmax over cosines is normalized by.
type Denominator string

const (
	// OverAll sums over all other rows of the batch.
	OverAll Denominator = "all"
	// OverNegatives sums over the positive of the term and the rows of other classes.
	OverNegatives Denominator = "negatives"
)

// Positives says which rows of a batch belong together.
type Positives string

const (
	// OfClasses are those of a class.
	OfClasses Positives = "classes"
	// OfViews are views of the same image.
	OfViews Positives = "views"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "supcon", Doc: "softmax over the cosines of a batch, a mean for each anchor (Khosla et al.)", Defaults: SupConDefaults()})
	loss.Family.Register(component.Component[loss.Options]{Name: "nt-xent", Doc: "softmax over the cosines of a batch, a mean over positive pairs (Chen et al.)", Defaults: NTXentDefaults()})
}

// SupConOptions are the keys of the supervised contrastive loss.
type SupConOptions struct {
	Temperature float64     `yaml:"temperature" check:">0.001,<=100" doc:"divides the cosines inside the softmax"`
	Denominator Denominator `yaml:"denominator" enum:"all|negatives" doc:"compare a positive with all other images of the batch, or only with images of other classes"`
	Variant     Variant     `yaml:"variant" enum:"paper|published" doc:"published multiplies by temperature / 0.07, as the authors' code does"`
}

// SupConDefaults returns temperature 0.1 and all other images, as printed.
func SupConDefaults() SupConOptions {
	return SupConOptions{Temperature: 0.1, Denominator: OverAll, Variant: Paper}
}

// New implements Options.
func (o SupConOptions) New() (loss.Objective, error) {
	factor := 1.0
	if o.Variant == Published {
		factor = o.Temperature / 0.07
	}
	return newSoftPairs("supcon", o, softPairs{temperature: o.Temperature, denominator: o.Denominator, factor: factor, byAnchor: true})
}

// Takes implements Options.
func (SupConOptions) Takes() loss.Kind { return loss.Labels }

// NTXentOptions are the keys of the normalized temperature-scaled cross entropy.
type NTXentOptions struct {
	Temperature float64     `yaml:"temperature" check:">0.001,<=100" doc:"divides the cosines inside the softmax"`
	Denominator Denominator `yaml:"denominator" enum:"all|negatives" doc:"all: as in SimCLR; negatives: compare a positive only with images of other classes, as in pytorch-metric-learning"`
	Positives   Positives   `yaml:"positives" enum:"classes|views" omit:"classes" doc:"positives of an image; classes: images of its class; views: only views of the same image, without labels, as in SimCLR"`
}

// NTXentDefaults returns temperature 0.07, SimCLR's denominator, and positives of a class.
func NTXentDefaults() NTXentOptions {
	return NTXentOptions{Temperature: 0.07, Denominator: OverAll, Positives: OfClasses}
}

// New implements Options.
func (o NTXentOptions) New() (loss.Objective, error) {
	return newSoftPairs("nt-xent", o, softPairs{temperature: o.Temperature, denominator: o.Denominator, factor: 1, byView: o.Positives == OfViews})
}

// Fit implements Fitter.
func (o NTXentOptions) Fit(s loss.Setting) []component.Fault {
	if o.Positives != OfViews || s.Views > 1 {
		return nil
	}
	return []component.Fault{component.Faultf("positives", "views are those of an image, and each image has one: set batch.views: 2")}
}

// Takes implements Options.
func (NTXentOptions) Takes() loss.Kind { return loss.Labels }

// softPairs is the weighted sum, over rows i and their positives p, of
//
//	-log( exp(s_ip/T) / sum_a exp(s_ia/T) )
//
// s the cosine, a all rows but i, or p and the rows of other classes. The weight is
// 1/(A |P_i|) for the supervised contrastive loss, A the number of rows with positives
// (Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020, eq. 2), and 1 over the
// number of pairs for NT-Xent (Chen et al., "A Simple Framework for Contrastive Learning of
// Visual Representations", ICML 2020, eq. 1). Rows without positives have no loss. It
// serves one goroutine at a time.
type softPairs struct {
	temperature float64
	denominator Denominator
	factor      float64
	byAnchor    bool
	byView      bool // rows of the same image are positives, and all others are not

	c      loss.OwnCosines
	labels []int32
	images []int32 // in place of labels, by view
	rows   classMates
	scale  float64
	terms  []rowTerm
}

func newSoftPairs(name string, o loss.Options, l softPairs) (*softPairs, error) {
	return loss.Checked(name, o, &l)
}

// Margin returns 0: the loss has none.
func (l *softPairs) Margin() float64 { return 0 }

// Eval implements Objective on t.Labels. The tuples are ordered pairs of positives.
// Positive and Negative of the result are means of 1 - s.
func (l *softPairs) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	if l.byView {
		if err := checkItems(t.Items, n); err != nil {
			return loss.Result{}, err
		}
		l.images = imagesOf(t.Items, l.images)
		l.labels = l.images
	}
	l.rows.group(l.labels)
	anchors, pairs := 0, 0
	for _, y := range l.labels {
		positives := len(l.rows.of(y)) - 1
		pairs += positives
		anchors += min(positives, 1)
	}
	l.scale = l.factor / float64(max(pairs, 1))
	if l.byAnchor {
		l.scale = l.factor / float64(max(anchors, 1))
	}
	l.c.Load(z)
	l.terms = loss.Grow(l.terms, n)
	par.Do(n, 4, l)
	if grad != nil {
		l.c.Fold()
		l.c.Turns(1, grad)
	}
	return addTerms(l.terms), nil
}

// Run does rows [lo, hi).
func (l *softPairs) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		l.terms[i] = l.row(i)
	}
}

// row writes the slopes of row i.
func (l *softPairs) row(i int) (t rowTerm) {
	cos, slope := l.c.Row(i)
	mates := l.rows.of(l.labels[i]) // and i itself
	t.apartRow(cos, mates, i)
	if t.tuples = t.positives; t.tuples == 0 {
		return t
	}
	w := l.scale
	if l.byAnchor {
		w /= float64(t.positives)
	}
	sum, share := l.total(i, mates, cos, slope)
	pulled := 0.0 // how often the sum's rows are pulled
	for _, j := range mates {
		if int(j) == i {
			continue
		}
		value, push := l.term(sum - float64(cos[j])/l.temperature)
		t.value += float64(w * value)
		pulled += push
		if push > 0 {
			t.active++
		}
	}
	kernel.ScaleRow(float32(w/l.temperature*pulled*share), slope)
	for _, j := range mates {
		if int(j) != i {
			_, push := l.term(sum - float64(cos[j])/l.temperature)
			slope[j] -= float32(w / l.temperature * push)
		}
	}
	return t
}

// term is the value of a positive that is x below the logarithm of the sum, and its slope.
func (l *softPairs) term(x float64) (value, push float64) {
	if l.denominator == OverNegatives {
		return loss.Softplus(x), loss.Logistic(x)
	}
	return x, 1
}

// total returns the logarithm of the sum of row i, -Inf without rows in it. It writes the
// exponentials of these rows, which share makes shares of the sum, and 0 of others.
func (l *softPairs) total(i int, mates []int32, cos, exps []float32) (sum, share float64) {
	left := mates // rows that are not in the sum
	if l.denominator == OverAll {
		at, _ := slices.BinarySearch(mates, int32(i))
		left = mates[at : at+1]
	}
	if len(left) == len(cos) {
		return math.Inf(-1), 0
	}
	copy(exps, cos)
	for _, j := range left {
		exps[j] = -2 // below all others
	}
	kernel.ScaleRow(float32(1/l.temperature), exps)
	top := kernel.Greatest(exps)
	kernel.ExpLess(top, exps)
	for _, j := range left {
		exps[j] = 0
	}
	all := kernel.Sum(exps)
	return float64(top) + math.Log(all), 1 / all
}
