package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMapOfAPage(t *testing.T) {
	dir := t.TempDir()
	sprite := filepath.Join(dir, "items.png")
	var images []Image
	var points []MapPoint
	for i := range 5 {
		images = append(images, Image{Pix: []float32{float32(i) / 4}, H: 1, W: 1, C: 1})
		points = append(points, MapPoint{X: float64(i), Y: -float64(i), Class: string(rune('e' - i)), Text: "item <" + string(rune('0'+i)) + ">"})
	}
	var b bytes.Buffer
	if err := Sprite(&b, images, 8); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sprite, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil || m.Bounds().Dx() != 8*spriteColumns(5) || m.Bounds().Dy() != 16 {
		t.Fatalf("%v %v", err, m.Bounds())
	}
	for i := range 5 { // the script looks for picture i at column i%columns
		if r, _, _, _ := m.At(i%spriteColumns(5)*8+4, i/spriteColumns(5)*8+4).RGBA(); r>>8 != uint32(i*255/4) && r>>8 != uint32(i*255/4)+1 {
			t.Errorf("picture %d is %d", i, r>>8)
		}
	}
	p := &Page{Title: "x"}
	p.Map("Map of 5", sprite, points)
	text, err := p.html()
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for _, want := range []string{`<circle cx="12.0" cy="12.0" r="5" class="c4"><title>item &lt;0&gt;</title></circle>`, `<circle cx="888.0" cy="588.0" r="5" class="c0"><title>item &lt;4&gt;</title>`, `"maps":[{"id":"map-1","columns":3}]`, `<div class="map" id="map-1" tabindex="0"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	md := filepath.Join(dir, "x.md")
	if err := p.WriteMarkdown(md); err != nil {
		t.Fatal(err)
	}
	p.Map("gone", filepath.Join(dir, "gone.png"), points)
	if _, err := p.html(); err == nil {
		t.Error("a sprite that is not there")
	}
}

// Gray images take a byte for each pixel, with a place that is left empty, too.
func TestGraySpriteIsSmall(t *testing.T) {
	images := []Image{ramp(32, 32, 1), ramp(32, 32, 1), ramp(32, 32, 1)}
	var b bytes.Buffer
	if err := Sprite(&b, images, 32); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if _, ok := m.(*image.Paletted); err != nil || !ok {
		t.Errorf("%T %v", m, err)
	}
	if c := color.RGBAModel.Convert(m.At(63, 63)); c != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("the empty place is %v", c)
	}
}

// A page holds a plot's drawing where that is the smaller file, and Markdown its picture.
func TestPageTakesTheSmallerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	var b bytes.Buffer
	if err := Sprite(&b, []Image{ramp(32, 32, 1)}, 32); err != nil {
		t.Fatal(err)
	}
	drawing := `<svg xmlns="http://www.w3.org/2000/svg"/>`
	for name, data := range map[string]string{path: b.String(), filepath.Join(dir, "a.svg"): drawing} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := &Page{Title: "x"}
	p.Folded(path, "curves")
	text, err := p.html()
	if want := `<details><summary>curves</summary><img src="data:image/svg+xml;base64,`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("the page lacks %s (%v)", want, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.svg"), []byte(drawing+strings.Repeat(" ", b.Len())), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err = p.html()
	if want := `<img src="data:image/png;base64,`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("the page lacks %s (%v)", want, err)
	}
}
