package render

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render/rendertest"
)

func ramp(h, w, c int) Image {
	m := Image{Pix: make([]float32, h*w*c), H: h, W: w, C: c}
	for i := range m.Pix {
		m.Pix[i] = float32(i) / float32(len(m.Pix)-1)
	}
	return m
}

func TestContactSheetShowsEachPixel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheet.png")
	a := ramp(8, 8, 3)
	if err := ContactSheet(path, "", []Tile{{a, ""}, {ramp(8, 8, 1), ""}, {ramp(8, 8, 1), ""}}, 2); err != nil {
		t.Fatal(err)
	}
	m := rendertest.Load(t, path)
	// Tiles of 64 pixels, 8 apart, 20 from the edges.
	if m.Bounds() != image.Rect(0, 0, 20+64+8+64+20, 20+64+8+64+20) {
		t.Fatalf("size %v", m.Bounds())
	}
	for y := range 8 {
		for x := range 8 {
			if got := m.At(20+8*x+7, 20+8*y); got != a.at(x, y) {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got, a.at(x, y))
			}
		}
	}
	if m.At(20+64+8+10, 20+64+8+10) != paper {
		t.Error("the fourth place is not empty")
	}
}

func TestLargeImagesAreReduced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheet.png")
	flat := Image{Pix: make([]float32, 300*500), H: 300, W: 500, C: 1}
	for i := range flat.Pix {
		flat.Pix[i] = 0.5
	}
	if err := ContactSheet(path, "x", []Tile{{flat, "long caption that does not fit below a tile of this width"}}, 9); err != nil {
		t.Fatal(err)
	}
	if n := rendertest.Colors(rendertest.Load(t, path))[color.RGBA{128, 128, 128, 255}]; n < 128*70 || n > 128*80 {
		t.Fatalf("%d pixels of the reduced image", n)
	}
}

func TestRetrievalFrames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.png")
	tile := Tile{ramp(8, 8, 1), ""}
	row := RetrievalRow{tile, []Neighbor{{tile, true}, {tile, false}, {tile, true}}}
	if err := Retrieval(path, "Neighbours", []RetrievalRow{row, {Query: tile}}); err != nil {
		t.Fatal(err)
	}
	n := rendertest.Colors(rendertest.Load(t, path))
	if got, want := n[right], 2*(70*70-64*64); got != want {
		t.Errorf("%d green pixels, want %d", got, want)
	}
	if got, want := n[wrong], 74*74-64*64; got < want {
		t.Errorf("%d red pixels, want at least %d", got, want)
	}
}

func TestAdversarialSheetAmplifies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	a, b := ramp(8, 8, 1), ramp(8, 8, 1)
	b.Pix[9] += 0.01
	b.Pix[10] -= 0.005
	row := AdversarialRow{Clean: Tile{a, "clean"}, Adversarial: Tile{b, ""}, Before: []Neighbor{{Tile{a, ""}, true}}}
	if err := AdversarialSheet(path, "ES", []AdversarialRow{row}, 0); err != nil {
		t.Fatal(err)
	}
	rendertest.Load(t, path)
	c := change(a, b, 50)
	if math.Abs(float64(c.Pix[9])-1) > 1e-4 || math.Abs(float64(c.Pix[10])-0.25) > 1e-4 || c.Pix[0] != 0.5 {
		t.Fatalf("change %v", c.Pix[:11])
	}
	same := AdversarialRow{Clean: Tile{a, ""}, Adversarial: Tile{a, ""}}
	if err := AdversarialSheet(path, "", []AdversarialRow{same}, 0); err != nil {
		t.Errorf("no change at all: %v", err)
	}
}

