package nn

import (
	"fmt"

	"tercet/internal/engine/array"
)

// maxElements bounds one parameter and one output row, so that a wrong size in
// a config is an error and not a failed allocation: 2^30 numbers are 4 GiB.
const maxElements = 1 << 30

// sizeOf returns the product of shape, or an error where an extent is below 1 or
// the product exceeds maxElements.
func sizeOf(what string, shape ...int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 1 {
			return 0, fmt.Errorf("%s: shape %v has an extent below 1", what, shape)
		}
		if n > maxElements/d {
			return 0, fmt.Errorf("%s: shape %v has more than %d numbers", what, shape, maxElements)
		}
		n *= d
	}
	return n, nil
}

// budget is how many numbers the parameters and buffers of a network may still have.
type budget struct{ left int }

// take takes a parameter of this shape from the budget; nil is one without end.
func (b *budget) take(name string, shape ...int) error {
	n, err := sizeOf(name, shape...)
	if err != nil || b == nil {
		return err
	}
	if n > b.left {
		return fmt.Errorf("%s: shape %v has more than the %d numbers that are left for it", name, shape, b.left)
	}
	b.left -= n
	return nil
}

// newParam returns a zeroed trained parameter, within the budget.
func (b *base) newParam(name string, decay bool, shape ...int) (*Param, error) {
	if err := b.most.take(name, shape...); err != nil {
		return nil, err
	}
	return &Param{Name: name, Value: array.New(shape...), Grad: array.New(shape...), Decay: decay}, nil
}

// fill sets all values of p.
func (p *Param) fill(v float32) {
	for i := range p.Value.Data {
		p.Value.Data[i] = v
	}
}

// Trained reports whether p has a gradient: it is a parameter, not a buffer.
func (p *Param) Trained() bool { return p.Grad != nil }

// CountParams returns the number of trained numbers; buffers do not count.
func CountParams(params []*Param) int {
	n := 0
	for _, p := range params {
		if p.Grad != nil {
			n += len(p.Value.Data)
		}
	}
	return n
}

// rowsOf returns *a with n rows of the given row shape, made at the first call
// and reused afterwards. The content is undefined.
func rowsOf(a **array.Array, n int, row []int) *array.Array {
	if *a == nil {
		*a = array.New(append([]int{n}, row...)...)
	} else {
		(*a).SetRows(n)
	}
	return *a
}

// view makes *a a header of the given row shape on data.
func view(a **array.Array, data []float32, n int, row []int) *array.Array {
	if *a == nil {
		*a = &array.Array{Shape: append([]int{n}, row...)}
	}
	(*a).Data, (*a).Shape[0] = data, n
	return *a
}

// base is what all layers share: a name and the row shapes fixed at build.
type base struct {
	name    string
	in, out []int
	grads   *gradients // of the model, or nil
	shards  *shards    // of the model, or nil
	most    *budget    // of the model while it is built, or nil
}

// Name returns the layer's path in the model.
func (b *base) Name() string { return b.name }

// Params returns none: layers with parameters have their own.
func (b *base) Params() []*Param { return nil }

// image returns the sizes of an (H, W, C) row, or an error naming the layer.
func (b *base) image(in []int) (h, w, c int, err error) {
	if len(in) != 3 {
		return 0, 0, 0, fmt.Errorf("%s: needs images (height, width, channels), got rows of shape %v", b.name, in)
	}
	return in[0], in[1], in[2], nil
}

// built records the row shapes. A layer that has parameters cannot be built
// again for another input.
func (b *base) built(in, out []int) ([]int, error) {
	if _, err := sizeOf(b.name+": output", out...); err != nil {
		return nil, err
	}
	b.in, b.out = append([]int(nil), in...), append([]int(nil), out...)
	return b.out, nil
}

// check panics on an input that the layer was not built for: a mistake of the
// program, since models check what users give them.
func (b *base) check(x *array.Array) int {
	ok := len(x.Shape) == len(b.in)+1
	for i := 0; ok && i < len(b.in); i++ {
		ok = x.Shape[i+1] == b.in[i]
	}
	if !ok {
		panic(fmt.Sprintf("nn: %s: input %v, built for rows of shape %v", b.name, x.Shape, b.in))
	}
	return x.Shape[0]
}

// checkGrad panics on a gradient that is not of the shape of the last output.
func (b *base) checkGrad(dy *array.Array, n int) {
	if len(dy.Data) != n*size(b.out) {
		panic(fmt.Sprintf("nn: %s: gradient %v, want %d rows of shape %v", b.name, dy.Shape, n, b.out))
	}
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
