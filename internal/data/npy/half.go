package npy

import "math"

// Half returns the float16 next to v, of two equally near ones that with an even last bit,
// as bits of IEEE 754; beyond 65,504 it is infinite.
func Half(v float32) uint16 {
	b := math.Float32bits(v)
	sign, size := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case size > 0x7f800000: // no number
		return sign | 0x7e00
	case size >= 0x47800000: // 2^16
		return sign | 0x7c00
	case size < 0x38800000: // below the normal halves: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(math.Abs(float64(v))*(1<<24)))
	}
	size += 0xfff + size>>13&1 // a carry goes into the exponent, where it belongs
	return sign | uint16(size>>13-112<<10)
}
