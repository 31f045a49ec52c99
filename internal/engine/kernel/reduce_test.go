package kernel

import (
	"math"
	"testing"

	"tercet/internal/par"
)

var reduceSizes = []int{0, 1, 3, 4, 5, 1000, sumChunk - 1, sumChunk, sumChunk + 1, 3*sumChunk + 17}

func TestSums(t *testing.T) {
	defer par.SetThreads(par.Threads())
	for _, n := range reduceSizes {
		x := random(uint64(n), n)
		var want, squares, size float64
		for _, v := range x {
			want += float64(v)
			size += math.Abs(float64(v))
			squares += float64(v) * float64(v)
		}
		par.SetThreads(1)
		s1, q1 := Sum(x), SumSquares(x)
		par.SetThreads(3)
		s3, q3 := Sum(x), SumSquares(x)
		if s1 != s3 || q1 != q3 {
			t.Errorf("n %d: threads change the bits", n)
		}
		if math.Abs(s1-want) > 1e-13*size || math.Abs(q1-squares) > 1e-13*squares {
			t.Errorf("n %d: %g, %g, want %g, %g", n, s1, q1, want, squares)
		}
	}
	// Beyond float32's range and precision.
	if got := SumSquares([]float32{3e38, 3e38}); math.Abs(got-1.8e77) > 1e71 {
		t.Errorf("large squares: %g", got)
	}
	if got := Sum([]float32{1e20, 1, -1e20}); got != 0 && got != 1 {
		t.Errorf("canceling: %g", got)
	}
	if got := Sum([]float32{1, float32(math.NaN())}); got == got {
		t.Errorf("NaN lost: %g", got)
	}
}

func TestAxpy(t *testing.T) {
	for _, n := range reduceSizes {
		x, y := random(1, n), random(2, n+3)
		want := make([]float32, n+3)
		copy(want, y)
		for i, v := range x {
			want[i] += 0.5 * v // exact product: no difference by fusing
		}
		Axpy(0.5, x, y[:n])
		for i := range y {
			if y[i] != want[i] {
				t.Fatalf("n %d: y[%d] is %g, want %g", n, i, y[i], want[i])
			}
		}
	}
}

func TestMaxAbs(t *testing.T) {
	inf, nan := float32(math.Inf(-1)), float32(math.NaN())
	for _, c := range []struct {
		x    []float32
		want float32
	}{
		{nil, 0}, {[]float32{float32(math.Copysign(0, -1))}, 0}, {[]float32{1, -3, 2}, 3}, {[]float32{1e-45}, 1e-45},
		{[]float32{5, inf}, -inf}, {[]float32{inf, nan, 1}, nan},
	} {
		if got := MaxAbs(c.x); got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%v: %g", c.x, got)
		}
	}
}

func TestAllFinite(t *testing.T) {
	if i, ok := AllFinite(nil); i != -1 || !ok {
		t.Errorf("empty: %d %v", i, ok)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []int{0, 7, 99} {
			x := random(1, 100)
			x[50] = math.MaxFloat32
			if i, ok := AllFinite(x); i != -1 || !ok {
				t.Errorf("finite: %d %v", i, ok)
			}
			x[at] = float32(bad)
			if i, ok := AllFinite(x); i != at || ok {
				t.Errorf("%g at %d: %d %v", bad, at, i, ok)
			}
		}
	}
}

func TestDotAndSquaredDistance(t *testing.T) {
	a, b := []float32{1e8, 1, -1e8, 3}, []float32{1, 2, 1, -4}
	if got := Dot(a, b); got != -10 {
		t.Errorf("Dot %g", got)
	}
	if got := SquaredDistance([]float32{1e8, 0}, []float32{1e8 - 8, 3}); got != 73 {
		t.Errorf("SquaredDistance %g", got)
	}
	if Dot(nil, nil) != 0 || SquaredDistance(nil, nil) != 0 {
		t.Error("empty vectors")
	}
}
