package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Every half by its definition: (-1)^s 2^(e-15) 1.f, and 2^-14 0.f where e is 0.
func TestEveryHalf(t *testing.T) {
	for b := range 1 << 16 {
		sign, exp, frac := 1-2*float64(b>>15), b>>10&31, float64(b&1023)/1024
		want := sign * math.Ldexp(1+frac, exp-15)
		switch {
		case exp == 0:
			want = sign * math.Ldexp(frac, -14)
		case exp == 31 && frac == 0:
			want = math.Inf(int(sign))
		case exp == 31:
			want = math.NaN()
		}
		got := float64(half(uint16(b)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != math.Signbit(want) && !math.IsNaN(want) {
			t.Fatalf("half %#04x is %g, want %g", b, got, want)
		}
	}
}

// Bytes written down by hand: -2 and 3 in each type, 1 in a boolean.
func TestTypesOfNumbers(t *testing.T) {
	for dtype, hex := range map[string]string{
		"F32": "000000c000004040", "F16": "00c00042", "BF16": "00c04040",
		"F64": "00000000000000c00000000000000840",
		"I64": "feffffffffffffff0300000000000000", "I32": "feffffff03000000", "I16": "feff0300", "I8": "fe03",
	} {
		var raw []byte
		fmt.Sscanf(hex, "%x", &raw)
		head := fmt.Sprintf(`{"a":{"dtype":%q,"shape":[2],"data_offsets":[0,%d]}}`, dtype, len(raw))
		b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
		f, err := Parse(append(b, raw...))
		if err != nil || !slices.Equal(f.Tensors[0].Data, []float32{-2, 3}) {
			t.Errorf("%s: %+v, %v", dtype, f, err)
		}
	}
	for _, dtype := range []string{"U8", "BOOL"} {
		v := make([]float32, 2)
		if err := ReadNumbers(strings.NewReader("\x01\x00"), dtype, v); err != nil || v[0] != 1 || v[1] != 0 {
			t.Errorf("%s: %v, %v", dtype, v, err)
		}
	}
}

// PyTorch's counters are int64 with shape [].
func TestIntegersAreWrittenAsI64(t *testing.T) {
	b := encode(t, &File{Tensors: []Tensor{{Name: "n", Shape: []int{}, Data: []float32{7}, Integers: true}}})
	if want := `{"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}`; !bytes.Contains(b, []byte(want)) {
		t.Errorf("header of %q, want %s", b, want)
	}
	if tail := b[len(b)-8:]; !bytes.Equal(tail, []byte{7, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("data %v", tail)
	}
	if f, err := Parse(b); err != nil || f.Tensors[0].Data[0] != 7 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A large file of booleans would take four times its size.
func TestTensorsTakeAtMostTwiceTheFile(t *testing.T) {
	n := 1 << 17
	head := fmt.Sprintf(`{"a":{"dtype":"BOOL","shape":[%d],"data_offsets":[0,%d]}}`, n, n)
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
	if _, err := Parse(append(b, make([]byte, n)...)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error %v", err)
	}
}
