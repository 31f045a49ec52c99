package study

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"tercet/internal/render"
)

// Point is what a row has at one step of training.
type Point struct {
	Step      float64              `json:"step"`
	Epoch     float64              `json:"epoch"`
	Scores    map[string]Estimate  `json:"scores,omitempty"`
	Quartiles map[string]Quartiles `json:"quartiles,omitempty"`
}

func (q Point) at(x string) float64 {
	if x == "epoch" {
		return q.Epoch
	}
	return q.Step
}

func (q Point) bar(score string) (render.Bar, bool) {
	if v, ok := q.Quartiles[score]; ok {
		return render.Bar{Value: v.Median, Low: v.Q1, High: v.Q3}, true
	}
	e, ok := q.Scores[score]
	return e.bar(), ok
}

// apart sets lines a little beside each other, so that their intervals can be seen.
func apart(traces []render.Line) []render.Line {
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range traces {
		low, high = min(low, slices.Min(t.X)), max(high, slices.Max(t.X))
	}
	for i, t := range traces {
		for k := range t.X {
			t.X[k] += float64(0.012 * (high - low) * (float64(i) - float64(float64(len(traces)-1)/2)))
		}
	}
	return traces
}

// traces are the lines of one score: along rows, or during the training of each row.
func (p *Plot) traces(rows []*Row, l Line, colors func(*Row) (string, int)) []render.Line {
	var out []render.Line
	form := cmp.Or(l.Form, "solid")
	for _, row := range rows {
		name, color := colors(row)
		i := slices.IndexFunc(out, func(t render.Line) bool { return t.Name == name })
		if i < 0 || p.points() {
			i, out = len(out), append(out, render.Line{Name: name, Color: color, Form: form, Label: l.Label})
		}
		t := &out[i]
		if p.points() {
			for _, q := range row.Points {
				if b, ok := q.bar(l.Score); ok {
					t.X, t.Y = append(t.X, q.at(p.X)), append(t.Y, b)
				}
			}
			continue
		}
		e, ok := row.Scores[l.Score]
		x, err := strconv.ParseFloat(row.Fields[p.X], 64)
		if !ok || err != nil {
			continue
		}
		b := e.bar()
		if l.Exact {
			b.Low, b.High = b.Value, b.Value
		}
		if l.Percent { // intervals of few seeds go beyond what a share can be
			b.Low, b.High = max(b.Low, min(0, b.Value)), min(b.High, max(1, b.Value))
		}
		t.X, t.Y = append(t.X, x), append(t.Y, b)
	}
	return slices.DeleteFunc(out, func(t render.Line) bool { return len(t.X) == 0 })
}
