package retrieval

import (
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Around finds the nearest rows of embeddings that scatter around a place, such as those of
// one image under noise, as Gallery.Nearest does. The first ones are compared with all rows,
// and their mean is the place. Most of the next ones are compared with the rows near it
// alone: a row farther than limit from the place is farther than limit - r from an embedding
// at distance r of it. Where the nearest of the near rows is not closer than that, all rows
// decide.
type Around struct {
	g      *Gallery
	hidden []int32 // rows that the image is not compared with

	at    []float32 // (D) the place; nil before the first embeddings
	near  *Gallery  // the rows within limit of it; nil: all rows decide
	rows  []int32   // where they are in g, ascending
	limit float64

	d     *Distances
	z     *array.Array
	found []int32
}

const (
	spread   = 1.1 // times the reach of the first embeddings: the next ones may reach farther
	mostNear = 0.5 // share of the rows above which a choice among them does not pay
)

// NewAround returns a search for embeddings of one image.
func NewAround(g *Gallery, image int) *Around { return &Around{g: g, hidden: g.Hidden(image)} }

// Find returns the row nearest to each embedding z (B, D); -1 for one that is NaN. The list
// is valid until the next call.
func (a *Around) Find(z *array.Array) []int32 {
	if a.at == nil {
		a.found = a.whole(z)
		a.choose(z)
		return a.found
	}
	if a.near == nil {
		return a.whole(z)
	}
	b := z.Rows()
	a.found = slices.Grow(a.found[:0], b)[:b]
	a.z, a.d = z, a.near.Measure(z)
	par.Do(b, 1, a)
	a.d.Release()
	a.z, a.d = nil, nil
	a.complete(z)
	return a.found
}

// Run finds the nearest of the near rows for embeddings [lo, hi), and -1 where another row
// may be nearer.
func (a *Around) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		a.d.Finish(i)
		a.found[i] = -1
		row, square := a.d.Least(i)
		// rounding covers the errors of the distances.
		if row >= 0 && math.Sqrt(square)+a.distance(a.z.Row(i)) < a.limit*(1-rounding) {
			a.found[i] = a.rows[row]
		}
	}
}

// complete searches all rows where the near ones have not decided.
func (a *Around) complete(z *array.Array) {
	var open []int
	for i, row := range a.found {
		if row < 0 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return
	}
	rest := array.New(len(open), z.Cols())
	for to, i := range open {
		copy(rest.Row(to), z.Row(i))
	}
	for to, row := range a.whole(rest) {
		a.found[open[to]] = row
	}
}

// whole finds the nearest among all rows.
func (a *Around) whole(z *array.Array) []int32 {
	return a.g.nearest(z, func(int) []int32 { return a.hidden })
}

// choose makes the mean of the first embeddings z the place, and finds the rows near it, as
// far as the nearest rows of z require.
func (a *Around) choose(z *array.Array) {
	place := array.New(1, z.Cols())
	a.at = place.Data
	for k := range a.at {
		sum := 0.0
		for i := range z.Rows() {
			sum += float64(z.Row(i)[k])
		}
		a.at[k] = float32(sum / float64(z.Rows()))
	}
	if !a.g.InReach(a.at) {
		return
	}
	for i, row := range a.found {
		if row >= 0 {
			a.limit = max(a.limit, math.Sqrt(a.g.Squared(z.Row(i), int(row)))+a.distance(z.Row(i)))
		}
	}
	a.limit *= spread
	d := a.g.Measure(place)
	defer d.Release()
	d.Finish(0)
	d.HideAll(0, a.hidden)
	// A row whose float32 distance exceeds this is farther than limit.
	most := above(float32(a.limit), d.slack(0)+float64(a.limit*a.limit*0x1p-22))
	for j, v := range d.Row(0) {
		if v <= most {
			a.rows = append(a.rows, int32(j))
		}
	}
	if k := len(a.rows); k < 2 || float64(k) > mostNear*float64(a.g.Len()) {
		return
	}
	x, labels := array.New(len(a.rows), z.Cols()), make([]int32, len(a.rows))
	for i, j := range a.rows {
		copy(x.Row(i), a.g.X.Row(int(j)))
		labels[i] = a.g.Labels[j]
	}
	if near, err := newGallery(x, labels); err == nil { // else all rows decide
		a.near = near
	}
}

// distance is that of z (D) from the place.
func (a *Around) distance(z []float32) float64 {
	return math.Sqrt(kernel.SquaredDistanceLanes(z, a.at))
}
