package render

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render/rendertest"
)

// charted is a chart of one panel of lines.
func charted(log bool, traces ...Line) *LineChart {
	return &LineChart{Title: "Title", Note: "3 seeds", Cols: 2, Panels: []LinePanel{{Title: "Test", XLabel: "label noise", YLabel: "NMI", Percent: true, LogY: log, Traces: traces}}}
}

func lined(name string, color int, form string, y ...Bar) Line {
	t := Line{Name: name, Color: color, Form: form, Label: form + " line", Y: y}
	for i := range y {
		t.X = append(t.X, 0.1*float64(i))
	}
	return t
}

func TestLines(t *testing.T) {
	base := filepath.Join(t.TempDir(), "c")
	c := charted(false, lined("L1", 0, "solid", Bar{0.5, 0.4, 0.6}, Bar{0.25, 0.2, 0.3}), lined("L3", 1, "dashed", Bar{0.75, 0.7, 0.8}, Bar{0.5, 0.5, 0.5}))
	c.Panels = append(c.Panels, c.Panels[0])
	if err := c.Write(base); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">L1<", ">L3<", ">solid line<", ">dashed line<", ">NMI (%)<", ">label noise<", ">3 seeds<", "stroke-dasharray"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the chart", want)
		}
	}
	n := rendertest.Colors(rendertest.Load(t, base+".png"))
	if n[Palette[0]] == 0 || n[Palette[1]] == 0 || n[pale(Palette[0])] == 0 || n[Palette[2]] != 0 {
		t.Errorf("colors: %d, %d, intervals %d, a third line %d", n[Palette[0]], n[Palette[1]], n[pale(Palette[0])], n[Palette[2]])
	}
	for _, form := range Forms() {
		if err := charted(false, lined("x", 0, form, Bar{0.5, 0.25, 0.75}, Bar{0.25, 0.125, 0.5})).Write(base); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	if err := charted(true, lined("x", 0, "solid", Bar{0.5, -1, 0.75})).Write(base); err != nil {
		t.Errorf("one place on a logarithmic axis, with an interval below 0: %v", err)
	}
}

// A line is broken where a score is missing, and an interval that has no end is not drawn.
func TestLinesLeavesGaps(t *testing.T) {
	base := filepath.Join(t.TempDir(), "c")
	drawn := func(y ...Bar) int {
		tr := lined("", 0, "dotted", y...)
		tr.Label = ""
		if err := charted(false, tr).Write(base); err != nil {
			t.Fatal(err)
		}
		return rendertest.Colors(rendertest.Load(t, base+".png"))[Palette[0]]
	}
	nan := math.NaN()
	alone := func(v float64) Bar { return Bar{v, nan, nan} }
	whole, broken := drawn(alone(0.1), alone(0.5), alone(0.9)), drawn(alone(0.1), Bar{nan, nan, nan}, alone(0.9))
	if broken*3 > whole {
		t.Errorf("%d pixels of the line with a gap, %d of the whole one", broken, whole)
	}
	if n := rendertest.Colors(rendertest.Load(t, base+".png"))[pale(Palette[0])]; n != 0 {
		t.Errorf("%d pixels of intervals that do not exist", n)
	}
}

func TestLinesRefuses(t *testing.T) {
	base := filepath.Join(t.TempDir(), "c")
	nan := math.NaN()
	short := lined("L1", 0, "solid", Bar{})
	short.X = append(short.X, 1)
	nowhere := lined("L1", 0, "solid", Bar{})
	nowhere.X[0] = nan
	for want, c := range map[string]*LineChart{
		"no finite values":            charted(false),
		"L1 has 2 places and 1 value": charted(false, short),
		"L1 is 0 at NaN":              charted(false, nowhere),
		"L1 is 0 at 0, which the axe": charted(true, lined("L1", 0, "solid", Bar{})),
		"plot " + base:                charted(false, lined("L1", 0, "solid", Bar{nan, nan, nan})),
	} {
		if err := c.Write(base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
