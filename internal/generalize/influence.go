package generalize

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/text"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// InfluenceSteps is how many steps a run continues by default.
const InfluenceSteps = 50

// InfluenceDoc is the document of a measurement of influence.
type InfluenceDoc struct {
	record.Influence
	train, held data.Dataset // for pictures
}

// faintRate is the share of the learning rate below which little moves.
const faintRate = 0.01

// Influence measures how far single images move a network from a checkpoint on. An
// interrupted measurement resumes where it was. Errors are those of Gap.
func Influence(ctx context.Context, r *run.Run, o InfluenceOptions, p progress.Progress) (*InfluenceDoc, error) {
	if err := ofNetwork(r, ": use tercet stability, which measures how far one item moves it"); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = InfluenceSteps
	}
	c, err := r.Checkpoint(o.Checkpoint)
	if err != nil {
		return nil, err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, err
	}
	s, err := newStudy(ctx, r, o.ReplaceOptions, p)
	if err != nil {
		return nil, err
	}
	kind := ReplaceTwin
	if len(o.Replace) > 0 {
		kind = o.Replace[0]
	}
	uses, err := s.rows(c.State.Step, c.State.Step+o.Steps)
	if err != nil {
		return nil, err
	}
	var used []int // the others move nothing
	for i, n := range uses {
		if n > 0 {
			used = append(used, i)
		}
	}
	plan, err := s.plan(ctx, m, []string{kind}, used)
	if err != nil {
		return nil, err
	}
	if err := s.keepInfluence(plan, o); err != nil {
		return nil, err
	}
	free, err := lockStability(r)
	if err != nil {
		return nil, err
	}
	defer free()
	w := &goingOn{study: s, from: c, steps: o.Steps, dir: r.Path("stability", "influence")}
	d := &InfluenceDoc{Influence: record.Influence{Schema: record.InfluenceSchema, Loss: s.probe.loss.Name, Of: s.probe.loss.Of, Source: s.source(o.Checkpoint, c.State.Step, m.Dim())}, train: s.train, held: s.held}
	d.Options = record.InfluenceOptions{Steps: o.Steps, Repeats: len(plan), Replace: kind, Triplets: s.o.Triplets, Seed: o.Seed, Limit: o.Limit}
	before, err := s.probe.stand(ctx, m, p.Say.Of("embed"))
	if err != nil {
		return nil, err
	}
	if w.base, err = w.stand(ctx, nil); err != nil {
		return nil, w.interrupted(err, 0, len(plan))
	}
	if at, base := w.rate.Load().(float64), r.Config.Optimizer.LR; at < faintRate*base {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the schedule leaves a learning rate of %.3g here, of %.3g at its maximum: weights change little; an earlier checkpoint changes more", at, base))
	}
	d.Drifted = s.probe.compare(before, w.base)
	if d.Images, err = w.all(ctx, plan); err != nil {
		return nil, err
	}
	for i := range d.Images {
		d.Images[i].Uses = uses[d.Images[i].Image]
	}
	slices.SortStableFunc(d.Images, func(a, b record.InfluenceRecord) int {
		return cmp.Compare(b.Movement.CosineMean, a.Movement.CosineMean)
	})
	d.Cost = w.cost
	d.Warnings = append(d.Warnings, d.still()...)
	return d, nil
}

// still says what helps where no image moves the network.
func (d *InfluenceDoc) still() []string {
	for _, v := range d.Images {
		if v.Movement.Weights > 0 || v.Movement.CosineMax > 0 {
			return nil
		}
	}
	return []string{fmt.Sprintf("none of the images changes the network: in %s no tuple with one of them, or with what replaces it, has a gradient, as in a run that has memorized its training images; more %s or %s meet more tuples, and %s best, where that is earlier, or a run of fewer steps has more with a gradient", text.Plural(d.Options.Steps, "step", "steps"), option.Name("steps"), option.Name("replacements"), option.Name("checkpoint"))}
}

// goingOn trains a run on from a checkpoint, in memory; what came of each image is kept
// in dir.
type goingOn struct {
	*study
	from  *train.Checkpoint
	steps int // of each
	dir   string
	base  *standing
	cost  record.CostRecord // of all trainings on, kept ones too
	rate  atomic.Value      // learning rate of the first step
}

func (w *goingOn) key(p record.Replacement) record.InfluenceKey {
	return record.InfluenceKey{RetrainKey: w.study.key(w.run.Manifest.Config, w.base.model, p), Step: w.from.State.Step, Steps: w.steps}
}

// all measures each replacement, jobs at once, each on one thread.
func (w *goingOn) all(ctx context.Context, plan []record.Replacement) ([]record.InfluenceRecord, error) {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, fmt.Errorf("influence: %w", err)
	}
	if jobs := w.o.Jobs; jobs > 1 {
		defer par.SetThreads(par.Threads())
		par.SetThreads(1)
	}
	out := make([]record.InfluenceRecord, len(plan))
	type ended struct {
		i    int
		kept record.KeptInfluence
		err  error
	}
	ends := make(chan ended)
	var stop error
	done := 0
	for next, running := 0, 0; ; {
		for ; running < max(1, w.o.Jobs) && next < len(plan) && stop == nil; next++ {
			running++
			go func(i int) {
				kept, err := w.one(ctx, plan[i])
				ends <- ended{i, kept, err}
			}(next)
		}
		if running == 0 {
			return out, w.interrupted(stop, done, len(plan))
		}
		e := <-ends
		running--
		if e.err != nil {
			stop = cmp.Or(stop, e.err)
			continue
		}
		done++
		out[e.i] = record.InfluenceRecord{Replacement: plan[e.i], Movement: e.kept.Movement}
		w.took(e.kept.Cost)
		w.p.Say("images", done, len(plan))
	}
}

// took counts what a training on took.
func (w *goingOn) took(c record.CostRecord) {
	w.cost.Add(c.Cost)
	w.cost.Seconds += c.Seconds
}

// one measures a replacement, or reads what is kept of it.
func (w *goingOn) one(ctx context.Context, p record.Replacement) (record.KeptInfluence, error) {
	path := filepath.Join(w.dir, replacementName(p)+".json")
	key := w.key(p)
	var kept record.KeptInfluence
	if run.ReadStored(path, &kept) && kept.Key == key {
		return kept, nil
	}
	now, cost, err := w.goOn(ctx, alterImage(p, w.pooled(p)))
	if err != nil {
		return kept, fmt.Errorf("image %d: %w", p.Image, err)
	}
	standing, err := w.probe.stand(ctx, now, func(int, int) {})
	if err != nil {
		return kept, fmt.Errorf("image %d: %w", p.Image, err)
	}
	kept = record.KeptInfluence{Key: key, Movement: w.probe.compare(w.base, standing), Cost: cost}
	return kept, record.Write(path, kept)
}

// stand is what the network makes of the probe after further steps.
func (w *goingOn) stand(ctx context.Context, alter wire.Alteration) (*standing, error) {
	m, cost, err := w.goOn(ctx, alter)
	if err != nil {
		return nil, err
	}
	w.took(cost)
	return w.probe.stand(ctx, m, w.p.Say.Of("embed after"))
}

// interrupted says of an interruption what is done.
func (w *goingOn) interrupted(err error, done, of int) error {
	if err == nil || !interruption(err) {
		return err
	}
	return fmt.Errorf("images done: %d of %d: %w; the same command resumes", done, of, err)
}
