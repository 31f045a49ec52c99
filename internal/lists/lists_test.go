package lists

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLists(t *testing.T) {
	n := []int{3, 1, 3, 2}
	even := func(v int) bool { return v%2 == 0 }
	for _, c := range []struct{ got, want any }{
		{Map(n, strconv.Itoa), []string{"3", "1", "3", "2"}},
		{Flat(n, func(v int) []int { return make([]int, v/2) }), []int{0, 0, 0}},
		{Filter(n, even), []int{2}},
		{AppendNew(n, 1), n},
		{AppendNew(n, 4), []int{3, 1, 3, 2, 4}},
		{Map(nil, strconv.Itoa), []string(nil)},
		{Filter(n[:3], even), []int(nil)},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Error(d)
		}
	}
	if kept := Filter(n, func(int) bool { return true }); &kept[0] == &n[0] {
		t.Error("Filter returns the list that it was given")
	}
}
