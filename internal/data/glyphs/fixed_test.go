package glyphs

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

func TestSincos(t *testing.T) {
	worst := 0.0
	for a := int64(-205887); a <= 205887; a += 13 { // -pi to pi
		s, c := sincos(a)
		x := float64(a) / one
		worst = max(worst, math.Abs(float64(s)/one-math.Sin(x)), math.Abs(float64(c)/one-math.Cos(x)))
	}
	if worst > 1.0/(1<<12) {
		t.Fatalf("error %v", worst)
	}
	if s, c := sincos(0); s != 0 || c != one {
		t.Fatalf("at 0: %d, %d", s, c)
	}
}

func TestIsqrt(t *testing.T) {
	r := rng.New(1, "isqrt")
	check := func(v uint64) {
		q := isqrt(v)
		if q*q > v || (q+1)*(q+1) <= v {
			t.Fatalf("isqrt(%d) = %d", v, q)
		}
	}
	for v := range uint64(5000) {
		check(v)
	}
	for range 5000 {
		v := r.Uint64() >> 2 >> (r.Uint64() % 60)
		check(v)
		q := isqrt(v)
		check(q * q)
		if q > 0 {
			check(q*q - 1)
		}
	}
}

func TestNormalHasUnitVariance(t *testing.T) {
	r := rng.New(1, "normal")
	const n = 200000
	sum, sum2 := 0.0, 0.0
	for range n {
		v := float64(normal(r)) / one
		sum += v
		sum2 += v * v
	}
	if m, v := sum/n, sum2/n; math.Abs(m) > 0.01 || math.Abs(v-1) > 0.02 {
		t.Fatalf("mean %v, variance %v", m, v)
	}
}

func TestBetweenReachesBothEnds(t *testing.T) {
	r := rng.New(1, "between")
	seen := map[int64]int{}
	for range 3000 {
		seen[between(r, -1, 1)]++
	}
	if len(seen) != 3 {
		t.Fatalf("seen %v", seen)
	}
	for v, n := range seen {
		if n < 900 || n > 1100 {
			t.Fatalf("%d came %d times of 3000", v, n)
		}
	}
}
