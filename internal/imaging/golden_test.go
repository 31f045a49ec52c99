package imaging

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/engine/kernel"
)

// golden reads what testdata/scripts/imaging_golden.py has written.
func golden[T any](t *testing.T, name string) (out []T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// picture is the image of the script of that name.
func picture(h, w, seed int) Image {
	img := New(h, w)
	for i := range img.Pix {
		x := uint32(i+seed*7919) * 0x9E3779B1
		x ^= x >> 15
		x *= 0x85EBCA6B
		img.Pix[i] = uint8(x ^ x>>13)
	}
	return img
}

func crc(img Image) uint32 {
	var whole Image
	img.CopyTo(&whole)
	return crc32.ChecksumIEEE(whole.Pix)
}

// onLevels calls f at each kernel level.
func onLevels(t *testing.T, f func(t *testing.T)) {
	for _, l := range kernel.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

// 580 resizes to and from random sizes are Pillow's, bit by bit, and a window of them is
// the same part.
func TestResizeIsPillows(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		var r Resizer
		var out, part Image
		for _, c := range golden[[7]int](t, "resize") {
			h, w, seed, oh, ow, f := c[0], c[1], c[2], c[3], c[4], Filter(c[5])
			src := picture(h, w, seed)
			r.Resize(&out, src, oh, ow, f)
			if got := crc(out); got != uint32(c[6]) {
				t.Fatalf("%dx%d to %dx%d, filter %d: CRC %d, want %d", h, w, oh, ow, f, got, c[6])
			}
			top, left := oh/3, ow/4
			r.Window(&part, src, oh, ow, top, left, oh-top, (ow-left+1)/2, f)
			if crc(part) != crc(out.Crop(top, left, part.H, part.W)) {
				t.Fatalf("%dx%d to %dx%d, filter %d: a window has other pixels", h, w, oh, ow, f)
			}
		}
	})
}

// Places of the center crop and shapes of the resize are torchvision's for all sizes from
// 225 to 600.
func TestGeometryIsTorchvisions(t *testing.T) {
	for _, c := range golden[[5]int](t, "geometry") {
		if top, _ := Centered(c[0], c[1], 224, 224); top != c[2] {
			t.Errorf("height %d: the crop begins at %d, want %d", c[0], top, c[2])
		}
		if h, w := ShortSide(c[0], c[1], 256); h != c[3] || w != c[4] {
			t.Errorf("%dx%d becomes %dx%d, want %dx%d", c[0], c[1], h, w, c[3], c[4])
		}
		if _, left := Centered(c[1], c[0], 224, 224); left != c[2] {
			t.Errorf("width %d: the crop begins at %d, want %d", c[0], left, c[2])
		}
	}
}

// Boxes that are cropped, resized and mirrored, and center crops of smaller and larger
// images are torchvision's.
func TestBoxesAreTorchvisions(t *testing.T) {
	var r Resizer
	var out, padded Image
	for _, c := range golden[[12]int](t, "boxes") {
		src := picture(c[0], c[1], c[2])
		r.Resize(&out, src.Crop(c[3], c[4], c[5], c[6]), 24, 20, Filter(c[7]))
		if crc(out) != uint32(c[8]) {
			t.Fatalf("%v: other pixels", c)
		}
		if out.Mirror(); crc(out) != uint32(c[9]) {
			t.Fatalf("%v: mirrored to other pixels", c)
		}
		size := c[10]
		PadTo(&padded, src, size, size)
		top, left := Centered(padded.H, padded.W, size, size)
		if crc(padded.Crop(top, left, size, size)) != uint32(c[11]) {
			t.Fatalf("%v: center crop of other pixels", c)
		}
	}
}

// Changes of color are torchvision's bit by bit, the hue over the whole cube of colors.
func TestColorIsTorchvisions(t *testing.T) {
	for _, c := range golden[[4]float64](t, "color") {
		img := New(86, 86*86)
		if c[1] >= 0 {
			img = picture(30, 41, int(c[1]))
		} else {
			for i := range 86 * 86 * 86 {
				copy(img.Pix[3*i:], []uint8{uint8(i / 7396 * 3), uint8(i / 86 % 86 * 3), uint8(i % 86 * 3)})
			}
		}
		[]func(float64){img.Brightness, img.Contrast, img.Saturation, img.Hue}[int(c[0])](c[2])
		if got := crc(img); got != uint32(c[3]) {
			t.Errorf("change %v of image %v by %v: CRC %d, want %v", c[0], c[1], c[2], got, uint32(c[3]))
		}
	}
}

type decoded struct {
	Name      string
	File, RGB []byte
	H, W      int
}

// Decoded files differ from Pillow's by at most 3 levels, and by more than 1 in less than
// 1 % of the samples of each kind of JPEG; PNGs do not differ.
func TestDecodeIsNearPillows(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		var d Decoder
		var img Image
		off, all := map[string]int{}, map[string]int{}
		for _, g := range golden[decoded](t, "jpeg") {
			z, err := zlib.NewReader(bytes.NewReader(g.RGB))
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(&img, g.File); err != nil {
				t.Fatalf("%s: %v", g.Name, err)
			}
			if img.H != g.H || img.W != g.W || len(want) != len(img.Pix) {
				t.Fatalf("%s: %dx%d pixels, want %dx%d", g.Name, img.H, img.W, g.H, g.W)
			}
			kind, most := g.Name[:3], 0
			for i, v := range want {
				diff := max(int(v)-int(img.Pix[i]), int(img.Pix[i])-int(v))
				most = max(most, diff)
				if diff > 1 {
					off[kind]++
				}
			}
			all[kind] += len(want)
			if most > 3 || kind == "png" && most > 0 {
				t.Errorf("%s: differs by %d levels", g.Name, most)
			}
		}
		for kind, n := range all {
			t.Logf("%s: %d samples, %.2f %% by more than 1", kind, n, 100*float64(off[kind])/float64(n))
			if 100*off[kind] >= n {
				t.Errorf("%s: %d of %d samples differ by more than 1", kind, off[kind], n)
			}
		}
	})
}
