package search

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/embed/store"
	"tercet/internal/fsx"
	"tercet/internal/imaging"
	"tercet/internal/render"
)

// Limits of a montage: bytes of an image file, pixels of a tile, found images of a row.
const (
	maxFile  = 1 << 28
	tileSide = 96
	mostTile = 20
)

// Montage draws rows queries, evenly spread, with the images that they found, into a PNG.
// Those of the query's class have a green frame and others a red one, where both have
// labels.
func (r *Result) Montage(path string, rows int) error {
	n := len(r.Index) / r.K
	rows = min(rows, n)
	var groups []render.MosaicGroup
	for i := range rows {
		q := i * n / rows
		it := r.Queries.Items[q]
		first, err := tile(r.Queries, q)
		if err != nil {
			return err
		}
		first.Caption = strings.TrimSpace("query " + it.Label)
		g := render.MosaicGroup{Of: "query", Name: filepath.Base(it.Path), Members: []render.Member{{Tile: first}}}
		for k, j := range r.Index[q*r.K : q*r.K+min(r.K, mostTile)] {
			if j < 0 {
				break
			}
			t, err := tile(r.Gallery, int(j))
			if err != nil {
				return err
			}
			to := r.Gallery.Items[j]
			t.Caption = strings.TrimSpace(fmt.Sprintf("%.3g %s", r.Distance[q*r.K+k], to.Label))
			m := render.Member{Tile: t}
			if it.Label != "" && to.Label != "" {
				if m.Verdict = render.Wrong; it.Label == to.Label {
					m.Verdict = render.Right
				}
			}
			g.Members = append(g.Members, m)
		}
		groups = append(groups, g)
	}
	return render.Mosaic(path, r.Title(), groups)
}

// tile is a small picture of an item, which must be a file.
func tile(f *store.Folder, i int) (render.Tile, error) {
	it, path := &f.Items[i], f.Place(i)
	b, err := fsx.ReadFile(path, maxFile)
	if err != nil {
		return render.Tile{}, fmt.Errorf("the montage needs the image files: %w", err)
	}
	var d imaging.Decoder
	var img, small imaging.Image
	if err := d.Decode(&img, b); err != nil {
		return render.Tile{}, fmt.Errorf("%s: %w", path, err)
	}
	if box := it.Box; !box.Empty() {
		img = img.Crop(box.Min.Y, box.Min.X, min(box.Dy(), img.H-box.Min.Y), min(box.Dx(), img.W-box.Min.X))
	}
	if m := max(img.H, img.W); m > tileSide {
		var r imaging.Resizer
		r.Resize(&small, img, max(1, img.H*tileSide/m), max(1, img.W*tileSide/m), imaging.Bilinear)
		img = small
	}
	t := render.Tile{Image: render.Image{H: img.H, W: img.W, C: 3}}
	for y := range img.H {
		for _, v := range img.Row(y) {
			t.Image.Pix = append(t.Image.Pix, float32(v)/255)
		}
	}
	return t, nil
}
