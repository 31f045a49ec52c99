package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cluster/clustertest"
)

// Starts that several calls have done end in the bits of one call.
func TestFromStarts(t *testing.T) {
	t.Parallel()
	const n, d = 900, 5
	x, _ := clustertest.Blobs(3, n, d, 11, 1.5)
	for _, o := range []KMeansOptions{
		{K: 9, Restarts: 7, Seed: 2},
		{K: 9, Restarts: 7, Seed: 2, Spherical: true},
		{K: 300, Restarts: 3, Seed: 5},                   // a start at a time, labels of two bytes
		{K: 9, Restarts: 6, MaxIterations: 2},            // which do not converge
		{K: 1, Restarts: 2}, {K: n, Restarts: 2}, {K: 4}, // ten starts
	} {
		for _, tasks := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("k %d spherical %v in %d", o.K, o.Spherical, tasks), func(t *testing.T) {
				want, err := KMeans(context.Background(), x, n, d, o)
				if err != nil {
					t.Fatal(err)
				}
				kept := map[int]Start{}
				restarts := o.Restarts
				if restarts == 0 {
					restarts = 10
				}
				for task := range tasks {
					var numbers []int
					for k := task; k < restarts; k += tasks {
						numbers = append(numbers, k)
					}
					err := Starts(context.Background(), x, n, d, o, numbers, func(number int, s Start) error {
						s.Center, s.Labels = slices.Clone(s.Center), slices.Clone(s.Labels)
						kept[number] = s
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				got, err := FromStarts(context.Background(), x, n, d, o, func(number int) (Start, error) { return kept[number], nil })
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// A start of other data, or one that is damaged, is no part of a result.
func TestFromStartsRefuses(t *testing.T) {
	t.Parallel()
	x, _ := clustertest.Blobs(3, 40, 2, 3, 1)
	labels := make([]int32, 40)
	for name, s := range map[string]Start{
		"fewer labels":      {Center: make([]float64, 6), Labels: labels[:39]},
		"other centers":     {Center: make([]float64, 8), Labels: labels},
		"a label too large": {Center: make([]float64, 6), Labels: append(slices.Clone(labels[:39]), 3)},
		"a label below 0":   {Center: make([]float64, 6), Labels: append(slices.Clone(labels[:39]), -1)},
	} {
		if _, err := FromStarts(context.Background(), x, 40, 2, KMeansOptions{K: 3, Restarts: 1}, func(int) (Start, error) { return s, nil }); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	stop := errors.New("stop")
	if err := Starts(context.Background(), x, 40, 2, KMeansOptions{K: 3, Restarts: 2}, []int{0, 1}, func(int, Start) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the caller: %v", err)
	}
}
