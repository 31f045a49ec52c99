package bench

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	_ "tercet/internal/engine/loss/labeled" // registers its losses
	"tercet/internal/rng"
)

// lossJobs evaluate losses.
func lossJobs() []Job {
	return []Job{{
		"losses", "each loss with its gradient: 512 x 512 embeddings, 11,318 classes",
		"each loss with its gradient: 128 x 128 embeddings, 1,000 classes",
		func(o Options) ([]task, error) {
			if o.Quick {
				return losses(128, 128, 1000)
			}
			return losses(512, 512, 11318) // the classes of Stanford Online Products
		},
	}}
}

// losses is a task for each loss whose options have defaults that can be used alone: a batch
// of n embeddings, four of each class. Pairs and triplets are all of the batch.
func losses(n, dim, classes int) ([]task, error) {
	z := array.New(n, dim)
	copy(z.Data, normal(n*dim, "z"))
	given := batchOf(n, classes)
	var out []task
	for _, c := range loss.Family.All() {
		if _, ok := c.Defaults.(loss.NoiseAware); ok {
			continue // the triplet loss with other weights
		}
		l, err := c.Defaults.New()
		if err != nil {
			return nil, err
		}
		begun := false
		grad := z.Clone()
		out = append(out, task{
			name: c.Name, warmUp: 1,
			run: repeat(func() error {
				if p, ok := l.(loss.Parametric); ok && !begun {
					if err := p.Begin(dim, classes, rng.New(0, "bench/proxies")); err != nil {
						return err
					}
				}
				begun = true
				_, err := l.Eval(z, given, grad)
				return err
			}),
			results: func(visit func(string, []float32)) {
				visit("gradient", grad.Data)
				if p, ok := l.(loss.Parametric); ok {
					for _, p := range p.Params() {
						visit(p.Name, p.Grad.Data)
					}
				}
			},
		})
	}
	return out, nil
}

// batchOf is all that a loss may take of n rows, four of each class and two of each image.
func batchOf(n, classes int) *loss.Tuples {
	t := &loss.Tuples{}
	for i := range n {
		t.Labels = append(t.Labels, int32(i/4*(classes/(n/4))))
		t.Items = append(t.Items, uint64(i/2))
	}
	for a, y := range t.Labels {
		for p, other := range t.Labels {
			if p > a {
				t.Pairs = append(t.Pairs, loss.Pair{I: int32(a), J: int32(p), Similar: other == y})
			}
			if p == a || other != y {
				continue
			}
			for k, third := range t.Labels {
				if third != y {
					t.Triplets = append(t.Triplets, loss.Triplet{A: int32(a), P: int32(p), N: int32(k)})
				}
			}
		}
	}
	return t
}
