package worst

import (
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// State is what is known of the queries in one gallery.
type State struct {
	Gallery string
	// By is the member that broke each query, from 1 in the order of Ran, 0 for none.
	By     []int
	Margin []float64    // distance of the nearest wrong row less that of the nearest right one, for the image kept
	Eight  []bool       // still broken with pixels of 8 bits
	Radius []float64    // norm of the smallest perturbation known to break the query, a float32; infinite: none
	Images *array.Array // (Q, H, W, C) the image that broke the query, or the one nearest to it
	Ran    []Ran        // the members that are done
}

// Ran says what a member did.
type Ran struct {
	Member   string
	Attacked int // queries that were left
	Claimed  int // taken for broken
	Broken   int // and verified
	// Verified counts the queries that a given image breaks, with those that were broken before.
	Verified int
	Seconds  float64
	record.Cost
}

// Result of Run.
type Result struct {
	Queries   []int // images
	Excluded  int
	Galleries []*State
	Rows      []int // of each gallery
	Checks    []Check
	Moved     *Moved // nil: not asked for
	Cost      record.Cost
}

// Counts sums up a state.
type Counts struct {
	Queries, Right, Robust, Robust8 int // Right: clean; Robust: not broken
}

// Counts returns how many queries are right and stay so. With pixels of 8 bits a query
// counts as robust where its image is broken no more.
func (s *State) Counts() Counts {
	c := Counts{Queries: len(s.By)}
	for i, by := range s.By {
		if by != 1 {
			c.Right++
		}
		if by == 0 {
			c.Robust++
		}
		if by == 0 || by > 1 && !s.Eight[i] {
			c.Robust8++
		}
	}
	return c
}
