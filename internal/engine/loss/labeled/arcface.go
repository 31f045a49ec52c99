package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "normalized-softmax", Doc: "softmax over the cosines to a vector of each class (Zhai & Wu)", Defaults: NormalizedSoftmaxDefaults()})
	loss.Family.Register(component.Component[loss.Options]{Name: "cosface", Doc: "normalized softmax with a margin on the cosine (Wang et al.)", Defaults: CosFaceDefaults()})
	loss.Family.Register(component.Component[loss.Options]{Name: "arcface", Doc: "normalized softmax with a margin on the angle, and with sub-centers (Deng et al.)", Defaults: ArcFaceDefaults()})
}

// NormalizedSoftmaxOptions are the keys of the softmax over cosines.
type NormalizedSoftmaxOptions struct {
	Scale       float64        `yaml:"scale" check:">0,<=1000" doc:"factor of the cosines inside the softmax"`
	Centers     int            `yaml:"centers" check:">=1,<=100" doc:"vectors of each class, the nearest of which counts"`
	Smoothing   float64        `yaml:"smoothing" check:">=0,<1" omit:"0" doc:"label smoothing: this share of the target is spread evenly over all classes"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the class vectors as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the class vectors; auto takes optimizer.weight_decay"`
}

// NormalizedSoftmaxDefaults returns scale 20, a temperature of 0.05.
func NormalizedSoftmaxDefaults() NormalizedSoftmaxOptions {
	return NormalizedSoftmaxOptions{Scale: 20, Centers: 1, LRFactor: 1}
}

// New implements Options.
func (o NormalizedSoftmaxOptions) New() (loss.Objective, error) {
	return newMarginSoftmax("normalized-softmax", o, &marginSoftmax{scale: o.Scale}, o.Centers, o.Smoothing)
}

