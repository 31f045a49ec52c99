package retrieval

import "math"

// Ascending sorts distances, numbers that are not negative nor NaN, by their bits,
// eleven at a time. spare is room of the same length.
func Ascending(x []float32, spare *[]float32) []float32 {
	if cap(*spare) < len(x) {
		*spare = make([]float32, len(x))
	}
	from, to := x, (*spare)[:len(x)]
	const digits = 1 << 11
	var count [3][digits]int32
	for _, v := range from {
		b := math.Float32bits(v)
		count[0][b%digits]++
		count[1][b>>11%digits]++
		count[2][b>>22]++
	}
	for pass := range count {
		start := &count[pass]
		sum := int32(0)
		for k, c := range start {
			start[k] = sum
			sum += c
		}
		shift := 11 * pass
		for _, v := range from {
			k := math.Float32bits(v) >> shift % digits
			to[start[k]] = v
			start[k]++
		}
		from, to = to, from
	}
	copy(x, from)
	return x
}
