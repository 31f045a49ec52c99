package attack

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	// nearPart is the squared distance, as a part of the squared lengths, below which
	// float32 products keep too few digits of it: there float64 takes over.
	nearPart = 0x1p-10
	// closePart is where a difference from a weighted sum keeps too few digits of the
	// direction.
	closePart = 0x1p-20
	// segment is the number of distances of which the near ones are looked for
	// together.
	segment = 512
)

// distances measures the distances of a batch from all items of a gallery.
type distances struct {
	g        *Gallery
	z        *array.Array // (B, D)
	centered *array.Array // (B, D) from the gallery's mean
	squares  []float64    // (B) their squared lengths
	out      []float32    // (B, N)
	close    [][]int32    // (B) items very close to the query
	own      []float32    // out, where no caller gave one
}

// spareDistances are shared by all methods: those of a batch are large.
var spareDistances par.Free[distances]

// Distances writes the Euclidean distance of z_i (B, D) from item j to
// out[i*N+j]; slack bounds the error.
func (g *Gallery) Distances(z *array.Array, out []float32) {
	if len(out) != z.Rows()*g.Len() {
		panic(fmt.Sprintf("attack: %d distances of %d embeddings from %d items", len(out), z.Rows(), g.Len()))
	}
	d := spareDistances.Get()
	d.out = out
	d.begin(g, z)
	par.Do(z.Rows(), 1, d)
	d.release()
}

// newDistances begins a measurement of z, which finish ends row by row. The
// caller hands it back with release.
func newDistances(g *Gallery, z *array.Array) *distances {
	d := spareDistances.Get()
	size := z.Rows() * g.Len()
	if cap(d.own) < size {
		d.own = make([]float32, size)
	}
	d.out = d.own[:size]
	d.begin(g, z)
	return d
}

func (d *distances) release() {
	d.g, d.z, d.out = nil, nil, nil
	spareDistances.Put(d)
}

// begin centers z and writes its inner products to d.out.
func (d *distances) begin(g *Gallery, z *array.Array) {
	b, dim := z.Rows(), g.X.Cols()
	if z.Cols() != dim {
		panic(fmt.Sprintf("attack: embeddings %v in a gallery of %d coordinates", z.Shape, dim))
	}
	if d.centered == nil || d.centered.Cols() != dim {
		d.centered = array.New(b, dim)
	}
	d.centered.SetRows(b)
	if cap(d.squares) < b {
		d.squares, d.close = make([]float64, b), make([][]int32, b)
	}
	d.squares, d.close = d.squares[:b], d.close[:b]
	d.g, d.z = g, z
	for i := range b {
		d.squares[i] = g.center(z.Row(i), d.centered.Row(i))
	}
	g.products(d.centered, d.out)
}

// Run finishes rows [lo, hi).
func (d *distances) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		d.finish(i)
	}
}

// row returns the distances of query i.
func (d *distances) row(i int) []float32 {
	n := d.g.Len()
	return d.out[i*n : (i+1)*n]
}

// finish turns the inner products of query i into distances.
func (d *distances) finish(i int) {
	row, square, z := d.row(i), float32(d.squares[i]), d.z.Row(i)
	d.close[i] = d.close[i][:0]
	for lo := 0; lo < len(row); lo += segment {
		hi := min(lo+segment, len(row))
		part := row[lo:hi]
		if !kernel.DistanceRow(square, nearPart, d.g.squares[lo:hi], part) {
			continue
		}
		for k, v := range part {
			if math.Signbit(float64(v)) {
				s := d.g.squared(z, lo+k)
				part[k] = float32(math.Sqrt(s))
				if s < closePart*(d.squares[i]+float64(d.g.squares[lo+k])) {
					d.close[i] = append(d.close[i], int32(lo+k))
				}
			}
		}
	}
}

// slack is the gallery's for query i.
func (d *distances) slack(i int) float64 { return d.g.slack(d.squares[i]) }

// checkEmbeddings returns an error unless z is (b, D).
func (g *Gallery) checkEmbeddings(z *array.Array, b int) error {
	if z.Rows() == b && z.Cols() == g.X.Cols() {
		return nil
	}
	return z.SameShape("embeddings", b, g.X.Cols())
}
