package experiment

import "testing"

func TestRecallOverAllItemsIsWarnedOf(t *testing.T) {
	if got := whole([]int{1, 358, 359, 400}, 360); len(got) != 2 || got[1] != "recall@400 is 1 by definition: each query has only 359 other items" {
		t.Errorf("%q", got)
	}
}