// Takes implements Options.
func (NormalizedSoftmaxOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o NormalizedSoftmaxOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// CosFaceOptions are the keys of CosFace.
type CosFaceOptions struct {
	Scale       float64        `yaml:"scale" check:">0,<=1000" doc:"factor of the cosines inside the softmax"`
	Margin      float64        `yaml:"margin" check:">=0,<=2" doc:"subtracted from the cosine to the own class"`
	Centers     int            `yaml:"centers" check:">=1,<=100" doc:"vectors of each class, the nearest of which counts"`
	Smoothing   float64        `yaml:"smoothing" check:">=0,<1" omit:"0" doc:"label smoothing: this share of the target is spread evenly over all classes"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the class vectors as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the class vectors; auto takes optimizer.weight_decay"`
}

// CosFaceDefaults returns scale 64 and margin 0.35.
func CosFaceDefaults() CosFaceOptions {
	return CosFaceOptions{Scale: 64, Margin: 0.35, Centers: 1, LRFactor: 1}
}

// New implements Options.
func (o CosFaceOptions) New() (loss.Objective, error) {
	return newMarginSoftmax("cosface", o, &marginSoftmax{scale: o.Scale, margin: o.Margin}, o.Centers, o.Smoothing)
}

// Takes implements Options.
func (CosFaceOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o CosFaceOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// ArcFaceOptions are the keys of ArcFace.
type ArcFaceOptions struct {
	Scale       float64        `yaml:"scale" check:">0,<=1000" doc:"factor of the cosines inside the softmax"`
	Margin      float64        `yaml:"margin" check:">=0,<3.14159" doc:"added to the angle to the own class, in radians"`
	Centers     int            `yaml:"centers" check:">=1,<=100" doc:"vectors of each class, the nearest of which counts; 3 for labels with noise (sub-center ArcFace)"`
	Smoothing   float64        `yaml:"smoothing" check:">=0,<1" omit:"0" doc:"label smoothing: this share of the target is spread evenly over all classes"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the class vectors as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the class vectors; auto takes optimizer.weight_decay"`
}

// ArcFaceDefaults returns scale 64 and margin 0.5.
func ArcFaceDefaults() ArcFaceOptions {
	return ArcFaceOptions{Scale: 64, Margin: 0.5, Centers: 1, LRFactor: 1}
}

// New implements Options.
func (o ArcFaceOptions) New() (loss.Objective, error) {
	return newMarginSoftmax("arcface", o, &marginSoftmax{scale: o.Scale, margin: o.Margin, angular: true}, o.Centers, o.Smoothing)
}

// Takes implements Options.
func (ArcFaceOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o ArcFaceOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// marginSoftmax is the mean over rows of -log softmax of the logits scale s_c of all
// classes c, where that of the row's own class is reduced by a margin: scale (s_y - margin)
// (Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018),
// or scale cos(acos(s_y) + margin) (Deng et al., "ArcFace: Additive Angular Margin Loss for
// Deep Face Recognition", CVPR 2019). s_c is the largest cosine to the vectors of class c
// (Deng et al., "Sub-center ArcFace", ECCV 2020); without margin and with one vector it is
// the normalized softmax (Zhai and Wu, "Classification is a Strong Baseline for Deep Metric
// Learning", BMVC 2019). It serves one goroutine at a time.
type marginSoftmax struct {
	classRows
	scale, margin float64
	angular       bool
	spare         par.Free[nearestCenters]
}

// nearestCenters are the vectors of each class that count for a row, and their logits.
type nearestCenters struct {
	logits []float32
	at     []int32
}

func newMarginSoftmax(name string, o loss.Options, l *marginSoftmax, centers int, smoothing float64) (*marginSoftmax, error) {
	l.classRows = classRows{name: "classes", each: centers, smoothing: smoothing}
	return loss.Checked(name, o, l)
}

// Margin returns the margin.
func (l *marginSoftmax) Margin() float64 { return l.margin }

// Begin implements Parametric.
func (l *marginSoftmax) Begin(dim, classes int, r *rng.Stream) error {
	l.row = l.classify
	return l.classRows.Begin(dim, classes, r)
}

// classify is classRows.row.
func (l *marginSoftmax) classify(cos []float32, y int, mean float64) float64 {
	if l.each == 1 {
		return l.softmax(cos, y, mean)
	}
	near := l.spare.Get()
	defer l.spare.Put(near)
	near.logits, near.at = loss.Grow(near.logits, l.classes), loss.Grow(near.at, l.classes)
	for c := range near.logits {
		best := c * l.each
		for k := best + 1; k < (c+1)*l.each; k++ {
			if cos[k] > cos[best] {
				best = k
			}
		}
		near.logits[c], near.at[c] = cos[best], int32(best)
	}
	value := l.softmax(near.logits, y, mean)
	clear(cos)
	for c, k := range near.at {
		cos[k] = near.logits[c]
	}
	return value
}

// softmax turns the cosines of the classes into their slopes times mean, and returns the row's
// loss.
func (l *marginSoftmax) softmax(cos []float32, y int, mean float64) float64 {
	own, turn := l.reduced(float64(cos[y]))
	kernel.ScaleRow(float32(l.scale), cos)
	cos[y] = float32(l.scale * own)
	value := l.crossEntropy(cos, y, l.scale*mean)
	cos[y] *= float32(turn)
	return value
}

// reduced returns a cosine with the margin, and the derivative. Angles that the margin
// would take beyond pi are reduced by a constant instead, so that the result falls with the
// angle everywhere; the sine in the derivative is at least 1e-4.
func (l *marginSoftmax) reduced(c float64) (with, turn float64) {
	if !l.angular {
		return c - l.margin, 1
	}
	sin, cos := math.Sincos(l.margin)
	if c < -cos {
		return c - float64(l.margin*sin), 1
	}
	s := math.Sqrt(max(0, 1-float64(c*c)))
	return float64(c*cos) - float64(s*sin), cos + sin*c/max(s, 1e-4)
}
