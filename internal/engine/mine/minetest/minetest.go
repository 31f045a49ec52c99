// Package minetest checks what every miner must do, whatever it chooses: valid triplets
// in the order of anchors, the same ones for the same stream and any number of threads,
// errors for bad batches, nothing left of an earlier batch, no allocation after the
// first ones. A new miner's own test is then its law alone.
package minetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// batch is embeddings of length 1 with labels.
type batch struct {
	layout mine.Layout
	labels []int32
	z      *array.Array
}

// batches are one of each layout, with cols columns.
func batches(cols int) []batch {
	r := rng.New(1, "minetest")
	var out []batch
	for _, b := range []batch{
		{mine.Pairs, []int32{0, 0, 1, 1, 0, 0, 2, 2, 3, 3, 1, 1, 4, 4}, nil},
		{mine.General, []int32{5, 1, 5, 2, 1, 5, 9, 2, 1}, nil},
	} {
		labels, z := b.labels, array.New(len(b.labels), cols)
		for i := range labels {
			length := 0.0
			for k := range z.Row(i) {
				v := r.NormFloat64() + float64(labels[i]%3)
				z.Row(i)[k] = float32(v)
				length += v * v
			}
			for k, v := range z.Row(i) {
				z.Row(i)[k] = float32(float64(v) / math.Sqrt(length))
			}
		}
		b.z = z
		out = append(out, b)
	}
	return out
}

// subject is a miner to test.
type subject struct {
	name string
	make func(mine.Options) (mine.Miner, error)
	o    mine.Options
	many bool // several triplets of an anchor
}

// Check tests the registered miner of that name. It sets the number of threads, so that
// its caller must not run in parallel with others.
func Check(t testing.TB, name string) {
	t.Helper()
	known, ok := mine.Family.Lookup(name)
	if !ok {
		t.Fatalf("unknown miner %q", name)
	}
	m := subject{name: name, o: mine.Options{Margin: 0.3}, make: func(o mine.Options) (mine.Miner, error) { return mine.New(name, o) }}
	_, m.many = known.Defaults.(mine.Many)
	if s, ok := known.Defaults.(mine.Setter); ok {
		s.Set(&m.o)
	}
	m.check(t)
}

func (m subject) check(t testing.TB) {
	t.Helper()
	for _, b := range batches(6) {
		m.o.Layout = b.layout
		m.valid(t, b)
		m.allocates(t, b)
		m.anyRow(t, b)
	}
	m.refuses(t)
	m.threads(t)
}

func (m subject) build(t testing.TB) mine.Miner {
	t.Helper()
	out, err := m.make(m.o)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	return out
}

// valid requires that triplets are ones, and that a stream gives the same ones again.
func (m subject) valid(t testing.TB, b batch) {
	t.Helper()
	anchors := 0
	for i, y := range b.labels {
		if b.layout == mine.Pairs && i%2 == 0 || b.layout == mine.General && slices.Contains(slices.Delete(slices.Clone(b.labels), i, i+1), y) {
			anchors++
		}
	}
	miner, r := m.build(t), rng.New(2, "minetest")
	var first string
	for range 2 {
		r.Reset(2, "minetest")
		said := ""
		for range 20 {
			out := loss.Tuples{Pairs: []loss.Pair{{}}, Triplets: []loss.Triplet{{A: 99}}}
			s, err := miner.Mine(b.z, b.labels, r, &out)
			if err != nil {
				t.Fatalf("%s, layout %s: %v", m.name, b.layout, err)
			}
			said += fmt.Sprint(s, out)
			if len(out.Pairs) != 0 || !m.many && len(out.Triplets) != anchors {
				t.Errorf("%s, layout %s: %d pairs and %d triplets of %d anchors", m.name, b.layout, len(out.Pairs), len(out.Triplets), anchors)
			}
			if n := s.Easy + s.Semihard + s.Hard; n != len(out.Triplets) {
				t.Errorf("%s, layout %s: %+v of %d triplets", m.name, b.layout, s, len(out.Triplets))
			}
			for i, x := range out.Triplets {
				if b.labels[x.A] != b.labels[x.P] || b.labels[x.A] == b.labels[x.N] {
					t.Errorf("%s, layout %s: triplet %+v of labels %v", m.name, b.layout, x, b.labels)
				}
				if i > 0 && (x.A < out.Triplets[i-1].A || !m.many && x.A == out.Triplets[i-1].A) {
					t.Errorf("%s, layout %s: anchor %d after %d", m.name, b.layout, x.A, out.Triplets[i-1].A)
				}
			}
		}
		if first == "" {
			first = said
		} else if said != first {
			t.Errorf("%s, layout %s: the same stream gives other triplets", m.name, b.layout)
		}
	}
}

