package watch

import (
	"slices"
	"strings"

	"tercet/internal/render"
)

// levels are the heights of a character in eighths.
var levels = []rune(" ▁▂▃▄▅▆▇█")

// graph draws a line as columns of characters, rows high, the upper row first: each column is
// the mean of the values in its range of x, from the least value at the bottom to the greatest
// at the top. A column without a value lies on the straight line between its neighbors.
func graph(s render.Series, width, rows int) []string {
	low, high := bounds(s.Y)
	out := make([]strings.Builder, rows)
	for _, y := range columns(s, width) {
		height := 8 * rows
		if high > low {
			height = 1 + int(float64(8*rows-1)*(y-low)/(high-low))
		}
		for r := range rows {
			below := 8 * (rows - 1 - r)
			out[r].WriteRune(levels[min(8, max(0, height-below))])
		}
	}
	lines := make([]string, rows)
	for r := range out {
		lines[r] = strings.TrimRight(out[r].String(), " ")
	}
	return lines
}

// columns are the values of a line at each of width places between its first and last x.
func columns(s render.Series, width int) []float64 {
	out, counts := make([]float64, width), make([]int, width)
	first, last := s.X[0], s.X[len(s.X)-1]
	for i, x := range s.X {
		at := 0
		if last > first {
			at = min(width-1, int(float64(width)*(x-first)/(last-first)))
		}
		out[at] += s.Y[i]
		counts[at]++
	}
	known := 0 // the first column has a value
	for i := range out {
		if counts[i] == 0 {
			continue
		}
		out[i] /= float64(counts[i])
		for j := known + 1; j < i; j++ {
			out[j] = out[known] + float64((out[i]-out[known])*float64(j-known)/float64(i-known))
		}
		known = i
	}
	for j := known + 1; j < width; j++ {
		out[j] = out[known]
	}
	return out
}

func bounds(y []float64) (low, high float64) { return slices.Min(y), slices.Max(y) }
