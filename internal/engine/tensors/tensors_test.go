package tensors

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/tensor"

	"tercet/internal/engine/array"
)

func iota(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i + 1)
	}
	return x
}

func TestDenseSharesStorageBothWays(t *testing.T) {
	for _, shape := range [][]int{{6}, {2, 3}, {1, 3}, {3, 1}, {1, 1}, {2, 3, 4, 5}} {
		a := array.New(shape...)
		d := Dense(a)
		if !slices.Equal([]int(d.Shape()), shape) {
			t.Fatalf("shape %v became %v", shape, d.Shape())
		}
		d.Float32s()[0] = 7
		if a.Data[0] != 7 {
			t.Fatalf("shape %v: Dense copied", shape)
		}
		back, err := FromDense(d)
		if err != nil {
			t.Fatalf("shape %v: %v", shape, err)
		}
		if &back.Data[0] != &a.Data[0] || len(back.Data) != len(a.Data) || !slices.Equal(back.Shape, shape) {
			t.Fatalf("shape %v: FromDense gave %v", shape, back.Shape)
		}
		back.Shape[0] = 99
		if a.Shape[0] == 99 || d.Shape()[0] == 99 {
			t.Fatal("shapes are shared")
		}
	}
}

func TestDenseRefusesWhatGorgoniaHasNoTensorFor(t *testing.T) {
	for _, a := range []*array.Array{array.New(0, 3), {Data: make([]float32, 5), Shape: []int{2, 3}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("shape %v over %d numbers: no panic", a.Shape, len(a.Data))
				}
			}()
			Dense(a)
		}()
	}
}

func TestFromDenseRefusesViews(t *testing.T) {
	matrix := func() *tensor.Dense { return tensor.New(tensor.WithShape(4, 5), tensor.WithBacking(iota(20))) }
	slice := func(s ...tensor.Slice) *tensor.Dense {
		v, err := matrix().Slice(s...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*tensor.Dense)
	}
	transposed := matrix()
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	masked := matrix()
	masked.ResetMask(true)
	for _, c := range []struct {
		name string
		d    *tensor.Dense
		want error
	}{
		{"columns", slice(nil, tensor.S(1, 3)), ErrNotContiguous},
		{"one column", slice(nil, tensor.S(2)), ErrNotContiguous},
		{"every second row", slice(tensor.S(0, 4, 2)), ErrNotContiguous},
		{"block", slice(tensor.S(1, 3), tensor.S(1, 3)), ErrNotContiguous},
		{"transposed", transposed, ErrNotContiguous},
		{"column-major", tensor.New(tensor.WithShape(4, 5), tensor.AsFortran(iota(20))), ErrNotContiguous},
		{"float64", tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2})), ErrDtype},
		{"masked", masked, ErrMasked},
		{"nil", nil, ErrNilTensor},
	} {
		if a, err := FromDense(c.d); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v", c.name, a, err)
		}
	}
	rows, err := FromDense(slice(tensor.S(1, 3)))
	if err != nil || !slices.Equal(rows.Shape, []int{2, 5}) || !slices.Equal(rows.Data, iota(20)[5:15]) {
		t.Errorf("whole rows: %v, %v", rows, err)
	}
	scalar, err := FromDense(tensor.New(tensor.FromScalar(float32(3))))
	if err != nil || len(scalar.Shape) != 0 || scalar.Data[0] != 3 {
		t.Errorf("scalar: %v, %v", scalar, err)
	}
}

// The reason for ErrNotContiguous: gorgonia's product of a column slice is wrong
// and comes without an error. If this fails, gorgonia has been repaired.
func TestColumnSliceIsSilentlyWrongInGorgonia(t *testing.T) {
	m := tensor.New(tensor.WithShape(3, 4), tensor.WithBacking(iota(12)))
	v, err := m.Slice(nil, tensor.S(1, 3)) // rows (2,3), (6,7), (10,11)
	if err != nil {
		t.Fatal(err)
	}
	ones := tensor.New(tensor.WithShape(2, 1), tensor.WithBacking([]float32{1, 1}))
	p, err := tensor.MatMul(v.(*tensor.Dense), ones)
	if err != nil {
		t.Skipf("gorgonia now refuses it itself: %v", err)
	}
	if right := []float32{5, 13, 21}; slices.Equal(p.(*tensor.Dense).Float32s(), right) {
		t.Fatal("gorgonia multiplies column slices correctly now")
	}
	if _, err := FromDense(v.(*tensor.Dense)); !errors.Is(err, ErrNotContiguous) {
		t.Fatalf("not refused: %v", err)
	}
}

