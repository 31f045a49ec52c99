package render

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A bar is as high as its share of the highest, and in the color of its kind.
func TestStabilityBars(t *testing.T) {
	base := filepath.Join(t.TempDir(), "s")
	list := []Replaced{{"3", "far", 0.1, 0.01, 0, 0}, {"9", "fresh", 0.4, 0.02, 0.1, 0.5}, {"4", "far", 0.2, 0.04, 0.2, 1}}
	if err := Stability(base, "title", "note", list); err != nil {
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
	// Pixels of each color in the first panel: fresh is twice far's 0.2 and 0.1 wide.
	count := map[int]int{}
	b := img.Bounds()
	for y := b.Min.Y + 140; y < b.Max.Y/2; y++ {
		for x := b.Min.X; x < b.Max.X/2; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			for k := range 2 {
				if c := Palette[k]; uint8(r>>8) == c.R && uint8(g>>8) == c.G && uint8(bl>>8) == c.B {
					count[k]++
				}
			}
		}
	}
	if share := float64(count[1]) / float64(count[0]); math.Abs(share-0.4/0.3) > 0.03 {
		t.Errorf("areas %v: fresh is %.3f of far, want %.3f", count, share, 0.4/0.3)
	}
	text, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	if i, j := strings.Index(string(text), ">9<"), strings.Index(string(text), ">3<"); i < 0 || j < i {
		t.Errorf("the bars are not sorted: 9 at %d, 3 at %d", i, j)
	}
	if err := Stability(base, "", "", nil); err == nil {
		t.Error("nothing was drawn")
	}
	if err := Stability(base, "", "", []Replaced{{LossMax: math.NaN()}}); err == nil {
		t.Error("NaN was drawn")
	}
	many := make([]Replaced, 40)
	for i := range many {
		many[i].Name = "image"
	}
	if n := len(movedTicks(many).Ticks(0, 39)); n > mostNames || n < 5 {
		t.Errorf("%d names of 40 bars", n)
	}
	if err := Stability(base, "", "", many); err != nil {
		t.Errorf("nothing moved: %v", err)
	}
}
