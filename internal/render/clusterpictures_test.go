package render

import (
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render/rendertest"
)

// Frames are counted: green of three pixels, red of five, none where truth is not
// known; and each image stands where its row and place say.
func TestMosaicFrames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.png")
	tile := Tile{Image: ramp(8, 8, 1)}
	groups := []MosaicGroup{
		{Name: "a", Members: []Member{{tile, Right}, {tile, Wrong}, {tile, Right}}},
		{Name: "b", Note: "a note", Members: []Member{{tile, NoTruth}}},
		{Name: "empty"},
	}
	if err := Mosaic(path, "", groups); err != nil {
		t.Fatal(err)
	}
	m := rendertest.Load(t, path)
	n := rendertest.Colors(m)
	if got, want := n[right], 2*(54*54-48*48); got != want {
		t.Errorf("%d green pixels, want %d", got, want)
	}
	if got, want := n[wrong], 58*58-48*48; got < want || got > want+60 { // and a mark below it
		t.Errorf("%d red pixels, want %d and a mark", got, want)
	}
	// Tiles of 48 pixels, 14 apart, after a column of 60 and 18 for the names; rows
	// are 80 apart.
	const x0 = 20 + 60 + 18
	if want := image.Rect(0, 0, x0+3*48+2*14+20, 20+3*80-14+27+20); m.Bounds() != want {
		t.Fatalf("size %v, want %v", m.Bounds(), want)
	}
	for _, at := range []image.Point{{x0, 20}, {x0 + 62, 20}, {x0 + 124, 20}, {x0, 100}} {
		for y := range 8 {
			for x := range 8 {
				if got := m.At(at.X+6*x+3, at.Y+6*y+3); got != tile.Image.at(x, y) {
					t.Fatalf("tile at %v: pixel %d,%d is %v, want %v", at, x, y, got, tile.Image.at(x, y))
				}
			}
		}
	}
	noTruth := filepath.Join(filepath.Dir(path), "u.png")
	if err := Mosaic(noTruth, "", groups[1:]); err != nil {
		t.Fatal(err)
	}
	u := rendertest.Load(t, noTruth)
	if n := rendertest.Colors(u); n[right]+n[wrong] != 0 || u.Bounds().Dy() != 20+2*62-14+20 {
		t.Errorf("unjudged: %d colored pixels, height %d", n[right]+n[wrong], u.Bounds().Dy())
	}
}

func TestMosaicRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.png")
	nan := ramp(2, 2, 1)
	nan.Pix[2] = float32(math.NaN())
	good := Member{Tile: Tile{Image: ramp(2, 2, 1)}}
	odd := good
	odd.Verdict = 3
	many := make([]MosaicGroup, 40000)
	for i := range many {
		many[i].Members = []Member{good, good, good, good, good}
	}
	for want, groups := range map[string][]MosaicGroup{
		"0 groups without images":  nil,
		"2 groups without images":  {{Name: "a"}, {Name: "b"}},
		"group 1 (b), image 0":     {{Name: "a", Members: []Member{good}}, {Name: "b", Members: []Member{{Tile: Tile{Image: nan}}}}},
		"group 0 (a), image 1: ve": {{Name: "a", Members: []Member{good, odd}}},
		"or fewer groups":          many,
	} {
		if err := Mosaic(path, "", groups); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused mosaic was written")
	}
}

// Each cell's color is that of its value over the largest: found in the middle
// between a cell's lower edge and its number.
func TestHeatmap(t *testing.T) {
	base := filepath.Join(t.TempDir(), "h")
	values := [][]float64{{1200, 0, 300}, {7, 600, 900}}
	if err := Heatmap(base, "Clusters & classes", "class", "cluster", []string{"c0", "c1"}, []string{"cat", "dog", "hippopotamus"}, values); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">1,200<", ">300<", ">7<", ">600<", ">900<", ">c0<", ">c1<", ">hippopotamus<", ">class<", ">cluster<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the heat map", want)
		}
	}
	m := rendertest.Load(t, base+".png")
	h := &heatmap{rows: []string{"c0", "c1"}, cols: []string{"cat", "dog", "hippopotamus"}, values: values, whole: true, top: 1200}
	h.measure()
	px := func(points float64) int { return int(points * dots / 72) }
	for i, r := range values {
		for j, v := range r {
			x := px(8 + heatSide + float64(h.left) + float64(h.cellW)*(float64(j)+0.15))
			y := px(36 + float64(h.cellH)*(float64(i)+0.85))
			if got, want := m.At(x, y), heat(v/1200); got != want {
				t.Errorf("row %d, column %d at %d,%d is %v, want %v", i, j, x, y, got, want)
			}
		}
	}
}

func TestHeatLightnessFalls(t *testing.T) {
	last := math.Inf(1)
	for i := range 101 {
		c := heat(float64(i) / 100)
		l := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if l >= last {
			t.Fatalf("at %d %%: lightness %.1f after %.1f", i, l, last)
		}
		last = l
	}
	if heat(0) != heatStops[0] || heat(1) != heatStops[len(heatStops)-1] {
		t.Error("the ends of the scale are not its first and last color")
	}
}

