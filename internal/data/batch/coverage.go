package batch

import (
	"tercet/internal/data"
	"tercet/internal/record"
)

// Cover counts which items and classes of ds occur in the given epoch of s. Classes are
// those of ds, even if the sampler gives rows other labels.
func Cover(s Sampler, ds data.Dataset, epoch int) record.Coverage {
	labels := ds.Labels()
	paired := s.Layout() == LayoutPairs || s.Layout() == LayoutGivenPairs
	c := record.Coverage{Items: len(labels)}
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
