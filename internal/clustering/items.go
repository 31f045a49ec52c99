package clustering

import (
	"encoding/csv"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"tercet/internal/cluster/solve"
	"tercet/internal/embed"
	"tercet/internal/fsx"
	"tercet/internal/render"
)

// mapItems bounds the images of a page's map, itemSide is their side in pixels.
const (
	mapItems = 600
	itemSide = 24
)

// writeItems writes dir/items.csv, where items stand on the first map with their class and
// cluster, and dir/items.png, their images in the same order: what a page shows when the mouse
// is over a point.
func writeItems(c *solve.Result, dir string) (string, error) {
	m := &c.Maps[max(0, slices.IndexFunc(c.Maps, func(m solve.Map) bool { return m.Kind == "tsne" }))]
	rows := [][]string{{"item", "class", "cluster", "x", "y"}}
	var images []render.Image
	n := min(c.Data.Len(), mapItems)
	for k := range n {
		i := k * c.Data.Len() / n
		t, err := embed.Tile(c.Data, i)
		if err != nil {
			return "", err
		}
		place := func(j int) string { return strconv.FormatFloat(float64(m.Points[2*i+j]), 'g', 5, 32) }
		rows = append(rows, []string{strconv.Itoa(i), t.Caption, strconv.Itoa(int(c.Doc.Labels[i])), place(0), place(1)})
		images = append(images, t.Image)
	}
	if err := fsx.Write(filepath.Join(dir, "items.csv"), 0o644, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) }); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "items.png")
	return path, fsx.Write(path, 0o644, func(w io.Writer) error { return render.Sprite(w, images, itemSide) })
}
