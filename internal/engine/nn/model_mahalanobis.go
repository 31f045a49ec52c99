package nn

import (
	"cmp"
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "mahalanobis", Doc: "a linear metric on principal components, fitted as section metric says", Defaults: MahalanobisKeys{Dims: 8, Radius: 1}, Preset: map[string]any{"normalize": false}})
}

// MahalanobisKeys are the keys of mahalanobis: a linear metric
// in the ball. Images are centered, projected on their principal components and
// scaled, and a linear map of that is learned.
type MahalanobisKeys struct {
	Dims   int     `yaml:"dims" check:">=0,<=1024" doc:"principal components of the training images that are kept, d; 0 keeps every number of an image"`
	Whiten bool    `yaml:"whiten" doc:"divide each component by its standard deviation"`
	Radius float64 `yaml:"radius" check:">0,<=1e6" doc:"B: all training images lie in the ball of this radius, the farthest one on its edge"`
}

func (MahalanobisKeys) options() []string { return nil }

// Features implements Fitted.
func (k MahalanobisKeys) Features() MahalanobisKeys { return k }

// Check implements component.Checker.
func (k MahalanobisKeys) Check() []component.Fault {
	if k.Whiten && k.Dims == 0 {
		return []component.Fault{component.Faultf("whiten", "divides principal components by their standard deviation: set model.dims to how many")}
	}
	return nil
}

// Set implements Setter.
func (k MahalanobisKeys) Set(s *Spec) { s.Embedding = k.Dims }

// layers returns linear metric learning on features that stay as they are: a frozen
// affine map of the flattened image to D numbers and a linear map L of those, trained
// or set by SetMetric. The squared distance of embeddings is Mahalanobis' in the
// features, (x-y)^T L^T L (x-y).
func (MahalanobisKeys) layers(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, s.Height*s.Width*s.Channels)
	return []Layer{NewFlatten("flatten"), NewProjection("project", s.Embedding), NewLinear("embed", s.Embedding, false)}, nil
}

// SetProjection sets the frozen map of a mahalanobis model to
//
//	y_r = scale_r sum_j components_rj (x_j - mean_j)
//
// for flattened images x of n numbers: mean (n), components (D, n) row-major, scale
// (D). components nil is the identity, for which D has to be n.
//
// Errors: another model, sizes that do not fit.
func (m *Model) SetProjection(mean, components, scale []float64) error {
	p, _, err := m.linearMetric()
	if err != nil {
		return err
	}
	n, d := p.in[0], p.outs
	if len(mean) != n || len(scale) != d || components == nil && n != d || components != nil && len(components) != n*d {
		return fmt.Errorf("%w: a projection of %d to %d numbers, got mean %d, components %d, scale %d", array.ErrShape, n, d, len(mean), len(components), len(scale))
	}
	for r := range d {
		shift := 0.0
		for j := range n {
			c := 0.0
			switch {
			case components != nil:
				c = components[r*n+j] * scale[r]
			case j == r:
				c = scale[r]
			}
			p.weight.Value.Data[j*d+r] = float32(c)
			shift += float64(c * mean[j])
		}
		p.bias.Value.Data[r] = float32(-shift)
	}
	return nil
}

// SetMetric sets L of a mahalanobis model, (D, D) row-major; nil is the identity, with
// which embeddings are the features and their distance Euclid's.
//
// Errors: another model, sizes that do not fit.
func (m *Model) SetMetric(l []float64) error {
	_, embed, err := m.linearMetric()
	if err != nil {
		return err
	}
	d := m.dim
	if l != nil && len(l) != d*d {
		return fmt.Errorf("%w: L of %d dimensions has %d numbers, got %d", array.ErrShape, d, d*d, len(l))
	}
	for r := range d {
		for c := range d {
			v := 0.0
			switch {
			case l != nil:
				v = l[r*d+c]
			case r == c:
				v = 1
			}
			embed.weight.Value.Data[c*d+r] = float32(v)
		}
	}
	return nil
}

// linearMetric returns the two maps of a mahalanobis model.
func (m *Model) linearMetric() (*Projection, *Linear, error) {
	var p *Projection
	var l *Linear
	for _, layer := range m.net.Layers() {
		switch x := layer.(type) {
		case *Projection:
			p = x
		case *Linear:
			l = x
		}
	}
	if p == nil || l == nil {
		return nil, nil, fmt.Errorf("model %s has no projection and metric to set: mahalanobis has", m.spec.Name)
	}
	return p, l, nil
}

// Projection is y = x W + b on rows of D numbers with a W (in, out) and b that are
// set, not trained: buffers, as running statistics are.
type Projection struct {
	base
	outs         int
	weight, bias *Param
	n            int // rows of the last Forward
	y, dx        *array.Array
}

// NewProjection returns a layer with the given number of outputs.
func NewProjection(name string, outs int) *Projection {
	return &Projection{base: base{name: name}, outs: outs}
}

// OutShape builds the buffers for rows of shape (in).
func (l *Projection) OutShape(in []int) ([]int, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("%s: needs flat rows, got rows of shape %v: put a Flatten before it", l.name, in)
	}
	if err := l.most.take(l.name+".weight", in[0], l.outs); err != nil {
		return nil, err
	}
	if err := l.most.take(l.name+".bias", l.outs); err != nil {
		return nil, err
	}
	l.weight = &Param{Name: l.name + ".weight", Value: array.New(in[0], l.outs)}
	l.bias = &Param{Name: l.name + ".bias", Value: array.New(l.outs)}
	return l.built(in, []int{l.outs})
}

// Forward computes x W + b.
func (l *Projection) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	in := l.in[0]
	kernel.GemmBias(false, false, l.n, l.outs, in, x.Data, in, l.weight.Value.Data, l.outs, l.bias.Value.Data, false, y.Data, l.outs)
	return y
}

// Backward returns dx = dy W^T where need has Input.
func (l *Projection) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	in := l.in[0]
	dx := l.grads.lend(&l.dx, l.n, l.in)
	kernel.Gemm(false, true, l.n, in, l.outs, 1, dy.Data, l.outs, l.weight.Value.Data, l.outs, 0, dx.Data, in)
	return dx
}

// Params returns the two buffers.
func (l *Projection) Params() []*Param { return []*Param{l.weight, l.bias} }

// FLOPs counts a multiply-add as two, for one row.
func (l *Projection) FLOPs() int64 { return 2 * int64(l.in[0]) * int64(l.outs) }
