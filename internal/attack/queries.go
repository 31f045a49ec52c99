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
	return o.limit(queries), len(labels) - len(queries), nil
}

// choose returns the images to attack where queries and gallery are apart or not. Queries
// that are compared with no image of their class, or with no other, are left out.
func (g *Gallery) choose(o Options) (queries []int, excluded int, err error) {
	if !g.Apart() {
		return chooseQueries(g.Labels, o)
	}
	count, all := countLabels(g.Labels), g.Queries().sides.images
	for _, i := range all {
		if n, same := g.found(i, count); same > 0 && n > same {
			queries = append(queries, i)
		}
	}
	if len(queries) == 0 {
		return nil, 0, unfitf("attack: none of the %d queries is compared with an image of its class and one of another", len(all))
	}
	return o.limit(queries), len(all) - len(queries), nil
}

// Choose returns the images that an attack on n queries perturbs, n 0 for all, drawn at
// random or the first ones, and how many were left out because nothing right, or nothing
// wrong, can be found.
func (g *Gallery) Choose(n int, sample bool, seed uint64) (queries []int, excluded int, err error) {
	return g.choose(Options{Queries: n, Sample: sample, Seed: seed})
}

// limit returns the queries that are asked for.
func (o *Options) limit(queries []int) []int {
	if o.Queries == 0 || o.Queries >= len(queries) {
		return queries
	}
	if o.Sample {
		sample(queries, o.Queries, o.Seed, "attack.es.queries")
	}
	return queries[:o.Queries]
}

// sample moves n images, drawn at random, to the front, ascending.
func sample(images []int, n int, seed uint64, stream string) {
	r := rng.New(seed, stream)
	for i := range n {
		j := i + r.IntN(len(images)-i)
		images[i], images[j] = images[j], images[i]
	}
	slices.Sort(images[:n])
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

// Chance returns the mean, over queries, of the share of the rows that a query is compared
// with that has its label.
func (g *Gallery) Chance(queries []int) float64 {
	if !g.Apart() {
		return chance(g.Labels, queries)
	}
	count, sum := countLabels(g.Labels), 0.0
	for _, q := range queries {
		all, same := g.found(q, count)
		sum += float64(same) / float64(all)
	}
	return sum / float64(len(queries))
}

// Check returns an error unless g holds the queries' embeddings that the model gives,
// clean (Q, D): another checkpoint's or another order would give wrong scores.
func (g *Gallery) Check(clean *array.Array, queries []int) error {
	gallery := g.embeddings()
	zero := make([]float32, gallery.Cols())
	for i, q := range queries {
		want := gallery.Row(q)
		if d := distance(clean.Row(i), want, 0); !(d <= 1e-3*(distance(want, zero, 0)+1e-6)) {
			return fmt.Errorf("attack: gallery row %d is not the model's embedding of image %d: they are %v apart; embed the gallery with this model, in Eval mode and in the order of the images", q, q, d)
		}
	}
	return nil
}