// gonum's product skips zeros of A and so hides 0*NaN; ours does not. That tells
// which of the two ran, whatever the speed.
func TestInstallRoutesBothLibrariesToOurGemm(t *testing.T) {
	nan := float32(math.NaN())
	zero, bad := []float32{0, 0, 0, 0}, []float32{nan, 1, 1, 1}
	c := make([]float32, 4)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, zero, 2, bad, 2, 0, c, 2)
	if c[0] != 0 {
		t.Fatalf("gonum's own product gives %v: the marker of this test is gone", c)
	}
	Install()
	Install()
	if _, ok := blas32.Implementation().(BLAS); !ok {
		t.Errorf("blas32 uses %T", blas32.Implementation())
	}
	if _, ok := tensor.WhichBLAS().(BLAS); !ok {
		t.Errorf("gorgonia uses %T", tensor.WhichBLAS())
	}
	g := func(x []float32) blas32.General { return blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: x} }
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, g(zero), g(bad), 0, g(c))
	if c[0] == c[0] {
		t.Errorf("blas32 did not run our product: %v", c)
	}
	a, _ := array.Of(zero, 2, 2)
	b, _ := array.Of(bad, 2, 2)
	p, err := tensor.MatMul(Dense(a), Dense(b))
	if err != nil {
		t.Fatal(err)
	}
	if v := p.(*tensor.Dense).Float32s(); v[0] == v[0] {
		t.Errorf("gorgonia did not run our product: %v", v)
	}
}

func TestSgemmRefusesBadTranspose(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	BLAS{}.Sgemm('x', blas.NoTrans, 1, 1, 1, 1, []float32{1}, 1, []float32{1}, 1, 0, []float32{1}, 1)
}

func TestGorgoniaTransposedOperandsAgree(t *testing.T) {
	Install()
	m := tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(iota(6)))
	if err := m.T(); err != nil {
		t.Fatal(err)
	}
	n := tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(iota(6)))
	p, err := tensor.MatMul(m, n)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.(*tensor.Dense).Float32s(), []float32{35, 44, 44, 56}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestMatMul(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 4}, {1, 5, 1}, {5, 1, 5}, {17, 33, 19}, {0, 3, 2}, {2, 0, 3}, {2, 3, 0}} {
		m, k, n := s[0], s[1], s[2]
		a, _ := array.Of(iota(m*k), m, k)
		b, _ := array.Of(iota(k*n), k, n)
		c, err := MatMul(a, b)
		if err != nil || c.SameShape("product", m, n) != nil {
			t.Fatalf("%v: %v %v", s, c, err)
		}
		for i := range m {
			for j := range n {
				var want float64
				for p := range k {
					want += float64(a.Data[i*k+p]) * float64(b.Data[p*n+j])
				}
				if got := float64(c.Data[i*n+j]); math.Abs(got-want) > 1e-5*want {
					t.Fatalf("%v at (%d, %d): got %g, want %g", s, i, j, got, want)
				}
			}
		}
	}
}

func TestMatMulRefusesShapes(t *testing.T) {
	short := &array.Array{Data: make([]float32, 5), Shape: []int{2, 3}}
	for _, c := range [][2]*array.Array{{array.New(2, 3), array.New(2, 3)}, {array.New(6), array.New(6, 1)}, {array.New(2, 3, 1), array.New(3, 2)}, {short, array.New(3, 2)}} {
		if _, err := MatMul(c[0], c[1]); !errors.Is(err, array.ErrShape) {
			t.Errorf("%v times %v: %v", c[0].Shape, c[1].Shape, err)
		}
	}
}

// Every order of the axes of shapes with extents of 1, against loops.
func TestPermute(t *testing.T) {
	for _, shape := range [][]int{{3, 4}, {1, 4}, {4, 1}, {2, 3, 4}, {1, 3, 1}, {2, 3, 4, 5}, {1, 3, 1, 2}, {1, 1, 1, 1}} {
		a := &array.Array{Data: iota(array.Size(shape)), Shape: shape}
		for _, axes := range orders(len(shape)) {
			got := Permute(a, axes...)
			at := make([]int, len(shape)) // the place in a
			for i, v := range got.Data {
				for k, rest := len(axes)-1, i; k >= 0; k-- {
					at[axes[k]] = rest % got.Shape[k]
					rest /= got.Shape[k]
				}
				from := 0
				for k, n := range shape {
					from = from*n + at[k]
				}
				if v != a.Data[from] {
					t.Fatalf("%v by %v: number %d is %v, want %v", shape, axes, i, v, a.Data[from])
				}
			}
			for k, n := range got.Shape {
				if n != shape[axes[k]] {
					t.Fatalf("%v by %v has shape %v", shape, axes, got.Shape)
				}
			}
			got.Data[0]++
			if a.Data[0] != 1 {
				t.Fatalf("%v by %v shares storage", shape, axes)
			}
		}
	}
}

// orders are all orders of n axes.
func orders(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range orders(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(shorter), i, n-1))
		}
	}
	return out
}
