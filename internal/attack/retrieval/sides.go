package retrieval

import (
	"slices"

	"tercet/internal/engine/array"
)

// Sides tell the queries of a set of images from the gallery that they are searched in.
type Sides struct {
	Query, Gallery []int   // images, ascending; one may be in both
	Sequence       []int32 // of each image: those of one sequence are not compared; -1 for none
}

// sides is what a gallery that holds a part of a set knows of the whole set.
type sides struct {
	x        *array.Array // (images, D)
	labels   []int32      // (images)
	sequence []int32      // (images)
	images   []int        // (N) image of each row
	rows     []int32      // (images) row of each image, -1 for none
	mates    map[int32][]int32
	queries  *Gallery // of the queries of the set; nil in that gallery itself
}

// NewGalleryOf returns the gallery of a set whose queries are searched for in its gallery
// images alone: x (images, D) are the embeddings of all. A query is compared neither with
// itself nor with images of its sequence. Attacks that perturb candidates perturb gallery
// images and aim them at queries.
func NewGalleryOf(x *array.Array, labels []int32, s Sides) (*Gallery, error) {
	if len(s.Query) == 0 || len(s.Gallery) < 2 {
		return nil, Unfit("attack: %d queries and a gallery of %d images; one query and two images are needed", len(s.Query), len(s.Gallery))
	}
	g, err := partOf(x, labels, s.Sequence, s.Gallery)
	if err != nil {
		return nil, err
	}
	g.sides.queries, err = partOf(x, labels, s.Sequence, s.Query)
	return g, err
}

// partOf returns the gallery of some images of a set.
func partOf(x *array.Array, labels, sequence []int32, images []int) (*Gallery, error) {
	s := &sides{x: x, labels: labels, sequence: sequence, images: images, rows: make([]int32, x.Rows()), mates: map[int32][]int32{}}
	for i := range s.rows {
		s.rows[i] = -1
	}
	part, of := array.New(len(images), x.Cols()), make([]int32, len(images))
	for row, i := range images {
		copy(part.Row(row), x.Row(i))
		of[row], s.rows[i] = labels[i], int32(row)
		if q := sequence[i]; q >= 0 {
			s.mates[q] = append(s.mates[q], int32(row))
		}
	}
	g, err := newGallery(part, of)
	if err != nil {
		return nil, err
	}
	g.sides = s
	return g, nil
}

// Images returns the number of images of the set that g is of.
func (g *Gallery) Images() int {
	if g.sides != nil {
		return g.sides.x.Rows()
	}
	return g.Len()
}

// Image returns the image that is row j.
func (g *Gallery) Image(j int32) int32 {
	if g.sides != nil {
		return int32(g.sides.images[j])
	}
	return j
}

// Place returns the row of an image, -1 for none.
func (g *Gallery) Place(image int) int32 {
	if g.sides != nil {
		return g.sides.rows[image]
	}
	return int32(image)
}

// Queries returns the gallery of the queries, at which perturbed candidates are aimed: g
// itself where each image is both.
func (g *Gallery) Queries() *Gallery {
	if g.sides != nil {
		return g.sides.queries
	}
	return g
}

// Apart reports whether queries and gallery are not the same images, or have sequences.
func (g *Gallery) Apart() bool { return g.sides != nil }

// Embeddings returns those of all images of the set.
func (g *Gallery) Embeddings() *array.Array {
	if g.sides != nil {
		return g.sides.x
	}
	return g.X
}

// Label returns the label of an image.
func (g *Gallery) Label(image int) int32 {
	if g.sides != nil {
		return g.sides.labels[image]
	}
	return g.Labels[image]
}

// Hidden returns the rows that an image is not compared with, ascending: itself and those
// of its sequence.
func (g *Gallery) Hidden(image int) []int32 {
	if g.sides == nil {
		return g.self[image : image+1]
	}
	if q := g.sides.sequence[image]; q >= 0 {
		return g.sides.mates[q]
	}
	if row := g.sides.rows[image]; row >= 0 {
		return g.self[row : row+1]
	}
	return nil
}

// MostHidden returns the largest number of rows that one of some images is not compared
// with, at least 1.
func (g *Gallery) MostHidden(images []int) int {
	most := 1
	for _, i := range images {
		most = max(most, len(g.Hidden(i)))
	}
	return most
}

// Compared counts the rows that an image is compared with, and those of its label.
func (g *Gallery) Compared(image int) (all, same int) {
	hidden := g.Hidden(image)
	all, same = g.Len()-len(hidden), g.count[g.Label(image)]
	for _, j := range hidden {
		if g.Labels[j] == g.Label(image) {
			same--
		}
	}
	return all, same
}

// Candidates returns n images of the gallery that some query is compared with, chosen as
// queries are. Where there are fewer it begins again: repeat says how often each came
// before.
func (g *Gallery) Candidates(n int, drawn bool, seed uint64) (images, repeat []int, err error) {
	q := g.Queries()
	var able []int
	for _, i := range g.sides.images {
		if len(q.Hidden(i)) < q.Len() {
			able = append(able, i)
		}
	}
	if len(able) == 0 {
		return nil, nil, Unfit("attack: no image of the gallery is compared with a query: all are of one sequence")
	}
	if drawn && n < len(able) {
		sample(able, n, seed, "attack.candidates")
	}
	for k := range n {
		images, repeat = append(images, able[k%len(able)]), append(repeat, k/len(able))
	}
	return images, repeat, nil
}

// Without filters rows out of a list, in place; hidden is ascending.
func Without(list, hidden []int32) []int32 {
	return slices.DeleteFunc(list, func(j int32) bool {
		_, is := slices.BinarySearch(hidden, j)
		return is
	})
}
