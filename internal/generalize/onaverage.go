package generalize

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	measuring "tercet/internal/theory/measure"
)

// OnAverageDoc is the document of a measurement of on-average stability.
type OnAverageDoc struct{ record.OnAverage }

// onAverageStability measures what the loss of a triplet is when training has not seen it.
func onAverageStability(ctx context.Context, r *run.Run, o ReplaceOptions, p progress.Progress) (*OnAverageDoc, error) {
	if len(o.Replace) != 1 {
		return nil, fmt.Errorf("%w: replaced by %v: %s is measured by itself, on the triplets that are replaced", data.ErrUnfit, o.Replace, ReplaceTriple)
	}
	c, m, err := finished(r)
	if err != nil {
		return nil, err
	}
	s, err := openStudy(ctx, r, o, p)
	if err != nil {
		return nil, err
	}
	plan, err := s.triples(s.o.Images, s.o.Repeats)
	if err != nil {
		return nil, err
	}
	if err := s.keepOnAverage(plan); err != nil {
		return nil, err
	}
	l, err := s.loss()
	if err != nil {
		return nil, err
	}
	uses, err := s.uses(c.State.Step)
	if err != nil {
		return nil, err
	}
	t, free, err := s.retraining(ctx, m)
	if err != nil {
		return nil, err
	}
	defer free()
	print, err := s.held.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	d := &OnAverageDoc{record.OnAverage{
		Schema: record.OnAverageSchema, Options: record.OnAverageOptions{Repeats: len(plan), Images: o.Images, Seed: o.Seed}, Loss: record.OnAverageLoss{Name: l.Name, Of: l.Of}, Reference: t.from, Warnings: t.cautions(),
		Source: record.Source{
			Run: r.Dir, Config: r.Manifest.Config, Checkpoint: "last", Step: c.State.Step, Set: o.Set, Items: s.held.Len(), Classes: data.Distinct(s.held.Labels()), Dim: m.Dim(), Fingerprint: print,
		},
	}}
	if d.Replaced, err = t.unseen(ctx, plan, l); err != nil {
		return nil, err
	}
	for k := range d.Replaced {
		for x, i := range d.Replaced[k].Images {
			d.Replaced[k].Uses[x] = uses[i]
		}
	}
	if r.Config.Data.Distort.Strength > 0 {
		d.Warnings = append(d.Warnings, "training images are distorted and others are not: the triplets that were left out are distorted here, those of the gap's test images are not")
	}
	if g := StoredGap(d.Source); g != nil {
		d.Gap = &record.StoredGaps{File: g.File(), Triplets: g.Options.Triplets, Loss: g.Loss.Sides, Error: g.Error}
	}
	d.Cost = t.cost
	return d, d.sumUp()
}

// unseen returns what became of the triplets of plan.
func (t *retraining) unseen(ctx context.Context, plan []record.ReplacedTriple, l *tripletLoss) ([]record.ReplacedTripleRecord, error) {
	list := make([]again[record.TripleKey], len(plan))
	base, train := digest(t.base), t.run.Manifest.Data.Train.Fingerprint
	fresh, err := t.held.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	for k, p := range plan {
		c := t.config(tripleName(p))
		list[k] = again[record.TripleKey]{c, record.TripleKey{Config: c.Hash(), Version: run.Version, Base: base, Train: train, Fresh: fresh, Replaced: p}, alterTriple(p, t.held)}
	}
	return retrain(ctx, t, list, func(k int, r *run.Run, err error) (record.ReplacedTripleRecord, error) {
		out := record.ReplacedTripleRecord{ReplacedTriple: plan[k]}
		m, status, message, err := trainedAgain(r, err)
		out.Status, out.Message, out.Seconds = status, message, r.Manifest.Seconds
		if m == nil || err != nil {
			return out, err
		}
		change := new(record.TripleChange)
		if change.Seen, change.WrongSeen, err = t.tripletOf(ctx, t.base, plan[k], l); err != nil {
			return out, err
		}
		change.Unseen, change.WrongUnseen, err = t.tripletOf(ctx, m, plan[k], l)
		out.Change = change
		return out, err
	})
}

