package attack

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/record"
)

// Result holds the scores of attacks.
type Result struct {
	Queries  []int // attacked images, ascending
	Excluded int   // images not attacked: nobody else carries their label
	// Candidates are the attacked images of the gallery, one for each query, where queries
	// and gallery are apart and an attack perturbs candidates.
	Candidates []int
	Scored     []Scored // by variant
	Attacks    []Ran
	Pictures   []*Pictures // by attack and variant
	Cost       record.Cost // image passes, the clean ones of the queries included

	MeanCosine    float64 // of two different gallery embeddings
	NotNormalized bool    // a gallery row's length is not 1: ES:D has no fixed range
	Collapsed     bool    // MeanCosine above 0.99: the scores say little
	// Chance is the expected recall@1 of the queries if retrieval were random.
	Chance float64
}

// Ran holds the statistics of an attack over all variants and draws.
type Ran struct {
	Attack          string
	Keys            []string // of its scores
	Crafted, Shared int      // images, and those of them that both variants use
	Radius          record.Radius
	ZeroGradient    float64 // see adversary.Report
	Cost            record.Cost
	Seconds         float64
	Batches         []record.AttackBatch // what the above is summed from
}

// Scored are the scores of one variant, query by query: means over the draws of
// random targets. Ranks and recalls are fractions, TMA a cosine, ES:D a distance.
// ERS is the last one if its ten scores are there.
type Scored struct {
	Variant     Variant
	Keys        []string
	Adversarial [][]float64 // [key][query]
	Clean       [][]float64 // the same scores of the images as they are
	// Batch is the number of queries over which scores are first averaged: for
	// the published variant they are unweighted means of batch means, in which
	// the queries of a short last batch count more; otherwise all queries.
	Batch int
}

// collapsed is the mean cosine above which a gallery counts as collapsed.
const collapsed = 0.99

// finish computes what needs all attacks.
func (r *Result) finish(g *retrieval.Gallery) {
	for k := range r.Scored {
		s := &r.Scored[k]
		at, ok := ersColumns(s.Keys)
		if !ok {
			continue
		}
		s.Keys = append(s.Keys, ERS)
		s.Adversarial = append(s.Adversarial, robustness(s.Adversarial, at))
		s.Clean = append(s.Clean, robustness(s.Clean, at))
	}
	r.MeanCosine, r.NotNormalized = spread(g.Embeddings())
	r.Collapsed = r.MeanCosine > collapsed
	r.Chance = g.Chance(r.Queries)
}

// robustness returns ERS of each query from the columns of its ten scores.
func robustness(values [][]float64, at map[string]int) []float64 {
	out := make([]float64, len(values[0]))
	for i := range out {
		out[i] = RobustnessScore(func(key string) float64 { return values[at[key]][i] })
	}
	return out
}

// Weight returns the weight of query i in a mean, relative to the unweighted mean.
func (s *Scored) Weight(i int) float64 {
	n := len(s.Adversarial[0])
	batches := (n + s.Batch - 1) / s.Batch
	size := min(s.Batch, n-i/s.Batch*s.Batch)
	return float64(n) / float64(batches*size)
}

// Mean returns the mean of a score's values over the queries rows (nil: all), as
// the variant takes it.
func (s *Scored) Mean(values []float64, rows []int) float64 {
	sum, weights := 0.0, 0.0
	add := func(i int) {
		w := s.Weight(i)
		sum, weights = sum+float64(w*values[i]), weights+w
	}
	for _, i := range rows {
		add(i)
	}
	if rows == nil {
		for i := range values {
			add(i)
		}
	}
	return sum / weights
}

// Column returns the place of a key, or -1.
func (s *Scored) Column(key string) int {
	for i, k := range s.Keys {
		if k == key {
			return i
		}
	}
	return -1
}

// Right returns the queries, as places in Result.Queries, whose nearest image was
// of their class before the attack; false if no attack ran that has a recall.
func (s *Scored) Right() ([]int, bool) {
	for _, key := range KeysWhere(func(s Score) bool { return s.Recall && s.Key != ERS }) {
		k := s.Column(key)
		if k < 0 {
			continue
		}
		var out []int
		for i, v := range s.Clean[k] {
			if v == 1 {
				out = append(out, i)
			}
		}
		return out, true
	}
	return nil, false
}

// PicturesOf returns the pictures of an attack in a variant, nil if there are
// none.
func (r *Result) PicturesOf(attack string, v Variant) *Pictures {
	for _, p := range r.Pictures {
		if p.Attack == attack && p.Variant == v {
			return p
		}
	}
	return nil
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
		square += float64(v * v)
	}
	return (square - units) / (float64(n) * float64(n-1)), notNormalized
}
