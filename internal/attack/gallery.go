package attack

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Gallery is what is retrieved: the clean embeddings of all images, in their
// order. Any number of methods may share one; none changes it.
type Gallery struct {
	X      *array.Array // (N, D)
	Labels []int32      // (N)

	// Distances do not depend on the origin, but the digits that float32 products
	// keep of them do: X is kept once more from its mean.
	mean    []float64    // (D)
	centred *array.Array // (N, D)
	squares []float32    // (N) squared lengths of the centred rows
	largest float64      // the largest of them
}

// longest is the largest squared distance from the mean that a gallery's rows may
// have: products and distances then stay within float32.
const longest = 1e36

// NewGallery returns the gallery of embeddings x (N, D), N >= 2, which it does not
// copy, or an error naming the first value that is not finite.
func NewGallery(x *array.Array, labels []int32) (*Gallery, error) {
	n := x.Rows()
	if len(labels) != n {
		return nil, fmt.Errorf("attack: %d labels for %d gallery embeddings", len(labels), n)
	}
	if n < 2 {
		return nil, fmt.Errorf("attack: a gallery of %d images; retrieval needs 2 or more", n)
	}
	if i, ok := kernel.AllFinite(x.Data); !ok {
		return nil, fmt.Errorf("attack: gallery embedding %d is %v in coordinate %d", i/x.Cols(), x.Data[i], i%x.Cols())
	}
	g := &Gallery{X: x, Labels: labels, mean: make([]float64, x.Cols()), centred: array.New(n, x.Cols()), squares: make([]float32, n)}
	for i := range n {
		for k, v := range x.Row(i) {
			g.mean[k] += float64(v) / float64(n)
		}
	}
	for i := range n {
		square := g.centre(x.Row(i), g.centred.Row(i))
		if !(square <= longest) {
			return nil, fmt.Errorf("attack: gallery embedding %d is %.3g away from the mean: too far for float32", i, math.Sqrt(square))
		}
		g.squares[i] = float32(square)
		g.largest = max(g.largest, square)
	}
	return g, nil
}

// Len returns the number of images N.
func (g *Gallery) Len() int { return g.X.Rows() }

// centre sets dst to x from the mean and returns its squared length.
func (g *Gallery) centre(x, dst []float32) float64 {
	for k, v := range x {
		dst[k] = float32(float64(v) - g.mean[k])
	}
	return kernel.SumSquares(dst)
}

// squared returns the squared distance of z (D) from item j in float64.
func (g *Gallery) squared(z []float32, j int) float64 {
	return kernel.SquaredDistanceLanes(z, g.X.Row(j))
}

// slack bounds, for any item, the error of the square of z's distance as
// Distances gives it; square is the squared length of z from the mean. What
// float32 adds, in units of 2^-24 of the two squared lengths: the product D + 1,
// the centring 4, the lengths, their sum and the difference 4, the root 4.
func (g *Gallery) slack(square float64) float64 {
	return float64(g.X.Cols()+16) * 0x1p-24 * (square + g.largest)
}

// near is the squared distance, as a part of the squared lengths, below which
// float32 products keep too few digits: there float64 takes over.
const near = 0x1p-10

// distances computes distances of a batch; one caller at a time.
type distances struct {
	g       *Gallery
	z       *array.Array
	centred *array.Array // (B, D) z from the gallery's mean
	squares []float64    // (B) their squared lengths
	out     []float32    // (B, N)
}

var distanceScratch par.Free[distances]

// Distances writes the Euclidean distance of z_i (B, D) from item j to
// out[i*N+j]; slack bounds the error.
func (g *Gallery) Distances(z *array.Array, out []float32) {
	d := distanceScratch.Get()
	d.product(g, z, out)
	par.Do(z.Rows(), 1, d)
	d.g, d.z, d.out = nil, nil, nil
	distanceScratch.Put(d)
}

// product centres z and writes the inner products to out; row makes distances of
// them.
func (d *distances) product(g *Gallery, z *array.Array, out []float32) {
	b, n, dim := z.Rows(), g.Len(), g.X.Cols()
	if z.Cols() != dim || len(out) != b*n {
		panic(fmt.Sprintf("attack: distances of %v from %d items of %d numbers in %d numbers", z.Shape, n, dim, len(out)))
	}
	if cap(d.squares) < b || d.centred.Cols() != dim {
		d.centred, d.squares = array.New(b, dim), make([]float64, b)
	}
	d.centred.SetRows(b)
	d.squares = d.squares[:b]
	d.g, d.z, d.out = g, z, out
	for i := range b {
		d.squares[i] = g.centre(z.Row(i), d.centred.Row(i))
	}
	kernel.Gemm(false, true, b, n, dim, 1, d.centred.Data, dim, g.centred.Data, dim, 0, out, n)
}

// Run finishes rows [lo, hi).
func (d *distances) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		d.row(i)
	}
}

// row turns the inner products of query i into distances.
func (d *distances) row(i int) {
	n := d.g.Len()
	row, square := d.out[i*n:(i+1)*n], float32(d.squares[i])
	for j, v := range row {
		sum := square + d.g.squares[j]
		s := max(sum-2*v, 0)
		if s < near*sum {
			row[j] = float32(math.Sqrt(d.g.squared(d.z.Row(i), j)))
		} else {
			row[j] = float32(math.Sqrt(float64(s)))
		}
	}
}
