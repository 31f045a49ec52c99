package retrieval

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
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

// Distances are those of a batch from all items of a gallery. A row is finished before it is
// read; different rows may be finished and searched at the same time.
type Distances struct {
	g        *Gallery
	z        *array.Array // (B, D)
	centered *array.Array // (B, D) from the gallery's mean
	squares  []float64    // (B) their squared lengths
	out      []float32    // (B, N)
	close    [][]int32    // (B) items very close to the query
	own      []float32    // out, where no caller gave one
}

// spareDistances are shared by all methods: those of a batch are large.
var spareDistances par.Free[Distances]

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
	d.Release()
}

// Measure begins a measurement of z (B, D), which Finish ends row by row. The caller hands
// it back with Release.
func (g *Gallery) Measure(z *array.Array) *Distances {
	d := spareDistances.Get()
	size := z.Rows() * g.Len()
	if cap(d.own) < size {
		d.own = pages.Make[float32](size)
	}
	d.out = d.own[:size]
	d.begin(g, z)
	return d
}

// Release makes d's memory that of the next measurement.
func (d *Distances) Release() {
	d.g, d.z, d.out = nil, nil, nil
	spareDistances.Put(d)
}

// begin centers z and writes its inner products to d.out.
func (d *Distances) begin(g *Gallery, z *array.Array) {
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
func (d *Distances) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		d.Finish(i)
	}
}

// Row returns the distances (N) of query i.
func (d *Distances) Row(i int) []float32 {
	n := d.g.Len()
	return d.out[i*n : (i+1)*n]
}

// Finish turns the inner products of query i into distances.
func (d *Distances) Finish(i int) {
	row, square, z := d.Row(i), float32(d.squares[i]), d.z.Row(i)
	d.close[i] = d.close[i][:0]
	for lo := 0; lo < len(row); lo += segment {
		hi := min(lo+segment, len(row))
		part := row[lo:hi]
		if !kernel.DistanceRow(square, nearPart, d.g.squares[lo:hi], part) {
			continue
		}
		for k, v := range part {
			if math.Signbit(float64(v)) {
				s := d.g.Squared(z, lo+k)
				part[k] = float32(math.Sqrt(s))
				if s < closePart*(d.squares[i]+float64(d.g.squares[lo+k])) {
					d.close[i] = append(d.close[i], int32(lo+k))
				}
			}
		}
	}
}

// Coinciding lists the items so near to query i that a difference from a weighted sum keeps
// too few digits of the direction.
func (d *Distances) Coinciding(i int) []int32 { return d.close[i] }

// Centered returns query i (D) from the gallery's mean.
func (d *Distances) Centered(i int) []float32 { return d.centered.Row(i) }

// WeightedSums writes to out (B, D) the weighted sums of all centered rows of the gallery,
// with weights that the caller has put into the first B rows of d. Gallery.PrepareSums comes
// before.
func (d *Distances) WeightedSums(out *array.Array) { d.g.sums(d.out[:out.Rows()*d.g.Len()], out) }

// slack is the gallery's for query i.
func (d *Distances) slack(i int) float64 { return d.g.slack(d.squares[i]) }

// CheckEmbeddings returns an error unless z is (b, D).
func (g *Gallery) CheckEmbeddings(z *array.Array, b int) error {
	if z.Rows() == b && z.Cols() == g.X.Cols() {
		return nil
	}
	return z.SameShape("embeddings", b, g.X.Cols())
}
