package data

import "fmt"

// Coverage says how much of the data one epoch of a sampler shows.
type Coverage struct {
	Items       int `json:"items"`      // N
	Seen        int `json:"seen"`       // items that occur
	Rows        int `json:"rows"`       // images drawn
	Repeats     int `json:"repeats"`    // Rows less Seen
	MaxRepeat   int `json:"max_repeat"` // occurrences of the item that occurs most
	Classes     int `json:"classes"`    // classes that have items
	ClassesSeen int `json:"classes_seen"`
	Batches     int `json:"batches"`
	ShortBatch  int `json:"short_batch"` // items in the last batch where it is shorter, else 0
	SelfPairs   int `json:"self_pairs"`  // pairs of an item with itself (layouts "pairs", "given-pairs")
	MinClasses  int `json:"min_classes"` // fewest different classes in a batch
}

// Cover counts what the given epoch of s shows of ds. Classes are those of ds,
// whatever labels the sampler gives the rows.
func Cover(s Sampler, ds Dataset, epoch int) Coverage {
	labels := ds.Labels()
	paired := s.Layout() == LayoutPairs || s.Layout() == LayoutGivenPairs
	c := Coverage{Items: len(labels)}
	times := make([]int, len(labels))
	last := make([]int, len(ds.Classes())) // batch, from 1, that last showed the class
	has := make([]bool, len(ds.Classes()))
	for _, y := range labels {
		if !has[y] {
			has[y] = true
			c.Classes++
		}
	}
	for b, ids := range s.Plan(epoch) {
		kinds := 0
		for r, i := range ids {
			times[i]++
			if k := labels[i]; last[k] != b+1 {
				if last[k] == 0 {
					c.ClassesSeen++
				}
				last[k] = b + 1
				kinds++
			}
			if paired && r%2 == 1 && ids[r-1] == i {
				c.SelfPairs++
			}
		}
		if b == 0 || kinds < c.MinClasses {
			c.MinClasses = kinds
		}
		c.Batches++
		c.Rows += len(ids)
		c.ShortBatch = 0
		if len(ids) < s.BatchSize() {
			c.ShortBatch = len(ids)
		}
	}
	for _, n := range times {
		if n > 0 {
			c.Seen++
		}
		c.MaxRepeat = max(c.MaxRepeat, n)
	}
	c.Repeats = c.Rows - c.Seen
	return c
}

// String describes the coverage in one line.
func (c Coverage) String() string {
	s := fmt.Sprintf("%d of %d items (%.1f %%) and %d of %d classes in %d batches; %d images drawn, an item at most %d times; at least %d classes in a batch",
		c.Seen, c.Items, 100*float64(c.Seen)/float64(max(c.Items, 1)), c.ClassesSeen, c.Classes, c.Batches, c.Rows, c.MaxRepeat, c.MinClasses)
	if c.ShortBatch > 0 {
		s += fmt.Sprintf("; last batch has %d", c.ShortBatch)
	}
	if c.SelfPairs > 0 {
		s += fmt.Sprintf("; %d items paired with themselves", c.SelfPairs)
	}
	return s
}
