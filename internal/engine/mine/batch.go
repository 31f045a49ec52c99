package mine

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// batch is one batch as miners see it, with scratch that is reused.
type batch struct {
	o      Options
	rows   int
	dim    int
	labels []int32
	z      *array.Array

	anchors []int     // ascending
	unit    []float64 // factor of each row: 1, or 1/length under Normalize
	dist    []float64 // (rows, rows), filled for anchors, when measured
	matrix  bool

	set     []int     // scratch: rows a draw is made from
	weights []float64 // scratch of distance-weighted
	job     distanceJob
}

// load checks the batch, lists its anchors and, when matrix is set, measures the
// distances from every anchor to every row.
func (b *batch) load(z *array.Array, labels []int32, matrix bool) error {
	if len(z.Shape) != 2 {
		return fmt.Errorf("mine: %w", z.SameShape("embeddings", -1, -1))
	}
	b.rows, b.dim, b.labels, b.z, b.matrix = z.Shape[0], z.Shape[1], labels, z, matrix
	if len(labels) != b.rows {
		return fmt.Errorf("mine: %d labels for %d embeddings", len(labels), b.rows)
	}
	if b.rows < 2 {
		return fmt.Errorf("mine: %w: %d rows; a triplet needs an anchor and a positive", ErrNoPositive, b.rows)
	}
	for i, v := range z.Data {
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("mine: %w: row %d, coordinate %d is %v", ErrNonFinite, i/b.dim, i%b.dim, v)
		}
	}
	if err := b.findAnchors(); err != nil {
		return err
	}
	b.unit = grow(b.unit, b.rows)
	for i := range b.unit {
		b.unit[i] = 1
		if b.o.Normalize {
			b.unit[i] = inverseLength(z.Data[i*b.dim:][:b.dim])
		}
	}
	if matrix {
		b.dist = grow(b.dist, b.rows*b.rows)
		b.job = distanceJob{b}
		par.Do(len(b.anchors), 4, &b.job)
	}
	return nil
}

func (b *batch) findAnchors() error {
	b.anchors = b.anchors[:0]
	one := true
	for i := range b.rows {
		one = one && b.labels[i] == b.labels[0]
		if b.o.Layout == Pairs {
			if i%2 == 0 {
				if i+1 == b.rows {
					return fmt.Errorf("mine: layout pairs wants an even batch, got %d rows", b.rows)
				}
				if b.labels[i] != b.labels[i+1] {
					return fmt.Errorf("mine: layout pairs: rows %d and %d carry labels %d and %d; use a class-pair sampler or layout general", i, i+1, b.labels[i], b.labels[i+1])
				}
				b.anchors = append(b.anchors, i)
			}
			continue
		}
		for j := range b.rows {
			if j != i && b.labels[j] == b.labels[i] {
				b.anchors = append(b.anchors, i)
				break
			}
		}
	}
	if len(b.anchors) == 0 {
		return fmt.Errorf("mine: %w: each of the %d rows has a label of its own; use a sampler that puts several images of a class into a batch", ErrNoPositive, b.rows)
	}
	if one && !b.o.AnyRow {
		return fmt.Errorf("mine: %w: all %d rows carry label %d, so there is no negative; use larger batches or a sampler with distinct classes", ErrOneClass, b.rows, b.labels[0])
	}
	return nil
}

// inverseLength returns 1/|x|, and 1 for the zero vector, which stays zero.
func inverseLength(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	if s == 0 {
		return 1
	}
	return 1 / math.Sqrt(s)
}

type distanceJob struct{ b *batch }

// Run fills the distances of anchors [lo, hi).
func (d *distanceJob) Run(lo, hi int) {
	for _, a := range d.b.anchors[lo:hi] {
		row := d.b.dist[a*d.b.rows:][:d.b.rows]
		for j := range row {
			row[j] = d.b.measure(a, j)
		}
	}
}

// measure returns the Euclidean distance of rows i and j. It is symmetric and
// exactly 0 for equal rows.
func (b *batch) measure(i, j int) float64 {
	x, y := b.z.Data[i*b.dim:][:b.dim], b.z.Data[j*b.dim:][:b.dim]
	u, v := b.unit[i], b.unit[j]
	var s0, s1 float64
	k := 0
	for ; k+1 < len(x); k += 2 {
		d0 := u*float64(x[k]) - v*float64(y[k])
		d1 := u*float64(x[k+1]) - v*float64(y[k+1])
		s0 += d0 * d0
		s1 += d1 * d1
	}
	if k < len(x) {
		d := u*float64(x[k]) - v*float64(y[k])
		s0 += d * d
	}
	return math.Sqrt(s0 + s1)
}

// d returns the distance from anchor a to row j.
func (b *batch) d(a, j int) float64 {
	if b.matrix {
		return b.dist[a*b.rows+j]
	}
	return b.measure(a, j)
}

// same and other say whether row j has the label of row a.
func (b *batch) same(a, j int) bool  { return b.labels[a] == b.labels[j] }
func (b *batch) other(a, j int) bool { return b.labels[a] != b.labels[j] }

// gap returns d, or its square under Squared: what the margin is added to.
func (b *batch) gap(a, j int) float64 {
	d := b.d(a, j)
	if b.o.Squared {
		d *= d
	}
	return d
}

// count files the triplet of distances ap and an, as gap gives them, under its
// kind.
func (s *Stats) count(ap, an, margin float64) {
	switch {
	case an <= ap:
		s.Hard++
	case an < ap+margin:
		s.Semihard++
	default:
		s.Easy++
	}
}

// grow returns s with length n, reusing its storage where it suffices.
func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
