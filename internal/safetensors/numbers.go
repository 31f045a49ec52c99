package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// numbers are the types that are read, little-endian: how many bytes one takes, and its
// value.
var numbers = []struct {
	name  string
	width int
	value func(b []byte) float32
}{
	{"F32", 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	{"F16", 2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }},
	{"BF16", 2, func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }},
	{"F64", 8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	{"I64", 8, func(b []byte) float32 { return float32(int64(binary.LittleEndian.Uint64(b))) }},
	{"I32", 4, func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) }},
	{"I16", 2, func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) }},
	{"I8", 1, func(b []byte) float32 { return float32(int8(b[0])) }},
	{"U8", 1, func(b []byte) float32 { return float32(b[0]) }},
	{"BOOL", 1, func(b []byte) float32 { return float32(b[0]) }},
}

// Number returns how many bytes a number of that type takes and how its value is read
// from them; 0 and nil for a type that is not read.
func Number(dtype string) (width int, value func(b []byte) float32) {
	for _, n := range numbers {
		if n.name == dtype {
			return n.width, n.value
		}
	}
	return 0, nil
}

// Width returns how many bytes a number of that type takes, 0 for a type that is not
// read.
func Width(dtype string) int {
	width, _ := Number(dtype)
	return width
}

// Types lists the types that are read.
func Types() string {
	var list []string
	for _, n := range numbers {
		list = append(list, n.name)
	}
	return strings.Join(list, ", ")
}

// ReadNumbers fills v with little-endian numbers of that type from r, each the float32
// next to it. An integer above 2^24 may lose digits; a float64 beyond float32 becomes
// infinite.
func ReadNumbers(r io.Reader, dtype string, v []float32) error {
	width, value := Number(dtype)
	if width == 0 {
		return fmt.Errorf("numbers of type %s; the types that are read are %s", dtype, Types())
	}
	buf := make([]byte, min(64<<10, width*len(v)))
	for len(v) > 0 {
		part := buf[:min(len(buf), width*len(v))]
		if _, err := io.ReadFull(r, part); err != nil {
			return err
		}
		for i := range len(part) / width {
			v[i] = value(part[width*i:])
		}
		v = v[len(part)/width:]
	}
	return nil
}

// WriteNumbers writes the numbers of t as Write does: little-endian float32, or int64.
func WriteNumbers(w io.Writer, t Tensor) error {
	buf := make([]byte, 0, min(64<<10, 8*len(t.Data)))
	for _, v := range t.Data {
		if t.Integers {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(int64(v)))
		} else {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if len(buf) > cap(buf)-8 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(buf)
	return err
}

// half returns the value of an IEEE 754 half: 1 bit of sign, 5 of exponent, 10 of
// fraction.
func half(b uint16) float32 {
	sign, exp, frac := uint32(b>>15)<<31, uint32(b>>10)&31, uint32(b)&1023
	switch exp {
	case 0: // frac * 2^-24, exact in float32
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
