package bench

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/lists"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
)

// rrmJob is regularized risk minimization over all triplets of so many positives and
// as many negatives, from w = 0 until the gradient is 10^-9 sigma.
type rrmJob struct {
	points []int // n+ = n- of each part
	d      int
	sigma  float64
	zeta   float64
}

func rrmJobs() []Job {
	j := rrmJob{[]int{200, 2000}, 8, 1e-3, 0.1}
	return []Job{{"rrm", j.what(), "", func(Options) ([]task, error) { return j.tasks(), nil }}}
}

func (j rrmJob) what() string {
	n := j.points
	return fmt.Sprintf("metrics from all triplets of %d+%d and of %d+%d points x %d", n[0], n[0], n[len(n)-1], n[len(n)-1], j.d)
}

func (j rrmJob) tasks() []task {
	return lists.Map(j.points, j.task)
}

func (j rrmJob) task(n int) task {
	var last mahalanobis.Solution
	return task{
		name: fmt.Sprintf("%d+%d", n, n), least: 1,
		run: func(ctx context.Context, tick func() bool) error {
			p, err := j.problem(n)
			if err != nil {
				return err
			}
			l, err := mahalanobis.NewLoss(mahalanobis.Logistic, j.zeta, 0)
			if err != nil {
				return err
			}
			return repeat(func() error {
				r, err := mahalanobis.NewRisk([]*mahalanobis.Problem{p}, l, mahalanobis.Auto)
				if err != nil {
					return err
				}
				last, err = mahalanobis.Minimize(ctx, r, mahalanobis.RRMOptions{Sigma: j.sigma, Tol: 1e-9})
				return err
			})(ctx, tick)
		},
		results: func(visit func(string, []float32)) { visit("w", halves(last.Theta)) },
		describe: func(r *printed.BenchResult) {
			r.Evaluations = append(r.Evaluations, last.Evaluations)
			r.Certificates = append(r.Certificates, last.Certificate)
		},
	}
}

// problem draws two normal classes that overlap, and pulls points outside the ball of
// radius 1 onto it.
func (j rrmJob) problem(n int) (*mahalanobis.Problem, error) {
	r := rng.New(0, "bench/rrm")
	draw := func(shift float64) []float64 {
		x := make([]float64, n*j.d)
		for i := 0; i < len(x); i += j.d {
			row, squares := x[i:i+j.d], 0.0
			for c := range row {
				row[c] = 0.3 * r.NormFloat64()
			}
			row[0] += shift
			for _, v := range row {
				squares += v * v
			}
			for c := range row {
				row[c] /= max(1, math.Sqrt(squares))
			}
		}
		return x
	}
	return mahalanobis.NewProblem(draw(0.25), draw(-0.25), j.d, 1)
}

// halves gives each float64 as two float32 of the same bits together.
func halves(x []float64) []float32 {
	out := make([]float32, 0, 2*len(x))
	for _, v := range x {
		b := math.Float64bits(v)
		out = append(out, math.Float32frombits(uint32(b>>32)), math.Float32frombits(uint32(b)))
	}
	return out
}
