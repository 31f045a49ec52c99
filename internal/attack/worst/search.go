package worst

import (
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// Search is one of the Galleries, as proofs about its queries need it.
type Search struct {
	field field
	g     *retrieval.Gallery
}

// NewSearch makes the gallery of that name of the rows of g.
func NewSearch(name string, g *retrieval.Gallery) (*Search, error) {
	f, err := newField(name, g, 1)
	return &Search{f, g}, err
}

// Len returns the number of rows that are not left out.
func (s *Search) Len() int { return s.field.rows() }

// Right says of which images, with the embeddings z (B, D), the nearest row has their label.
func (s *Search) Right(z *array.Array, items []int) []bool {
	s.field.aim(items)
	s.field.find(z, 1)
	out := make([]bool, len(items))
	for i := range out {
		out[i] = !beaten(s.field, i)
	}
	return out
}

// Rows returns the rows and their labels, and which of them are left out, nil for none.
// The row of a query's own label is Own where there is one.
func (s *Search) Rows() (x *array.Array, labels []int32, without []bool) {
	switch f := s.field.(type) {
	case *prototypes:
		labels = make([]int32, len(f.class))
		for l, c := range f.class {
			labels[c] = l
		}
		return f.mean, labels, nil
	case *whole:
		return s.g.X, s.g.Labels, f.without
	}
	panic("worst: a gallery without rows")
}

// Own returns the prototype of the label of an image, made without the rows that it is not
// compared with; nil where rows are images.
func (s *Search) Own(item int) []float32 {
	p, ok := s.field.(*prototypes)
	if !ok {
		return nil
	}
	p.aim([]int{item})
	return p.own.Row(0)
}
