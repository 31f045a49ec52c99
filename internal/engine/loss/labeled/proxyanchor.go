package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "proxy-anchor", Doc: "a proxy for each class as the anchor of the batch (Kim et al.)", Defaults: ProxyAnchorDefaults()})
}

// ProxyAnchorOptions are the keys of a ProxyAnchorLoss.
type ProxyAnchorOptions struct {
	Alpha       float64        `yaml:"alpha" check:">0,<=1000" doc:"how sharply hard images are weighted"`
	Delta       float64        `yaml:"delta" check:">=0,<=2" doc:"margin: images are pulled above this cosine to their proxy, and pushed below its negative to others"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the proxies as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the proxies; auto takes optimizer.weight_decay"`
}

// ProxyAnchorDefaults returns alpha 32 and delta 0.1, and 100 times the learning rate, as
// the authors' code.
func ProxyAnchorDefaults() ProxyAnchorOptions {
	return ProxyAnchorOptions{Alpha: 32, Delta: 0.1, LRFactor: 100}
}

// New implements Options.
func (o ProxyAnchorOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("proxy-anchor", o, &ProxyAnchorLoss{o: o})
}

// Takes implements Options.
func (ProxyAnchorOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o ProxyAnchorOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// ProxyAnchorLoss is the proxy-anchor loss,
//
//	1/|P+| sum_P+ log(1 + sum_x+ exp(-alpha (s - delta))) + 1/|P| sum_P log(1 + sum_x- exp(alpha (s + delta)))
//
// over the proxies P, one for each class, and those of classes in the batch P+; x+ and x-
// are the images of a proxy's class and the others, s their cosines to the proxy (Kim et
// al., "Proxy Anchor Loss for Deep Metric Learning", CVPR 2020, eq. 4). It serves one
// goroutine at a time.
type ProxyAnchorLoss struct {
	o       ProxyAnchorOptions
	proxies *nn.Param // (classes, D)
	c       crossCosines
	rows    classMates
	present int // |P+|
	terms   []rowTerm
	spare   par.Free[[]float64] // of a proxy's own rows
}

// Begin implements Parametric: proxies are normal, of variance 2/classes, as the authors'
// code draws them.
func (l *ProxyAnchorLoss) Begin(dim, classes int, r *rng.Stream) (err error) {
	l.proxies, err = newRows("proxies", classes, dim, math.Sqrt(2/float64(classes)), r)
	return err
}

// Params implements Parametric.
func (l *ProxyAnchorLoss) Params() []*nn.Param { return []*nn.Param{l.proxies} }

// Margin returns delta.
func (l *ProxyAnchorLoss) Margin() float64 { return l.o.Delta }

// Eval implements Objective on t.Labels. The tuples are proxies: those of classes in the
// batch for their images, and all for the other images. Positive and Negative of the
// result are means of 1 - s.
func (l *ProxyAnchorLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	classes := l.proxies.Value.Shape[0]
	n, err := checkLabeled(z, t.Labels, grad, classes)
	if n == 0 || err != nil {
		if grad != nil {
			clear(l.proxies.Grad.Data)
		}
		return loss.Result{}, err
	}
	l.present = l.rows.group(t.Labels)
	l.c.load(l.proxies.Value, z)
	l.terms = loss.Grow(l.terms, classes)
	par.Do(classes, max(1, 4096/n), l)
	if grad != nil {
		l.c.pull(l.proxies.Grad, grad)
	}
	return addTerms(l.terms), nil
}

// Run does proxies [lo, hi).
func (l *ProxyAnchorLoss) Run(lo, hi int) {
	for p := lo; p < hi; p++ {
		l.terms[p] = l.row(l.c.row(p), l.rows.of(int32(p)))
	}
}

// row replaces the cosines of a proxy by their slopes; own are the rows of its class.
func (l *ProxyAnchorLoss) row(cos []float32, own []int32) (t rowTerm) {
	alpha, delta := l.o.Alpha, l.o.Delta
	t.positives, t.others = len(own), len(cos)-len(own)
	all, mine, least := kernel.Sum(cos), 0.0, math.Inf(1)
	for _, j := range own {
		mine, least = mine+float64(cos[j]), min(least, float64(cos[j]))
	}
	t.positive, t.negative = float64(t.positives)-mine, float64(t.others)-(all-mine)
	var pulls []float64 // slopes of own
	if len(own) > 0 {
		spare := l.spare.Get()
		defer l.spare.Put(spare)
		*spare = loss.Grow(*spare, len(own))
		pulls = *spare
		// Exponents are taken relative to the largest, or to that of 1.
		top := max(0, -alpha*(least-delta))
		sum := math.Exp(-top)
		for k, j := range own {
			pulls[k] = math.Exp(float64(-alpha*(float64(cos[j])-delta)) - top)
			sum += pulls[k]
			cos[j] = -2 // below all others
		}
		t.tuples = 1
		t.value = (top + math.Log(sum)) / float64(l.present)
		for k := range pulls {
			pulls[k] *= -alpha / (sum * float64(l.present))
		}
	}
	if t.others > 0 {
		kernel.ScaleRow(float32(alpha), cos)
		shift := float64(alpha * delta)
		top := max(0, float64(kernel.Greatest(cos))+shift)
		kernel.ExpLess(float32(top-shift), cos)
		for _, j := range own {
			cos[j] = 0
		}
		each, sum := 1/float64(l.c.a.Rows), math.Exp(-top)+kernel.Sum(cos)
		t.tuples++
		t.value += float64(each * (top + math.Log(sum)))
		kernel.ScaleRow(float32(alpha*each/sum), cos)
	}
	for k, j := range own {
		cos[j] = float32(pulls[k])
	}
	if t.value > 0 {
		t.active = t.tuples
	}
	return t
}
