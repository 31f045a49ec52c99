package nn

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// Spec describes a model. Zero values mean the model's own default; an option
// that the model does not have is an error.
type Spec struct {
	Name      string   `json:"name"`
	Height    int      `json:"height"` // of the images; data that are no images are 1 x 1 x D
	Width     int      `json:"width"`
	Channels  int      `json:"channels"`
	Embedding int      `json:"embedding"`            // D; 0: 512 for c2f2 and the ResNets, 128 for lenet and linear, 64 for small, Units for mlp, FC for cnn, all numbers of an image for mahalanobis, 384 for vit-s16
	Normalize bool     `json:"normalize"`            // L2-normalize embeddings
	Units     int      `json:"units,omitempty"`      // mlp: layer width w (200); cnn: filters k (47); ResNets: channels of the first stage (64)
	Filters   string   `json:"filters,omitempty"`    // cnn: paper-count (default) or paper-text
	FC        string   `json:"fc,omitempty"`         // cnn: k or 2k; default k for paper-count, 2k for paper-text
	Stem      string   `json:"stem,omitempty"`       // ResNets: imagenet or small; default small for images below 64 pixels
	Pool      string   `json:"pool,omitempty"`       // ResNets: avg (default), max, or avg+max
	Head      string   `json:"head,omitempty"`       // ResNets and vit-s16: linear, layernorm, layernorm-linear, or none; default linear, none for vit-s16
	MeanStd   *MeanStd `json:"mean_std,omitempty"`   // ResNets and vit-s16: pixels are normalized first
	FinalReLU bool     `json:"final_relu,omitempty"` // mlp: ReLU after the last layer
	Init      string   `json:"init,omitempty"`       // initializer, see initNames; default pytorch
}

// Limits on sizes in a Spec.
const (
	maxSide  = 1 << 14
	maxUnits = 1 << 24
)

// Family is the models that a config can name. A model registers itself in its file.
var Family = component.NewFamily[Keys]("cnn", "linear", "mlp", "lenet", "c2f2", "small", "resnet18", "resnet34", "resnet50", "vit-s16", "mahalanobis")

// Keys are the keys of a model in a config.
type Keys interface {
	// layers returns what turns images into embeddings, and fills in s the defaults of
	// its options and of the embedding's dimension. It depends on s alone.
	layers(s *Spec) ([]Layer, error)
	// options lists those of units, filters, fc, stem, pool, head, mean_std and final_relu that the model has.
	options() []string
}

// Setter is implemented by keys that set options of a model.
type Setter interface{ Set(s *Spec) }

// Fitted is implemented by the keys of a model that section metric fits; others are trained.
type Fitted interface {
	// Features returns the keys of the frozen map in front of the metric.
	Features() MahalanobisKeys
}

// Model is a built network: the Embedder of every part of Tercet.
type Model struct {
	spec   Spec
	net    *Sequential
	in     []int
	dim    int
	params []*Param
	minBN  int // smallest number of values per channel and image in any batch norm; 0: none
	rows   int // of the last Embed
	grads  gradients
	shards shards
	dx     *array.Array // result of the last Backward
	alone  bool         // the head is trained alone
	engine Engine       // nil: the kernels of this program
	raw    [][2]int     // of the engine's next Embed
}

var _ Embedder = (*Model)(nil)

// Build makes the model s with parameters drawn from r; with a nil r, weights are zero.
func Build(s Spec, r *rng.Stream) (*Model, error) { return buildWithin(s, nil, r) }

// BuildWithin is Build of a model whose parameters and buffers have at most so many
// numbers; for one with more it returns an error before it takes the memory for them.
func BuildWithin(s Spec, most int, r *rng.Stream) (*Model, error) {
	return buildWithin(s, &budget{left: most}, r)
}

