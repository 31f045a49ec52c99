package data

import (
	"slices"
	"testing"

	"tercet/internal/testutil"
)

// named gives the classes of ds other names.
func named(t *testing.T, ds Dataset, names ...string) Dataset {
	t.Helper()
	out, err := Relabel(ds, ds.Labels(), names)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOfClassesTakesTheSameFromBothSets(t *testing.T) {
	train := named(t, toy(t, 2, 3, 1, 5, 4, 0, 6, 3, 2), "one", "two", "none", "four", "five", "only train")
	test := named(t, toy(t, 2, 3, 1, 3, 2, 2, 4, 1), "five", "four", "none", "two", "one") // another order
	seen := map[string]bool{}
	var before []string
	for n := 2; n <= 4; n++ {
		for seed := range uint64(20) {
			a, b, err := OfClasses(train, test, n, seed)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Classes()) != n || !slices.Equal(a.Classes(), b.Classes()) {
				t.Fatalf("n %d: classes %v and %v", n, a.Classes(), b.Classes())
			}
			for _, s := range []struct{ all, some Dataset }{{train, a}, {test, b}} {
				// Every item of the chosen classes, in order, and no other.
				p := 0
				got, want := make([]float32, 6), make([]float32, 6)
				for i, y := range s.all.Labels() {
					name := s.all.Classes()[y]
					if !slices.Contains(a.Classes(), name) {
						continue
					}
					if s.some.Classes()[s.some.Labels()[p]] != name {
						t.Fatalf("item %d is %s, was %s", p, s.some.Classes()[s.some.Labels()[p]], name)
					}
					if err := s.all.Read(i, want); err != nil {
						t.Fatal(err)
					}
					if err := s.some.Read(p, got); err != nil || !slices.Equal(got, want) {
						t.Fatalf("item %d: pixels %v, want %v (%v)", p, got, want, err)
					}
					p++
				}
				if p != s.some.Len() {
					t.Fatalf("%d items, want %d", s.some.Len(), p)
				}
			}
			for k, name := range a.Classes() {
				if name == "none" || name == "only train" {
					t.Errorf("class %s has no items in one of the sets", name)
				}
				if k > 0 && slices.Index(train.Classes(), name) < slices.Index(train.Classes(), a.Classes()[k-1]) {
					t.Errorf("classes %v are not in the training set's order", a.Classes())
				}
			}
			if n == 2 {
				seen[a.Classes()[0]+" "+a.Classes()[1]] = true
			}
			again, _, err := OfClasses(train, nil, n, seed)
			if err != nil || again.Len() == 0 {
				t.Fatal(err)
			}
			if seed == 3 {
				for _, name := range before {
					if !slices.Contains(a.Classes(), name) {
						t.Errorf("%v are not among %v", before, a.Classes())
					}
				}
				before = a.Classes()
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("20 seeds choose %d of the 6 pairs of classes: %v", len(seen), seen)
	}
}

func TestOfClassesFingerprints(t *testing.T) {
	train, test := toy(t, 2, 2, 1, 4, 4, 4), toy(t, 2, 2, 1, 2, 2, 2)
	a, b, err := OfClasses(train, test, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, d, err := OfClasses(train, test, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if testutil.Fingerprint(t, a) != testutil.Fingerprint(t, c) || testutil.Fingerprint(t, b) != testutil.Fingerprint(t, d) {
		t.Error("the fingerprint of a choice changes")
	}
	if want, err := Digest(t.Context(), a); err != nil || testutil.Fingerprint(t, a) != want {
		t.Errorf("fingerprint %s, digest %s, %v", testutil.Fingerprint(t, a), want, err)
	}
	prints := map[string]bool{testutil.Fingerprint(t, train): true}
	for seed := range uint64(30) {
		a, _, err := OfClasses(train, test, 2, seed)
		if err != nil {
			t.Fatal(err)
		}
		prints[testutil.Fingerprint(t, a)] = true
	}
	if len(prints) != 4 {
		t.Errorf("%d fingerprints of the set and its 3 pairs of classes", len(prints))
	}
}

func TestOfClassesEdges(t *testing.T) {
	train, test := toy(t, 2, 2, 1, 4, 4, 4), toy(t, 2, 2, 1, 2, 2, 2)
	if a, b, err := OfClasses(train, test, 0, 1); a != Dataset(train) || b != Dataset(test) || err != nil {
		t.Errorf("0 classes: %v %v %v", a, b, err)
	}
	a, b, err := OfClasses(train, test, 3, 1)
	if err != nil || testutil.Fingerprint(t, a) != testutil.Fingerprint(t, train) || testutil.Fingerprint(t, b) != testutil.Fingerprint(t, test) {
		t.Errorf("all classes change the data: %v", err)
	}
	if _, b, err := OfClasses(train, nil, 2, 1); b != nil || err != nil {
		t.Errorf("no test set: %v, %v", b, err)
	}
	for _, n := range []int{-1, 1} {
		_, _, err := OfClasses(train, test, n, 0)
		testutil.WantError(t, err, ErrUnfit, "at least 2", "0 for all")
	}
	_, _, err = OfClasses(train, nil, 4, 0)
	testutil.WantError(t, err, ErrUnfit, "4 classes", "the data have 3")
	_, _, err = OfClasses(train, named(t, toy(t, 2, 2, 1, 1, 1), "a", "z"), 2, 0)
	testutil.WantError(t, err, ErrUnfit, "2 classes", "training and test set share 1")
	_, _, err = OfClasses(train, named(t, toy(t, 2, 2, 1, 1, 1), "y", "z"), 2, 0)
	testutil.WantError(t, err, ErrUnfit, "share 0", "split by class")
}
