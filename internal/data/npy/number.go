package npy

import (
	"encoding/binary"
	"math"
	"slices"

	"tercet/internal/safetensors"
)

// Number is a type of numbers in files: its kind as the header of an npy file names it, f2
// (float16) to f8, i1 to i8, u1 to u8, and the order of its bytes.
type Number struct {
	Kind  string
	Order binary.ByteOrder
}

// number is the type of h's elements.
func (h *header) number() Number {
	if h.descr[0] == '>' {
		return Number{h.kind, binary.BigEndian}
	}
	return Number{h.kind, binary.LittleEndian}
}

// Width is the number of bytes, 0 for a kind that is none of numbers.
func (n Number) Width() int {
	if slices.Contains([]string{"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}, n.Kind) {
		return int(n.Kind[1] - '0')
	}
	return 0
}

// Real says whether n is a floating point type.
func (n Number) Real() bool { return n.Width() > 0 && n.Kind[0] == 'f' }

// Float returns number k of raw.
func (n Number) Float(raw []byte, k int) float64 {
	switch n.Kind {
	case "f4":
		return float64(math.Float32frombits(n.Order.Uint32(raw[4*k:])))
	case "f8":
		return math.Float64frombits(n.Order.Uint64(raw[8*k:]))
	case "f2":
		var little [2]byte
		binary.LittleEndian.PutUint16(little[:], n.Order.Uint16(raw[2*k:]))
		return float64(half(little[:]))
	}
	v, _ := n.Int(raw, k)
	return float64(v)
}

var _, half = safetensors.Number("F16")

// Floats fills out with the numbers that raw begins with, rounded.
func (n Number) Floats(out []float32, raw []byte) {
	if n.Kind == "f4" {
		for k := range out {
			out[k] = math.Float32frombits(n.Order.Uint32(raw[4*k:]))
		}
		return
	}
	for k := range out {
		out[k] = float32(n.Float(raw, k))
	}
}

// Int returns number k of raw, which holds integers; ok is false for one above 2^63-1, whose
// bits are returned.
func (n Number) Int(raw []byte, k int) (v int64, ok bool) {
	switch n.Kind {
	case "i1":
		return int64(int8(raw[k])), true
	case "u1":
		return int64(raw[k]), true
	case "i2":
		return int64(int16(n.Order.Uint16(raw[2*k:]))), true
	case "u2":
		return int64(n.Order.Uint16(raw[2*k:])), true
	case "i4":
		return int64(int32(n.Order.Uint32(raw[4*k:]))), true
	case "u4":
		return int64(n.Order.Uint32(raw[4*k:])), true
	case "i8":
		return int64(n.Order.Uint64(raw[8*k:])), true
	}
	u := n.Order.Uint64(raw[8*k:])
	return int64(u), u <= math.MaxInt64
}
