package batch

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/table"
)

// categorized has a category for each class.
type categorized struct {
	*data.Memory
	of []string
}

func (c categorized) TableItem(i int) *table.Item {
	return &table.Item{Category: c.of[c.Labels()[i]]}
}

// Classes occur equally often within one, whatever their sizes, all different in a batch;
// images of a class equally often within one, all different in a batch while there are some.
func TestBalanced(t *testing.T) {
	t.Parallel()
	sizes := []int{40, 3, 7, 1, 12, 5}
	ds := toy(t, 1, 1, 1, sizes...)
	y := ds.Labels()
	s := sampler(t, ds, Balanced{Classes: 3, PerClass: 4}, Options{})
	if s.Steps() != 67/12 || s.BatchSize() != 12 {
		t.Fatalf("%d steps of %d rows", s.Steps(), s.BatchSize())
	}
	for epoch := range 4 {
		classes, images := make([]int, len(sizes)), make([]int, len(y))
		for _, ids := range s.Plan(epoch) {
			rows, times := make([]int, len(sizes)), map[int32]int{}
			for _, i := range ids {
				rows[y[i]]++
				images[i]++
				times[i]++
			}
			for k, n := range rows {
				if n != 0 && n != 4 {
					t.Errorf("class %d has %d rows of a batch", k, n)
				}
				classes[k] += n / 4
			}
			for i, n := range times {
				if n > 1 && (sizes[y[i]] >= 4 || n > 2) {
					t.Errorf("image %d of a class of %d is %d times in a batch", i, sizes[y[i]], n)
				}
			}
		}
		if classes[3] != 0 {
			t.Error("a class of one image is drawn")
		}
		for _, k := range []int{0, 1, 2, 4, 5} { // 15 draws of five classes
			if classes[k] != 3 {
				t.Errorf("classes are drawn %v times", classes)
			}
		}
		for i, n := range images {
			if most := (3*4 + sizes[y[i]] - 1) / sizes[y[i]]; n > most || y[i] != 3 && n < most-1 {
				t.Errorf("image %d of a class of %d is shown %d times", i, sizes[y[i]], n)
			}
		}
	}
}

// With replacement each image of a class has the same probability in each row.
func TestBalancedWithReplacement(t *testing.T) {
	t.Parallel()
	ds := toy(t, 1, 1, 1, 3, 9)
	s := sampler(t, ds, Balanced{Classes: 2, PerClass: 3, Replacement: true}, Options{})
	count, repeats, draws := make([]float64, 12), 0, 0
	for epoch := range 3000 {
		for _, ids := range s.Plan(epoch) {
			for r := 0; r < 6; r += 3 {
				if ds.Labels()[ids[r]] == 0 && (ids[r] == ids[r+1] || ids[r] == ids[r+2] || ids[r+1] == ids[r+2]) {
					repeats++
				}
			}
			for _, i := range ids {
				count[i]++
			}
			draws++
		}
	}
	for i, n := range count {
		p := 1.0 / 3
		if ds.Labels()[i] == 1 {
			p = 1.0 / 9
		}
		trials := float64(3 * draws)
		if sd := math.Sqrt(trials * p * (1 - p)); math.Abs(n-trials*p) > 5*sd {
			t.Errorf("image %d: %v times of %v, probability %v", i, n, trials, p)
		}
	}
	p := 1 - 2.0/9 // three draws of three are different with probability 2/9
	if sd := math.Sqrt(float64(draws) * p * (1 - p)); math.Abs(float64(repeats)-float64(draws)*p) > 5*sd {
		t.Errorf("%d of %d groups repeat an image, want a share of %v", repeats, draws, p)
	}
}

// A batch has as many categories as it shall, with equally many classes of each; categories
// of too few classes are left out.
func TestBalancedCategories(t *testing.T) {
	t.Parallel()
	ds := categorized{toy(t, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4), []string{"a", "a", "a", "b", "b", "c", "c"}}
	s := sampler(t, ds, Balanced{Classes: 4, PerClass: 2, Categories: 2}, Options{})
	times := map[string]int{}
	for epoch := range 6 {
		for _, ids := range s.Plan(epoch) {
			of := map[string]map[int32]bool{}
			for _, i := range ids {
				y := ds.Labels()[i]
				if of[ds.of[y]] == nil {
					of[ds.of[y]] = map[int32]bool{}
				}
				of[ds.of[y]][y] = true
			}
			for name, classes := range of {
				times[name]++
				if len(of) != 2 || len(classes) != 2 {
					t.Errorf("categories and classes of a batch: %v", of)
				}
			}
		}
	}
	if times["a"] != times["b"] || times["b"] != times["c"] {
		t.Errorf("categories are drawn %v times", times)
	}
	for _, c := range []struct {
		ds   data.Dataset
		k    Balanced
		want string
	}{
		{ds, Balanced{Classes: 6, PerClass: 2, Categories: 2}, "1 categories have 3 classes"},
		{ds.Memory, Balanced{Classes: 4, PerClass: 2, Categories: 2}, "has no category"},
		{ds, Balanced{Classes: 5, PerClass: 2, Categories: 2}, "equally many classes"},
		{ds, Balanced{Classes: 8, PerClass: 2}, "fewer than 8 classes"},
		{ds, Balanced{Classes: 7, PerClass: 9}, "make no batch"},
	} {
		if _, err := c.k.New(c.ds, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.k, err, c.want)
		}
	}
}
