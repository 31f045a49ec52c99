package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// Packed is a list of float32 in a document: little-endian, compressed by zlib, in
// base64. Equal lists have equal texts.
type Packed string

// Pack returns the values, rounded to float32.
func Pack(values []float64) Packed {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	}
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(raw) // to memory: cannot fail
	w.Close()
	return Packed(base64.StdEncoding.EncodeToString(b.Bytes()))
}

// Values returns the n values; it is an error where there are more or fewer, so that no
// more than these are ever held.
func (p Packed) Values(n int) ([]float32, error) {
	z, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(string(p))))
	if err != nil {
		return nil, fmt.Errorf("packed values: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, 4*int64(n)+1))
	if err != nil {
		return nil, fmt.Errorf("packed values: %w", err)
	}
	if len(raw) != 4*n {
		return nil, fmt.Errorf("packed values: not the %d that there should be", n)
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}
