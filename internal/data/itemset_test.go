package data

import "testing"

// oneClass returns gray images of one pixel each.
func oneClass(t *testing.T, pixels ...uint8) *Memory {
	t.Helper()
	m, err := NewMemory(pixels, 1, 1, 1, make([]int32, len(pixels)), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestItemSetsTellItemsApart(t *testing.T) {
	taken := func(ds Dataset, idx ...int) Dataset {
		t.Helper()
		s, err := Subset(ds, idx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	files := func() (*Memory, *Memory) { // opened again each time; 5 is stored three times
		return oneClass(t, 1, 2, 5, 5, 3, 4), oneClass(t, 5, 6, 7)
	}
	a, b := files()
	all, err := Concat(a, b)
	if err != nil {
		t.Fatal(err)
	}
	c, d := files()
	again, err := Concat(d, c) // its items are 5 6 7 1 2 5 5 3 4
	if err != nil {
		t.Fatal(err)
	}
	mine := taken(all, 0, 2, 4)
	for name, w := range map[string]struct {
		other, beside Dataset
		same, copies  int
	}{
		"itself":                             {mine, b, 3, 0},
		"the same files, opened again":       {taken(again, 3, 5, 7), d, 3, 0},
		"a subset of a subset":               {taken(taken(again, 1, 3, 8), 1), d, 1, 0},
		"others":                             {taken(again, 1, 2, 4, 8), d, 0, 0},
		"copies within a file":               {taken(c, 3), nil, 0, 1},
		"copies in the other file":           {taken(d, 0), nil, 0, 1},
		"another file with the same":         {oneClass(t, 9, 5, 5, 1), nil, 3, 0},
		"another file with the same and own": {taken(oneClass(t, 9, 5, 8), 0, 2), nil, 0, 0},
		"under other labels":                 {relabeled(t, taken(again, 3, 6)), nil, 1, 1},
	} {
		s, err := NewItemSet(t.Context(), w.other)
		if err != nil {
			t.Fatal(err)
		}
		own, err := NewItemSet(t.Context(), mine, b)
		if err != nil {
			t.Fatal(err)
		}
		if same, copies := s.Shared(own); same != w.same || copies != w.copies {
			t.Errorf("%s: %d the same and %d copies, want %d and %d", name, same, copies, w.same, w.copies)
		}
	}
	// Of what is not known to be of one source, looks decide.
	alone, err := NewItemSet(t.Context(), taken(a, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewItemSet(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if same, copies := other.Shared(alone); same != 1 || copies != 0 {
		t.Errorf("%d the same and %d copies", same, copies)
	}
}

// Distorted images are those that they were made of.
func TestItemSetsLookThroughDistortion(t *testing.T) {
	distort := func(ds Dataset, seed uint64) *ItemSet {
		t.Helper()
		d, err := Distorted(ds, DistortOptions{Strength: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewItemSet(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, err := Subset(toy(t, 4, 4, 1, 5, 5), []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	m := toy(t, 4, 4, 1, 5, 5)
	other, err := NewMemory(m.pixels, 4, 4, 1, make([]int32, m.Len()), []string{"z"})
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string]Dataset{"the same file": m, "one with other labels": other} {
		if same, copies := distort(all, 2).Shared(distort(first, 1)); same != 3 || copies != 0 {
			t.Errorf("%s: %d the same and %d copies", name, same, copies)
		}
	}
}

func relabeled(t *testing.T, ds Dataset) Dataset {
	t.Helper()
	r, err := Relabel(ds, make([]int32, ds.Len()), []string{"other"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
