package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/report"
)

// figureFolder makes dir.
func figureFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	return nil
}

// tile is item i of ds with its class below it.
func tile(ds data.Dataset, i int) (report.Tile, error) {
	h, w, c := ds.Shape()
	pix := make([]float32, h*w*c)
	if err := ds.Read(i, pix); err != nil {
		return report.Tile{}, err
	}
	return report.Tile{Image: report.Image{Pix: pix, H: h, W: w, C: c}, Caption: ds.Classes()[ds.Labels()[i]]}, nil
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
	var list []report.RetrievalRow
	n := len(ret.Query)
	for k := range min(rows, n) {
		q := k * n / min(rows, n)
		t, err := tile(ds, int(ret.Query[q]))
		if err != nil {
			return "", err
		}
		row := report.RetrievalRow{Query: t}
		for _, g := range ret.Neighbours[q*ret.NeighbourCount : (q+1)*ret.NeighbourCount] {
			if t, err = tile(ds, int(g)); err != nil {
				return "", err
			}
			row.Neighbours = append(row.Neighbours, report.Neighbour{Tile: t, Correct: ds.Labels()[g] == ds.Labels()[ret.Query[q]]})
		}
		list = append(list, row)
	}
	path := filepath.Join(dir, "retrieval.png")
	return path, report.Retrieval(path, fmt.Sprintf("%s: queries and their nearest images", filepath.Base(e.Doc.Source.Run)), list)
}

// mapClasses bounds the classes of a scatter plot: more cannot be told apart.
const mapClasses = 20

// DrawMap draws the first two principal components of the embeddings into
// dir/name.png and .svg, coloured by class and, where clusters is not nil, by
// cluster beside it.
func DrawMap(dir, name, title string, x []float32, n, d int, truth, clusters []int32, classes []string) (string, error) {
	if d < 2 {
		return "", errors.New("a map needs embeddings of two dimensions or more")
	}
	points, shares, err := Project(x, n, d)
	if err != nil {
		return "", err
	}
	if err := figureFolder(dir); err != nil {
		return "", err
	}
	keep := firstClasses(truth, n, mapClasses)
	var maps []report.Map
	add := func(what string, labels []int32, names []string) {
		m := report.Map{Title: what, Names: names}
		for i := range n {
			if !keep[i] {
				continue
			}
			m.Points = append(m.Points, float64(points[2*i]), float64(points[2*i+1]))
			m.Labels = append(m.Labels, labels[i])
		}
		maps = append(maps, m)
	}
	if truth != nil {
		what := "by class"
		if k := distinct(truth); k > mapClasses {
			what = fmt.Sprintf("by class (%d of %d classes)", mapClasses, k)
		}
		add(what, truth, classes)
	}
	if clusters != nil {
		labels := clusters
		if truth != nil && distinct(truth) > mapClasses {
			labels = renumber(clusters, keep)
		}
		add("by cluster", labels, nil)
	}
	base := filepath.Join(dir, name)
	return base + ".png", report.Scatter(base, title, fmt.Sprintf("PC 1 (%.0f %% of variance)", 100*shares[0]), fmt.Sprintf("PC 2 (%.0f %%)", 100*shares[1]), maps)
}

// firstClasses marks the points of the first `most` classes that have any, in the
// order of their labels; without labels it marks all.
func firstClasses(truth []int32, n, most int) []bool {
	present := slices.Clone(truth)
	slices.Sort(present)
	present = slices.Compact(present)
	keep := make([]bool, n)
	for i := range keep {
		keep[i] = len(present) <= most || truth[i] <= present[most-1]
	}
	return keep
}

// renumber gives the clusters of the kept points numbers from 0 in order of
// appearance.
func renumber(labels []int32, keep []bool) []int32 {
	out := make([]int32, len(labels))
	number := map[int32]int32{}
	for i, l := range labels {
		if !keep[i] {
			continue
		}
		if _, ok := number[l]; !ok {
			number[l] = int32(len(number))
		}
		out[i] = number[l]
	}
	return out
}

func picture(a *array.Array, i int) report.Image {
	return report.Image{Pix: a.Row(i), H: a.Shape[1], W: a.Shape[2], C: a.Shape[3]}
}
