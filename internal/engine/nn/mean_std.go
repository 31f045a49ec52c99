package nn

import (
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Standards are the means and standard deviations that model.mean_std can name.
var Standards = component.NewFamily[StandardKeys]("none", "imagenet", "bn-inception", "caffe", "values")

// StandardKeys are the keys of a mean and a standard deviation in a config.
type StandardKeys interface {
	// MeanStd returns the first layer of the network, nil for none.
	MeanStd() *MeanStd
}

func init() {
	for _, s := range []struct {
		name, doc string
		layer     *MeanStd
	}{
		{"none", "pixels in [0, 1] as they are", nil},
		{"imagenet", "torchvision's, of ImageNet: mean 0.485, 0.456, 0.406 and standard deviation 0.229, 0.224, 0.225",
			&MeanStd{Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}},
		{"bn-inception", "channels blue, green, red; mean 0.502, 0.4588, 0.4078 and standard deviation 0.0039 (Roth et al.)",
			&MeanStd{Mean: []float64{0.502, 0.4588, 0.4078}, Std: []float64{0.0039, 0.0039, 0.0039}, BGR: true}},
		{"caffe", "channels blue, green, red, times 255, less 104, 117, 128 (Musgrave et al.)",
			&MeanStd{Mean: []float64{104. / 255, 117. / 255, 128. / 255}, Std: []float64{1. / 255, 1. / 255, 1. / 255}, BGR: true}},
	} {
		Standards.Register(component.Component[StandardKeys]{Name: s.name, Doc: s.doc, Defaults: knownStandard{s.layer}})
	}
	Standards.Register(component.Component[StandardKeys]{Name: "values", Doc: "given numbers", Defaults: StandardValues{
		Mean: []float64{0.5, 0.5, 0.5}, Std: []float64{0.5, 0.5, 0.5}, Scale: 1, Order: "rgb"}})
}

// knownStandard is a named mean and standard deviation.
type knownStandard struct{ layer *MeanStd }

func (k knownStandard) MeanStd() *MeanStd { return k.layer }

// StandardValues are given numbers.
type StandardValues struct {
	Mean  []float64 `yaml:"mean" check:">=-1e6,<=1e6" doc:"of each channel, in the network's order, after scale"`
	Std   []float64 `yaml:"std" check:">0,<=1e6" doc:"of each channel, in the network's order, after scale"`
	Scale float64   `yaml:"scale" check:">0,<=65535" doc:"factor of pixels in [0, 1] before the mean is taken off, such as 255"`
	Order string    `yaml:"order" enum:"rgb|bgr" doc:"channels as the network reads them"`
}

// Check implements component.Checker.
func (k StandardValues) Check() []component.Fault {
	if len(k.Mean) != len(k.Std) {
		return []component.Fault{component.Faultf("std", "has %d values and mean has %d: give one of each for each channel", len(k.Std), len(k.Mean))}
	}
	return nil
}

// MeanStd implements StandardKeys.
func (k StandardValues) MeanStd() *MeanStd {
	m := &MeanStd{BGR: k.Order == "bgr"}
	for i := range k.Mean {
		m.Mean, m.Std = append(m.Mean, k.Mean[i]/k.Scale), append(m.Std, k.Std[i]/k.Scale)
	}
	return m
}

// Standard says what pixels become before the first convolution: a component of
// Standards.
type Standard struct {
	Name    string       `yaml:"name" choice:"mean_std" omit:"none" doc:"mean and standard deviation by which pixels are normalized, as the first layer of the network; borders are padded after it"`
	Options StandardKeys `yaml:"-"`
}

// MeanStd describes the first layer of a network: each channel of pixels in [0, 1]
// becomes (x - Mean) / Std.
type MeanStd struct {
	Mean []float64 `json:"mean"` // of each channel, in the order of the network
	Std  []float64 `json:"std"`
	BGR  bool      `json:"bgr,omitempty"` // the network reads the channels in reverse order
}

// MeanStdLayer is y = (x - mean) / std of each channel, with the channels reversed
// before, where BGR. Mean and standard deviation are buffers, so that they are part
// of the weights.
type MeanStdLayer struct {
	base
	of        *MeanStd
	mean, std *Param
	means     []float64
	scale     []float64 // 1/std
	x, y, dx  *array.Array
	swap      swapJob
}

// NewMeanStd returns the layer.
func NewMeanStd(name string, of *MeanStd) *MeanStdLayer {
	return &MeanStdLayer{base: base{name: name}, of: of}
}

// OutShape builds the buffers for images of shape in.
func (l *MeanStdLayer) OutShape(in []int) ([]int, error) {
	_, _, c, err := l.image(in)
	if err != nil {
		return nil, err
	}
	if len(l.of.Mean) != c || len(l.of.Std) != c {
		return nil, fmt.Errorf("%s: %d means and %d standard deviations for images of %d channels", l.name, len(l.of.Mean), len(l.of.Std), c)
	}
	for _, p := range []struct {
		to   **Param
		name string
		from []float64
	}{{&l.mean, ".mean", l.of.Mean}, {&l.std, ".std", l.of.Std}} {
		if *p.to, err = l.newParam(l.name+p.name, false, c); err != nil {
			return nil, err
		}
		(*p.to).Grad = nil
		for i, v := range p.from {
			(*p.to).Value.Data[i] = float32(v)
		}
	}
	l.means, l.scale = make([]float64, c), make([]float64, c)
	return l.built(in, in)
}

// Forward normalizes.
func (l *MeanStdLayer) Forward(x *array.Array, mode Mode) *array.Array { return forward(l, x, mode) }

func (l *MeanStdLayer) rowwise(Mode) bool { return true }

func (l *MeanStdLayer) begin(x *array.Array, _ Mode) *array.Array {
	for i := range l.means {
		l.means[i], l.scale[i] = float64(l.mean.Value.Data[i]), 1/float64(l.std.Value.Data[i])
	}
	l.x = x
	return rowsOf(&l.y, l.check(x), l.out)
}

func (l *MeanStdLayer) forwardRows(lo, hi int) {
	c, from, y := len(l.means), rows(l.x, lo, hi), rows(l.y, lo, hi)
	if l.of.BGR {
		l.reverse(from, y)
		from = y
	}
	kernel.Normalize(len(from)/c, c, from, l.means, l.scale, nil, nil, false, y)
}

// Backward divides by the standard deviation.
func (l *MeanStdLayer) Backward(dy *array.Array, need Need) *array.Array {
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.over(dy, &l.dx, n)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

func (l *MeanStdLayer) idle() bool { return false }

func (l *MeanStdLayer) backwardRows(_, _ int, dy, dx []float32) {
	c := len(l.means)
	kernel.NormalizeBackward(len(dx)/c, c, nil, dy, nil, nil, l.scale, nil, nil, dx)
	if l.of.BGR {
		l.reverse(dx, dx)
	}
}

// reverse sets y to x with the channels of each pixel reversed. y may be x.
func (l *MeanStdLayer) reverse(x, y []float32) {
	l.swap = swapJob{c: len(l.means), x: x, y: y}
	par.Do(len(x)/len(l.means), 1<<13, &l.swap)
}

type swapJob struct {
	c    int
	x, y []float32
}

// Run does pixels [lo, hi).
func (j *swapJob) Run(lo, hi int) {
	for p := lo * j.c; p < hi*j.c; p += j.c {
		for a, b := p, p+j.c-1; a <= b; a, b = a+1, b-1 {
			j.y[a], j.y[b] = j.x[b], j.x[a]
		}
	}
}

// Params returns the two buffers.
func (l *MeanStdLayer) Params() []*Param { return []*Param{l.mean, l.std} }

// check returns what cannot be a mean and a standard deviation, in words.
func (m *MeanStd) check() error {
	for i, s := range m.Std {
		if !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("mean_std: standard deviation %v of channel %d is not a number above 0", s, i)
		}
	}
	return nil
}
