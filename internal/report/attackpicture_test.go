package report

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/metric"
)

// The rows of a sheet with headings, targets and neighbours are where they belong:
// frames are counted.
func TestAdversarialSheetOfSeveralAttacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	white := Image{Pix: make([]float32, 64), H: 8, W: 8, C: 1}
	for i := range white.Pix {
		white.Pix[i] = 1
	}
	tile := Tile{Image: white}
	near := []Neighbour{{tile, true}, {tile, false}}
	plainRow := AdversarialRow{Clean: tile, Adversarial: tile, Before: near, After: near}
	aimed := plainRow
	aimed.Heading, aimed.Target = " ", &tile
	if err := AdversarialSheet(path, "T", []AdversarialRow{plainRow}, 0); err != nil {
		t.Fatal(err)
	}
	one := load(t, path)
	if err := AdversarialSheet(path, "T", []AdversarialRow{plainRow, aimed}, 0); err != nil {
		t.Fatal(err)
	}
	two := load(t, path)
	const side, thick = 96, 100*100 - 96*96
	n, m := colours(one), colours(two)
	if d := m[plain] - n[plain]; d < 3*thick || d > 3*thick+100 { // some of the words' edges are of that grey
		t.Errorf("%d pixels of grey frames more, want %d", d, 3*thick)
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

// Dashed and solid lines of one name have one colour, and panels of any number
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
		n := colours(load(t, base+".png"))
		if n[palette[0]] == 0 || k == 1 && n[palette[1]] != 0 {
			t.Errorf("%d panels: %d pixels of the first colour, %d of the second", k, n[palette[0]], n[palette[1]])
		}
		if k == 2 && n[color.RGBA{0xE6, 0x9F, 0, 255}] == 0 {
			t.Error("the second name has no colour of its own")
		}
	}
	if err := CurveGrid(filepath.Join(dir, "c"), "", "", "", nil); err == nil || !strings.Contains(err.Error(), "no panels") {
		t.Error(err)
	}
}

func TestAttackTable(t *testing.T) {
	value := func(v float64, ci ...float64) metric.Value {
		m := metric.Value{Value: v}
		if ci != nil {
			m.CI95 = &[2]float64{ci[0], ci[1]}
		}
		return m
	}
	published := AttackScores{
		Variant: "published",
		Scores:  metric.Scores{{Key: "TMA", Value: value(0.25, 0.125, 0.5)}, {Key: "LTM", Value: value(0.5)}},
		Clean:   metric.Scores{{Key: "TMA", Value: value(0.0625, 0, 1)}, {Key: "LTM", Value: value(1)}},
		Right:   metric.Scores{{Key: "LTM", Value: value(0.75)}}, RightQueries: 8,
	}
	fixed := published
	fixed.Variant, fixed.Right, fixed.RightQueries = "fixed", nil, 0
	tab := AttackTable("T", []AttackScores{published, fixed})
	for format, want := range map[string]string{
		"markdown": `**T**

| score | published | fixed | clean, published | clean, fixed |
|:--- | ---:| ---:| ---:| ---:|
| TMA | 0.250 [0.125, 0.500] | 0.250 [0.125, 0.500] | 0.062 | 0.062 |
| LTM (%) | 50.0 | 50.0 | 100.0 | 100.0 |
| LTM, right when clean (%) | 75.0 | - | - | - |

higher is more robust, but lower for TMA

right when clean: the 8 queries whose nearest image was of their class before the attack
`,
		"latex": `% T
% needs \usepackage{booktabs}
\begin{tabular}{lrrrr}
\toprule
score & published & fixed & clean, published & clean, fixed \\
\midrule
TMA & $0.250\;[0.125,\,0.500]$ & $0.250\;[0.125,\,0.500]$ & $0.062$ & $0.062$ \\
LTM (\%) & $50.0$ & $50.0$ & $100.0$ & $100.0$ \\
LTM, right when clean (\%) & $75.0$ & -- & -- & -- \\
\bottomrule
\end{tabular}
% higher is more robust, but lower for TMA
% right when clean: the 8 queries whose nearest image was of their class before the attack
`,
		"csv": `score,published,published_low,published_high,fixed,fixed_low,fixed_high,"clean, published","clean, fixed"
TMA,0.25,0.125,0.5,0.25,0.125,0.5,0.0625,0.0625
LTM,0.5,,,0.5,,,1,1
"LTM, right when clean",0.75,,,,,,,
`,
	} {
		var b strings.Builder
		if err := tab.Write(&b, format); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
	if err := tab.Write(new(strings.Builder), "json"); err != nil {
		t.Error(err)
	}
}
