package data

import (
	"math"
	"tercet/internal/engine/array"
	"tercet/internal/testutil"
	"testing"
)

func TestSummary(t *testing.T) {
	px := []uint8{
		0, 51, 102, 255, // item 0, 1x2 of 2 channels
		255, 255, 255, 255, // constant
		0, 51, 102, 255, // 0 again, under another label
		0, 51, 102, 255, // and once more under its own
		10, 10, 10, 11,
	}
	m, err := NewMemory(px, 1, 2, 2, []int32{0, 0, 2, 0, 3}, []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summary(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if s.Items != 5 || s.Height != 1 || s.Width != 2 || s.Channels != 2 || s.Classes != 3 || s.EmptyClasses != 1 || s.Singles != 2 ||
		s.PerClassMin != 1 || s.PerClassMed != 1 || s.PerClassMax != 3 || s.Duplicates != 2 || s.Conflicts != 1 || s.Constant != 1 ||
		s.Min != 0 || s.Max != 1 || s.Fingerprint != testutil.Fingerprint(t, m) {
		t.Errorf("%+v", s)
	}
	mean, std := moment(px, func(int) bool { return true })
	m0, s0 := moment(px, func(i int) bool { return i%2 == 0 })
	m1, s1 := moment(px, func(i int) bool { return i%2 == 1 })
	for _, c := range [][2]float64{{s.Mean, mean}, {s.Std, std}, {s.ChannelMean[0], m0}, {s.ChannelStd[0], s0}, {s.ChannelMean[1], m1}, {s.ChannelStd[1], s1}} {
		if d := c[0] - c[1]; d > 1e-7 || d < -1e-7 {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
	if s.PerClassMin != 1 || s.PerClassMed != 1 || s.PerClassMax != 3 || s.Singles != 2 || s.EmptyClasses != 1 || s.Duplicates != 2 || s.Conflicts != 1 {
		t.Errorf("%+v", s)
	}
	_, err = Summary(t.Context(), broken{toy(t, 1, 1, 1, 3), 2})
	testutil.WantError(t, err, errDisk, "x/2.png")
	if s, err := Summary(t.Context(), toy(t, 1, 1, 1)); err != nil || s.Items != 0 || s.Mean != 0 {
		t.Errorf("empty: %+v %v", s, err)
	}
	if n, err := Overlap(t.Context(), m, m); n != 5 || err != nil {
		t.Errorf("overlap with itself %d %v", n, err)
	}
	part, err := Subset(m, []int{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Overlap(t.Context(), part, m); n != 2 || err != nil {
		t.Errorf("overlap %d %v", n, err)
	}
}

// Few items in a pass give the numbers of one pass.
func TestDuplicatesInPasses(t *testing.T) {
	const n = 500
	x, labels := array.New(n, 1), make([]int32, n)
	for i := range n {
		x.Data[i], labels[i] = float32(i*i%97), int32(i%3)
	}
	ds, err := NewVectors(x, labels, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	kinds, conflicts := map[float32]int32{}, 0
	for i, v := range x.Data {
		if first, ok := kinds[v]; !ok {
			kinds[v] = labels[i]
		} else if first != labels[i] {
			conflicts++
		}
	}
	part, err := Subset(ds, []int{1, 5, 7, 499})
	if err != nil {
		t.Fatal(err)
	}
	defer func(few int) { fewLooks = few }(fewLooks)
	for _, few := range []int{fewLooks, n, n / 2, 40, 1} {
		fewLooks = few
		s, err := Summary(t.Context(), ds)
		if err != nil {
			t.Fatal(err)
		}
		if s.Duplicates != n-len(kinds) || s.Conflicts != conflicts {
			t.Errorf("%d in a pass: %d duplicates, %d conflicts; want %d and %d", few, s.Duplicates, s.Conflicts, n-len(kinds), conflicts)
		}
		if k, err := Overlap(t.Context(), part, ds); err != nil || k < 4 || k >= n {
			t.Errorf("%d in a pass: %d shared (%v)", few, k, err)
		}
	}
}

// moment returns mean and deviation of the chosen bytes over 255, in two passes.
func moment(px []uint8, use func(i int) bool) (mean, std float64) {
	n := 0.0
	for i, p := range px {
		if use(i) {
			mean += float64(p) / 255
			n++
		}
	}
	mean /= n
	for i, p := range px {
		if use(i) {
			std += (float64(p)/255 - mean) * (float64(p)/255 - mean)
		}
	}
	return mean, math.Sqrt(std / n)
}
