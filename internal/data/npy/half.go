package npy

import (
	"encoding/binary"
	"io"
	"math"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
	"tercet/internal/safetensors"
)

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

// eachHalf is each of float16, which npyio does not read.
func eachHalf(r io.Reader, h *header, path string, f func(k int, v float64) error) error {
	_, value := safetensors.Number("F16")
	buf := make([]byte, 1<<15)
	for k := 0; k < h.count; {
		part := buf[:2*min(len(buf)/2, h.count-k)]
		if _, err := io.ReadFull(r, part); err != nil {
			return fault.Of(fault.ErrFormat, file.Ended(err), "%s: element %d", path, k)
		}
		for i := 0; i < len(part); i, k = i+2, k+1 {
			b := part[i : i+2]
			if h.descr[0] == '>' {
				b = binary.LittleEndian.AppendUint16(nil, binary.BigEndian.Uint16(b))
			}
			if err := f(k, float64(value(b))); err != nil {
				return err
			}
		}
	}
	return nil
}