func TestHeatmapOfManyRowsAndOfFractions(t *testing.T) {
	base := filepath.Join(t.TempDir(), "h")
	var rows []string
	var values [][]float64
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("r%d", i))
		values = append(values, []float64{float64(i), 0.5, 0})
	}
	cols := []string{"a", "b", "c"}
	if err := Heatmap(base, "", "", "", rows, cols, values); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(svg), ">r"); n < 20 || n > 60 {
		t.Errorf("%d of 200 names: some, not all, have room", n)
	}
	if strings.Contains(string(svg), ">0.50<") {
		t.Error("600 cells are numbered")
	}
	if err := Heatmap(base, "", "", "", rows[:2], cols, values[:2]); err != nil {
		t.Fatal(err)
	}
	if svg, err = os.ReadFile(base + ".svg"); err != nil || strings.Count(string(svg), ">0.50<") != 2 {
		t.Errorf("two cells of 0.5 are not numbered so: %v", err)
	}
	if err := Heatmap(base, "", "", "", []string{"r"}, []string{"c"}, [][]float64{{0}}); err != nil {
		t.Errorf("all 0: %v", err)
	}
}

func TestHeatmapRefuses(t *testing.T) {
	base := filepath.Join(t.TempDir(), "h")
	two := []string{"a", "b"}
	for want, c := range map[string]struct {
		rows, cols []string
		values     [][]float64
	}{
		"0 rows of 2 columns":             {nil, two, nil},
		"2 rows of 0 columns":             {two, nil, [][]float64{{}, {}}},
		"values of 1 rows for 2 names":    {two, two, [][]float64{{1, 2}}},
		`row "b" has 1 values for 2`:      {two, two, [][]float64{{1, 2}, {3}}},
		`row "b", column "a": NaN`:        {two, two, [][]float64{{1, 2}, {math.NaN(), 1}}},
		`row "a", column "b": +Inf`:       {two, two, [][]float64{{1, math.Inf(1)}, {1, 1}}},
		`row "a", column "b": -1`:         {two, two, [][]float64{{1, -1}, {1, 1}}},
		"10001 rows of 2 columns; at mos": {make([]string, 10001), two, make([][]float64, 10001)},
	} {
		if err := Heatmap(base, "", "", "", c.rows, c.cols, c.values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, r := range [][2]float64{{1, 1000}, {8, 60}, {3, 40000}, {90, 200}, {2.001, 5.2}, {11, 28.7}} {
		list := logTicks{}.Ticks(r[0], r[1])
		if len(list) == 0 || len(list) > 10 {
			t.Errorf("%v: %d ticks", r, len(list))
		}
		for _, k := range list {
			if k.Value < r[0] || k.Value > r[1] || k.Label == "" {
				t.Errorf("%v: tick %v %q", r, k.Value, k.Label)
			}
		}
	}
}

// Counts have ticks at whole numbers alone, and some.
func TestWholeTicks(t *testing.T) {
	for _, r := range [][2]float64{{0, 1.08}, {0, 2.16}, {0, 7.9}, {0, 8}, {0, 9.7}, {0, 19.5}, {0, 1080}, {4.5, 6.5}, {-0.5, 12}} {
		list := wholeTicks{}.Ticks(r[0], r[1])
		for _, k := range list {
			if k.Value != math.Trunc(k.Value) || strings.Contains(k.Label, ".") || k.Value < r[0] || k.Value > r[1] {
				t.Errorf("%v: a tick at %v, %q", r, k.Value, k.Label)
			}
		}
		if len(list) < 2 || len(list) > 9 {
			t.Errorf("%v: %d ticks", r, len(list))
		}
	}
}

// A legend of more entries than fit below each other has room for its second column.
func TestScatterLegendHasRoom(t *testing.T) {
	base := filepath.Join(t.TempDir(), "m")
	for n, width := range map[int]int{20: 390 + 8 + 106, 21: 390 + 8 + 198} {
		m := Map{}
		for i := range n {
			m.Points, m.Labels = append(m.Points, float64(i), float64(i%3)), append(m.Labels, int32(i)-int32(n/21))
		}
		if err := Scatter(base, "t", "", "", []Map{m}); err != nil {
			t.Fatal(err)
		}
		rendertest.Figure(t, base, 2*width, 2*390)
	}
}

// Words stand below the title of a heat map, and have room.
func TestHeatmapWords(t *testing.T) {
	base := filepath.Join(t.TempDir(), "h")
	words := strings.Repeat("what is left out ", 9)
	if err := Heatmap(base, "t", "x", "y", []string{"r"}, []string{"c"}, [][]float64{{1}}, words, "second"); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(base + ".svg")
	if err != nil || !strings.Contains(string(svg), ">"+words+"<") || !strings.Contains(string(svg), ">second<") {
		t.Errorf("no words (%v)", err)
	}
}

// A label is drawn with the sign it is given, in the plot's legend too, and otherwise
// with that of its place.
func TestSignsOfLabels(t *testing.T) {
	m := Map{Points: []float64{0, 0, 1, 1, 2, 2}, Labels: []int32{4, 6, 9}, Signs: map[int32]int{4: 12, 6: 0}}
	_, marks, _, err := m.plot("x", "y")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{12, 0, 2} {
		if got := marks[i].style; got != sign(want, 3.6, 255) {
			t.Errorf("label %d has the sign %v, want %v", m.Labels[i], got, sign(want, 3.6, 255))
		}
	}
}
