package metric

import (
	"context"
	"math"
	"testing"

	"tercet/internal/rng"
)

// Classes that differ by little around a large common offset: scores must be
// those of float64 distances between the same float32 rows.
func TestRetrieveWithCommonOffset(t *testing.T) {
	const n, d, classes = 200, 16, 20
	for _, unit := range []bool{false, true} {
		r := rng.New(4, "offset")
		x := make([]float32, n*d)
		labels := make([]int32, n)
		middle := make([]float64, classes*d)
		for i := range middle {
			middle[i] = 0.02 * r.NormFloat64()
		}
		for i := range n {
			c := i % classes
			labels[i] = int32(c)
			var length float64
			row := make([]float64, d)
			for j := range d {
				row[j] = 100 + middle[c*d+j] + 0.01*r.NormFloat64()
				length += row[j] * row[j]
			}
			for j := range d {
				if unit {
					row[j] /= math.Sqrt(length)
				}
				x[i*d+j] = float32(row[j])
			}
		}
		want := 0
		for i := range n {
			best, at := math.Inf(1), -1
			for k := range n {
				var s float64
				for j := range d {
					v := float64(x[i*d+j]) - float64(x[k*d+j])
					s += v * v
				}
				if k != i && s < best {
					best, at = s, k
				}
			}
			if labels[at] == labels[i] {
				want++
			}
		}
		got, err := Retrieve(context.Background(), x, n, d, labels, RetrievalOptions{Intervals: Intervals{Resamples: -1}})
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := got.Scores.Get("recall@1"); math.Abs(v.Value-float64(want)/n) > 1e-9 {
			t.Errorf("unit %v: recall@1 %v, want %v", unit, v.Value, float64(want)/n)
		}
	}
}

func TestCenteredLeavesOrdinaryRowsAlone(t *testing.T) {
	x := []float32{1, 0, 0, 1, -1, 0, 0, -1}
	if cx, cg := centered(x, x, 2); &cx[0] != &x[0] || &cg[0] != &x[0] {
		t.Error("rows without an offset were changed")
	}
	y := []float32{101, 100, 100, 101}
	cx, cg := centered(y, y, 2)
	if &cx[0] != &cg[0] || cx[0]-cx[2] != 1 || cx[1]-cx[3] != -1 || math.Abs(float64(cx[0])) > 1 {
		t.Errorf("centered to %v", cx)
	}
	q := []float32{102, 100}
	if cx, cg = centered(q, y, 2); cx[0]-cg[0] != 1 || cx[1]-cg[1] != 0 {
		t.Errorf("query centered to %v, gallery to %v", cx, cg)
	}
}

// Squares neither overflow nor, for numbers 10^30 times smaller, vanish.
func TestSpaciousScale(t *testing.T) {
	for _, d := range []int{1, 2, 8, 512, 1 << 20} {
		for _, most := range []float32{0, 0x1p-149, 1e-30, 1, 0x1p39, 1e13, 1e20, 1e30, math.MaxFloat32} {
			s := spaciousScale(most, d)
			if f, _ := math.Frexp(float64(s)); f != 0.5 {
				t.Errorf("%g: the scale %g is no power of two", most, s)
			}
			large, small := float64(most*s), float64(most*1e-30*s)
			if float64(d)*large*large > 0x1p124 {
				t.Errorf("%g in %d columns: scaled to %g", most, d, large)
			}
			if most >= 1e30 && small*small < 0x1p-126 {
				t.Errorf("%g in %d columns: %g is scaled to %g", most, d, most*1e-30, small)
			}
		}
	}
}
