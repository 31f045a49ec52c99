package kernel

import (
	"errors"
	"math"
	"tercet/internal/engine/pages"
	"unsafe"
)

//go:generate go run -C _generate ./bf16 -out ../bf16_amd64.s -go ../bf16_stubs.go -pkg kernel

// Products of bfloat16 are computed in the tiles of AMX at level AVX512 and above, and at level
// Generic in plain Go with the same bits, some hundred times slower.

// ErrBF16 says that there is nothing to compute products of bfloat16 with.
var ErrBF16 = errors.New("products of bfloat16 need an Intel processor with AMX (Xeon from Sapphire Rapids on), Linux and kernel level avx512; level generic computes the same in plain Go, slowly")

// CheckBF16 returns ErrBF16 where the level in use has no products of bfloat16.
func CheckBF16() error {
	if l := Current(); l == Generic || l.avx512() && hasTilesBF16 {
		return nil
	}
	return ErrBF16
}

// multiplyBF16 computes blocks of products of bfloat16.
func (l Level) multiplyBF16(t *tilesArgs) {
	if l == Generic {
		tilesBF16Generic(t)
		return
	}
	multiplyBF16(t)
}

// roundedBF16 is x rounded to bfloat16, of two equally near ones to the even one.
func roundedBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16 | 0x40)
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// roundBF16 sets y to x rounded to bfloat16.
func (l Level) roundBF16(x []float32, y []uint16) {
	y = y[:len(x)]
	if assembly && l.avx512() && len(x) > 0 {
		roundBF16AVX512(len(x), &x[0], &y[0])
		return
	}
	for i, v := range x {
		y[i] = roundedBF16(v)
	}
}

// pairsBF16 sets y to pairs of numbers of even and odd, rounded to bfloat16.
func (l Level) pairsBF16(even, odd []float32, y []uint32) {
	odd, y = odd[:len(even)], y[:len(even)]
	if assembly && l.avx512() && len(even) > 0 {
		pairsBF16AVX512(len(even), &even[0], &odd[0], &y[0])
		return
	}
	for i, v := range even {
		y[i] = uint32(roundedBF16(v)) | uint32(roundedBF16(odd[i]))<<16
	}
}

// finishBF16 sets y to x + bias, or to the larger of that and 0 where relu, rounded to
// bfloat16.
func (l Level) finishBF16(x, bias []float32, relu bool, y []uint16) {
	bias, y = bias[:len(x)], y[:len(x)]
	if assembly && l.avx512() && len(x) > 0 {
		finishBF16AVX512(len(x), &x[0], &bias[0], relu, &y[0])
		return
	}
	for i, v := range x {
		if v += bias[i]; relu && v <= 0 {
			v = 0
		}
		y[i] = roundedBF16(v)
	}
}

// maskBF16 sets y to x rounded to bfloat16, or to 0 where on is 0.
func (l Level) maskBF16(x []float32, on, y []uint16) {
	on, y = on[:len(x)], y[:len(x)]
	if assembly && l.avx512() && len(x) > 0 {
		maskBF16AVX512(len(x), &x[0], &on[0], &y[0])
		return
	}
	for i, v := range x {
		if y[i] = 0; on[i] != 0 {
			y[i] = roundedBF16(v)
		}
	}
}

// MakeBF16 returns n zeros, for operands of products of bfloat16.
func MakeBF16(n int) []uint16 { return alignedBF16(n) }

// alignedBF16 returns n zeros that begin at a line of the cache.
func alignedBF16(n int) []uint16 {
	x := pages.Make[uint16](n + 64)
	at := 0
	for uintptr(unsafe.Pointer(&x[at]))%64 != 0 {
		at++
	}
	return x[at : at+n]
}
