package bench

import (
	"context"
	"fmt"

	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/noise"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
)

// point is one point of the double descent of Fonseca & Guidetti: an MLP that
// learns from the same pairs epoch after epoch. One repetition is an epoch, with
// the loader: pairs are shuffled and bytes become floats.
type point struct {
	training
	images, pairs int
	epochs        int // of the whole point
}

// prefetch is how many batches are made ahead, as by default.
const prefetch = 2

func pointJobs() []Job {
	spec := nn.Spec{Name: "mlp", Height: 28, Width: 28, Channels: 1}
	p := point{training{"dd-point", "", spec, 2, 128, 1, 0.4, contrastive, nil, nil}, 3000, 6000, 2000}
	p.what = fmt.Sprintf("an epoch of a double-descent point: MLP 784-200-200-200, %d pairs", p.pairs)
	return []Job{{p.name, p.what, "", func(Options) ([]task, error) { return p.prepare() }}}
}

// prepare draws the images and a dense graph of ten classes (S2, same-index
// negatives) with pair label noise of 10 %.
func (p point) prepare() ([]task, error) {
	const classes = 10
	set, err := p.memory(classes)
	if err != nil {
		return nil, err
	}
	pairs, _, err := noise.Graph(set.Labels(), set.Labels(), classes, noise.GraphOptions{
		Scenario: noise.Dense, Pairs: p.pairs, Negatives: noise.SameIndex, Order: noise.Shuffled, Wrong: noise.Coins(0.2),
	})
	if err != nil {
		return nil, err
	}
	sampler, err := batch.NewPairSampler(func(int) []batch.Pair { return pairs }, batch.TupleOptions{Size: p.groups, Items: set.Len()})
	if err != nil {
		return nil, err
	}
	miner, err := mine.NewGiven(mine.Layout(sampler.Layout()))
	if err != nil {
		return nil, err
	}
	loader := batch.NewLoader(set, sampler, nil, 0, 0, 0, prefetch)
	trainer, model, err := p.trainer(loader, miner)
	if err != nil {
		return nil, err
	}
	run := steps(trainer, sampler.Steps())
	direct, executed := p.flops(model)
	full := float64(p.pairs) / float64(p.groups) // batches
	return []task{{
		images: 2 * p.pairs, direct: direct * full, executed: executed * full, warmUp: 1,
		run: func(ctx context.Context, tick func() bool) error {
			defer loader.Close()
			return run(ctx, tick)
		},
		results:  weights(model),
		describe: func(r *printed.BenchResult) { r.PointSeconds = r.Seconds * float64(p.epochs) },
	}}, nil
}

// memory is the job's images as bytes: a pattern for each class, under noise.
func (p point) memory(classes int) (*data.Memory, error) {
	r := rng.New(0, "bench/images")
	h, w, c := p.spec.Height, p.spec.Width, p.spec.Channels
	var patterns [][]float32
	var names []string
	for i := range classes {
		patterns, names = append(patterns, pattern(r, c)), append(names, fmt.Sprint(i))
	}
	var pixels []uint8
	labels, image := make([]int32, p.images), make([]float32, h*w*c)
	for i := range labels {
		labels[i] = int32(i % classes)
		p.draw(image, patterns[labels[i]], r)
		for _, v := range image {
			pixels = append(pixels, uint8(255*v))
		}
	}
	return data.NewMemory(pixels, h, w, c, labels, names)
}
