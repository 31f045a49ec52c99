package attack

import (
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// chooseQueries returns the images to attack, and how many were left out because
// their label occurs once.
func chooseQueries(labels []int32, o Options) (queries []int, excluded int, err error) {
	count := countLabels(labels)
	if len(count) == 1 {
		return nil, 0, unfitf("attack: all %d images have one label, so there is nothing wrong to be found", len(labels))
	}
	for i, l := range labels {
		if count[l] > 1 {
			queries = append(queries, i)
		}
	}
	if len(queries) == 0 {
		return nil, 0, unfitf("attack: none of the %d images has another one of its label, so there is nothing to find", len(labels))
	}
	excluded = len(labels) - len(queries)
	if o.Queries == 0 || o.Queries >= len(queries) {
		return queries, excluded, nil
	}
	if o.Sample {
		r := rng.New(o.Seed, "attack.es.queries")
		for i := range o.Queries {
			j := i + r.IntN(len(queries)-i)
			queries[i], queries[j] = queries[j], queries[i]
		}
		slices.Sort(queries[:o.Queries])
	}
	return queries[:o.Queries], excluded, nil
}

func countLabels(labels []int32) map[int32]int {
	count := map[int32]int{}
	for _, l := range labels {
		count[l]++
	}
	return count
}

// chance returns the mean, over queries, of the share of the other images that
// has their label.
func chance(labels []int32, queries []int) float64 {
	count := countLabels(labels)
	sum := 0
	for _, q := range queries {
		sum += count[labels[q]] - 1
	}
	return float64(sum) / float64(len(queries)) / float64(len(labels)-1)
}

// checkGallery returns an error unless the gallery holds the queries' embeddings
// that the model gives: another checkpoint's or another order would give wrong
// scores.
func checkGallery(clean, gallery *array.Array, queries []int) error {
	zero := make([]float32, gallery.Cols())
	for i, q := range queries {
		want := gallery.Row(q)
		if d := distance(clean.Row(i), want, 0); !(d <= 1e-3*(distance(want, zero, 0)+1e-6)) {
			return fmt.Errorf("attack: gallery row %d is not the model's embedding of image %d: they are %v apart; embed the gallery with this model, in Eval mode and in the order of the images", q, q, d)
		}
	}
	return nil
}
