package worst

import (
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// Given are images that somebody else has made of queries. More than one may be of one query.
type Given struct {
	Items  []int        // (N) the images of the set that they were made of
	Images *array.Array // (N, pixels)
	Shape  []int        // of each, as the file has it; nil for (pixels)
	From   string       // where they are, for errors; "" for nowhere
}

// bad is an error about the images.
func (g *Given) bad(format string, args ...any) error {
	from := "given "
	if g.From != "" {
		from = g.From + ": "
	}
	return retrieval.Unfit("%s", from+fmt.Sprintf(format, args...))
}

// fits returns an error unless the images are (h, w, c), or the same in one row.
func (g *Given) fits(h, w, c int) error {
	s, size := g.Shape, h*w*c
	if s == nil {
		s = []int{g.Images.Cols()}
	}
	switch {
	case slices.Equal(s, []int{h, w, c}), slices.Equal(s, []int{size}), c == 1 && slices.Equal(s, []int{h, w}):
		return nil
	case slices.Equal(s, []int{c, h, w}):
		return g.bad("images have the shape (%d, %d, %d), channels first; those of the set are (height, width, channels) = (%d, %d, %d) (numpy: x.transpose(0, 2, 3, 1))", c, h, w, h, w, c)
	}
	return g.bad("images have the shape %v; those of the set are (height, width, channels) = (%d, %d, %d)", s, h, w, c)
}

// takeGiven checks the given images and lists them by query. One outside the ball is an
// error: the number would not be of this budget.
func (r *runner) takeGiven() error {
	g := r.o.Given
	if g == nil {
		return nil
	}
	if len(g.Items) != g.Images.Rows() {
		return g.bad("images: %d for %d items", g.Images.Rows(), len(g.Items))
	}
	if err := g.fits(r.images.Shape()); err != nil {
		return err
	}
	size := g.Images.Cols()
	place := map[int]int{}
	for p, item := range r.items {
		place[item] = p
	}
	r.given = map[int][]int{}
	clean := make([]float32, size)
	for k, item := range g.Items {
		if item < 0 || item >= r.images.Len() {
			return g.bad("image %d belongs to item %d, but the set has %d", k, item, r.images.Len())
		}
		if err := r.images.Read(item, clean); err != nil {
			return r.about([]int{item}, err)
		}
		x := g.Images.Row(k)
		if !r.o.inside(clean, x) {
			for j, v := range x {
				if !(v >= 0 && v <= 1) {
					return g.bad("image %d, of item %d: pixel %d is %v, outside [0, 1]", k, item, j, v)
				}
			}
			return g.bad("image %d, of item %d, is %.6g away in the %s norm, more than eps %.6g", k, item, r.o.apart(clean, x), string(r.o.Norm), r.o.Eps)
		}
		if p, is := place[item]; is {
			r.given[p] = append(r.given[p], k)
		}
	}
	if len(r.given) == 0 {
		return g.bad("images: none of the %d belongs to one of the %d queries", len(g.Items), len(r.items))
	}
	return nil
}

// givens tries the given images of each query, one after another. They are tried on queries
// that are broken, too, and can then only lower what else is known of these: see settle.
// Since this member is late, no given image replaces one by which another attack has broken
// the query or a gallery that comes later.
func (r *runner) givens(b *batch) error {
	most := 0
	for _, p := range b.places {
		most = max(most, len(r.given[p]))
	}
	for k := range most {
		err := r.try(b, func(i int, x, out []float32) error {
			copy(out, x)
			if list := r.given[b.places[i]]; len(list) > 0 {
				copy(out, r.o.Given.Images.Row(list[min(k, len(list)-1)]))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("given images: %w", err)
		}
	}
	return nil
}
