package attack

import (
	"context"
	"fmt"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// workspace holds queries that are crafted together.
type workspace struct {
	places []int // in Result.Queries
	batch  Batch
	x, adv *array.Array // (B, H, W, C) clean and perturbed
	ids    []uint64     // items, for random starts
	first  []float64    // (B) objective at the first iterate
}

func newWorkspace(b, dim, h, w, c int) workspace {
	return workspace{x: array.New(b, h, w, c), adv: array.New(b, h, w, c), batch: Batch{Clean: array.New(b, dim)}}
}

func (w *workspace) resize(b int) {
	w.x.SetRows(b)
	w.adv.SetRows(b)
	w.batch.Clean.SetRows(b)
	w.places, w.batch.Items, w.batch.Repeat, w.ids = w.places[:0], w.batch.Items[:0], nil, w.ids[:0]
}

func (w *workspace) add(place, item int) {
	w.places, w.batch.Items, w.ids = append(w.places, place), append(w.batch.Items, item), append(w.ids, uint64(item))
}

// take makes w the rows of another workspace.
func (w *workspace) take(from *workspace, rows []int) {
	w.resize(len(rows))
	for k, i := range rows {
		w.add(from.places[i], from.batch.Items[i])
		if from.batch.Repeat != nil {
			w.batch.Repeat = append(w.batch.Repeat, from.batch.Repeat[i])
		}
		copy(w.x.Row(k), from.x.Row(i))
		copy(w.batch.Clean.Row(k), from.batch.Clean.Row(i))
	}
}

// load makes full the queries [lo, hi): their images and, once they are known,
// their clean embeddings.
func (r *runner) load(lo, hi int) error {
	w := &r.full
	w.resize(hi - lo)
	for p := lo; p < hi; p++ {
		w.add(p, r.of.items[p])
	}
	if r.of.repeat != nil {
		w.batch.Repeat = r.of.repeat[lo:hi]
	}
	d := r.of.clean.Cols()
	copy(w.batch.Clean.Data, r.of.clean.Data[lo*d:hi*d])
	reads := reading{r.images, w, make([]error, hi-lo)}
	par.Do(hi-lo, 4, &reads)
	for i, err := range reads.errs {
		if err != nil {
			return fmt.Errorf("image %d: %w", w.batch.Items[i], err)
		}
	}
	return nil
}

// reading reads a batch on all threads.
type reading struct {
	images Source
	w      *workspace
	errs   []error
}

func (j *reading) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.errs[i] = j.images.Read(j.w.batch.Items[i], j.w.x.Row(i))
	}
}

// watched is a method's goal that keeps the objective of the first iterate, and
// ends when its context does.
type watched struct {
	ctx   context.Context
	goal  adversary.Goal
	first []float64 // to be filled in; nil once it is
}

// Step implements adversary.Stepper.
func (g *watched) Step(t int) {
	if s, ok := g.goal.(adversary.Stepper); ok {
		s.Step(t)
	}
}

// Stop implements adversary.Stopper.
func (g *watched) Stop() bool {
	if s, ok := g.goal.(adversary.Stopper); ok && s.Stop() {
		return true
	}
	return g.ctx.Err() != nil
}

// Eval implements adversary.Goal.
func (g *watched) Eval(z *array.Array, per []float64, grad *array.Array) error {
	err := g.goal.Eval(z, per, grad)
	if g.first != nil {
		copy(g.first, per)
		g.first = nil
	}
	return err
}
