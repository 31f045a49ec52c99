package embed

import (
	"fmt"

	"tercet/internal/data"
)

// TwoClasses refuses labels by which every score would be perfect.
func TwoClasses(labels []int32) error {
	if data.Distinct(labels) < 2 {
		return fmt.Errorf("%w: all %d items are of one class: every ranking is right, so there is nothing to score; give items of two classes or more", data.ErrUnfit, len(labels))
	}
	return nil
}

// Findable refuses labels of which none occurs twice: no query has anything to
// find.
func Findable(labels []int32) error {
	if n := len(labels); data.Distinct(labels) == n {
		return fmt.Errorf("%w: each of the %d items is alone in its class, so no query has anything to find; give at least two items of a class", data.ErrUnfit, n)
	}
	return nil
}
