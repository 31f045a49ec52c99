package kernel

import "math"

// lanes32 is a sum in 32 lanes by the index modulo 32. The assembly adds in the
// same order, so that all levels give the same bits.
type lanes32 [32]float64

// total adds the lanes by halves.
func (s *lanes32) total() float64 {
	for half := len(s) / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

func sumGeneric(x []float32) float64 {
	var s lanes32
	for len(x) >= len(s) {
		for i, v := range (*[len(s)]float32)(x) {
			s[i] += float64(v)
		}
		x = x[len(s):]
	}
	for i, v := range x {
		s[i] += float64(v)
	}
	return s.total()
}

func dotGeneric(a, b []float32) float64 {
	var s lanes32
	for len(a) >= len(s) {
		w := (*[len(s)]float32)(b)
		for i, v := range (*[len(s)]float32)(a) {
			s[i] += float64(float64(v) * float64(w[i])) // the product is exact, fused or not
		}
		a, b = a[len(s):], b[len(s):]
	}
	for i, v := range a {
		s[i] += float64(float64(v) * float64(b[i]))
	}
	return s.total()
}

func squaredDistanceGeneric(a, b []float32) float64 {
	var s lanes32
	for i, v := range a {
		d := float64(v) - float64(b[i])
		s[i%len(s)] += float64(d * d) // the conversion forbids a fused multiply-add
	}
	return s.total()
}

func maxAbsGeneric(x []float32) float32 {
	// Without the sign, the bits of a larger magnitude are the larger integer,
	// and those of a NaN are larger than all.
	var m uint32
	for _, v := range x {
		m = max(m, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(m)
}

func stretchGeneric(factor float64, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = float32(float64(v) * factor)
	}
}

func radialGeneric(dot, factor float64, y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	for i, v := range y {
		dx[i] = float32((float64(dy[i]) - float64(float64(v)*dot)) * factor)
	}
}

func finishDistancesGeneric(x2 float64, y2 []float64, out []float32) {
	y2 = y2[:len(out)]
	for i, c := range out {
		out[i] = float32(max(x2+y2[i]-2*float64(c), 0))
	}
}
