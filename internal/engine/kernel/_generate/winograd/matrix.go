package main

import (
	"fmt"
	"math"
)

func roleName(role string, to, from int) string {
	return fmt.Sprintf("winograd%s%dFrom%d", role, to, from)
}

// matrix is a linear map of one dimension, applied to rows and columns alike.
// Package kernel holds the same matrices (winograd_matrix.go) for its Go twins.
type matrix [][]float64

func (m matrix) transposed() matrix {
	t := make(matrix, len(m[0]))
	for i := range t {
		for _, row := range m {
			t[i] = append(t[i], row[i])
		}
	}
	return t
}

// ordered lists the finite points 0, p, -p, q, -q, ...
func ordered(points []float64) []float64 {
	all := []float64{0}
	for _, p := range points {
		all = append(all, p, -p)
	}
	return all
}

// times multiplies a polynomial, lowest power first, by (x - root).
func times(poly []float64, root float64) []float64 {
	out := make([]float64, len(poly)+1)
	for i, c := range poly {
		out[i] -= root * c
		out[i+1] += c
	}
	return out
}

// input is B transposed: the row of a finite point is the product of (x - q)
// over the other finite points q, that of infinity the product over all.
func input(points []float64) matrix {
	all := ordered(points)
	var m matrix
	for i := range all {
		row := []float64{1}
		for j, q := range all {
			if j != i {
				row = times(row, q)
			}
		}
		m = append(m, append(row, 0))
	}
	last := []float64{1}
	for _, q := range all {
		last = times(last, q)
	}
	return append(m, last)
}

// powers is A or, scaled, G: the row of a point p is 1, p, p*p, ... (divided by
// the product of (p - q) over the other finite points), that of infinity 0 ... 1.
func powers(points []float64, cols int, scaled bool) matrix {
	all := ordered(points)
	var m matrix
	for i, p := range all {
		scale := 1.0
		for j, q := range all {
			if scaled && j != i {
				scale /= p - q
			}
		}
		row := make([]float64, cols)
		for k := range row {
			row[k] = math.Pow(p, float64(k)) * scale
		}
		m = append(m, row)
	}
	last := make([]float64, cols)
	last[cols-1] = 1
	return append(m, last)
}
