package experiment

import (
	"slices"
)

// allEqual tells whether there are several items, all of them the same.
func (v vectors) allEqual() bool {
	for i := v.d; i < len(v.x); i += v.d {
		if !slices.Equal(v.x[:v.d], v.x[i:i+v.d]) {
			return false
		}
	}
	return v.n > 1
}
