package metric

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// Against numpy: testdata/scripts/query_gallery.py.
func TestQueryGalleryAgainstNumpy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/query_gallery.json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		X, Gallery             []float32
		Labels                 []int32
		GalleryLabels          []int32 `json:"gallery_labels"`
		Own, Sequence, Queries []int32
		GallerySequence        []int32 `json:"gallery_sequence"`
		Dim                    int
		Scores                 map[string]float64
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	r, err := Retrieve(context.Background(), c.X, len(c.Labels), c.Dim, c.Labels, RetrievalOptions{
		K: []int{1, 10, 100}, Gallery: c.Gallery, GalleryLabels: c.GalleryLabels, Intervals: Intervals{Resamples: -1},
		Exclude: &Exclusion{Own: c.Own, Query: c.Sequence, Gallery: c.GallerySequence},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Query, c.Queries) {
		t.Errorf("queries %v, want %v", r.Query, c.Queries)
	}
	if len(c.Scores) != 6 {
		t.Fatalf("%d scores", len(c.Scores))
	}
	for key, want := range c.Scores {
		if got, ok := r.Scores.Get(key); !ok || math.Abs(got.Value-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", key, got.Value, want)
		}
	}
}
