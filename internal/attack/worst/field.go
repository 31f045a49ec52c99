package worst

import (
	"tercet/internal/attack"
	"tercet/internal/engine/array"
)

// field is what queries are searched in: the rows of a gallery, or prototypes. Rows of a
// batch do not depend on each other.
type field interface {
	aim(items []int)   // the images that are queries
	retain(rows []int) // leaves some of them, ascending
	find(z *array.Array, k int)
	right(i int) []attack.Neighbor // of what find found for query i, nearest first
	wrong(i int) []attack.Neighbor
	vector(i int, row int32) []float32 // a row as query i meets it
	// cells lists rows of other labels, nearest cells first: see attack.Rivals.Cells.
	cells(i int, z0 []float32, count, perLabel int) []int32
	rows() int
	labels() int
}

func newField(name string, g *attack.Gallery) (field, error) {
	switch name {
	case Trimmed:
		return newTrimmed(g)
	case Prototypes:
		return newPrototypes(g), nil
	}
	return newWhole(g), nil
}

// beaten is the evaluation's decision on query i of the last find.
func beaten(f field, i int) bool { return attack.Beaten(f.right(i), f.wrong(i)) }

// margin is the distance of the nearest wrong row less that of the nearest right one, rounded
// to a float32, as files keep it.
func margin(f field, i int) float64 {
	right, wrong := f.right(i), f.wrong(i)
	if len(right) == 0 || len(wrong) == 0 {
		return 0
	}
	return float64(float32(root(wrong[0].Square) - root(right[0].Square)))
}

// whole is the field of a gallery's rows.
type whole struct {
	*attack.Rivals
	g              *attack.Gallery
	size, distinct int
}

func newWhole(g *attack.Gallery) *whole {
	return &whole{Rivals: attack.NewRivals(g, nil), g: g, size: g.Len(), distinct: distinct(g.Labels)}
}

// trimBatch is how many rows are searched for together.
const trimBatch = 256

// newTrimmed is newWhole without the rows whose own nearest row, without themselves, has
// another label: a query cannot be broken by entering the cell of such a row.
func newTrimmed(g *attack.Gallery) (*whole, error) {
	search, out := attack.NewRivals(g, nil), make([]bool, g.Len())
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
	w := &whole{Rivals: attack.NewRivals(g, out), g: g, size: len(labels), distinct: distinct(labels)}
	if w.distinct < 2 {
		return nil, attack.Unfit("worst case: of the gallery's %d rows, those that are retrieved right have %d labels; the trimmed gallery needs 2 or more", g.Len(), w.distinct)
	}
	return w, nil
}

func (w *whole) aim(items []int)                   { w.Aim(items) }
func (w *whole) retain(rows []int)                 { w.Retain(rows) }
func (w *whole) find(z *array.Array, k int)        { w.Find(z, k) }
func (w *whole) right(i int) []attack.Neighbor     { return w.Right(i) }
func (w *whole) wrong(i int) []attack.Neighbor     { return w.Wrong(i) }
func (w *whole) vector(_ int, row int32) []float32 { return w.g.X.Row(int(row)) }
func (w *whole) rows() int                         { return w.size }
func (w *whole) labels() int                       { return w.distinct }
func (w *whole) cells(i int, z0 []float32, count, perLabel int) []int32 {
	return w.Cells(i, z0, count, perLabel, nil)
}

func distinct(labels []int32) int {
	seen := map[int32]bool{}
	for _, l := range labels {
		seen[l] = true
	}
	return len(seen)
}
