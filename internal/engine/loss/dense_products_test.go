package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// A table by products has the distances and gradients of one by differences: of rows about a
// far mean, of equal ones, and of some that are nearer to each other than their lengths tell.
func TestProductsAreDifferences(t *testing.T) {
	t.Parallel()
	const rows, dim = manyRows + 7, 37
	r := rng.New(3, "products")
	z := array.New(rows, dim)
	for i := range rows {
		for k := range z.Row(i) {
			z.Row(i)[k] = float32(40 + r.NormFloat64())
		}
	}
	copy(z.Row(5), z.Row(50))
	for i := 20; i < 30; i++ {
		for k, v := range z.Row(19) {
			z.Row(i)[k] = v + float32(0.01*r.NormFloat64())
		}
	}
	for _, d := range []Distance{Euclidean, Squared} {
		slow, fast := NewTable(d), NewProducts(d)
		want, got := z.Clone(), z.Clone()
		for _, x := range []struct {
			t    *Table
			grad *array.Array
		}{{&slow, want}, {&fast, got}} {
			if err := x.t.Measure(z); err != nil {
				t.Fatal(err)
			}
			s := rng.New(4, "slopes")
			for i := range x.t.Coef {
				x.t.Coef[i] = s.NormFloat64()
			}
			x.t.Pull(0.5, x.grad)
		}
		if !fast.multiplied || slow.multiplied {
			t.Fatal("both tables are made in the same way")
		}
		for e, w := range slow.Dist {
			if math.Abs(fast.Dist[e]-w) > 3e-6*w {
				t.Errorf("%s of rows %d and %d: %v, want %v", d, e/rows, e%rows, fast.Dist[e], w)
			}
		}
		largest := 0.0
		for _, w := range want.Data {
			largest = max(largest, math.Abs(float64(w)))
		}
		for k, w := range want.Data {
			if math.Abs(float64(got.Data[k]-w)) > 1e-5*largest {
				t.Fatalf("%s: gradient %d is %v, want %v (largest %v)", d, k, got.Data[k], w, largest)
			}
		}
	}
	z.Row(3)[1], z.Row(60)[2] = 1e25, -1e25 // float32 has no squares of these
	huge := NewProducts(Euclidean)
	if err := huge.Measure(z); err != nil || huge.multiplied || math.Abs(huge.Dist[3*rows+60]/(math.Sqrt2*1e25)-1) > 1e-6 {
		t.Errorf("%v, by products: %v", err, huge.multiplied)
	}
}
