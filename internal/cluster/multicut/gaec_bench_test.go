package multicut

import (
	"context"
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/rng"
)

// gaecPlanted returns the complete graph of n points of ten Gaussian classes on the
// sphere in 64 dimensions, costs tau^2-d^2 with tau^2 between the mean squared
// distances within and between classes. Noise is the deviation in each dimension.
func gaecPlanted(n int, noise float64) *Dense {
	const dims = 64
	x, tau2 := gaecPoints(n, dims, noise)
	cost := make([]float32, n*n)
	kernel.PairwiseSquared(n, n, dims, x, x, cost)
	for i := range cost {
		cost[i] = float32(tau2) - cost[i]
	}
	for i := range n {
		cost[i*n+i] = 0
	}
	return &Dense{n, cost}
}

// gaecPoints returns the points and tau^2.
func gaecPoints(n, dims int, noise float64) ([]float32, float64) {
	const classes = 10
	r := rng.New(11, "planted")
	center := make([]float64, classes*dims)
	for i := range center {
		center[i] = r.NormFloat64() / math.Sqrt(float64(dims))
	}
	x := make([]float32, n*dims)
	for i := range n {
		row := x[i*dims:][:dims]
		for j := range row {
			row[j] = float32(center[i%classes*dims+j] + noise*r.NormFloat64())
		}
		scale := float32(1 / math.Sqrt(kernel.SumSquares(row)))
		for j := range row {
			row[j] *= scale
		}
	}
	var sum, count [2]float64
	for i := range min(n, 1000) {
		for j := range i {
			same := 0
			if i%classes == j%classes {
				same = 1
			}
			sum[same] += kernel.SquaredDistance(x[i*dims:][:dims], x[j*dims:][:dims])
			count[same]++
		}
	}
	return x, (sum[0]/count[0] + sum[1]/count[1]) / 2
}

func gaecMeasure(b *testing.B, solve func() (*Result, error)) *Result {
	var res *Result
	var err error
	for b.Loop() {
		if res, err = solve(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(res.Objective, "objective")
	b.ReportMetric(float64(len(res.Sizes)), "clusters")
	b.ReportMetric(float64(res.Rounds), "rounds")
	return res
}

func BenchmarkDense(b *testing.B) {
	random := func(n int, mu float64) func() *Dense {
		return func() *Dense {
			_, d := gaecRandom(b, rng.New(12, "random"), n, mu)
			return d
		}
	}
	planted := func(n int, noise float64) func() *Dense {
		return func() *Dense { return gaecPlanted(n, noise) }
	}
	for _, g := range []struct {
		name string
		make func() *Dense
	}{
		{"planted2000", planted(2000, 0.1)},
		{"noisy2000", planted(2000, 0.2)},
		{"random2000", random(2000, 0)},
		{"apart2000", random(2000, -1)},
		{"noisy10000", planted(10000, 0.2)},
	} {
		var d *Dense
		var start *Result
		b.Run(g.name+"/gaec", func(b *testing.B) {
			if d == nil {
				d = g.make()
			}
			start = gaecMeasure(b, func() (*Result, error) { return GAEC(context.Background(), d) })
		})
		if start == nil {
			continue
		}
		b.Run(g.name+"/kl", func(b *testing.B) {
			gaecMeasure(b, func() (*Result, error) { return KernighanLin(context.Background(), d, start.Labels, KLOptions{}) })
		})
		b.Run(g.name+"/kl-restarts", func(b *testing.B) {
			gaecMeasure(b, func() (*Result, error) {
				return KernighanLin(context.Background(), d, start.Labels, KLOptions{Restarts: 20})
			})
		})
	}
}

func BenchmarkSparse(b *testing.B) {
	const n, dims = 10000, 64
	x, tau2 := gaecPoints(n, dims, 0.2)
	for _, k := range []int{10, 50} {
		var g *Graph
		var start *Result
		b.Run(fmt.Sprintf("%d/graph", k), func(b *testing.B) {
			for b.Loop() {
				var err error
				if g, err = Nearest(context.Background(), x, n, dims, k, k, 1, func(d2 float64) float64 { return tau2 - d2 }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.Edges()), "edges")
		})
		if g == nil {
			continue
		}
		for _, s := range []struct {
			name  string
			solve func(context.Context, Costs) (*Result, error)
		}{{"gaec", GAEC}, {"balanced", BalancedGAEC}, {"fixation", GreedyFixation}, {"mutex", MutexWatershed}} {
			b.Run(fmt.Sprintf("%d/%s", k, s.name), func(b *testing.B) {
				res := gaecMeasure(b, func() (*Result, error) { return s.solve(context.Background(), g) })
				if s.name == "gaec" {
					start = res
				}
			})
		}
		b.Run(fmt.Sprintf("%d/kl", k), func(b *testing.B) {
			gaecMeasure(b, func() (*Result, error) { return KernighanLin(context.Background(), g, start.Labels, KLOptions{}) })
		})
		b.Run(fmt.Sprintf("%d/kl-singletons", k), func(b *testing.B) {
			one := make([]int32, n)
			for i := range one {
				one[i] = int32(i)
			}
			gaecMeasure(b, func() (*Result, error) { return KernighanLin(context.Background(), g, one, KLOptions{}) })
		})
	}
}
