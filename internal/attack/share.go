package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/nn"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/scheduler"
)

// Share are the queries [From, To), by their places.
type Share struct{ From, To int }

// shareOf divides the queries: shares end where images that are crafted together end, so
// that all batches are those of one process.
func (r *runner) shareOf(t scheduler.Task) (Share, error) {
	n, together := len(r.result.Queries), r.o.Together
	batches := (n + together - 1) / together
	if t.Of > batches {
		return Share{}, option.Errorf("%d tasks are too many: %d queries in batches of %d are work for at most %d tasks", t.Of, n, together, batches)
	}
	return Share{batches * (t.Index - 1) / t.Of * together, min(n, batches*t.Index/t.Of*together)}, nil
}

// RunShare is Run of the queries of a task; Merge makes a Result of all tasks' parts. The
// part lacks what says which task it is of.
func RunShare(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options, t scheduler.Task) (*record.AttackPart, error) {
	r, err := newRunner(ctx, model, images, g, o, NewMethod)
	if err != nil {
		return nil, err
	}
	if err := r.runShare(t); err != nil {
		return nil, err
	}
	p := &record.AttackPart{First: r.share.From, Queries: r.share.To - r.share.From}
	cut := func(columns [][]float64) (out [][]float64) {
		for _, c := range columns {
			out = append(out, c[r.share.From:r.share.To])
		}
		return out
	}
	for _, s := range r.result.Scored {
		p.Adversarial, p.Clean = append(p.Adversarial, cut(s.Adversarial)), append(p.Clean, cut(s.Clean))
	}
	for _, a := range r.result.Attacks {
		p.Attacks = append(p.Attacks, record.AttackShare{Attack: a.Attack, Seconds: a.Seconds, Batches: a.Batches})
	}
	return p, nil
}

// Merge combines the parts of all tasks, in the order of their numbers, to the Result of
// Run, without pictures. Seconds are the sum over tasks.
func Merge(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options, parts []*record.AttackPart) (*Result, error) {
	o.Pictures = 0
	r, err := newRunner(ctx, model, images, g, o, NewMethod)
	if err != nil {
		return nil, err
	}
	jobs, err := r.jobs()
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		want, err := r.shareOf(scheduler.Task{Index: i + 1, Of: len(parts)})
		if err != nil {
			return nil, err
		}
		if !r.takes(p, want, len(jobs)) {
			return nil, fmt.Errorf("task %d/%d holds other queries, scores or attacks than these options ask for", i+1, len(parts))
		}
	}
	for i, j := range jobs {
		seconds := 0.0
		for _, p := range parts {
			j.ran.Batches = append(j.ran.Batches, p.Attacks[i].Batches...)
			seconds += p.Attacks[i].Seconds
		}
		slices.SortStableFunc(j.ran.Batches, func(a, b record.AttackBatch) int {
			return cmp.Or(cmp.Compare(a.Draw, b.Draw), cmp.Compare(a.First, b.First))
		})
		j.finish(r.result, seconds)
	}
	r.result.Cost.Forward += int64(len(r.queries.items)) // their clean embeddings
	if r.candidates != r.queries {
		r.result.Cost.Forward += int64(len(r.candidates.items))
	}
	r.result.finish(g)
	return r.result, nil
}

// takes copies the scores of a part to their places; false where they do not fit.
func (r *runner) takes(p *record.AttackPart, want Share, attacks int) bool {
	if p.First != want.From || p.Queries != want.To-want.From || len(p.Attacks) != attacks || len(p.Adversarial) != len(r.result.Scored) || len(p.Clean) != len(r.result.Scored) {
		return false
	}
	for i := range p.Attacks {
		if p.Attacks[i].Attack != r.o.Attacks[i] {
			return false
		}
	}
	for v := range r.result.Scored {
		s := &r.result.Scored[v]
		for _, side := range []struct{ to, from [][]float64 }{{s.Adversarial, p.Adversarial[v]}, {s.Clean, p.Clean[v]}} {
			if len(side.from) != len(side.to) {
				return false
			}
			for k, values := range side.from {
				if len(values) != p.Queries {
					return false
				}
				copy(side.to[k][want.From:], values)
			}
		}
	}
	return true
}
