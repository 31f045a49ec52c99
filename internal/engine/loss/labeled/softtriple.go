package labeled

import (
	"math"
	"slices"

	"tercet/internal/component"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "soft-triple", Doc: "softmax over classes of several centers each (Qian et al.)", Defaults: SoftTripleDefaults()})
}

// SoftTripleOptions are the keys of a softTriple.
type SoftTripleOptions struct {
	Centers     int            `yaml:"centers" check:">=1,<=100" doc:"centers of each class"`
	Lambda      float64        `yaml:"lambda" check:">0,<=1000" doc:"factor of the similarities to classes inside the softmax"`
	Gamma       float64        `yaml:"gamma" check:">0.001,<=100" doc:"temperature of the softmax over the centers of a class"`
	Tau         float64        `yaml:"tau" check:">=0,<=1000" doc:"weight of the term that merges centers of a class"`
	Delta       float64        `yaml:"delta" check:">=0,<=2" doc:"margin of the own class"`
	Smoothing   float64        `yaml:"smoothing" check:">=0,<1" omit:"0" doc:"label smoothing: this share of the target is spread evenly over all classes"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the centers as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the centers; auto takes optimizer.weight_decay"`
}

// SoftTripleDefaults returns the authors' constants.
func SoftTripleDefaults() SoftTripleOptions {
	return SoftTripleOptions{Centers: 10, Lambda: 20, Gamma: 0.1, Tau: 0.2, Delta: 0.01, LRFactor: 100}
}

// New implements Options.
func (o SoftTripleOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("soft-triple", o, &softTriple{classRows: classRows{name: "centers", each: o.Centers, smoothing: o.Smoothing}, o: o})
}

// Takes implements Options.
func (SoftTripleOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o SoftTripleOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// softTriple is the mean over rows of -log softmax_y of lambda (S_c - delta 1[c = y]), with
//
//	S_c = sum_k q_k s_ck,  q = softmax_k(s_ck / gamma)
//
// and tau / (C K (K-1)) times the sum, over pairs of centers of a class, of
// sqrt(2 + 1e-5 - 2 w_j.w_k), w of length 1 (Qian et al., "SoftTriple Loss: Deep Metric
// Learning Without Triplet Sampling", ICCV 2019, eq. 8 and 11). It serves one goroutine at a
// time.
type softTriple struct {
	classRows
	o     SoftTripleOptions
	spare par.Free[softScratch]
}

// softScratch is what a row needs while its cosines become exponentials, then slopes.
type softScratch struct {
	cos    []float32 // (classes*each)
	logits []float32 // (classes)
}

// Begin implements Parametric.
func (l *softTriple) Begin(dim, classes int, r *rng.Stream) error {
	l.row, l.more = l.classify, l.merge
	return l.classRows.Begin(dim, classes, r)
}

// Margin returns delta.
func (l *softTriple) Margin() float64 { return l.o.Delta }

// classify is classRows.row.
func (l *softTriple) classify(cells []float32, y int, mean float64) float64 {
	spare := l.spare.Get()
	defer l.spare.Put(spare)
	spare.cos, spare.logits = append(spare.cos[:0], cells...), loss.Grow(spare.logits, l.classes)
	cos, exps, logits := spare.cos, cells, spare.logits
	over := float32(1 / l.o.Gamma)
	for c := range l.classes {
		own, out := cos[c*l.each:][:l.each], exps[c*l.each:][:l.each]
		top := slices.Max(own)
		for k, s := range own {
			out[k] = (s - top) * over
		}
	}
	kernel.ExpLess(0, exps)
	for c := range logits {
		s, _ := similarity(cos[c*l.each:][:l.each], exps[c*l.each:][:l.each])
		logits[c] = float32(l.o.Lambda) * s
	}
	logits[y] -= float32(l.o.Lambda * l.o.Delta)
	value := l.crossEntropy(logits, y, l.o.Lambda*mean)
	for c, push := range logits {
		own, out := cos[c*l.each:][:l.each], exps[c*l.each:][:l.each]
		s, sum := similarity(own, out)
		push /= sum
		for k, e := range out {
			out[k] = float32(push*e) * (1 + float32((own[k]-s)*over))
		}
	}
	return value
}

// similarity is S of a class, given its cosines and their exponentials, and the sum of these.
func similarity(cos, exps []float32) (s, sum float32) {
	exps = exps[:len(cos)]
	for k, c := range cos {
		sum += exps[k]
		s += float32(exps[k] * c)
	}
	return s / sum, sum
}

// merge is classRows.more: the term of the centers.
func (l *softTriple) merge() {
	if l.each == 1 || l.o.Tau == 0 {
		return
	}
	b, d := &l.c.b, l.c.b.Dim
	weight := l.o.Tau / float64(l.classes*l.each*(l.each-1))
	for c := range l.classes {
		for j := c * l.each; j < (c+1)*l.each; j++ {
			for k := c * l.each; k < j; k++ {
				x, y := b.Hat[j*d:][:d], b.Hat[k*d:][:d]
				root := math.Sqrt(max(0, 2-2*kernel.Dot(x, y)) + 1e-5)
				l.extra += float64(weight * root)
				kernel.Axpy(float32(-weight/root), y, b.Turn[j*d:][:d])
				kernel.Axpy(float32(-weight/root), x, b.Turn[k*d:][:d])
			}
		}
	}
}
