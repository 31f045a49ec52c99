package evaluate

import (
	"errors"
	"fmt"
	"path/filepath"

	"tercet/internal/embed"
	"tercet/internal/render"
)

// DrawRetrieval draws rows queries, evenly spread over the set, with their
// nearest images into dir, also as thumbnails for pages, and returns the picture's path.
func (e *Evaluation) DrawRetrieval(dir string, rows int) (string, error) {
	ret := e.Retrieval
	if e.Embedded == nil || ret.NeighborCount == 0 {
		return "", errors.New("the evaluation has kept no neighbors")
	}
	if err := embed.FigureFolder(dir); err != nil {
		return "", err
	}
	ds := e.Embedded.Data
	var list []render.RetrievalRow
	n := len(ret.Query)
	for k := range min(rows, n) {
		q := k * n / min(rows, n)
		t, err := embed.Tile(ds, int(ret.Query[q]))
		if err != nil {
			return "", err
		}
		row := render.RetrievalRow{Query: t}
		for _, g := range ret.Neighbors[q*ret.NeighborCount : (q+1)*ret.NeighborCount] {
			if g < 0 {
				continue // fewer than asked for
			}
			if t, err = embed.Tile(ds, int(g)); err != nil {
				return "", err
			}
			row.Neighbors = append(row.Neighbors, render.Neighbor{Tile: t, Correct: ds.Labels()[g] == ds.Labels()[ret.Query[q]]})
		}
		list = append(list, row)
	}
	if err := render.WriteGallery(filepath.Join(dir, "retrieval-gallery"), render.RetrievalGallery(list)); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "retrieval.png")
	return path, render.Retrieval(path, fmt.Sprintf("%s: queries and their nearest images", filepath.Base(e.Doc.Source.Run)), list)
}
