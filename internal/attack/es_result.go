package attack

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/rng"
)

// ESResult holds the scores of ES in both variants.
//
// Published follows robrank: ES:D from the embedding of the iterate before the
// last one, by PyTorch's pairwise_distance; the gallery item nearest to the clean
// embedding is taken for the query's own copy and masked (with duplicates it can
// be another one); scores are unweighted means over batches, so that a short last
// batch counts too much.
//
// Fixed: ES:D from the last iterate by the plain Euclidean distance, the own copy
// masked by index, means over queries.
type ESResult struct {
	Queries   []int // attacked images, ascending
	Excluded  int   // images not attacked: nobody else carries their label
	Published ESVariant
	Fixed     ESVariant

	Linf, L2     []float64 // per query: norms of the perturbation
	Radius       adversary.Radius
	ZeroGradient float64        // see adversary.Report
	Cost         adversary.Cost // image passes, the clean ones included

	MeanCosine    float64 // of two different gallery embeddings
	NotNormalized bool    // a gallery row's length is not 1: ES:D has no fixed range
	Collapsed     bool    // MeanCosine above 0.99: the scores say little

	// Clean and Adversarial (K, H, W, C) are the images of K queries, evenly
	// spread; Kept holds their places in Queries, ascending.
	Clean, Adversarial *array.Array
	Kept               []int

	zero float64
}

// ESVariant is one way to score.
type ESVariant struct {
	D      float64 // ES:D, from 0 to 2 for embeddings of length 1
	R      float64 // ES:R, a fraction
	CleanR float64 // recall@1 of the same queries without attack, a fraction

	Shift         []float64 // per query, for intervals
	Hit, CleanHit []bool
}

// collapsed is the mean cosine above which a gallery counts as collapsed.
const collapsed = 0.99

// chooseQueries returns the images to attack, and how many were left out because
// their label occurs once.
func chooseQueries(labels []int32, o ESOptions) (queries []int, excluded int, err error) {
	count := map[int32]int{}
	for _, l := range labels {
		count[l]++
	}
	for i, l := range labels {
		if count[l] > 1 {
			queries = append(queries, i)
		}
	}
	if len(queries) == 0 {
		return nil, 0, fmt.Errorf("attack ES: none of the %d images has another one of its label, so there is nothing to find", len(labels))
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

func newESResult(queries []int, excluded, pictures, h, w, c int) *ESResult {
	r := &ESResult{Queries: queries, Excluded: excluded}
	if pictures > 0 {
		r.Clean, r.Adversarial = array.New(pictures, h, w, c), array.New(pictures, h, w, c)
		for k := range pictures {
			r.Kept = append(r.Kept, k*len(queries)/pictures)
		}
	}
	return r
}

// keep stores the wanted images of a batch whose first query is number `done`.
func (r *ESResult) keep(x, adv *array.Array, done int) {
	for k, q := range r.Kept {
		if i := q - done; i >= 0 && i < x.Rows() {
			copy(r.Clean.Row(k), x.Row(i))
			copy(r.Adversarial.Row(k), adv.Row(i))
		}
	}
}

// finish computes what is a mean over all queries.
func (r *ESResult) finish(batch int, gallery *array.Array) {
	r.Radius = adversary.RadiusOf(r.Linf, r.L2)
	r.ZeroGradient = r.zero / float64(len(r.Queries))
	r.Published.average(batch)
	r.Fixed.average(len(r.Queries))
	r.MeanCosine, r.NotNormalized = spread(gallery)
	r.Collapsed = r.MeanCosine > collapsed
}

// average sets the scores to unweighted means over batches.
func (v *ESVariant) average(batch int) {
	n := len(v.Shift)
	batches := 0.0
	for lo := 0; lo < n; lo += batch {
		hi := min(lo+batch, n)
		w := 1 / float64(hi-lo)
		for i := lo; i < hi; i++ {
			v.D += w * v.Shift[i]
			if v.Hit[i] {
				v.R += w
			}
			if v.CleanHit[i] {
				v.CleanR += w
			}
		}
		batches++
	}
	v.D, v.R, v.CleanR = v.D/batches, v.R/batches, v.CleanR/batches
}

// spread returns the mean cosine over pairs of different rows, zero rows counting
// as orthogonal to all, and whether some row's length differs from 1 by more than
// 1e-3.
func spread(gallery *array.Array) (meanCosine float64, notNormalized bool) {
	n := gallery.Rows()
	sum := make([]float64, gallery.Cols())
	units := 0.0
	for i := range n {
		row := gallery.Row(i)
		length := math.Sqrt(kernel.SumSquares(row))
		notNormalized = notNormalized || math.Abs(length-1) > 1e-3
		if length == 0 {
			continue
		}
		units++
		for k, v := range row {
			sum[k] += float64(v) / length
		}
	}
	square := 0.0
	for _, v := range sum {
		square += v * v
	}
	return (square - units) / (float64(n) * float64(n-1)), notNormalized
}
