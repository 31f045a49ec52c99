package report

import (
	"strings"
	"testing"

	"tercet/internal/render"
)

// rendered is a table in one of the formats.
func rendered(t *testing.T, table *render.Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// grayTile is a small picture.
func grayTile() render.Image {
	m := render.Image{Pix: make([]float32, 16), H: 4, W: 4, C: 1}
	for i := range m.Pix {
		m.Pix[i] = float32(i) / 15
	}
	return m
}