func buildWithin(s Spec, most *budget, r *rng.Stream) (*Model, error) {
	known, ok := Family.Lookup(s.Name)
	if !ok {
		return nil, unknown("model", s.Name, Family.Names())
	}
	if err := s.check(known.Defaults.options()); err != nil {
		return nil, err
	}
	if s.Init == "" {
		s.Init = DefaultInit
	}
	layers, err := known.Defaults.layers(&s)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", s.Name, err)
	}
	if s.MeanStd != nil {
		layers = append([]Layer{NewMeanStd("mean_std", s.MeanStd)}, layers...)
	}
	if s.Normalize {
		layers = append(layers, NewL2Normalize("normalize"))
	}
	m := &Model{spec: s, net: NewSequential(s.Name, layers...), in: []int{s.Height, s.Width, s.Channels}}
	walk(m.net, func(l Layer) {
		if b, ok := l.(interface{ limit(*budget) }); ok {
			b.limit(most)
		}
	})
	out, err := m.net.OutShape(m.in)
	if err != nil {
		return nil, fmt.Errorf("model %s on %dx%dx%d images: %w", s.Name, s.Height, s.Width, s.Channels, err)
	}
	if len(out) != 1 {
		return nil, fmt.Errorf("model %s: embeddings have shape %v, want one axis", s.Name, out)
	}
	m.dim, m.params = out[0], m.net.Params()
	seen := map[string]bool{}
	for _, p := range m.params {
		if seen[p.Name] {
			return nil, fmt.Errorf("model %s: two parameters are called %s", s.Name, p.Name)
		}
		seen[p.Name] = true
	}
	share(m.net, &m.grads, &m.shards)
	walk(m.net, func(l Layer) {
		if bn, ok := l.(*BatchNorm2D); ok && (m.minBN == 0 || bn.perRow() < m.minBN) {
			m.minBN = bn.perRow()
		}
	})
	if err := Initialize(m.params, s.Init, r); err != nil {
		return nil, fmt.Errorf("model %s: %w", s.Name, err)
	}
	return m, nil
}

// check refuses sizes that no model can have, and options other than these.
func (s *Spec) check(options []string) error {
	for _, v := range []struct {
		what        string
		n, low, top int
	}{
		{"height", s.Height, 1, maxSide}, {"width", s.Width, 1, maxSide}, {"channels", s.Channels, 1, maxUnits},
		{"embedding", s.Embedding, 0, maxUnits}, {"units", s.Units, 0, maxUnits},
	} {
		if v.n < v.low || v.n > v.top {
			return fmt.Errorf("model %s: %s %d is not in %d to %d", s.Name, v.what, v.n, v.low, v.top)
		}
	}
	if s.MeanStd != nil {
		if err := s.MeanStd.check(); err != nil {
			return fmt.Errorf("model %s: %w", s.Name, err)
		}
	}
	for _, v := range []struct {
		what string
		set  bool
	}{{"mean_std", s.MeanStd != nil}, {"units", s.Units != 0}, {"filters", s.Filters != ""}, {"fc", s.FC != ""}, {"stem", s.Stem != ""}, {"pool", s.Pool != ""}, {"head", s.Head != ""}, {"final_relu", s.FinalReLU}} {
		if v.set && !slices.Contains(options, v.what) {
			has := "it has none but embedding, normalize and init"
			if len(options) > 0 {
				has = "it has " + strings.Join(options, ", ")
			}
			return fmt.Errorf("model %s has no option %s: %s", s.Name, v.what, has)
		}
	}
	return nil
}

// choose fills in def where value is empty; it is an error unless value is one of
// names.
func choose(what string, value *string, def string, names ...string) error {
	if *value == "" {
		*value = def
	}
	if !slices.Contains(names, *value) {
		return unknown(what, *value, names)
	}
	return nil
}

// Spec returns what the model was built from, with the model's defaults filled in:
// it builds the same model again, whatever later versions' defaults are.
func (m *Model) Spec() Spec { return m.spec }

// Dim returns D.
func (m *Model) Dim() int { return m.dim }

// Params returns all parameters and buffers in a fixed order. With an engine their values are
// fetched, and who changes them does so before the next pass or step.
func (m *Model) Params() []*Param {
	if m.engine != nil {
		m.engine.Fetch()
	}
	return m.params
}

// ParamCount returns the number of trained numbers.
func (m *Model) ParamCount() int { return CountParams(m.params) }

// ImageBytes returns about how much memory one image of a batch takes in mode Eval: the
// image and the outputs of the layers, which they keep for Backward.
func (m *Model) ImageBytes() int {
	n := size(m.in)
	walk(m.net, func(l Layer) {
		if norm, ok := l.(*BatchNorm2D); ok && norm.conv != nil {
			return // folded into the convolution
		}
		if b, ok := l.(interface{ shapeInfo() (string, []int) }); ok {
			_, out := b.shapeInfo()
			n += size(out)
		}
	})
	return 4 * n
}

