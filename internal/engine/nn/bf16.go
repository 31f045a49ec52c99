package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
)

// BF16 is a Model whose convolutions and linear layers multiply activations and weights
// rounded to bfloat16, with float32 sums: an Embedder for crafting, in mode Eval and for
// input gradients alone. Bias, ReLU, pooling and normalization are in float32. The weights
// are rounded by Refresh.
//
// It has layers of its own: the Model's passes do not change what these remember.
type BF16 struct {
	m     *Model
	convs []*Conv2D
	maps  *kernel.MapsBF16 // nil: no convolutions
	dense []*denseBF16
	norm  *L2Normalize // nil: embeddings have any length
	wide  []float32    // weights of the first linear layer, for channels filled up
	sum   []float32    // of a product
	rows  int
	z, dx *array.Array
	dz    *array.Array // gradient of z before a ReLU at the end
}

// denseBF16 is a linear layer, then ReLU where it is set.
type denseBF16 struct {
	*Linear
	relu              bool
	forward, backward *kernel.DenseBF16
	x, dy             []uint16 // input, and gradient of the output, rows as wide as the product needs
	bias              []float32
}

// UnsupportedBF16 says which layer of a network has no products of bfloat16.
type UnsupportedBF16 struct {
	Model, Layer string
	Err          error // why, or nil
}

func (e *UnsupportedBF16) Error() string {
	why := ""
	if e.Err != nil {
		why = ": " + e.Err.Error()
	}
	return fmt.Sprintf("model %s cannot be computed in bfloat16, because of layer %s%s; supported are convolutions with stride 1, each followed by 2x2 max pooling with or without ReLU, then linear layers with or without ReLU, and normalization (models c2f2, lenet, mlp and linear)", e.Model, e.Layer, why)
}

// Unwrap returns the reason.
func (e *UnsupportedBF16) Unwrap() error { return e.Err }

// BF16 returns m in bfloat16; the error wraps kernel.ErrBF16 or is an *UnsupportedBF16.
func (m *Model) BF16() (*BF16, error) {
	if err := kernel.CheckBF16(); err != nil {
		return nil, err
	}
	b := &BF16{m: m}
	layers := m.net.layers
	refused := func(l Layer, err error) (*BF16, error) {
		return nil, &UnsupportedBF16{m.spec.Name, nameOf(l), err}
	}
	var pooled []kernel.PooledConv
	for i := 0; i < len(layers); i++ {
		follows := func() bool { // skips a ReLU
			if i+1 < len(layers) {
				if _, ok := layers[i+1].(*ReLU); ok {
					i++
					return true
				}
			}
			return false
		}
		switch l := layers[i].(type) {
		case *Conv2D:
			relu := follows()
			if i++; i == len(layers) || len(b.dense) > 0 {
				return refused(l, nil)
			}
			p, ok := layers[i].(*MaxPool)
			if !ok || p.pool.KH != 2 || p.pool.KW != 2 || p.pool.StrideH != 2 || p.pool.StrideW != 2 || p.pool.PadH != 0 || p.pool.PadW != 0 {
				return refused(layers[i], nil)
			}
			b.convs, pooled = append(b.convs, l), append(pooled, kernel.PooledConv{Conv: l.plan.Conv, ReLU: relu})
		case *Flatten:
		case *Linear:
			if l.vectors() != 1 {
				return refused(l, nil)
			}
			b.dense = append(b.dense, &denseBF16{Linear: l, relu: follows()})
		case *L2Normalize:
			if i != len(layers)-1 {
				return refused(l, nil)
			}
			b.norm = NewL2Normalize(l.name)
			if _, err := b.norm.OutShape(l.in); err != nil {
				return refused(l, err)
			}
		default:
			return refused(l, nil)
		}
	}
	if len(b.dense) == 0 {
		return refused(layers[len(layers)-1], nil)
	}
	if len(pooled) > 0 {
		var err error
		if b.maps, err = kernel.NewMapsBF16(pooled); err != nil {
			return refused(b.convs[0], err)
		}
	}
	for i, d := range b.dense {
		ins := d.ins
		if i == 0 && b.maps != nil {
			h, w, c := b.maps.Features()
			if ins = h * w * c; c != b.convs[len(b.convs)-1].outC {
				b.wide = pages.Make[float32](ins * d.outs)
			}
		}
		var err error
		if d.forward, err = kernel.NewDenseBF16(ins, d.outs); err != nil {
			return nil, err
		}
		if d.backward, err = kernel.NewDenseBF16(d.outs, ins); err != nil {
			return nil, err
		}
		d.bias = make([]float32, d.outs)
	}
	b.Refresh()
	return b, nil
}

