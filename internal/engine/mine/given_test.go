package mine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
)

func newGiven(t *testing.T, layout Layout) Miner {
	t.Helper()
	m, err := NewGiven(layout)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGivenPairsAreTheRows(t *testing.T) {
	m := newGiven(t, GivenPairs)
	out := loss.Tuples{Triplets: make([]loss.Triplet, 3), Pairs: make([]loss.Pair, 7)}
	// Labels of the tuples, and labels of items: both say which pairs are similar.
	for _, labels := range [][]int32{{0, 0, 0, 1, 0, 0, 0, 1}, {3, 3, 3, 2, 9, 9, 0, 3}} {
		s, err := m.Mine(array.New(8, 2), labels, nil, &out)
		want := []loss.Pair{{I: 0, J: 1, Similar: true}, {I: 2, J: 3}, {I: 4, J: 5, Similar: true}, {I: 6, J: 7}}
		if err != nil || s != (Stats{}) || len(out.Triplets) != 0 || !slices.Equal(out.Pairs, want) {
			t.Errorf("%v: %+v, %+v, %v", labels, out, s, err)
		}
	}
	// All of one kind.
	for _, second := range []int32{0, 1} {
		if _, err := m.Mine(array.New(4, 2), []int32{0, second, 0, second}, nil, &out); err != nil || len(out.Pairs) != 2 || out.Pairs[1].Similar != (second == 0) {
			t.Errorf("%+v, %v", out.Pairs, err)
		}
	}
}

func TestGivenTripletsAreTheRows(t *testing.T) {
	m := newGiven(t, GivenTriplets)
	out := loss.Tuples{Triplets: make([]loss.Triplet, 9), Pairs: make([]loss.Pair, 7)}
	s, err := m.Mine(array.New(6, 2), []int32{0, 0, 1, 0, 0, 1}, nil, &out)
	want := []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 3, P: 4, N: 5}}
	if err != nil || s != (Stats{}) || len(out.Pairs) != 0 || !slices.Equal(out.Triplets, want) {
		t.Errorf("%+v, %+v, %v", out, s, err)
	}
}

func TestGivenErrors(t *testing.T) {
	if _, err := NewGiven(Pairs); err == nil || !strings.Contains(err.Error(), `"pairs" (valid: given-pairs, given-triplets)`) {
		t.Error(err)
	}
	for _, c := range []struct {
		layout Layout
		z      *array.Array
		labels []int32
		want   string
	}{
		{GivenPairs, array.New(3, 2), []int32{0, 0, 0}, "layout given-pairs needs whole tuples of 2 rows, got a batch of 3"},
		{GivenPairs, array.New(0, 2), nil, "got a batch of 0"},
		{GivenTriplets, array.New(4, 2), []int32{0, 0, 1, 0}, "layout given-triplets needs whole tuples of 3 rows, got a batch of 4"},
		{GivenTriplets, array.New(6, 2), []int32{0, 0, 1, 0, 1, 0}, "rows 3 to 5 carry labels 0, 1 and 0"},
		{GivenTriplets, array.New(3, 2), []int32{4, 4, 4}, "rows 0 to 2 carry labels 4, 4 and 4"},
		{GivenPairs, array.New(2, 2), []int32{0}, "1 labels for 2 embeddings"},
		{GivenPairs, array.New(2, 2, 1), []int32{0, 0}, "embeddings is [2 2 1]"},
	} {
		var out loss.Tuples
		_, err := newGiven(t, c.layout).Mine(c.z, c.labels, nil, &out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if len(out.Triplets)+len(out.Pairs) != 0 {
			t.Errorf("%q: tuples left: %+v", c.want, out)
		}
	}
	z := array.New(2, 3)
	z.Row(1)[2] = float32(math.Inf(1))
	var out loss.Tuples
	if _, err := newGiven(t, GivenPairs).Mine(z, []int32{0, 0}, nil, &out); !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "row 1, coordinate 2") {
		t.Error(err)
	}
}

func TestGivenAllocatesNothing(t *testing.T) {
	for _, layout := range []Layout{GivenPairs, GivenTriplets} {
		m, z, labels := newGiven(t, layout), array.New(12, 4), []int32{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}
		var out loss.Tuples
		if n := testing.AllocsPerRun(20, func() {
			if _, err := m.Mine(z, labels, nil, &out); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a batch", layout, n)
		}
	}
}
