package vectors

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
)

// Bytes says how numbers became bytes: b stands for Offset + Step*b. Numbers that are whole
// and from 0 to 255 are kept: Offset 0, Step 1.
type Bytes struct{ Offset, Step float64 }

// Write writes n rows of d numbers in a format of Written. Formats of bytes round numbers
// to one scale of 256 steps from the least to the largest, and return it; others return nil.
func Write(w io.Writer, name string, x []float32, n, d int) (*Bytes, error) {
	if !slices.Contains(Written(), name) {
		return nil, fault.Unfit("format %q; give %s", name, strings.Join(Written(), ", "))
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	f := formats[i]
	out := bufio.NewWriterSize(w, 1<<16)
	switch {
	case name == "npy":
		if err := npy.WriteHeader(out, "<f4", n, d); err != nil {
			return nil, err
		}
	case !f.perRow:
		_, _ = out.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(n)), uint32(d)))
	}
	put, scale := numbers(f, x)
	buf := make([]byte, 0, 4+4*d)
	for i := range n {
		buf = buf[:0]
		if f.perRow {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(d))
		}
		for _, v := range x[i*d : (i+1)*d] {
			buf = put(buf, v)
		}
		if _, err := out.Write(buf); err != nil {
			return nil, err
		}
	}
	return scale, out.Flush()
}

// numbers is how a format writes a number of x.
func numbers(f format, x []float32) (put func(b []byte, v float32) []byte, scale *Bytes) {
	if f.kind != "u1" {
		return func(b []byte, v float32) []byte {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}, nil
	}
	s := scaleOf(x)
	return func(b []byte, v float32) []byte {
		return append(b, byte(math.RoundToEven((float64(v)-s.Offset)/s.Step)))
	}, &s
}

// scaleOf is the scale by which numbers are rounded to bytes.
func scaleOf(x []float32) Bytes {
	low, high, whole := x[0], x[0], true
	for _, v := range x {
		low, high = min(low, v), max(high, v)
		whole = whole && v == float32(int32(v))
	}
	switch {
	case whole && low >= 0 && high <= 255:
		return Bytes{0, 1}
	case low == high:
		return Bytes{float64(low), 1}
	}
	return Bytes{float64(low), (float64(high) - float64(low)) / 255}
}
