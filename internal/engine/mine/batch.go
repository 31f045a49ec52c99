package mine

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
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
	view    view

	set     []int // scratch: rows a draw is made from
	weights weights
}

// load checks the batch and lists its anchors.
func (b *batch) load(z *array.Array, labels []int32) error {
	if len(z.Shape) != 2 {
		return fmt.Errorf("mine: %w", z.SameShape("embeddings", -1, -1))
	}
	b.rows, b.dim, b.labels, b.z = z.Shape[0], z.Shape[1], labels, z
	if len(labels) != b.rows {
		return fmt.Errorf("mine: %d labels for %d embeddings", len(labels), b.rows)
	}
	if b.rows < 2 {
		return fmt.Errorf("mine: %w: %d rows; a triplet needs an anchor and a positive", ErrNoPositive, b.rows)
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return fmt.Errorf("mine: %w: row %d, coordinate %d is %v", ErrNonFinite, i/b.dim, i%b.dim, z.Data[i])
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
					return fmt.Errorf("mine: layout pairs needs an even batch, got %d rows", b.rows)
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
		return fmt.Errorf("mine: %w: each of the %d rows has a different label; use a sampler that puts several images of a class into a batch", ErrNoPositive, b.rows)
	}
	if one && !b.o.AnyRow {
		return fmt.Errorf("mine: %w: all %d rows carry label %d, so there is no negative; use larger batches or a sampler with distinct classes", ErrOneClass, b.rows, b.labels[0])
	}
	return nil
}

// inverseLength returns 1/|x|, and 1 for the zero vector, which stays zero.
func inverseLength(x []float32) float64 {
	s := kernel.SumSquares(x)
	if s == 0 {
		return 1
	}
	return 1 / math.Sqrt(s)
}

// measure returns the Euclidean distance of rows i and j. It is symmetric and
// exactly 0 for equal rows.
func (b *batch) measure(i, j int) float64 {
	x, y := b.z.Data[i*b.dim:][:b.dim], b.z.Data[j*b.dim:][:b.dim]
	if u, v := b.unit[i], b.unit[j]; u != 1 || v != 1 {
		var s float64
		for k := range x {
			d := float64(u*float64(x[k])) - float64(v*float64(y[k]))
			s += float64(d * d)
		}
		return math.Sqrt(s)
	}
	return math.Sqrt(kernel.SquaredDistance(x, y))
}

// same and other say whether row j has the label of row a.
func (b *batch) same(a, j int) bool  { return b.labels[a] == b.labels[j] }
func (b *batch) other(a, j int) bool { return b.labels[a] != b.labels[j] }

// gap returns the distance of rows i and j, or its square under Squared: what the
// margin is added to.
func (b *batch) gap(i, j int) float64 {
	d := b.measure(i, j)
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
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
