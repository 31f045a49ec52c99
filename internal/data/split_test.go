package data

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/testutil"
)

// read returns the pixels of all items.
func read(t *testing.T, ds Dataset) [][]float32 {
	t.Helper()
	h, w, c := ds.Shape()
	out := make([][]float32, ds.Len())
	for i := range out {
		out[i] = make([]float32, h*w*c)
		if err := ds.Read(i, out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestSubset(t *testing.T) {
	ds := toy(t, 2, 2, 1, 5, 5, 5)
	ds.names = make([]string, 15)
	for i := range ds.names {
		ds.names[i] = fmt.Sprint("f", i)
	}
	px := read(t, ds)
	idx := []int{7, 3, 3, 14}
	s, err := Subset(ds, idx)
	if err != nil {
		t.Fatal(err)
	}
	idx[0] = 0 // the caller's slice stays the caller's
	for p, i := range []int{7, 3, 3, 14} {
		if !slices.Equal(read(t, s)[p], px[i]) || s.Labels()[p] != ds.Labels()[i] || ItemName(s, p) != fmt.Sprintf("item %d (f%d)", p, i) {
			t.Errorf("place %d is not item %d", p, i)
		}
	}
	ss, err := Subset(s, []int{3, 0})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read(t, ss)[0], px[14]) || !slices.Equal(read(t, ss)[1], px[7]) || !slices.Equal(read(t, s)[3], px[14]) {
		t.Error("a subset of a subset")
	}
	all := make([]int, 15)
	for i := range all {
		all[i] = i
	}
	whole, err := Subset(ds, all)
	if err != nil || testutil.Fingerprint(t, whole) != testutil.Fingerprint(t, ds) || testutil.Fingerprint(t, s) == testutil.Fingerprint(t, ds) {
		t.Error("the fingerprint is not one of content")
	}
	_, err = Subset(ds, []int{0, 15})
	testutil.WantError(t, err, nil, "index 15", "place 1", "15")
	_, err = Subset(ds, []int{-1})
	testutil.WantError(t, err, nil, "index -1")
	if err := s.Read(4, make([]float32, 4)); err == nil {
		t.Error("item 4 of 4 read")
	}
}

func TestRelabelAndCompact(t *testing.T) {
	ds := toy(t, 1, 1, 1, 2, 2)
	y := []int32{3, 1, 1, 3}
	r, err := Relabel(ds, y, []string{"p", "q", "r", "s"})
	if err != nil || !slices.Equal(r.Labels(), y) || !reflect.DeepEqual(read(t, r), read(t, ds)) {
		t.Fatalf("relabel: %v", err)
	}
	c := Compact(r)
	if !slices.Equal(c.Labels(), []int32{1, 0, 0, 1}) || !slices.Equal(c.Classes(), []string{"q", "s"}) || !reflect.DeepEqual(read(t, c), read(t, ds)) {
		t.Errorf("compact: %v %v", c.Labels(), c.Classes())
	}
	if Compact(c) != c {
		t.Error("compact of compact is a new dataset")
	}
	if _, err := Relabel(ds, y[:3], r.Classes()); err == nil {
		t.Error("3 labels for 4 items accepted")
	}
	_, err = Relabel(ds, y, []string{"p"})
	testutil.WantError(t, err, ErrFormat, "item 0", "label 3")
}

func TestConcat(t *testing.T) {
	a := toy(t, 1, 2, 1, 2, 1)
	b := toy(t, 1, 2, 1, 1, 2)
	b.classes = []string{"x", "a"}
	j, err := Concat(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(j.Classes(), []string{"a", "b", "x"}) {
		t.Errorf("classes %v", j.Classes())
	}
	want := append(read(t, a), read(t, b)...)
	if !reflect.DeepEqual(read(t, j), want) {
		t.Error("pixels")
	}
	for i, y := range j.Labels() {
		name := ""
		if i < 3 {
			name = a.classes[a.labels[i]]
		} else {
			name = b.classes[b.labels[i-3]]
		}
		if j.Classes()[y] != name {
			t.Errorf("item %d is of class %s, want %s", i, j.Classes()[y], name)
		}
	}
	_, err = Concat(a, toy(t, 2, 2, 1, 1))
	testutil.WantError(t, err, array.ErrShape, "1x2x1", "2x2x1")
}

func TestLimitPerClass(t *testing.T) {
	ds := toy(t, 1, 1, 1, 10, 3, 0, 6)
	l := LimitPerClass(ds, 4, 1)
	if got := sizes(l); !slices.Equal(got, []int{4, 3, 0, 4}) {
		t.Errorf("sizes %v", got)
	}
	if !slices.IsSorted(l.(*view).idx) {
		t.Error("the order changes")
	}
	if testutil.Fingerprint(t, l) != testutil.Fingerprint(t, LimitPerClass(ds, 4, 1)) || testutil.Fingerprint(t, l) == testutil.Fingerprint(t, LimitPerClass(ds, 4, 2)) {
		t.Error("the choice is not the seed's")
	}
	if LimitPerClass(ds, 0, 1) != Dataset(ds) || LimitPerClass(ds, 10, 1) != Dataset(ds) {
		t.Error("a limit that does not bind copies")
	}
}

// The first of a class by the seed, those that follow and the rest share no item and
// make up the class; what a limit alone takes is what it took before there was a skip.
func TestTakePerClass(t *testing.T) {
	ds := toy(t, 1, 1, 1, 10, 7, 0, 8)
	take := func(skip, n int, seed uint64) []int {
		t.Helper()
		kept, err := takePerClass(ds, skip, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		items := make([]int, kept.Len())
		for i := range items {
			if items[i] = i; kept != Dataset(ds) {
				items[i] = kept.(*view).idx[i]
			}
			if kept.Labels()[i] != ds.labels[items[i]] {
				t.Errorf("item %d has another label", i)
			}
		}
		if !slices.IsSorted(items) {
			t.Error("the order changes")
		}
		return items
	}
	parts := slices.Concat(take(0, 2, 5), take(2, 3, 5), take(5, 0, 5))
	slices.Sort(parts)
	if !slices.Equal(parts, take(0, 0, 5)) || len(parts) != ds.Len() {
		t.Errorf("the parts are %v of %d items", parts, ds.Len())
	}
	for _, i := range take(0, 2, 5) {
		if !slices.Contains(take(0, 3, 5), i) {
			t.Errorf("a limit of 3 lacks item %d of a limit of 2", i)
		}
	}
	if got := len(take(6, 3, 5)); got != 3+1+2 {
		t.Errorf("%d items", got)
	}
	if slices.Equal(take(3, 2, 5), take(3, 2, 6)) {
		t.Error("the choice is not the seed's")
	}
	if got, want := take(0, 2, 1), []int{10, 12, 16, 19, 21, 22}; !slices.Equal(got, want) {
		t.Errorf("a limit alone takes %v, it took %v", got, want)
	}
	_, err := takePerClass(ds, 7, 0, 5)
	testutil.WantError(t, err, ErrUnfit, "data.skip_per_class", "7 leaves nothing of class b", "has 7 training images")
}

func sizes(ds Dataset) (n []int) {
	for _, m := range ByClass(ds) {
		n = append(n, len(m))
	}
	return n
}

func TestSplitByClass(t *testing.T) {
	ds := toy(t, 1, 1, 1, 3, 4, 5, 6, 7)
	for _, c := range []struct {
		s    Split
		want int
	}{{Split{}, 3}, {Split{Train: 2}, 2}, {Split{Train: 4}, 4}, {Split{Train: 0.6}, 3}, {Split{Train: 0.01}, 1}, {Split{Train: 0.99}, 4}, {Split{First: true, Train: 2}, 2}} {
		c.s.Kind = "class"
		train, test, err := c.s.Divide(ds, nil)
		if err != nil {
			t.Errorf("%+v: %v", c.s, err)
			continue
		}
		names := append(slices.Clone(train.Classes()), test.Classes()...)
		slices.Sort(names)
		if len(train.Classes()) != c.want || !slices.Equal(names, ds.classes) || train.Len()+test.Len() != ds.Len() {
			t.Errorf("%+v: classes %v and %v, %d and %d items", c.s, train.Classes(), test.Classes(), train.Len(), test.Len())
		}
		for _, part := range []Dataset{train, test} {
			for k, n := range sizes(part) {
				if want := 3 + int(part.Classes()[k][0]-'a'); n != want {
					t.Errorf("%+v: class %s has %d items, want %d", c.s, part.Classes()[k], n, want)
				}
			}
		}
		if c.s.First && !slices.Equal(train.Classes(), []string{"a", "b"}) {
			t.Errorf("first classes are %v", train.Classes())
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		train, _, err := Split{Kind: "class", Train: 2, Seed: seed}.Divide(ds, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(train.Classes())] = true
	}
	if len(seen) < 5 {
		t.Errorf("20 seeds give %d choices", len(seen))
	}
	for _, n := range []float64{5, 6, -1, 1.5, math.NaN(), math.Inf(1)} {
		_, _, err := Split{Kind: "class", Train: n}.Divide(ds, nil)
		testutil.WantError(t, err, ErrUnfit, "of 5", "1 to 4")
	}
	_, _, err := Split{Kind: "class"}.Divide(toy(t, 1, 1, 1, 5, 0), nil)
	testutil.WantError(t, err, ErrUnfit, "1 class")
}

func TestSplitByFraction(t *testing.T) {
	ds := toy(t, 1, 1, 1, 10, 7, 2, 1)
	train, test, err := Split{Kind: "fraction", Train: 0.7}.Divide(ds, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sizes(train), []int{7, 5, 1, 1}) || !slices.Equal(sizes(test), []int{3, 2, 1}) {
		t.Errorf("sizes %v and %v", sizes(train), sizes(test))
	}
	used := map[int]int{}
	for _, i := range append(slices.Clone(train.(*view).idx), test.(*view).idx...) {
		used[i]++
	}
	if len(used) != 20 || train.Len()+test.Len() != 20 {
		t.Errorf("%d items in %d places", len(used), train.Len()+test.Len())
	}
	other, _, err := Split{Kind: "fraction", Train: 0.7, Seed: 1}.Divide(ds, nil)
	if err != nil || testutil.Fingerprint(t, other) == testutil.Fingerprint(t, train) {
		t.Errorf("the seed does nothing (%v)", err)
	}
	for _, f := range []float64{0, 1, -1, 2, math.NaN()} {
		_, _, err := Split{Kind: "fraction", Train: f}.Divide(ds, nil)
		testutil.WantError(t, err, nil, "training share")
	}
	_, _, err = Split{Kind: "fraction", Train: 0.5}.Divide(toy(t, 1, 1, 1, 1, 1), nil)
	testutil.WantError(t, err, ErrUnfit, "2 items for training and 0 for test")
}

func TestSplitKinds(t *testing.T) {
	a, b := toy(t, 1, 1, 1, 3, 3), toy(t, 1, 1, 1, 2, 2)
	for _, kind := range []string{"", "file"} {
		train, test, err := Split{Kind: kind}.Divide(a, b)
		if train != Dataset(a) || test != Dataset(b) || err != nil {
			t.Errorf("%q changes the source's split: %v", kind, err)
		}
	}
	if _, test, err := (Split{}).Divide(a, nil); test != nil || err != nil {
		t.Errorf("no test set: %v %v", test, err)
	}
	_, _, err := Split{Kind: "file"}.Divide(a, nil)
	testutil.WantError(t, err, ErrUnfit, "no test set", "class, fraction")
	train, test, err := Split{Kind: "none"}.Divide(a, b)
	if err != nil || test != nil || train.Len() != 10 {
		t.Errorf("none: %v", err)
	}
	train, test, err = Split{Kind: "class", First: true}.Divide(a, b) // pooled
	if err != nil || !slices.Equal(sizes(train), []int{5}) || !slices.Equal(sizes(test), []int{5}) {
		t.Errorf("class, pooled: %v", err)
	}
	_, _, err = Split{Kind: "clas"}.Divide(a, b)
	testutil.WantError(t, err, nil, `"clas"`)
}
