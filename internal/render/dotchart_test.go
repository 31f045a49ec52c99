package render

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// An interval twice as long is drawn twice as long, and one that has 0 inside is gray.
func TestDotChart(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "d")
	c := DotChart{Title: "title", Names: []string{"long", "gray", "gap", "short"}, Panels: []DotPanel{
		{Title: "score", Values: []Bar{{3, 1, 5}, {0.5, -1, 2}, {math.NaN(), 0, 0}, {2, 1, 3}}},
	}}
	if err := c.Write(base); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(base + ".png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	var widths []int // of the blue marks, from the top; a row of pixels without blue ends one
	inside, b := false, img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		blue := 0
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			if p := Palette[0]; uint8(r>>8) == p.R && uint8(g>>8) == p.G && uint8(bl>>8) == p.B {
				blue++
			}
		}
		if blue > 0 && !inside {
			widths = append(widths, 0)
		}
		if inside = blue > 0; inside {
			widths[len(widths)-1] = max(widths[len(widths)-1], blue)
		}
	}
	if len(widths) != 2 || math.Abs(float64(widths[0])/float64(widths[1])-2) > 0.05 {
		t.Errorf("blue marks of %v pixels, want two, the first twice as wide", widths)
	}
	c.Panels[0].Values = c.Panels[0].Values[:1]
	if err := c.Write(base); err == nil {
		t.Error("one value for four names was drawn")
	}
}
