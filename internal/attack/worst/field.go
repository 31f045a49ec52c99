package worst

import (
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// field is what queries are searched in: the rows of a gallery, or prototypes. Rows of a
// batch do not depend on each other.
type field interface {
	aim(items []int)   // the images that are queries
	retain(rows []int) // leaves some of them, ascending
	find(z *array.Array, k int)
	right(i int) []retrieval.Neighbor // of what find found for query i, nearest first
	wrong(i int) []retrieval.Neighbor
	vector(i int, row int32) []float32 // a row as query i meets it
	// cells lists rows of other labels, nearest cells first: see retrieval.Rivals.Cells.
	cells(i int, z0 []float32, count, perLabel int) []int32
	label(row int32) int32
	// labeled is the nearest row of a label, and whether there is one.
	labeled(i int, z []float32, label int32) (retrieval.Neighbor, bool)
	ahead(i int, z []float32, before retrieval.Neighbor) int // right rows that come before a row
	rows() int
	labels() int
	depth() int   // a query is broken if none of so many nearest rows is right
	against() int // the least rows of other labels that a query has
}

// newField makes a gallery, where a query is broken if none of its k nearest rows is right.
func newField(name string, g *retrieval.Gallery, k int) (f field, err error) {
	switch name {
	case Trimmed:
		f, err = newTrimmed(g, k)
	case Prototypes:
		f = newPrototypes(g, k)
	default:
		f = newWhole(g, k)
	}
	if err == nil && f.against() < k {
		return nil, retrieval.Unfit("worst case, gallery %s: a query has only %d rows of other labels; with %d nearest rows it needs at least as many", name, f.against(), k)
	}
	return f, err
}

// beaten is the evaluation's decision on query i of the last find: whether so many wrong rows
// come before the first right one.
func beaten(f field, i int) bool {
	right, wrong, k := f.right(i), f.wrong(i), f.depth()
	if len(right) > 0 && len(wrong) < k {
		return false
	}
	return retrieval.Beaten(right, wrong[min(k-1, len(wrong)):])
}

// margin is the distance of the nearest wrong row (at depth k, the k-th nearest) less that of
// the nearest right one, rounded to a float32, as files keep it.
func margin(f field, i int) float64 {
	right, wrong, k := f.right(i), f.wrong(i), f.depth()
	if len(right) == 0 || len(wrong) < k {
		return 0
	}
	return float64(float32(root(wrong[k-1].Square) - root(right[0].Square)))
}

// whole is the field of a gallery's rows.
type whole struct {
	*retrieval.Rivals
	g              *retrieval.Gallery
	without        []bool // rows that are left out, nil for none
	size, distinct int
	wrongs, k      int
}

func newWhole(g *retrieval.Gallery, k int) *whole { return wholeOf(g, nil, g.Labels, k) }

// wholeOf is the field of the rows that are not marked, whose labels are given.
func wholeOf(g *retrieval.Gallery, without []bool, labels []int32, k int) *whole {
	n, most := distinct(labels)
	return &whole{Rivals: retrieval.NewRivals(g, without), g: g, without: without, size: len(labels), distinct: n, wrongs: len(labels) - most, k: k}
}

// trimBatch is how many rows are searched for together.
const trimBatch = 256

// newTrimmed is newWhole without the rows whose own nearest row, without themselves, has
// another label: a query cannot be broken by entering the cell of such a row.
func newTrimmed(g *retrieval.Gallery, k int) (*whole, error) {
	search, out := retrieval.NewRivals(g, nil), make([]bool, g.Len())
	var labels []int32
	for lo := 0; lo < g.Len(); lo += trimBatch {
		hi := min(lo+trimBatch, g.Len())
		var items []int
		for j := lo; j < hi; j++ {
			items = append(items, int(g.Image(int32(j))))
		}
		search.Aim(items)
		search.Find(g.X.Slice(lo, hi), 1)
		for j := lo; j < hi; j++ {
			if out[j] = search.Beaten(j - lo); !out[j] {
				labels = append(labels, g.Labels[j])
			}
		}
	}
	w := wholeOf(g, out, labels, k)
	if w.distinct < 2 {
		return nil, retrieval.Unfit("worst case: of the gallery's %d rows, the correctly retrieved ones have %d labels; the trimmed gallery needs 2 or more", g.Len(), w.distinct)
	}
	return w, nil
}

func (w *whole) aim(items []int)                   { w.Aim(items) }
func (w *whole) retain(rows []int)                 { w.Retain(rows) }
func (w *whole) find(z *array.Array, k int)        { w.Find(z, k) }
func (w *whole) right(i int) []retrieval.Neighbor  { return w.Right(i) }
func (w *whole) wrong(i int) []retrieval.Neighbor  { return w.Wrong(i) }
func (w *whole) vector(_ int, row int32) []float32 { return w.g.X.Row(int(row)) }
func (w *whole) rows() int                         { return w.size }
func (w *whole) labels() int                       { return w.distinct }
func (w *whole) depth() int                        { return w.k }
func (w *whole) against() int                      { return w.wrongs }
func (w *whole) label(row int32) int32             { return w.g.Labels[row] }
func (w *whole) labeled(i int, z []float32, label int32) (retrieval.Neighbor, bool) {
	return w.Labeled(i, z, label)
}
func (w *whole) ahead(i int, z []float32, before retrieval.Neighbor) int {
	return w.Ahead(i, z, before)
}
func (w *whole) cells(i int, z0 []float32, count, perLabel int) []int32 {
	return w.Cells(i, z0, count, perLabel, nil)
}

// distinct counts labels, and how often the most frequent one is there.
func distinct(labels []int32) (n, most int) {
	seen := map[int32]int{}
	for _, l := range labels {
		seen[l]++
		most = max(most, seen[l])
	}
	return len(seen), most
}
