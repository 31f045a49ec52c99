package labeled

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// The published gradient is that of the value times half the rows of the batch.
func TestFastAPPublished(t *testing.T) {
	t.Parallel()
	z, r := array.New(8, 5), rng.New(1, "fastap")
	for i := range z.Data {
		z.Data[i] = float32(r.NormFloat64())
	}
	labels := &loss.Tuples{Labels: []int32{0, 1, 0, 1, 2, 2, 0, 3}}
	var grads [2]*array.Array
	var values [2]float64
	for i, v := range []Variant{Paper, Published} {
		l, err := FastAPOptions{Bins: 10, Variant: v}.New()
		if err != nil {
			t.Fatal(err)
		}
		grads[i] = z.Clone()
		res, err := l.Eval(z, labels, grads[i])
		if err != nil {
			t.Fatal(err)
		}
		values[i] = res.Loss
	}
	if values[0] != values[1] || values[0] == 0 {
		t.Errorf("values %v", values)
	}
	for i, g := range grads[0].Data {
		if got := float64(grads[1].Data[i]); math.Abs(got-4*float64(g)) > 1e-6 {
			t.Errorf("number %d: %v, want 4 times %v", i, got, g)
		}
	}
}
