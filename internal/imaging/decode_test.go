package imaging

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

func file(t *testing.T, name string) []byte {
	t.Helper()
	for _, g := range golden[decoded](t, "jpeg") {
		if g.Name == name {
			return g.File
		}
	}
	t.Fatalf("no golden of that name: %s", name)
	return nil
}

// announce returns a file that says it has h rows of w pixels.
func announce(t *testing.T, jpeg []byte, h, w uint16) []byte {
	out := bytes.Clone(jpeg)
	at := bytes.Index(out, []byte{0xff, 0xc0, 0, 17, 8})
	if at < 0 {
		t.Fatal("no frame header")
	}
	binary.BigEndian.PutUint16(out[at+5:], h)
	binary.BigEndian.PutUint16(out[at+7:], w)
	return out
}

// What cannot be read is an error, before memory is taken for it.
func TestDecodeRefuses(t *testing.T) {
	jpeg, png := file(t, "420 quality 95"), file(t, "png RGB")
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":         {nil, "empty file"},
		"text":          {[]byte("GIF89a"), "neither JPEG nor PNG"},
		"half a JPEG":   {jpeg[:len(jpeg)/2], "short Huffman data"},
		"half a PNG":    {png[:len(png)/2], "not enough pixel data"},
		"a magic alone": {jpeg[:2], "EOF"},
		"huge":          {announce(t, jpeg, 65535, 65535), "image of 65535x65535 pixels"},
		"one huge side": {announce(t, jpeg, 20000, 1), "image of 20000x1 pixels"},
		"no rows":       {announce(t, jpeg, 0, 67), ""},
		"no columns":    {announce(t, jpeg, 53, 0), ""},
	} {
		var d Decoder
		var img Image
		err := d.Decode(&img, c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if _, err := readHead(c.file); err != nil && img.Pix != nil {
			t.Errorf("%s: allocated %d bytes for what it refuses", name, len(img.Pix))
		}
	}
}

// Bytes after the end of the image change nothing, and a decoder is reused for images of
// other sizes.
func TestDecodeAgain(t *testing.T) {
	var d, fresh Decoder
	var a, b Image
	for _, g := range golden[decoded](t, "jpeg") {
		if err := d.Decode(&a, g.File); err != nil {
			t.Fatal(err)
		}
		fresh, b = Decoder{}, Image{}
		if err := fresh.Decode(&b, append(bytes.Clone(g.File), "trailing"...)); err != nil {
			t.Fatal(err)
		}
		if crc(a) != crc(b) || a.H != g.H || a.W != g.W {
			t.Errorf("%s: other pixels", g.Name)
		}
		if head, err := readHead(g.File); err != nil || head.H != g.H || head.W != g.W || head.Gray != (g.Name == "gray" || g.Name == "png L" || g.Name == "png 1") {
			t.Errorf("%s: header %+v, %v", g.Name, head, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range golden[decoded](&testing.T{}, "jpeg") {
		f.Add(g.File)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if head, err := readHead(file); err != nil || head.H*head.W > 1<<20 {
			return
		}
		var d Decoder
		var img Image
		if err := d.Decode(&img, file); err == nil && len(img.Pix) != 3*img.H*img.W {
			t.Fatalf("%d bytes for %dx%d pixels", len(img.Pix), img.H, img.W)
		}
	})
}