// anyRow requires that a batch of one class is refused, unless any row may be a
// negative; a miner of all valid triplets has none then either.
func (m subject) anyRow(t testing.TB, b batch) {
	t.Helper()
	one := make([]int32, len(b.labels)/2*2)
	z := array.New(len(one), b.z.Cols())
	copy(z.Data, b.z.Data)
	var out loss.Tuples
	if _, err := m.build(t).Mine(z, one, rng.New(3, "minetest"), &out); !errors.Is(err, mine.ErrOneClass) {
		t.Errorf("%s: one class: %v", m.name, err)
	}
	m.o.AnyRow = true
	s, err := m.build(t).Mine(z, one, rng.New(3, "minetest"), &out)
	if m.many && !errors.Is(err, mine.ErrOneClass) || !m.many && (err != nil || s.Fallback != len(out.Triplets) || len(out.Triplets) == 0) {
		t.Errorf("%s: one class where any row is a negative: %+v, %v", m.name, s, err)
	}
}

// refuses gives the miner batches that it must not take.
func (m subject) refuses(t testing.TB) {
	t.Helper()
	pairs := []int32{0, 0, 1, 1}
	nan, inf := array.New(4, 2), array.New(4, 2)
	nan.Row(2)[1], inf.Row(3)[0] = float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		z      *array.Array
		labels []int32
		layout mine.Layout
		want   string
		is     error
	}{
		{nan, pairs, mine.Pairs, "row 2, coordinate 1 is NaN", mine.ErrNonFinite},
		{inf, pairs, mine.General, "row 3, coordinate 0 is -Inf", mine.ErrNonFinite},
		{array.New(4, 2), pairs[:3], mine.Pairs, "3 labels for 4 embeddings", nil},
		{array.New(4, 2, 2), pairs, mine.Pairs, "embeddings is [4 2 2]", nil},
		{array.New(0, 2), nil, mine.Pairs, "0 rows", mine.ErrNoPositive},
		{array.New(1, 2), pairs[:1], mine.General, "1 rows", mine.ErrNoPositive},
		{array.New(4, 2), []int32{0, 1, 2, 3}, mine.General, "has a different label", mine.ErrNoPositive},
		{array.New(3, 2), pairs[:3], mine.Pairs, "needs an even batch, got 3", nil},
		{array.New(4, 2), []int32{0, 1, 0, 1}, mine.Pairs, "rows 0 and 1 carry labels 0 and 1", nil},
	} {
		m.o.Layout = c.layout
		out := loss.Tuples{Triplets: []loss.Triplet{{A: 1, P: 2, N: 3}}}
		_, err := m.build(t).Mine(c.z, c.labels, rng.New(1, "minetest"), &out)
		if m.many && err == nil { // those of all triplets take any layout
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			if !(m.many && c.layout == mine.Pairs && c.is == nil) {
				t.Errorf("%s: %v, want %q", m.name, err, c.want)
			}
		}
		if len(out.Triplets) != 0 {
			t.Errorf("%s, %s: tuples of an earlier batch are left", m.name, c.want)
		}
	}
}

// threads compares what numbers of threads mine from a wide batch.
func (m subject) threads(t testing.TB) {
	t.Helper()
	defer par.SetThreads(0)
	want := ""
	for _, n := range []int{1, 2, 3} {
		par.SetThreads(n)
		got := ""
		for _, b := range batches(130) {
			m.o.Layout = b.layout
			r := rng.New(4, "minetest")
			var out loss.Tuples
			for miner := m.build(t); len(got) < 4000; {
				s, err := miner.Mine(b.z, b.labels, r, &out)
				if err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				got += fmt.Sprint(s, out.Triplets)
			}
		}
		if want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s: %d threads mine other triplets", m.name, n)
		}
	}
}

// allocates counts the allocations of later batches.
func (m subject) allocates(t testing.TB, b batch) {
	t.Helper()
	defer par.SetThreads(0)
	par.SetThreads(1)
	miner, r := m.build(t), rng.New(5, "minetest")
	var out loss.Tuples
	step := func() { miner.Mine(b.z, b.labels, r, &out) }
	for range 50 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n != 0 {
		t.Errorf("%s, layout %s: %v allocations a batch", m.name, b.layout, n)
	}
}
