package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"math"
	"strings"
	"testing"
)

func TestPacked(t *testing.T) {
	t.Parallel()
	values := []float64{0, 1, -0.25, 0.1, math.Pi, 1e-30, 0}
	got, err := Pack(values).Values(len(values))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if got[i] != float32(v) {
			t.Errorf("value %d is %v, want %v", i, got[i], float32(v))
		}
	}
	// 1 and -2 as bytes written by hand.
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0})
	w.Close()
	if got, err := Packed(base64.StdEncoding.EncodeToString(b.Bytes())).Values(2); err != nil || got[0] != 1 || got[1] != -2 {
		t.Errorf("%v, %v", got, err)
	}
	if p := Pack(make([]float64, 100_000)); len(p) > 1000 {
		t.Errorf("100,000 zeros take %d characters", len(p))
	}
	if got, err := Pack(nil).Values(0); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	good := Pack(values)
	for what, p := range map[string]Packed{"empty": "", "no base64": "*", "no zlib": "AAAA", "cut": good[:len(good)/2]} {
		if _, err := p.Values(len(values)); err == nil || !strings.Contains(err.Error(), "packed values") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, n := range []int{0, len(values) - 1, len(values) + 1} {
		if _, err := good.Values(n); err == nil {
			t.Errorf("%d values were read as %d", len(values), n)
		}
	}
}
