package clustering

import (
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/record"
	"tercet/internal/render"
)

// mapClasses bounds the classes of a scatter plot: more cannot be distinguished.
const mapClasses = 20

// ClusterPicture is a picture of a clustering, for Draw to make.
type ClusterPicture struct {
	Name string
	Draw func() (path string, err error)
}

// Pictures lists the pictures that there can be of the clustering, all in dir: maps
// by class and by cluster, cluster sizes and, where there are labels or images,
// contingency and mosaic. The folder is made by the first.
func Pictures(c *solve.Result, dir string) []ClusterPicture {
	name := name(c)
	var list []ClusterPicture
	add := func(what string, draw func() (string, error)) {
		list = append(list, ClusterPicture{what, func() (string, error) {
			if err := embed.FigureFolder(dir); err != nil {
				return "", err
			}
			return draw()
		}})
	}
	for i := range c.Maps {
		m := &c.Maps[i]
		add(m.Kind, func() (string, error) { return drawMap(c, dir, name, m, &c.Doc.Maps[i]) })
	}
	if len(c.Doc.Sizes) > 0 {
		add("sizes", func() (string, error) {
			base := filepath.Join(dir, "cluster-sizes")
			return base + ".png", render.ClusterSizes(base, name+": cluster sizes", c.Doc.Sizes)
		})
	}
	if c.Truth != nil {
		add("contingency", func() (string, error) { return drawContingency(c, dir, name) })
	}
	if c.Data != nil {
		if h, w, _ := c.Data.Shape(); h > 1 && w > 1 {
			add("mosaic", func() (string, error) { return drawMosaic(c, dir, name) })
			if c.Truth != nil && c.Vectors != nil {
				add("confusion", func() (string, error) { return writeConfusion(c, dir) })
			}
			if len(c.Maps) > 0 {
				add("items", func() (string, error) { return writeItems(c, dir) })
			}
		}
	}
	return list
}

// name is what titles call the clustering.
func name(c *solve.Result) string {
	s := c.Doc.Source
	for _, path := range []string{s.Run, s.Embeddings, s.Graph} {
		if path != "" {
			return filepath.Base(path) + ", " + c.Doc.Options.Method
		}
	}
	return c.Doc.Options.Method
}

// drawMap draws dir/KIND.png and .svg: the items by class and, beside it, by
// cluster.
func drawMap(c *solve.Result, dir, name string, m *solve.Map, r *record.MapRecord) (string, error) {
	title, x, y := name+": t-SNE", "", ""
	if m.Kind == "pca" {
		title = name + ": first two principal components"
		x, y = fmt.Sprintf("PC 1 (%.0f %% of variance)", 100*r.Explained[0]), fmt.Sprintf("PC 2 (%.0f %%)", 100*r.Explained[1])
	} else {
		title += fmt.Sprintf(", perplexity %.3g, KL %.3f", r.Perplexity, *r.KL)
		if r.Trustworthiness != nil {
			title += fmt.Sprintf(", trustworthiness(%d) %.3f", r.Neighbors, *r.Trustworthiness)
		}
	}
	n := len(c.Doc.Labels)
	keep := firstClasses(c.Truth, n, mapClasses)
	part := "" // what both maps show
	if k := data.Distinct(c.Truth); k > mapClasses {
		shown := 0
		for _, yes := range keep {
			if yes {
				shown++
			}
		}
		part = fmt.Sprintf("%d of %d classes, %d of %d items", mapClasses, k, shown, n)
	}
	var maps []render.Map
	add := func(what string, labels []int32, names []string) {
		one := render.Map{Title: what, Names: names}
		for i := range n {
			if keep[i] {
				one.Points = append(one.Points, float64(m.Points[2*i]), float64(m.Points[2*i+1]))
				one.Labels = append(one.Labels, labels[i])
			}
		}
		maps = append(maps, one)
	}
	if c.Truth != nil {
		what := "by class"
		if part != "" {
			what += " (" + part + ")"
		}
		add(what, c.Truth, c.Classes)
	}
	what := fmt.Sprintf("by cluster (%d)", c.Doc.Clusters)
	if part != "" {
		what = "by cluster (" + part + ")"
	}
	add(what, c.Doc.Labels, nil)
	maps[len(maps)-1].Signs = signs(c)
	base := filepath.Join(dir, m.Kind)
	return base + ".png", render.Scatter(base, title, x, y, maps)
}

