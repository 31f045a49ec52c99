package render

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render/rendertest"
)

// The rows of a sheet with headings, targets and neighbors are where they belong:
// frames are counted.
func TestAdversarialSheetOfSeveralAttacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	white := Image{Pix: make([]float32, 64), H: 8, W: 8, C: 1}
	for i := range white.Pix {
		white.Pix[i] = 1
	}
	tile := Tile{Image: white}
	near := []Neighbor{{tile, true}, {tile, false}}
	plainRow := AdversarialRow{Clean: tile, Adversarial: tile, Before: near, After: near}
	aimed := plainRow
	aimed.Heading, aimed.Target = " ", &tile
	if err := AdversarialSheet(path, "T", []AdversarialRow{plainRow}, 0); err != nil {
		t.Fatal(err)
	}
	one := rendertest.Load(t, path)
	if err := AdversarialSheet(path, "T", []AdversarialRow{plainRow, aimed}, 0); err != nil {
		t.Fatal(err)
	}
	two := rendertest.Load(t, path)
	const side, thick = 96, 100*100 - 96*96
	n, m := rendertest.Colors(one), rendertest.Colors(two)
	if d := m[plain] - n[plain]; d < 3*thick || d > 3*thick+100 { // some of the words' edges are of that gray
		t.Errorf("%d pixels of gray frames more, want %d", d, 3*thick)
	}
	if m[right] != 2*n[right] || n[right] != 2*(102*102-side*side) {
		t.Errorf("%d and %d pixels of green frames", n[right], m[right])
	}
	if w, v := one.Bounds().Dx(), two.Bounds().Dx(); v != w+side+16 {
		t.Errorf("widths %d and %d: a target takes a column", w, v)
	}
	if h, k := one.Bounds().Dy(), two.Bounds().Dy(); k != h+side+16+18+30 {
		t.Errorf("heights %d and %d: a heading takes a line", h, k)
	}
	bad := aimed
	bad.Target = &Tile{Image{H: 1, W: 1, C: 2, Pix: []float32{0, 0}}, ""}
	if err := AdversarialSheet(path, "T", []AdversarialRow{bad}, 0); err == nil || !strings.Contains(err.Error(), "row 0, image 2") {
		t.Error(err)
	}
}

// Dashed and solid lines of one name have one color, and panels of any number
// are drawn.
func TestCurveGrid(t *testing.T) {
	dir := t.TempDir()
	x := []float64{0, 7, 14, 21}
	both := Panel{YLabel: "ERS (%)", FromZero: true, Lines: []Series{
		{Name: "ERS", X: x, Y: []float64{90, 60, 40, 30}}, {Name: "ERS", X: x, Y: []float64{90, 70, 50, 35}, Dashed: true},
	}}
	other := Panel{YLabel: "recall", Lines: []Series{{Name: "ES:R", X: x, Y: []float64{1, 2, 3, math.NaN()}}, {Name: "LTM", X: x, Y: []float64{0, 0, 0, 0}}}}
	for k := 1; k <= 4; k++ {
		base := filepath.Join(dir, "c")
		if err := CurveGrid(base, "Title", "solid: fixed", "eps", []Panel{both, other, both, other}[:k]); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(base + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		svg := string(b)
		for _, want := range []string{"solid: fixed", "ERS (%)", "stroke-dasharray"} {
			if !strings.Contains(svg, want) {
				t.Errorf("%d panels: no %q in the SVG", k, want)
			}
		}
		n := rendertest.Colors(rendertest.Load(t, base+".png"))
		if n[Palette[0]] == 0 || k == 1 && n[Palette[1]] != 0 {
			t.Errorf("%d panels: %d pixels of the first color, %d of the second", k, n[Palette[0]], n[Palette[1]])
		}
		if k == 2 && n[color.RGBA{0xE6, 0x9F, 0, 255}] == 0 {
			t.Error("the second name has no color of its own")
		}
	}
	if err := CurveGrid(filepath.Join(dir, "c"), "", "", "", nil); err == nil || !strings.Contains(err.Error(), "no panels") {
		t.Error(err)
	}
}
