package clustering

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/cluster/solve"
	"tercet/internal/embed"
	"tercet/internal/render"
	"tercet/internal/text"
)

// Rows and images of a mosaic.
const (
	mosaicClusters = 16
	mosaicImages   = 12
)

// drawMosaic draws dir/clusters.png: images of the largest clusters, from the middle
// of each outwards, framed by whether they are of the cluster's most frequent class. The same
// thumbnails are written for pages.
func drawMosaic(c *solve.Result, dir, name string) (string, error) {
	majority := majority(c)
	var groups []render.MosaicGroup
	for k := range min(len(c.Doc.Sizes), mosaicClusters) {
		g := render.MosaicGroup{Name: fmt.Sprintf("cluster %d", k), Note: text.Count(c.Doc.Sizes[k], "image")}
		m, known := majority[int32(k)]
		if known {
			g.Note += fmt.Sprintf(", %.0f %% %s", 100*float64(m.count)/float64(c.Doc.Sizes[k]), className(m.class, c.Classes))
		}
		for _, i := range outwards(c, int32(k), mosaicImages) {
			t, err := embed.Tile(c.Data, i)
			if err != nil {
				return "", err
			}
			member := render.Member{Tile: t}
			switch {
			case !known:
			case c.Truth[i] == m.class:
				member.Verdict = render.Right
			default:
				member.Verdict = render.Wrong
			}
			g.Members = append(g.Members, member)
		}
		groups = append(groups, g)
	}
	what := "images from the middle of each cluster outwards"
	if n := len(c.Doc.Sizes); n > mosaicClusters {
		what = fmt.Sprintf("the %d largest of %d clusters, %s", mosaicClusters, n, what)
	}
	if err := render.WriteGallery(filepath.Join(dir, "clusters-gallery"), render.MosaicGallery(groups)); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "clusters.png")
	return path, render.Mosaic(path, name+": "+what, groups)
}

// outwards returns at most `most` items of a cluster, the nearest to its mean first,
// the farthest last, and the others evenly spread over their ranks between them.
func outwards(c *solve.Result, k int32, most int) []int {
	d := c.Doc.Source.Dim
	var items []int
	mean := make([]float64, d)
	for i, l := range c.Doc.Labels {
		if l != k {
			continue
		}
		items = append(items, i)
		for a, v := range c.Vectors[i*d : (i+1)*d] {
			mean[a] += float64(v)
		}
	}
	for a := range mean {
		mean[a] /= float64(len(items))
	}
	far := map[int]float64{}
	for _, i := range items {
		for a, v := range c.Vectors[i*d : (i+1)*d] {
			far[i] += float64((float64(v) - mean[a]) * (float64(v) - mean[a]))
		}
	}
	slices.SortFunc(items, func(a, b int) int { return cmp.Or(cmp.Compare(far[a], far[b]), cmp.Compare(a, b)) })
	out := make([]int, min(most, len(items)))
	for i := range out {
		out[i] = items[i*(len(items)-1)/max(1, len(out)-1)]
	}
	return out
}
