package rendertest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"testing"
)

// Load decodes a PNG and requires more than one color.
func Load(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	first, b := m.At(0, 0), m.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if m.At(x, y) != first {
				return m
			}
		}
	}
	t.Fatalf("%s is blank", path)
	return nil
}

func Colors(m image.Image) map[color.Color]int {
	n := map[color.Color]int{}
	b := m.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			n[m.At(x, y)]++
		}
	}
	return n
}

// Figure checks both files of a plot.
func Figure(t *testing.T, base string, w, h int) {
	t.Helper()
	if b := Load(t, base+".png").Bounds(); b.Dx() != w || b.Dy() != h {
		t.Errorf("%s: %d x %d pixels, want %d x %d", base, b.Dx(), b.Dy(), w, h)
	}
	data, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	n := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s.svg: %v", base, err)
		}
		if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "path" {
			n++
		}
	}
	if n < 10 {
		t.Errorf("%s.svg has %d paths", base, n)
	}
}
