package retrieval

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// plainRivals sorts the rows that a query is compared with by loops, right and wrong ones.
func plainRivals(g *Gallery, without []bool, q int, z []float32) (right, wrong []Neighbor) {
	for j := range g.Len() {
		if slices.Contains(g.Hidden(q), int32(j)) || without != nil && without[j] {
			continue
		}
		n := Neighbor{Row: int32(j)}
		for k, v := range g.X.Row(j) {
			d := float64(z[k]) - float64(v)
			n.Square += d * d
		}
		if g.Labels[j] == g.Label(q) {
			right = append(right, n)
		} else {
			wrong = append(wrong, n)
		}
	}
	return right, wrong
}

// Against loops: rows that repeat (ties), rows that are left out, the query's own.
func TestRivalsAgainstLoops(t *testing.T) {
	t.Parallel()
	r := rng.New(3, "rivals")
	x, labels, without := array.New(60, 3), make([]int32, 60), make([]bool, 60)
	for i := range 60 {
		labels[i] = int32(r.IntN(4))
		without[i] = i%7 == 3
		for k := range x.Row(i) {
			x.Row(i)[k] = float32(r.IntN(3)) / 2 // many equal rows
		}
	}
	g, err := NewGallery(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, mask := range [][]bool{nil, without} {
		v := NewRivals(g, mask)
		items, z := []int{}, array.New(30, 3)
		for i := range 30 {
			items = append(items, 2*i)
			copy(z.Row(i), x.Row(2*i))
			if i%3 == 0 {
				z.Row(i)[0] += 0.3
			}
		}
		v.Aim(items)
		keep := []int{0, 1, 4, 7, 12, 29}
		for pass := range 2 {
			if pass == 1 {
				v.Retain(keep)
				for to, from := range keep {
					items[to] = items[from]
					copy(z.Row(to), z.Row(from))
				}
				items = items[:len(keep)]
				z.SetRows(len(keep))
			}
			for _, k := range []int{1, 5, 100} {
				v.Find(z, k)
				for i, q := range items {
					right, wrong := plainRivals(g, mask, q, z.Row(i))
					for side, want := range [][]Neighbor{right, wrong} {
						got := [][]Neighbor{v.Right(i), v.Wrong(i)}[side]
						slices.SortFunc(want, Neighbor.Compare)
						if !slices.Equal(got, want[:min(k, len(want))]) {
							t.Fatalf("query %d, k %d, side %d: %v, want %v", q, k, side, got, want[:min(k, len(want))])
						}
					}
					first := slices.MinFunc(slices.Concat(right, wrong), Neighbor.Compare)
					if v.Beaten(i) != (g.Labels[first.Row] != labels[q]) {
						t.Errorf("query %d: first row %v, beaten %v", q, first, v.Beaten(i))
					}
				}
			}
		}
	}
	v := NewRivals(g, nil)
	v.Aim([]int{5})
	nan := array.New(1, 3)
	nan.Data[1] = float32(math.NaN())
	if v.Find(nan, 1); !v.Beaten(0) || len(v.Right(0)) > 0 {
		t.Error("a query that is not a number is retrieved")
	}
}

// The bound of a cell is below the distance to any point at which the row wins.
func TestCellsAgainstLoops(t *testing.T) {
	t.Parallel()
	r := rng.New(5, "cells")
	x, labels := array.New(40, 2), make([]int32, 40)
	for i := range 40 {
		labels[i] = int32(i % 4)
		x.Row(i)[0], x.Row(i)[1] = float32(r.Float64()), float32(r.Float64())
	}
	g, err := NewGallery(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	v := NewRivals(g, nil)
	z := array.New(1, 2)
	copy(z.Data, x.Row(8))
	v.Aim([]int{8})
	v.Find(z, 50)
	got := v.Cells(0, z.Row(0), 7, 3, nil)
	bound := func(n int) float64 { // by the definition
		out := 0.0
		for p := range 40 {
			if p == 8 || labels[p] != labels[8] {
				continue
			}
			dn, dp, apart := 0.0, 0.0, 0.0
			for k := range 2 {
				dn += math.Pow(float64(z.Data[k])-float64(x.Row(n)[k]), 2)
				dp += math.Pow(float64(z.Data[k])-float64(x.Row(p)[k]), 2)
				apart += math.Pow(float64(x.Row(p)[k])-float64(x.Row(n)[k]), 2)
			}
			out = math.Max(out, (dn-dp)/(2*math.Sqrt(apart)))
		}
		return out
	}
	var all []Neighbor
	for n := range 40 {
		if labels[n] != labels[8] {
			all = append(all, Neighbor{int32(n), bound(n)})
		}
	}
	slices.SortFunc(all, Neighbor.Compare)
	var want []int32
	taken := map[int32]int{}
	for _, n := range all {
		if l := labels[n.Row]; len(want) < 7 && taken[l] < 3 {
			want, taken[l] = append(want, n.Row), taken[l]+1
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("cells %v, want %v", got, want)
	}
	for range 20000 { // points at which a wrong row comes first are at least so far away
		a, b := r.Float64(), r.Float64()
		first, best := -1, math.Inf(1)
		for j := range 40 {
			if d := math.Hypot(a-float64(x.Row(j)[0]), b-float64(x.Row(j)[1])); j != 8 && d < best {
				first, best = j, d
			}
		}
		if labels[first] != labels[8] && math.Hypot(a-float64(z.Data[0]), b-float64(z.Data[1])) < bound(first)-1e-6 {
			t.Fatalf("(%v, %v) is nearer than the bound of row %d", a, b, first)
		}
	}
}
