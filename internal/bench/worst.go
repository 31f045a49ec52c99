package bench

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/nn"
	"tercet/internal/record/printed"
)

// worstJob is the worst case of queries that survive every attack, which cost most: the ball
// is too small for any of them.
type worstJob struct {
	ersJob
	eps            float64
	steps, squares int // 0: the ensemble's
}

func worstJobs() []Job {
	spec := nn.Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1, Normalize: true}
	full := worstJob{ersJob{spec: spec, gallery: 10_000, queries: 64, classes: 10}, 1.0 / 2550, 0, 0}
	quick := full
	quick.gallery, quick.queries = 2000, 8
	return []Job{{"worst", full.what(), quick.what(), func(o Options) ([]task, error) {
		if o.Quick {
			return quick.prepare()
		}
		return full.prepare()
	}}}
}

func (w worstJob) what() string {
	return fmt.Sprintf("C2F2, worst case of %d queries that no attack breaks, %d of %d images", w.queries, w.queries, w.gallery)
}

// prepare makes one task: the whole ensemble on all queries.
func (w worstJob) prepare() ([]task, error) {
	model, images, g, err := w.embedded()
	if err != nil {
		return nil, err
	}
	model.Freeze()
	var found *worst.State
	return []task{{
		images: w.queries, least: 1,
		run: func(ctx context.Context, tick func() bool) error {
			return repeat(func() error {
				r, err := worst.Run(ctx, model, stored{images}, g, worst.Options{
					Norm: adversary.Linf, Eps: w.eps, Steps: w.steps, Squares: w.squares, Queries: w.queries,
				})
				if err != nil {
					return err
				}
				if found = r.Galleries[0]; found.Counts().Robust == 0 {
					return errors.New("no query survives: the network retrieves nothing")
				}
				return nil
			})(ctx, tick)
		},
		results: func(visit func(string, []float32)) {
			out := make([]float32, len(found.Margin))
			for i, v := range found.Margin {
				out[i] = float32(v)
			}
			visit("margins", out)
			visit("images", found.Images.Data)
		},
		describe: func(r *printed.BenchResult) {
			r.SurvivorSeconds = r.Seconds / float64(found.Counts().Robust)
		},
	}}, nil
}
