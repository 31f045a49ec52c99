package tsne

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tercet/internal/cluster"
	"tercet/internal/cluster/principal"
	"tercet/internal/metric"
	"tercet/internal/rng"
)

// Result is a map.
type Result struct {
	Y []float32 // (n, 2), of mean 0
	// KL is KL(P||Q) of Y in nats, without exaggeration: with Z by all pairs up to
	// 20,000 points, by the tree beyond.
	KL           float64
	Iterations   int     // done
	Gradient     float64 // norm of the gradient in the last of them
	LearningRate float64
	Convention   string  // what the learning rate multiplies, for people
	Perplexity   float64 // used
	Warnings     []string
}

// Convention says what the learning rate multiplies.
const Convention = "gradient 4 sum (p-q)(y_i-y_j)/(1+d^2), factor 4 included"

// Run draws the n rows of x, d numbers each, on a map. The perplexity's neighbors
// are exact: floor(3 perplexity + 1) of each point, or all with Theta 0. The result
// has the same bits for any number of threads.
//
// Rows that are equal may share a place. Where all rows lie on a line, random numbers
// stand in for the second principal component, and where all are equal for both, with
// a warning. One row lies at 0.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), options out of
// their range, more than MostExact rows with Theta 0, a learning rate that lets the
// map diverge, a canceled ctx.
func Run(ctx context.Context, x []float32, n, d int, o Options) (*Result, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	warnings, err := o.set(n)
	if err != nil {
		return nil, err
	}
	r := &Result{LearningRate: o.LearningRate, Convention: Convention, Perplexity: o.Perplexity, Warnings: warnings}
	if n == 1 {
		r.Y = make([]float32, 2)
		r.Warnings = append(r.Warnings, "one point has no neighbors: it lies at 0")
		return r, nil
	}
	y, err := r.start(ctx, x, n, d, &o)
	if err != nil {
		return nil, err
	}
	f, err := pull(ctx, x, n, d, &o)
	if err != nil {
		return nil, err
	}
	end, err := newDescent(y, o.LearningRate).run(ctx, f, &o)
	if err != nil {
		return nil, err
	}
	r.Iterations, r.Gradient = end.iterations, end.gradient
	r.finish(y, f)
	return r, nil
}

// pull finds what attracts.
func pull(ctx context.Context, x []float32, n, d int, o *Options) (forces, error) {
	if o.Theta == 0 {
		return newExact(ctx, x, n, d, o.Perplexity)
	}
	a, err := nearAffinities(ctx, x, n, d, o.Perplexity)
	if err != nil {
		return nil, err
	}
	return newBarnesHut(a, o.Theta), nil
}

// finish takes the places as they will be read, in float32, and measures them.
func (r *Result) finish(y []point, f forces) {
	r.Y = make([]float32, 2*len(y))
	for i, p := range y {
		r.Y[2*i], r.Y[2*i+1] = float32(p.x), float32(p.y)
		y[i] = point{float64(r.Y[2*i]), float64(r.Y[2*i+1])}
	}
	if len(y) <= MostExact {
		r.KL = f.divergence(y, partition(y))
		return
	}
	_, _, z := f.at(y)
	r.KL = f.divergence(y, z)
}

// startWidth is the standard deviation along the first axis of the start.
const startWidth = 1e-4

func (r *Result) start(ctx context.Context, x []float32, n, d int, o *Options) ([]point, error) {
	random := rng.New(o.Seed, "tsne-start")
	y := make([]point, n)
	if o.Init == InitRandom {
		for i := range y {
			y[i] = point{startWidth * random.NormFloat64(), startWidth * random.NormFloat64()}
		}
		return y, nil
	}
	k := min(d, 2)
	pca, err := principal.Components(ctx, x, n, d, k)
	if errors.Is(err, cluster.ErrInput) {
		// The rows were checked: they are all the same.
		r.Warnings = append(r.Warnings, fmt.Sprintf("all %d rows are the same (a collapsed embedding?): the map shows chance", n))
		o.Init = InitRandom
		return r.start(ctx, x, n, d, o)
	}
	if err != nil {
		return nil, err
	}
	var square float64
	for i := range n {
		v := float64(pca.Projected[i*k])
		square += float64(v * v)
	}
	scale := startWidth / math.Sqrt(square/float64(n))
	// On a line, all forces are along it: a little chance leads off it.
	line := k == 1 || pca.Ratio[1] < 1e-12
	for i := range y {
		y[i].x = scale * float64(pca.Projected[i*k])
		if line {
			y[i].y = startWidth / 100 * random.NormFloat64()
		} else {
			y[i].y = scale * float64(pca.Projected[i*k+1])
		}
	}
	return y, nil
}
