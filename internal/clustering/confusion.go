package clustering

import (
	"path/filepath"

	"tercet/internal/cluster/solve"
	"tercet/internal/embed"
	"tercet/internal/lists"
	"tercet/internal/render"
)

// Most classes and clusters of a page's table.
const (
	shownClasses  = 20
	shownClusters = 20
)

// writeConfusion writes dir/confusion.csv and .png: how many items of each class are in each
// cluster, with the item of each cluster that is nearest to its mean and the first one of each
// class, for pages.
func writeConfusion(c *solve.Result, dir string) (string, error) {
	t := contingencyOf(c, shownClasses, shownClusters)
	var images []render.Image
	add := func(i int) error {
		tile, err := embed.Tile(c.Data, i)
		images = append(images, tile.Image)
		return err
	}
	for _, k := range t.clusters {
		if err := add(outwards(c, k, 1)[0]); err != nil {
			return "", err
		}
	}
	listed := index(t.classes)
	first := make([]int, len(t.counts))
	for i := len(c.Truth) - 1; i >= 0; i-- {
		if row, ok := listed[c.Truth[i]]; ok {
			first[row] = i
		} else if t.restRows > 0 {
			first[len(t.classes)] = i
		}
	}
	for _, i := range first {
		if err := add(i); err != nil {
			return "", err
		}
	}
	out := render.Confusion{}
	out.Rows, out.Cols = t.names(c.Classes)
	for _, row := range t.counts {
		counts := lists.Map(row, func(n float64) int { return int(n) })
		out.Counts = append(out.Counts, counts)
	}
	base := filepath.Join(dir, "confusion")
	return base + ".png", render.WriteConfusion(base, out, images)
}
