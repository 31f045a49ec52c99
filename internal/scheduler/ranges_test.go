package scheduler

import "testing"

func TestRanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   []int
		want string
	}{
		{nil, ""},
		{[]int{3}, "3"},
		{[]int{3, 17, 40, 41, 42, 43, 44}, "3,17,40-44"},
		{[]int{1, 2, 4, 5, 6, 9}, "1,2,4-6,9"},
		{[]int{1, 2, 3}, "1-3"},
	} {
		if got := Ranges(tc.in); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.in, got, tc.want)
		}
	}
}