// tripletOf is the loss of the triplet that is replaced, and whether its order is wrong,
// under a network. The three are embedded by themselves: networks of the same bits give
// the same bits.
func (s *study) tripletOf(ctx context.Context, m *nn.Model, p record.ReplacedTriple, l *tripletLoss) (float64, bool, error) {
	ds, err := data.Subset(s.sets.Train, p.Images[:])
	if err != nil {
		return 0, false, err
	}
	z, err := embed.Batches(ctx, m, ds, len(p.Images), func(int, int) {})
	if err != nil {
		return 0, false, err
	}
	if err = finiteRows(z, "training"); err != nil {
		return 0, false, fmt.Errorf("triplet of training images %v: %w", p.Images, err)
	}
	v, err := l.eval(z, []loss.Triplet{{A: 0, P: 1, N: 2}})
	return v.loss[0], v.wrong[0], err
}

// sumUp takes the means over the triplets whose retraining came to its end.
func (d *OnAverageDoc) sumUp() error {
	var losses, errors [2][]float64 // seen, unseen
	var lost string
	for _, v := range d.Replaced {
		if v.Change == nil {
			why := fmt.Sprintf("retraining without the triplet of images %v has %s and does not count: %s", v.Images, v.Status, v.Message)
			d.Warnings = append(d.Warnings, why)
			lost = why
			continue
		}
		d.N++
		w := tripletValues{wrong: []bool{v.Change.WrongSeen, v.Change.WrongUnseen}}.errors()
		for x, l := range []float64{v.Change.Seen, v.Change.Unseen} {
			losses[x], errors[x] = append(losses[x], l), append(errors[x], w[x])
		}
	}
	if d.N == 0 {
		return fmt.Errorf("no retraining finished, so there is no mean: %s", lost)
	}
	d.Loss.OnAverageMeans, d.Error = onAverage(losses[0], losses[1], "loss"), onAverage(errors[0], errors[1], "0-1 error")
	d.Warnings = append(d.Warnings, fewCost(losses[0], losses[1])...)
	return nil
}

// leastCosting is how many triplets have to cost something for their mean to say much.
const leastCosting = 5

// fewCost warns where the means rest on few triplets, the others costing nothing, seen
// or unseen.
func fewCost(seen, unseen []float64) []string {
	n := 0
	for k, v := range seen {
		if v != 0 || unseen[k] != 0 {
			n++
		}
	}
	more := "more " + option.Name("replacements") + " reach triplets that do"
	switch {
	case n == 0:
		return []string{fmt.Sprintf("the loss of all %d triplets is 0, in training and removed: the gap depends on the few triplets with a loss above 0; %s", len(seen), more)}
	case n < min(leastCosting, len(seen)):
		return []string{fmt.Sprintf("triplets with a loss above 0, in training or removed: %d of %d; the mean loss depends on these, and its interval is unreliable; %s", n, len(seen), more)}
	}
	return nil
}

// onAverage takes the means of values of the same triplets, seen and unseen.
func onAverage(seen, unseen []float64, name string) record.OnAverageMeans {
	change := make([]float64, len(seen))
	for k, v := range unseen {
		change[k] = v - seen[k]
	}
	value := func(values []float64, definition string) record.Value {
		e := measuring.EstimateOf(values)
		if slices.Min(values) == slices.Max(values) { // nothing varies: Student's t has no interval
			return record.Value{Value: values[0], Definition: definition}
		}
		return record.Value{Value: e.Value, CI95: e.CI95, Definition: definition}
	}
	return record.OnAverageMeans{
		Seen:   value(seen, fmt.Sprintf("%s of (z_i, z_j, z_k) under A(S)", name)),
		Unseen: value(unseen, fmt.Sprintf("%s of (z_i, z_j, z_k) under A(S_ijk)", name)),
		Change: value(change, fmt.Sprintf("mean of %s(A(S_ijk); z_i, z_j, z_k) - %s(A(S); z_i, z_j, z_k) over random triplets of S (Definition 2)", name, name)),
	}
}