// signs gives the largest of the clusters that are mostly of a class the sign of the
// class, and the others those behind: nil where classes are unknown or not all drawn.
func signs(c *solve.Result) map[int32]int {
	present := slices.Clone(c.Truth)
	slices.Sort(present)
	present = slices.Compact(present)
	if len(present) == 0 || len(present) > mapClasses {
		return nil
	}
	majority := majority(c)
	signs, taken := map[int32]int{}, map[int32]bool{}
	next := len(present)
	for k := range int32(len(c.Doc.Sizes)) { // the largest first
		class := majority[k].class
		if taken[class] {
			signs[k] = next
			next++
			continue
		}
		taken[class] = true
		signs[k], _ = slices.BinarySearch(present, class)
	}
	return signs
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

// Most rows and columns of a contingency table that are drawn one by one.
const (
	drawnClasses  = 60
	drawnClusters = 40
)

// drawContingency draws dir/contingency.png and .svg: how many items of each class
// are in each cluster. Clusters stand in the order of the class that most of their
// items are of.
func drawContingency(c *solve.Result, dir, name string) (string, error) {
	t := contingencyOf(c, drawnClasses, drawnClusters)
	rows, cols := t.names(c.Classes)
	base := filepath.Join(dir, "contingency")
	return base + ".png", render.Heatmap(base, name+": classes and clusters", "cluster", "class", rows, cols, t.counts, t.words...)
}

// contingency counts items by class (rows) and cluster (columns). Of more than so many
// clusters it has the largest, and the classes that most of their items are of: all others
// together would outweigh them. Of more than so many classes the small ones are in one row.
type contingency struct {
	classes  []int32 // of the rows; the rest is in one more
	clusters []int32 // of the columns; -1: noise
	counts   [][]float64
	restRows int
	words    []string // what is left out
}

func contingencyOf(c *solve.Result, classes, clusters int) *contingency {
	t := &contingency{}
	var left int // clusters that are left out
	t.clusters, left = largest(c.Doc.Labels, clusters)
	majority := majority(c)
	if left > 0 {
		for _, k := range t.clusters {
			if m, ok := majority[k]; ok && !slices.Contains(t.classes, m.class) {
				t.classes = append(t.classes, m.class)
			}
		}
	} else {
		t.classes, t.restRows = largest(c.Truth, classes)
	}
	slices.Sort(t.classes)
	slices.SortStableFunc(t.clusters, func(a, b int32) int {
		switch {
		case (a < 0) != (b < 0): // noise last
			return int(b) - int(a)
		case majority[a].class != majority[b].class:
			return int(majority[a].class) - int(majority[b].class)
		}
		return int(a) - int(b)
	})
	row, col := index(t.classes), index(t.clusters)
	t.counts = make([][]float64, len(t.classes)+min(t.restRows, 1))
	for i := range t.counts {
		t.counts[i] = make([]float64, len(t.clusters))
	}
	shown, inside := 0, 0 // items of the table, and of its clusters
	for i, y := range c.Truth {
		k, ok := col[c.Doc.Labels[i]]
		if !ok {
			continue
		}
		inside++
		r, ok := row[y]
		if !ok && t.restRows == 0 {
			continue
		}
		if !ok {
			r = len(t.classes)
		}
		t.counts[r][k]++
		shown++
	}
	if left > 0 {
		t.words = []string{
			fmt.Sprintf("The %d largest of %d clusters, and the %d of %d classes that most of their items are of: %d of %d items.", len(t.clusters), len(t.clusters)+left, len(t.classes), data.Distinct(c.Truth), shown, len(c.Truth)),
			fmt.Sprintf("Left out: %d items of smaller clusters, %d of other classes.", len(c.Truth)-inside, inside-shown),
		}
	}
	return t
}

func (t *contingency) names(classes []string) (rows, cols []string) {
	for _, y := range t.classes {
		rows = append(rows, className(y, classes))
	}
	if t.restRows > 0 {
		rows = append(rows, fmt.Sprintf("%d others", t.restRows))
	}
	for _, k := range t.clusters {
		if k < 0 {
			cols = append(cols, "noise")
			continue
		}
		cols = append(cols, fmt.Sprint(k))
	}
	return rows, cols
}

func className(y int32, classes []string) string {
	if int(y) < len(classes) {
		return classes[y]
	}
	return fmt.Sprint(y)
}

// largest returns the labels of the most groups, by size, and how many more there
// are.
func largest(labels []int32, most int) (list []int32, rest int) {
	count := map[int32]int{}
	for _, l := range labels {
		count[l]++
	}
	for l := range count {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b int32) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return int(a) - int(b)
	})
	most = min(most, len(list))
	return list[:most], len(list) - most
}

func index(labels []int32) map[int32]int {
	at := map[int32]int{}
	for i, l := range labels {
		at[l] = i
	}
	return at
}

// majorityClass is the class that most items of a cluster are of, the lower of
// equals, and their number.
type majorityClass struct {
	class int32
	count int
}

// majority returns the class of most items of each cluster, noise as -1 left out.
func majority(c *solve.Result) map[int32]majorityClass {
	count := map[[2]int32]int{}
	for i, y := range c.Truth {
		count[[2]int32{c.Doc.Labels[i], y}]++
	}
	out := map[int32]majorityClass{}
	for k, n := range count {
		best, ok := out[k[0]]
		if k[0] >= 0 && (!ok || n > best.count || n == best.count && k[1] < best.class) {
			out[k[0]] = majorityClass{k[1], n}
		}
	}
	return out
}
