// Package retrieval says what the embeddings of queries retrieve in a gallery of clean
// embeddings: distances, ranks, nearest and farthest items, and the rows that decide
// recall@1. Distances in float32 choose candidates with their error allowed for, distances
// in float64 decide; equal ones are ordered by index. A Gallery knows which of its rows a
// query is not compared with.
package retrieval

import (
	"fmt"
	"math"
	"sync"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Gallery is what is retrieved: the clean embeddings of all images, in their
// order, or of a part of them (NewGalleryOf). Any number of methods may share one;
// none changes it.
type Gallery struct {
	X      *array.Array // (N, D)
	Labels []int32      // (N)

	// Distances do not depend on the origin, but the digits that float32 products
	// keep of them do: products are taken of rows from their mean.
	mean    []float64 // (D)
	squares []float32 // (N) squared lengths of the centered rows
	largest float64   // the largest of them

	// The centered rows, (N, D), and packed for products with queries, (D, N), and
	// with weights, (N, D): made when first needed.
	centered                  []float32
	rows, columns             *kernel.Packed
	packedRows, packedColumns sync.Once

	self  []int32       // (N) 0, 1, 2, ...
	count map[int32]int // rows of each label
	sides *sides        // nil: each image is a query and a row
}

// longest is the largest squared distance from the mean that a gallery's rows may
// have: products and distances then stay within float32.
const longest = 1e36

// NewGallery returns the gallery of embeddings x (N, D), N >= 2, which it does not
// copy, or an error naming the first value that is not finite.
func NewGallery(x *array.Array, labels []int32) (*Gallery, error) {
	if n := x.Rows(); n < 2 && len(labels) == n {
		return nil, Unfit("attack: a gallery of %d images; retrieval needs 2 or more", n)
	}
	return newGallery(x, labels)
}

func newGallery(x *array.Array, labels []int32) (*Gallery, error) {
	n := x.Rows()
	if len(labels) != n {
		return nil, fmt.Errorf("attack: %d labels for %d gallery embeddings", len(labels), n)
	}
	if x.Cols() < 1 {
		return nil, fmt.Errorf("attack: gallery embeddings of shape %v have no coordinates", x.Shape)
	}
	if i, ok := kernel.AllFinite(x.Data); !ok {
		return nil, fmt.Errorf("attack: gallery embedding %d is %v in coordinate %d", i/x.Cols(), x.Data[i], i%x.Cols())
	}
	g := &Gallery{X: x, Labels: labels, mean: make([]float64, x.Cols()), squares: make([]float32, n), self: make([]int32, n), count: map[int32]int{}}
	for i := range n {
		g.self[i] = int32(i)
		g.count[labels[i]]++
		for k, v := range x.Row(i) {
			g.mean[k] += float64(v) / float64(n)
		}
	}
	row := make([]float32, x.Cols())
	for i := range n {
		square := g.center(x.Row(i), row)
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

// center sets dst to x from the mean and returns its squared length.
func (g *Gallery) center(x, dst []float32) float64 {
	for k, v := range x {
		dst[k] = float32(float64(v) - g.mean[k])
	}
	return kernel.SumSquares(dst)
}

// InReach reports whether z (D) is finite, and near enough to the gallery for float32.
func (g *Gallery) InReach(z []float32) bool {
	square := 0.0
	for k, v := range z {
		d := float64(v) - g.mean[k]
		square += float64(d * d)
	}
	return square <= longest
}

// allCentered returns all rows from the mean.
func (g *Gallery) allCentered() []float32 {
	out := array.New(g.X.Shape...)
	for i := range g.Len() {
		g.center(g.X.Row(i), out.Row(i))
	}
	return out.Data
}

// products writes the inner products of z (B, D) with all centered rows to out
// (B, N).
func (g *Gallery) products(z *array.Array, out []float32) {
	n, d := g.Len(), g.X.Cols()
	g.packedRows.Do(func() { g.rows = kernel.Pack(true, d, n, g.allCentered(), d) })
	g.rows.Gemm(z.Rows(), 1, z.Data, d, 0, out, n)
}

// PrepareSums makes what SparseSum and Distances.WeightedSums read.
func (g *Gallery) PrepareSums() {
	g.packedColumns.Do(func() {
		g.centered = g.allCentered()
		g.columns = kernel.Pack(false, g.Len(), g.X.Cols(), g.centered, g.X.Cols())
	})
}

// sums writes to out (B, D), for weights w (B, N), the weighted sums of all centered
// rows.
func (g *Gallery) sums(w []float32, out *array.Array) {
	n, d := g.Len(), g.X.Cols()
	g.columns.Gemm(out.Rows(), 1, w, n, 0, out.Data, d)
}

// SparseSum writes to out (D), for weights w (N) that are mostly 0, the weighted sum of all
// centered rows. PrepareSums comes before.
func (g *Gallery) SparseSum(w, out []float32) {
	clear(out)
	kernel.AddWeighted(w, g.centered, out)
}

// Squared returns the squared distance of z (D) from item j in float64.
func (g *Gallery) Squared(z []float32, j int) float64 {
	return kernel.SquaredDistanceLanes(z, g.X.Row(j))
}

// slack bounds, for any item, the error of the square of z's distance as
// Distances gives it; square is the squared length of z from the mean. What
// float32 adds, in units of 2^-24 of the two squared lengths: the product D + 1,
// the centering 4, the lengths, their sum and the difference 4, the root 4.
func (g *Gallery) slack(square float64) float64 {
	return float64(g.X.Cols()+16) * 0x1p-24 * (square + g.largest)
}
