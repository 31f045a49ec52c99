package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows that stay where they are have the products of rows that are copied, to the bit.
func TestManyNumbersAreNotCopied(t *testing.T) {
	t.Parallel()
	var most PackedRows
	if most.Pack(1, copied+1, make([]float32, copied+1)); len(most.data) > 0 {
		t.Fatal("rows were copied")
	}
	const d = 3*dotRun + 100
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 33, 65} {
		x := make([]float32, n*d)
		for i := range x {
			x[i] = r.Float32() - 0.4
		}
		there := PackedRows{n: n, d: d, x: x, level: Current()}
		var copies PackedRows
		copies.Pack(n, d, x)
		ld := copies.Cols()
		got, want := make([]float32, n*ld), make([]float32, n*ld)
		there.Dots(n, x, d, 0, ld, -2, got, ld)
		copies.Dots(n, x, d, 0, ld, -2, want, ld)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%d rows: product %d, %d is %v, of copies %v", n, i/ld, i%ld, got[i], want[i])
			}
		}
	}
}