// CheckInput returns an error wrapping array.ErrShape unless x is a batch of at
// least one image of the size that the model was built for.
func (m *Model) CheckInput(x *array.Array) error {
	want := fmt.Sprintf("model %s needs images (batch, %d, %d, %d)", m.spec.Name, m.in[0], m.in[1], m.in[2])
	if x == nil {
		return fmt.Errorf("%w: %s, got none", array.ErrShape, want)
	}
	s := x.Shape
	if len(s) != 4 || s[0] < 1 || s[1] != m.in[0] || s[2] != m.in[1] || s[3] != m.in[2] {
		return fmt.Errorf("%w: %s, got %v", array.ErrShape, want, s)
	}
	if n := array.Size(s); n != len(x.Data) {
		return fmt.Errorf("%w: images %v hold %d numbers, not %d", array.ErrShape, s, len(x.Data), n)
	}
	return nil
}

// CheckBatch is CheckInput, and also refuses a batch that is too small for the
// statistics of mode.
func (m *Model) CheckBatch(x *array.Array, mode Mode) error {
	if err := m.CheckInput(x); err != nil {
		return err
	}
	if !mode.running() && m.minBN*x.Rows() == 1 {
		return fmt.Errorf("model %s: batch norm cannot take statistics from a batch of one image: use a batch of at least 2", m.spec.Name)
	}
	return nil
}

// Embed returns embeddings (B, D) of images x (B, H, W, C). It panics on a shape
// that CheckInput refuses.
func (m *Model) Embed(x *array.Array, mode Mode) *array.Array {
	if !m.fits(x) {
		panic("nn: Embed: " + m.CheckInput(x).Error())
	}
	m.rows = x.Shape[0]
	if m.engine != nil {
		raw := m.raw
		m.raw = m.raw[:0]
		return m.engine.Embed(x, mode, raw)
	}
	return m.net.Forward(x, mode)
}

// LeaveRaw keeps the embeddings of rows of the next Embed, each from its first number to
// its second, at their own length where the model normalizes. Their gradients pass
// unchanged, too.
func (m *Model) LeaveRaw(rows ...[2]int) {
	if m.engine != nil {
		m.raw = append(m.raw[:0], rows...)
		return
	}
	walk(m.net, func(l Layer) {
		if n, ok := l.(*L2Normalize); ok {
			n.next = append(n.next[:0], rows...)
		}
	})
}

// fits is CheckInput without its allocations.
func (m *Model) fits(x *array.Array) bool {
	return x != nil && len(x.Shape) == 4 && x.Shape[0] > 0 && x.Shape[1] == m.in[0] && x.Shape[2] == m.in[1] &&
		x.Shape[3] == m.in[2] && len(x.Data) == size(x.Shape)
}

// Backward takes dL/dz (B, D) of the last Embed; see Layer.Backward.
func (m *Model) Backward(dz *array.Array, need Need) *array.Array {
	if m.rows == 0 || len(dz.Data) != m.rows*m.dim {
		panic(fmt.Sprintf("nn: Backward: gradient %v, want (%d, %d)", dz.Shape, m.rows, m.dim))
	}
	if m.engine != nil {
		return m.engine.Backward(dz, need, m.alone)
	}
	m.grads.put(m.dx)
	m.dx = m.net.Backward(dz, need)
	return m.dx
}

// container is a layer made of layers.
type container interface{ Layers() []Layer }

// walk calls f on every layer that is not a container, in order.
func walk(l Layer, f func(Layer)) {
	if c, ok := l.(container); ok {
		for _, inner := range c.Layers() {
			walk(inner, f)
		}
		return
	}
	f(l)
}

// Describe lists the layers in order.
func (m *Model) Describe() []record.Layer {
	var out []record.Layer
	walk(m.net, func(l Layer) {
		info := record.Layer{Kind: strings.TrimPrefix(fmt.Sprintf("%T", l), "*nn."), Params: CountParams(l.Params())}
		if b, ok := l.(interface{ shapeInfo() (string, []int) }); ok {
			info.Name, info.Out = b.shapeInfo()
		}
		if f, ok := l.(interface{ FLOPs() int64 }); ok {
			info.FLOPs = f.FLOPs()
		}
		out = append(out, info)
	})
	return out
}

func (b *base) shapeInfo() (string, []int) { return b.name, append([]int(nil), b.out...) }
