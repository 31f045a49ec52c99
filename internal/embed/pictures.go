package embed

import (
	"fmt"
	"os"

	"tercet/internal/data"
	"tercet/internal/render"
)

// FigureFolder makes dir.
func FigureFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	return nil
}

// Tile is item i of ds with its class below it.
func Tile(ds data.Dataset, i int) (render.Tile, error) {
	h, w, c := ds.Shape()
	pix := make([]float32, h*w*c)
	if err := ds.Read(i, pix); err != nil {
		return render.Tile{}, err
	}
	return render.Tile{Image: render.Image{Pix: pix, H: h, W: w, C: c}, Caption: ds.Classes()[ds.Labels()[i]]}, nil
}
