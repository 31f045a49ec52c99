package safetensors

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Every single bit of a sealed file counts, those of the digest itself too. Only the
// name of the digest's key can be lost: then there is none.
func TestEveryBitOfASealedFileCounts(t *testing.T) {
	var b bytes.Buffer
	f := sample()
	if err := WriteSealed(&b, f); err != nil {
		t.Fatal(err)
	}
	if _, there := f.Meta[digestKey]; there {
		t.Error("the caller's metadata were changed")
	}
	whole := b.Bytes()
	if g, err := Parse(whole); err != nil || !g.Sealed || g.Meta["step"] != "12" {
		t.Fatalf("%+v, %v", g, err)
	}
	for i := range 8 * len(whole) {
		bad := bytes.Clone(whole)
		bad[i/8] ^= 1 << (i % 8)
		if g, err := Parse(bad); err == nil && g.Sealed {
			t.Fatalf("bit %d of byte %d (%q) was not noticed", i%8, i/8, whole[max(0, i/8-5):i/8+1])
		}
	}
	if g, err := Parse(encode(t, sample())); err != nil || g.Sealed {
		t.Errorf("a file without a digest: sealed %v, %v", g.Sealed, err)
	}
	again := strings.Replace(string(whole), `"b":"`, `"digest":"`, 1)
	if _, err := Parse([]byte(again)); !errors.Is(err, ErrFormat) {
		t.Errorf("two digests: %v", err)
	}
}
