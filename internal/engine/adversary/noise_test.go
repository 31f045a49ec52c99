package adversary

import (
	"math"
	"testing"
)

// Noise has the mean and standard deviation asked for, differs from row to row and step to
// step, leaves [0, 1], and nothing else of the batch changes.
func TestNoise(t *testing.T) {
	t.Parallel()
	m, in := scene(7, 64)
	d := made(t, NoiseKeys{Std: 0.5})
	out, cost, err := d.Craft(m, in, 3, 1)
	if err != nil || cost.Forward != 0 || len(out.Labels) != len(in.Labels) || &out.IDs[0] != &in.IDs[0] {
		t.Fatalf("%+v, %v", out, err)
	}
	var sum, square, cross float64
	outside := 0
	n := float64(len(in.Images.Data))
	for i, v := range out.Images.Data {
		e := float64(v) - float64(in.Images.Data[i])
		sum, square = sum+e, square+e*e
		if row := in.Images.Cols(); i >= row {
			cross += e * (float64(out.Images.Data[i-row]) - float64(in.Images.Data[i-row]))
		}
		if v < 0 || v > 1 {
			outside++
		}
	}
	if mean, std := sum/n, math.Sqrt(square/n); math.Abs(mean) > 3*.5/math.Sqrt(n) || math.Abs(std-.5) > .05 || math.Abs(cross/square) > 4/math.Sqrt(n) || outside == 0 {
		t.Errorf("mean %v, standard deviation %v, correlation of rows %v, %d pixels outside [0, 1]", mean, std, cross/square, outside)
	}
	before := append([]float32(nil), out.Images.Data...)
	if out, _, _ = d.Craft(m, in, 3, 2); out.Images.Data[0] == before[0] {
		t.Error("the next step has the same noise")
	}
}
