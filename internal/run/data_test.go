package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

func classNames(ds data.Dataset) []string {
	var out []string
	for _, y := range ds.Labels() {
		out = append(out, ds.Classes()[y])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Where test classes are unseen ones, so are those of validation.
func TestValidationHoldsOutClasses(t *testing.T) {
	for _, split := range []string{"file", "class"} {
		sets, err := wire.OpenData(t.Context(), tinytest.Config(t, "data.split.kind="+split, "data.split.validation=0.25"))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := wire.OpenData(t.Context(), tinytest.Config(t, "data.split.kind="+split))
		if err != nil || plain.Validation != nil {
			t.Fatalf("a validation set that nobody asked for; error %v", err)
		}
		train, val := classNames(sets.Train), classNames(sets.Validation)
		both := append(slices.Clone(train), val...)
		slices.Sort(both)
		if want := int(math.Round(0.25 * float64(len(both)))); len(val) != want || !slices.Equal(both, classNames(plain.Train)) {
			t.Errorf("%s: classes %v and %v of %v", split, train, val, classNames(plain.Train))
		}
		if sets.Train.Len()+sets.Validation.Len() != plain.Train.Len() || testutil.Fingerprint(t, sets.Test) != testutil.Fingerprint(t, plain.Test) {
			t.Errorf("%s: %s, without: %s", split, sets, plain)
		}
		other, err := wire.OpenData(t.Context(), tinytest.Config(t, "data.split.kind="+split, "data.split.validation=0.25", "data.split.seed=1"))
		if err != nil || slices.Equal(classNames(other.Validation), val) {
			t.Errorf("%s: the seed chooses nothing (%v)", split, err)
		}
	}
}

// Where test classes are trained on, validation takes a share of each.
func TestValidationHoldsOutImages(t *testing.T) {
	sets, err := wire.OpenData(t.Context(), tinytest.Config(t, "data.split={kind: fraction, train: 0.5, validation: 0.34}"))
	if err != nil {
		t.Fatal(err)
	}
	// 18 classes of 6: 3 of each to test, 1 of the other 3 to validation.
	for name, want := range map[string]int{"train": 2 * 18, "validation": 18, "test": 3 * 18} {
		ds, err := sets.Pick(name)
		if err != nil || ds.Len() != want || len(classNames(ds)) != 18 {
			t.Errorf("%s: %s, error %v", name, sets, err)
		}
	}
	_, err = wire.OpenData(t.Context(), tinytest.Config(t, "data.glyphs.classes=2", "data.glyphs.per_class=2", "data.split={kind: fraction, train: 0.5, validation: 0.5}"))
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "data.split.validation") {
		t.Errorf("nothing left to hold out: %v", err)
	}
}

func TestMetricsThatCanStopARun(t *testing.T) {
	for key, ok := range map[string]bool{
		"retrieval.recall@1": true, "retrieval.recall@7": true, "retrieval.map@r": true, "retrieval.mrr": true, "clustering.acc": true,
		"retrieval.nmi": false, "clustering.recall@1": false, "retrieval.recall@0": false, "retrieval.recall@x": false, "retrieval.triplet_error": false,
	} {
		r := create(t, t.TempDir(), "train.early_stop.metric="+key, "train.epochs=1")
		_, err := r.Train(context.Background(), Watch{})
		var wrong *config.Error
		if ok && err != nil || !ok && (!errors.As(err, &wrong) || wrong.Key != "train.early_stop.metric") {
			t.Errorf("%s: error %v", key, err)
		}
	}
}

func TestSampleKeepsWhatCanBeFound(t *testing.T) {
	set := func(counts ...int) data.Dataset {
		var labels []int32
		for c, n := range counts {
			for range n {
				labels = append(labels, int32(c))
			}
		}
		rng.New(3, "order").Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		classes := make([]string, len(counts)+1) // one without items
		for i := range classes {
			classes[i] = fmt.Sprint("c", i)
		}
		m, err := data.NewMemory(make([]uint8, len(labels)), 1, 1, 1, labels, classes)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	many := make([]int, 100)
	for i := range many {
		many[i] = 5
	}
	for _, tc := range []struct {
		ds          data.Dataset
		limit       int
		len, class  int // wanted, and the classes they are of
		least, most int // items of a class
	}{
		{set(1000, 500, 20), 60, 60, 3, 20, 20},
		{set(1000, 500, 10), 60, 50, 3, 10, 20},
		{set(many...), 50, 50, 10, 5, 5}, // each image of another class would leave nothing to find
		{set(many...), 499, 495, 99, 5, 5},
		{set(many...), 3, 3, 1, 3, 3},
		{set(many...), 500, 500, 100, 5, 5},
		{set(many...), 0, 500, 100, 5, 5},
	} {
		got, err := embed.Sample(tc.ds, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		count := map[int32]int{}
		for _, y := range got.Labels() {
			count[y]++
		}
		for y, n := range count {
			if n < tc.least || n > tc.most {
				t.Errorf("limit %d: %d items of class %d", tc.limit, n, y)
			}
		}
		if got.Len() != tc.len || len(count) != tc.class {
			t.Errorf("limit %d of %d: %d items of %d classes, want %d of %d", tc.limit, tc.ds.Len(), got.Len(), len(count), tc.len, tc.class)
		}
	}
}

// A set in which nothing can be found is refused before training, not
// at the end of the first epoch.
func TestTheMonitorNeedsPairs(t *testing.T) {
	x := array.New(3, 2)
	alone, err := data.NewVectors(x, []int32{0, 1, 2}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = monitor(tinytest.Config(t), &wire.Assembled{Trainer: new(train.Trainer)}, &wire.Sets{Train: alone, Test: alone}, Watch{})
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "test set: ") || !strings.Contains(err.Error(), "alone in its class") {
		t.Errorf("error %v", err)
	}
}
