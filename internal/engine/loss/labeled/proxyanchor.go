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
	labels  []int32
	present int // |P+|
	counts  []int
	terms   []rowTerm
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
	l.labels, l.counts, l.present = t.Labels, loss.Grow(l.counts, classes), 0
	clear(l.counts)
	for _, y := range t.Labels {
		if l.counts[y]++; l.counts[y] == 1 {
			l.present++
		}
	}
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
		l.terms[p] = l.row(p)
	}
}

// row writes the slopes of proxy p.
func (l *ProxyAnchorLoss) row(p int) (t rowTerm) {
	cos, slope := l.c.row(p)
	topPositive, topNegative := 0.0, 0.0 // the exponent of 1
	pulls, pushes := -l.o.Alpha, l.o.Alpha
	for j, c := range cos {
		own := int(l.labels[j]) == p
		t.apart(own, c)
		if own {
			topPositive = max(topPositive, pulls*(float64(c)-l.o.Delta))
		} else {
			topNegative = max(topNegative, pushes*(float64(c)+l.o.Delta))
		}
	}
	for j, c := range cos {
		if int(l.labels[j]) == p {
			slope[j] = float32(float64(pulls*(float64(c)-l.o.Delta)) - topPositive)
		} else {
			slope[j] = float32(float64(pushes*(float64(c)+l.o.Delta)) - topNegative)
		}
	}
	kernel.Exp(slope, slope)
	positive, negative := math.Exp(-topPositive), math.Exp(-topNegative)
	for j, e := range slope {
		if int(l.labels[j]) == p {
			positive += float64(e)
		} else {
			negative += float64(e)
		}
	}
	each := 1 / float64(l.c.a.Rows)
	pull, push := 0.0, l.o.Alpha*each/negative
	if l.counts[p] > 0 {
		t.tuples = 1
		t.value = (topPositive + math.Log(positive)) / float64(l.present)
		pull = -l.o.Alpha / (positive * float64(l.present))
	}
	if l.counts[p] < len(cos) {
		t.tuples++
		t.value += float64(each * (topNegative + math.Log(negative)))
	}
	if t.value > 0 {
		t.active = t.tuples
	}
	for j := range slope {
		if int(l.labels[j]) == p {
			slope[j] = float32(float64(slope[j]) * pull)
		} else {
			slope[j] = float32(float64(slope[j]) * push)
		}
	}
	return t
}
