package bench

import (
	"tercet/internal/component"
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
	}, {
		// For its memory: implementations of batches of matrices keep arrays of 448^3 numbers.
		"smooth-ap", "the loss smooth-ap with its gradient: 448 x 512 embeddings", "",
		func(Options) ([]task, error) {
			c, _ := loss.Family.Lookup("smooth-ap")
			z := array.New(448, 512)
			copy(z.Data, normal(len(z.Data), "z"))
			t, err := lossTask(c, z, 112, &loss.Tuples{Labels: fourOfEach(448, 112)})
			return []task{t}, err
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
		t, err := lossTask(c, z, classes, given)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// lossTask evaluates a loss with its gradient.
func lossTask(c component.Component[loss.Options], z *array.Array, classes int, given *loss.Tuples) (task, error) {
	l, err := c.Defaults.New()
	if err != nil {
		return task{}, err
	}
	begun := false
	grad := z.Clone()
	return task{
		name: c.Name, warmUp: 1,
		run: repeat(func() error {
			if p, ok := l.(loss.Parametric); ok && !begun {
				if err := p.Begin(z.Shape[1], classes, rng.New(0, "bench/proxies")); err != nil {
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
	}, nil
}

// fourOfEach are labels of n rows, four of each class.
func fourOfEach(n, classes int) (labels []int32) {
	for i := range n {
		labels = append(labels, int32(i/4*(classes/(n/4))))
	}
	return labels
}

// batchOf is all that a loss may take of n rows, four of each class and two of each image.
func batchOf(n, classes int) *loss.Tuples {
	t := &loss.Tuples{Labels: fourOfEach(n, classes)}
	for i := range n {
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
