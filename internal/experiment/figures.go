package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/render"
)

// figureFolder makes dir.
func figureFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	return nil
}

// tile is item i of ds with its class below it.
func tile(ds data.Dataset, i int) (render.Tile, error) {
	h, w, c := ds.Shape()
	pix := make([]float32, h*w*c)
	if err := ds.Read(i, pix); err != nil {
		return render.Tile{}, err
	}
	return render.Tile{Image: render.Image{Pix: pix, H: h, W: w, C: c}, Caption: ds.Classes()[ds.Labels()[i]]}, nil
}

// DrawRetrieval draws rows queries, evenly spread over the set, with their
// nearest images into dir, and returns the picture's path.
func (e *Evaluation) DrawRetrieval(dir string, rows int) (string, error) {
	ret := e.Retrieval
	if e.Embedded == nil || ret.NeighbourCount == 0 {
		return "", errors.New("the evaluation has kept no neighbours")
	}
	if err := figureFolder(dir); err != nil {
		return "", err
	}
	ds := e.Embedded.Data
	var list []render.RetrievalRow
	n := len(ret.Query)
	for k := range min(rows, n) {
		q := k * n / min(rows, n)
		t, err := tile(ds, int(ret.Query[q]))
		if err != nil {
			return "", err
		}
		row := render.RetrievalRow{Query: t}
		for _, g := range ret.Neighbours[q*ret.NeighbourCount : (q+1)*ret.NeighbourCount] {
			if t, err = tile(ds, int(g)); err != nil {
				return "", err
			}
			row.Neighbours = append(row.Neighbours, render.Neighbour{Tile: t, Correct: ds.Labels()[g] == ds.Labels()[ret.Query[q]]})
		}
		list = append(list, row)
	}
	path := filepath.Join(dir, "retrieval.png")
	return path, render.Retrieval(path, fmt.Sprintf("%s: queries and their nearest images", filepath.Base(e.Doc.Source.Run)), list)
}

func picture(a *array.Array, i int) render.Image {
	return render.Image{Pix: a.Row(i), H: a.Shape[1], W: a.Shape[2], C: a.Shape[3]}
}