func TestSheetsRefuseBadImages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.png")
	nan := ramp(2, 2, 1)
	nan.Pix[3] = float32(math.NaN())
	good := ramp(2, 2, 1)
	for want, err := range map[string]error{
		"nothing to show":                    ContactSheet(path, "", nil, 3),
		"rows of 0":                          ContactSheet(path, "", []Tile{{good, ""}}, 0),
		"tile 1: image has NaN at value 3":   ContactSheet(path, "", []Tile{{good, ""}, {nan, ""}}, 1),
		"2 channels":                         ContactSheet(path, "", []Tile{{Image{make([]float32, 8), 2, 2, 2}, ""}}, 1),
		"has 3 values":                       ContactSheet(path, "", []Tile{{Image{make([]float32, 3), 2, 2, 1}, ""}}, 1),
		"image of 0 x 2":                     ContactSheet(path, "", []Tile{{Image{nil, 0, 2, 1}, ""}}, 1),
		"too large":                          ContactSheet(path, "", []Tile{{good, ""}, {Image{make([]float32, 1<<14), 1, 1 << 14, 1}, ""}}, 2000000),
		"query 0, image 1":                   Retrieval(path, "", []RetrievalRow{{Tile{good, ""}, []Neighbor{{Tile{nan, ""}, true}}}}),
		"clean image 2x2x1, adversarial 2x3": AdversarialSheet(path, "", []AdversarialRow{{Clean: Tile{good, ""}, Adversarial: Tile{ramp(2, 3, 1), ""}}}, 0),
		"gain NaN":                           AdversarialSheet(path, "", []AdversarialRow{{}}, math.NaN()),
	} {
		if want == "too large" { // 2 tiles are small enough; many are not
			tiles := make([]Tile, 40000)
			for i := range tiles {
				tiles[i] = Tile{good, "x"}
			}
			err = ContactSheet(path, "", tiles, 100)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func TestTrainingCurves(t *testing.T) {
	base := filepath.Join(t.TempDir(), "curves")
	nan := math.NaN()
	long := Series{Name: "long"}
	for i := range 300 {
		long.X, long.Y = append(long.X, float64(i)), append(long.Y, math.Sin(float64(i)))
	}
	panels := []Panel{
		{YLabel: "loss", Lines: []Series{{Name: "a", X: []float64{0, 1, 2, 3, 4}, Y: []float64{1, 2, nan, math.Inf(1), 3}}}},
		{YLabel: "constant & <odd>", Lines: []Series{{Name: "b", X: []float64{1, 2}, Y: []float64{5, 5}}, {Name: "empty"}, long}},
	}
	if err := TrainingCurves(base+".png", "Title", "step", panels); err != nil {
		t.Fatal(err)
	}
	rendertest.Figure(t, base, 560*2, (70+2*170)*2)
	for want, p := range map[string][]Panel{
		"no panels":                     nil,
		"no finite":                     {{YLabel: "loss", Lines: []Series{{Name: "a", X: []float64{1}, Y: []float64{nan}}}}},
		`"a" has 2 places and 1 values`: {{YLabel: "loss", Lines: []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{1}}}}},
	} {
		if err := TrainingCurves(base, "", "step", p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestRunningMean(t *testing.T) {
	r := runningMean(pieces(Series{X: []float64{0, 1, 2, 3}, Y: []float64{0, 3, 6, 3}})[0], 1)
	for i, want := range []float64{1.5, 3, 4, 4.5} {
		if math.Abs(r[i].Y-want) > 1e-12 || r[i].X != float64(i) {
			t.Fatalf("%v", r)
		}
	}
}

func TestScatter(t *testing.T) {
	base := filepath.Join(t.TempDir(), "map")
	m := Map{Title: "by class", Names: []string{"zero", "one"}}
	for i := range 90 {
		m.Points = append(m.Points, float64(i%9), float64(i*i%17))
		m.Labels = append(m.Labels, int32(i%5)-1)
	}
	many := m
	many.Labels = make([]int32, 90)
	for i := range many.Labels {
		many.Labels[i] = int32(i % 45)
	}
	if err := Scatter(base, "T", "x", "y", []Map{m, many}); err != nil {
		t.Fatal(err)
	}
	rendertest.Figure(t, base, (390+8+106+390+8)*2, 390*2)
	svg, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">zero<", ">one<", ">2<", ">none<", "90 points, 4 labels", "45 labels: colors repeat, in 5 shapes"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the map", want)
		}
	}
	one := Map{Points: []float64{1, 1}, Labels: []int32{0}}
	if err := Scatter(base, "", "", "", []Map{one}); err != nil {
		t.Errorf("one point: %v", err)
	}
	bad := Map{Points: []float64{1, 1, 2, math.NaN()}, Labels: []int32{0, 0}}
	if err := Scatter(base, "", "", "", []Map{bad}); err == nil || !strings.Contains(err.Error(), "point 1 has the coordinate NaN") {
		t.Errorf("NaN: %v", err)
	}
	for _, maps := range [][]Map{nil, {{}}, {{Points: []float64{1}, Labels: []int32{0}}}} {
		if err := Scatter(base, "", "", "", maps); err == nil {
			t.Errorf("%v was accepted", maps)
		}
	}
}

func TestScatteredIsAPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 10, 144, 1000, 20001} {
		seen := make([]bool, n)
		for _, i := range scattered(n) {
			seen[i] = true
		}
		for i, s := range seen {
			if !s {
				t.Fatalf("n %d: %d is missing", n, i)
			}
		}
	}
}

func TestClusterSizes(t *testing.T) {
	base := filepath.Join(t.TempDir(), "sizes")
	for _, sizes := range [][]int{{5}, {0, 0, 3}, {1, 100000, 7, 7}} {
		if err := ClusterSizes(base, "Sizes", sizes); err != nil {
			t.Fatal(err)
		}
		rendertest.Figure(t, base, 520*2, 330*2)
	}
	svg, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	if want := "4 clusters, 100,015 members; smallest 1, median 7, largest 100000"; !strings.Contains(string(svg), want) {
		t.Errorf("no %q", want)
	}
	if ClusterSizes(base, "", nil) == nil || ClusterSizes(base, "", []int{-1}) == nil {
		t.Error("no clusters, or a negative size, were accepted")
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for _, r := range [][2]float64{{0, 1}, {0, 8000}, {-3, 7}, {0.1234, 0.1239}, {0, 1e-7}, {-2e9, 5e9}, {0, 123456}, {5, 5}, {4, 1e6}} {
		list := ticks{}.Ticks(r[0], r[1])
		if r[0] < r[1] && (len(list) < 4 || len(list) > 9) {
			t.Errorf("%v: %d ticks", r, len(list))
		}
		seen := map[string]bool{}
		for _, k := range list {
			if k.Value < r[0]-1e-9 || k.Value > r[1]+1e-9*math.Abs(r[1]) || seen[k.Label] {
				t.Errorf("%v: tick %v %q", r, k.Value, k.Label)
			}
			seen[k.Label] = true
		}
	}
}

// The same values give the same bytes.
func TestPicturesAreReproducible(t *testing.T) {
	dir := t.TempDir()
	var all [2][]byte
	for i := range all {
		base := filepath.Join(dir, "b")
		if err := ClusterSizes(base, "Sizes", []int{1, 2, 2, 3}); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".png", ".svg"} {
			data, err := os.ReadFile(base + ext)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], data...)
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Fatal("two drawings differ")
	}
}
