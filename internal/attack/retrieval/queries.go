package retrieval

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/rng"
)

// Choose returns the images that an attack on n queries perturbs, n 0 for all, drawn at
// random or the first ones, and how many were left out: those that are compared with no image
// of their class, or with no other.
func (g *Gallery) Choose(n int, drawn bool, seed uint64) (queries []int, excluded int, err error) {
	from := g.Queries()
	for row := range from.self {
		i := int(from.Image(int32(row)))
		if all, same := g.Compared(i); same > 0 && all > same {
			queries = append(queries, i)
		}
	}
	switch excluded = from.Len() - len(queries); {
	case len(queries) > 0:
	case g.Apart():
		return nil, 0, Unfit("attack: none of the %d queries has both a gallery image of its class and one of another class", from.Len())
	case len(g.count) == 1:
		return nil, 0, Unfit("attack: all %d images have the same label, so no retrieval can be wrong", g.Len())
	default:
		return nil, 0, Unfit("attack: each of the %d images is alone in its class, so no query has a match", g.Len())
	}
	if n == 0 || n >= len(queries) {
		return queries, excluded, nil
	}
	if drawn {
		sample(queries, n, seed, "attack.es.queries")
	}
	return queries[:n], excluded, nil
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

// Chance returns the mean, over queries, of the share of the rows that a query is compared
// with that has its label: the recall@1 of a random order.
func (g *Gallery) Chance(queries []int) float64 {
	sum, shares := 0, 0.0
	for _, q := range queries {
		all, same := g.Compared(q)
		sum += same
		shares += float64(same) / float64(all)
	}
	if !g.Apart() { // all are compared with as many
		return float64(sum) / float64(len(queries)) / float64(g.Len()-1)
	}
	return shares / float64(len(queries))
}

// Check returns an error unless g holds the queries' embeddings that the model gives,
// clean (Q, D): another checkpoint's or another order would give wrong scores.
func (g *Gallery) Check(clean *array.Array, queries []int) error {
	for i, q := range queries {
		want := g.Embedding(q)
		if d := math.Sqrt(kernel.SquaredDistanceLanes(clean.Row(i), want)); !(d <= 1e-3*(math.Sqrt(kernel.SumSquares(want))+1e-6)) {
			return fmt.Errorf("attack: gallery row %d is not the model's embedding of image %d: they are %v apart; embed the gallery with this model, in Eval mode and in the order of the images", q, q, d)
		}
	}
	return nil
}
