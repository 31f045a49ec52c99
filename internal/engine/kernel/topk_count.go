package kernel

import "fmt"

// CutLanes is the number of queries whose cuts are stored together.
const CutLanes = 16

// Cuts are keys below which items are counted, for CutLanes queries with N cuts
// each, what belongs to cut r of query l at [CutLanes*r+l]. A cut is the key of
// an item; of the items with the same key those with lower indices count too.
type Cuts struct {
	N     int
	Cut   []float32 // -Inf where a query has fewer cuts
	Upper []float32 // the next larger number: below it is at most Cut
	Index []int32   // the item of the cut
	Count []int32   // items counted
}

func (c *Cuts) check() {
	n := c.N * CutLanes
	if len(c.Cut) < n || len(c.Upper) < n || len(c.Index) < n || len(c.Count) < n {
		panic(fmt.Sprintf("kernel: %d cuts with %d, %d, %d and %d numbers", n, len(c.Cut), len(c.Upper), len(c.Index), len(c.Count)))
	}
}

// CountRow counts, for each cut of query lane, the keys x[j]*scale[j] + add[j]
// that are below it, for items of which the last has index end-1. Where the
// cut's index is end or more, an equal key counts as below; where it is among
// the items, those of them with equal keys and lower indices remain to be
// counted. Keys are the same at all levels where each scale is a power of two or
// each add is 0. The number of items is a multiple of 16.
func CountRow(x, scale, add []float32, end int32, lane int, c *Cuts) {
	c.check()
	n := len(x)
	if n%CutLanes != 0 || len(scale) != n || len(add) != n || lane < 0 || lane >= CutLanes {
		panic(fmt.Sprintf("kernel: counting %d, %d and %d keys for query %d", n, len(scale), len(add), lane))
	}
	if n > 0 && c.N > 0 {
		countRow(x, scale, add, end, lane, c)
	}
}

// CountColumns is CountRow for all queries of c at once: the products of item i
// with them are at x[i*ld:], its numbers scale[i] and add[i].
func CountColumns(rows int, x []float32, ld int, scale, add []float32, end int32, c *Cuts) {
	c.check()
	if rows > 0 && c.N > 0 {
		_, _, _ = x[(rows-1)*ld+CutLanes-1], scale[rows-1], add[rows-1]
		countColumns(rows, x, ld, scale, add, end, c)
	}
}

func countRowGeneric(x, scale, add []float32, end int32, lane int, c *Cuts) {
	for r := lane; r < c.N*CutLanes; r += CutLanes {
		cut := c.Cut[r]
		if c.Index[r] >= end {
			cut = c.Upper[r]
		}
		for j, v := range x {
			if float32(v*scale[j])+add[j] < cut {
				c.Count[r]++
			}
		}
	}
}

func countColumnsGeneric(rows int, x []float32, ld int, scale, add []float32, end int32, c *Cuts) {
	for r := range c.N * CutLanes {
		cut := c.Cut[r]
		if c.Index[r] >= end {
			cut = c.Upper[r]
		}
		for i := range rows {
			if float32(x[i*ld+r%CutLanes]*scale[i])+add[i] < cut {
				c.Count[r]++
			}
		}
	}
}
