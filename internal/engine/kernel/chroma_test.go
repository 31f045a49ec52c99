package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows of chroma and of colors are the formulas at every level, up to the last byte of a
// page and not beyond.
func TestChroma(t *testing.T) {
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(6, uint64(l)))
		for n := 1; n < 60; n++ {
			near, far, wide := fencedBytes(t, r, n), fencedBytes(t, r, n), fencedBytes(t, r, 2*n)
			even, odd := r.IntN(9), r.IntN(9)
			ChromaRow(wide, near, far, even, odd)
			for i := range wide {
				sum := func(at int) int { at = min(max(at, 0), n-1); return 3*int(near[at]) + int(far[at]) }
				want := 3*sum(i/2) + sum(i/2-1) + even
				if i%2 == 1 {
					want = 3*sum(i/2) + sum(i/2+1) + odd
				}
				if want /= 16; int(wide[i]) != want {
					t.Fatalf("%s, %d samples: %d is %d, want %d", l, n, i, wide[i], want)
				}
			}
			y, cb, cr, rgb := fencedBytes(t, r, n), fencedBytes(t, r, n), fencedBytes(t, r, n), fencedBytes(t, r, 3*n)
			YCbCrRow(rgb, y, cb, cr)
			for i := range n {
				u, v := float64(cb[i])-128, float64(cr[i])-128
				part := func(u, v float64) int { // the coefficients of libjpeg, in 16 bits below the point
					sum := math.Copysign(math.Floor(math.Abs(u)*65536+.5), u)*(float64(cb[i])-128) + math.Copysign(math.Floor(math.Abs(v)*65536+.5), v)*(float64(cr[i])-128)
					return min(max(int(y[i])+int(math.Floor((sum+32768)/65536)), 0), 255)
				}
				want := [3]int{part(0, 1.402), part(-0.34414, -0.71414), part(1.772, 0)}
				if got := [3]int{int(rgb[3*i]), int(rgb[3*i+1]), int(rgb[3*i+2])}; got != want {
					t.Fatalf("%s, pixel %d of %d, u %v, v %v: %v, want %v", l, i, n, u, v, got, want)
				}
			}
		}
		restore()
	}
}