// Refresh rounds the weights of the model, which have changed.
func (b *BF16) Refresh() {
	for i, c := range b.convs {
		b.maps.Pack(i, c.weight.Value.Data, valuesOf(c.bias))
	}
	for i, d := range b.dense {
		w := d.weight.Value.Data
		if i == 0 && b.wide != nil {
			b.widen(w, d.outs)
			w = b.wide
		}
		d.forward.Pack(false, w, d.outs)
		d.backward.Pack(true, w, d.outs)
		copy(d.bias, valuesOf(d.bias0()))
	}
}

// bias0 is the parameter; the layer's field of that name is hidden here.
func (d *denseBF16) bias0() *Param { return d.Linear.bias }

func valuesOf(p *Param) []float32 {
	if p == nil {
		return nil
	}
	return p.Value.Data
}

// widen copies the rows of w, (pixels, channels), to where channels are filled up.
func (b *BF16) widen(w []float32, outs int) {
	_, _, c := b.maps.Features()
	have := b.convs[len(b.convs)-1].outC
	for i := range len(w) / outs {
		copy(b.wide[(i/have*c+i%have)*outs:], w[i*outs:][:outs])
	}
}

// Dim returns D.
func (b *BF16) Dim() int { return b.m.dim }

// Params returns those of the model, in float32.
func (b *BF16) Params() []*Param { return b.m.Params() }

// Embed returns embeddings (B, D) of images x (B, H, W, C). Mode is Eval: these networks
// have no batch norm.
func (b *BF16) Embed(x *array.Array, _ Mode) *array.Array {
	if !b.m.fits(x) {
		panic("nn: Embed: " + b.m.CheckInput(x).Error())
	}
	n := x.Shape[0]
	b.rows = n
	first := b.dense[0]
	wide := first.forward.Width()
	b.fit(n)
	if b.maps != nil {
		b.maps.Forward(n, x.Data, first.x, wide)
	} else {
		kernel.RoundBF16(n, first.ins, x.Data, first.ins, first.x, wide)
	}
	for i, d := range b.dense {
		d.forward.Multiply(n, d.x, b.sum)
		columns := d.forward.Columns()
		if i+1 < len(b.dense) {
			next := b.dense[i+1]
			kernel.FinishBF16(n, d.outs, b.sum, columns, d.bias, d.relu, next.x, next.forward.Width())
			continue
		}
		z := rowsOf(&b.z, n, []int{d.outs})
		kernel.AddBias(n, d.outs, b.sum, columns, d.bias, d.relu, z.Data)
		if b.norm != nil {
			return b.norm.Forward(z, Eval)
		}
	}
	return b.z
}

// Backward takes dL/dz (B, D) of the last Embed and returns the input gradient.
func (b *BF16) Backward(dz *array.Array, need Need) *array.Array {
	if need != Input {
		panic("nn: bfloat16 has input gradients alone")
	}
	n := b.rows
	if n == 0 || len(dz.Data) != n*b.m.dim {
		panic(fmt.Sprintf("nn: Backward: gradient %v, want (%d, %d)", dz.Shape, n, b.m.dim))
	}
	if b.norm != nil {
		dz = b.norm.Backward(dz, Input)
	}
	dx := rowsOf(&b.dx, n, b.m.in)
	last := b.dense[len(b.dense)-1]
	if last.relu {
		masked := rowsOf(&b.dz, n, []int{last.outs})
		kernel.ReLUBackward(b.z.Data, dz.Data, masked.Data)
		dz = masked
	}
	kernel.RoundBF16(n, last.outs, dz.Data, last.outs, last.dy, last.backward.Width())
	for i := len(b.dense) - 1; i >= 0; i-- {
		d := b.dense[i]
		d.backward.Multiply(n, d.dy, b.sum)
		columns := d.backward.Columns()
		switch {
		case i > 0 && b.dense[i-1].relu:
			kernel.MaskBF16(n, d.ins, b.sum, columns, d.x, b.dense[i-1].dy, b.dense[i-1].backward.Width())
		case i > 0:
			kernel.RoundBF16(n, d.ins, b.sum, columns, b.dense[i-1].dy, b.dense[i-1].backward.Width())
		case b.maps != nil:
			b.maps.Backward(b.sum, columns, dx.Data)
		default:
			for r := range n {
				copy(dx.Row(r), b.sum[r*columns:])
			}
		}
	}
	return dx
}

// fit makes room for n rows.
func (b *BF16) fit(n int) {
	rows, most := (n+31)/32*32, 0
	for _, d := range b.dense {
		if want := rows * d.forward.Width(); cap(d.x) < want {
			d.x = kernel.MakeBF16(want)
		}
		if want := rows * d.backward.Width(); cap(d.dy) < want {
			d.dy = kernel.MakeBF16(want)
		}
		d.x, d.dy = d.x[:cap(d.x)], d.dy[:cap(d.dy)]
		most = max(most, d.forward.Columns(), d.backward.Columns())
	}
	if cap(b.sum) < rows*most {
		b.sum = pages.Make[float32](rows * most)
	}
	b.sum = b.sum[:cap(b.sum)]
}
