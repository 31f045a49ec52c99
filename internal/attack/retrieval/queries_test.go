package retrieval

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
)

// labeled is a gallery of images of those labels.
func labeled(t *testing.T, labels ...int32) *Gallery {
	t.Helper()
	return mustGallery(t, array.New(len(labels), 2), labels)
}

func TestChoose(t *testing.T) {
	t.Parallel()
	labels := make([]int32, 20)
	for i := range labels {
		labels[i] = int32(i % 4)
	}
	g, drawn := labeled(t, labels...), map[int]int{}
	for seed := range uint64(400) {
		q, excluded, err := g.Choose(6, true, seed)
		if err != nil || len(q) != 6 || !slices.IsSorted(q) || excluded != 0 || len(slices.Compact(slices.Clone(q))) != 6 {
			t.Fatal(q, excluded, err)
		}
		for _, i := range q {
			drawn[i]++
		}
	}
	for i := range 20 { // 120 expected, standard deviation 9
		if drawn[i] < 80 || drawn[i] > 160 {
			t.Errorf("image %d drawn %d times of 120 expected", i, drawn[i])
		}
	}
	if q, _, err := g.Choose(100, false, 0); err != nil || len(q) != 20 {
		t.Error(q, err)
	}
	labels[5] = 77
	q, excluded, err := labeled(t, labels...).Choose(6, false, 0)
	if err != nil || fmt.Sprint(q) != "[0 1 2 3 4 6]" || excluded != 1 {
		t.Error(q, excluded, err)
	}
	if got := labeled(t, 0, 0, 0, 1, 1).Chance([]int{0, 3}); math.Abs(got-(2./4+1./4)/2) > 1e-15 {
		t.Errorf("chance %v", got)
	}
}

// What a gallery does not allow is distinguished from what is wrong elsewhere.
func TestChooseOfUnfitGalleries(t *testing.T) {
	t.Parallel()
	for want, labels := range map[string][]int32{
		"no retrieval can be wrong":                      {3, 3, 3},
		"is alone in its class, so no query has a match": {0, 1, 2},
	} {
		if _, _, err := labeled(t, labels...).Choose(0, false, 0); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := NewGallery(array.New(1, 2), []int32{0}); !errors.Is(err, ErrUnfit) {
		t.Error(err)
	}
}
