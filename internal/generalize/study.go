package generalize

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run"
	"tercet/internal/wire"
)

// study is what stability and influence have in common: the run's sets, what replaces
// its images, and what networks are evaluated on.
type study struct {
	run   *run.Run
	o     ReplaceOptions
	p     progress.Progress
	sets  *wire.Sets
	held  data.Dataset
	probe *probe
	open  wire.Opener // of the run's source, read once
	*replacer
}

// newStudy opens what a study needs whose replaced images are evaluated on others.
func newStudy(ctx context.Context, r *run.Run, o ReplaceOptions, p progress.Progress) (*study, error) {
	if o.Triplets == 0 {
		o.Triplets = StabilityTriplets
	}
	s, err := openStudy(ctx, r, o, p)
	if err != nil {
		return nil, err
	}
	pool, items := partPool(s.held, o.Seed)
	s.replacer = newReplacer(s.sets.Train, s.held, o.Set, pool, o.Seed)
	return s, s.findProbe(ctx, items)
}

// openStudy opens the images of a study, without a probe and what replaces images.
func openStudy(ctx context.Context, r *run.Run, o ReplaceOptions, p progress.Progress) (*study, error) {
	if o.Repeats == 0 {
		o.Repeats = StabilityRepeats
	}
	s := &study{run: r, o: o, p: p, open: wire.Once(r.Elsewhere(data.Open))}
	var err error
	if s.sets, err = wire.OpenWith(ctx, r.Config, s.open, nil); err != nil {
		return nil, err
	}
	if err := r.SameData(ctx, s.sets); err != nil {
		return nil, err
	}
	if s.held, err = s.sets.Pick(o.Set); err != nil {
		return nil, err
	}
	if o.Set == "train" {
		return nil, fmt.Errorf("%w: networks are evaluated on images that are not used in training: test or validation", data.ErrUnfit)
	}
	return s, nil
}

// findProbe chooses the images among items, and the triplets of them.
func (s *study) findProbe(ctx context.Context, items []int) error {
	j := &probe{batch: s.run.Config.Eval.Batch}
	ds, err := data.Subset(s.held, items)
	if err != nil {
		return err
	}
	if j.ds, err = embed.Sample(ds, s.o.Limit); err != nil {
		return err
	}
	if j.print, err = j.ds.Fingerprint(ctx); err != nil {
		return err
	}
	if j.items, err = sampled(ds, items, s.o.Limit); err != nil {
		return err
	}
	if j.triplets, err = drawTriplets(j.ds.Labels(), s.o.Triplets, s.o.Set, rng.New(s.o.Seed, "stability/triplets")); err != nil {
		return err
	}
	j.loss, err = s.loss()
	s.probe = j
	return err
}

// loss is the run's on single triplets.
func (s *study) loss() (*tripletLoss, error) {
	weights, err := wire.RobustWeights(s.run.Config, s.sets)
	if err != nil {
		return nil, err
	}
	return newTripletLoss(s.run.Config, weights)
}

// sampled returns those of items, which are ds, that sample keeps.
func sampled(ds data.Dataset, items []int, limit int) ([]int, error) {
	// A dataset of the places, with the same labels.
	places := array.New(len(items), 1)
	for k := range items {
		places.Data[k] = float32(k)
	}
	all, err := data.NewVectors(places, ds.Labels(), ds.Classes())
	if err != nil {
		return nil, err
	}
	kept, err := embed.Sample(all, limit)
	if err != nil {
		return nil, err
	}
	out := make([]int, kept.Len())
	var place [1]float32
	for k := range out {
		if err := kept.Read(k, place[:]); err != nil {
			return nil, err
		}
		out[k] = items[int(place[0])]
	}
	return out, nil
}

// kinds are the kinds of replacement that are asked for, by default a fresh image and
// the adversary; where no held-out image is of a training class a twin takes the place
// of the fresh one.
func (s *study) kinds() ([]string, string) {
	if len(s.o.Replace) > 0 {
		return s.o.Replace, ""
	}
	if wire.Disjoint(s.train, s.held) {
		return []string{ReplaceTwin, ReplaceFar}, fmt.Sprintf("no %s image is of a training class: in place of held-out images, other training images of the class (%s)", s.o.Set, ReplacementWord(ReplaceTwin))
	}
	return []string{ReplaceFresh, ReplaceFar}, ""
}

// plan lists the replacements of the chosen images. m is the run's network.
func (s *study) plan(ctx context.Context, m *nn.Model, kinds []string, from []int) ([]record.Replacement, error) {
	controls := slices.Contains(kinds, ReplaceUlp)
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == ReplaceUlp })
	n := s.o.Repeats
	if len(s.o.Images) > 0 {
		n = len(s.o.Images)
	}
	var control []record.Replacement
	if controls {
		begin, _, err := wire.StartModel(s.run.Config, s.sets.Train)
		if err != nil {
			return nil, err
		}
		if control = ulps(begin, m, n, s.o.Seed); len(control) < n {
			return nil, fmt.Errorf("%w: training has changed %d weights, and %d are to be moved, one at a time", data.ErrUnfit, len(control), n)
		}
	}
	if len(kinds) == 0 {
		return control, nil
	}
	images, err := s.choose(s.o.Images, s.o.Repeats, kinds, from)
	if err != nil {
		return nil, err
	}
	if slices.Contains(kinds, ReplaceFar) {
		var classes []int32
		for _, i := range images {
			classes = append(classes, s.train.Labels()[i])
		}
		if err := s.findMeans(ctx, m, classes, s.run.Config.Eval.Batch); err != nil {
			return nil, err
		}
	}
	var out []record.Replacement
	for _, kind := range kinds {
		for _, i := range images {
			p, err := s.replace(i, kind)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	return append(out, control[:min(len(images), len(control))]...), nil
}

// source describes the probe.
func (s *study) source(checkpoint string, step, dim int) record.Source {
	return record.Source{
		Run: s.run.Dir, Config: s.run.Manifest.Config, Checkpoint: checkpoint, Step: step, Set: s.o.Set, Items: s.probe.ds.Len(),
		Classes: data.Distinct(s.probe.ds.Labels()), Dim: dim, Fingerprint: s.probe.print,
	}
}

// uses counts the rows of the first steps' batches by training image.
func (s *study) uses(steps int) ([]int, error) { return s.rows(0, steps) }

// rows counts the rows of the batches of steps [from, to) by training image.
func (s *study) rows(from, to int) ([]int, error) {
	sampler, _, err := wire.TrainingSampler(s.run.Config, s.sets)
	if err != nil {
		return nil, wire.InConfig("batch", err)
	}
	out := make([]int, s.sets.Train.Len())
	o := wire.TrainOptions(s.run.Config, sampler.Steps())
	per := o.StepsPerEpoch
	for epoch := from / per; epoch*per < to; epoch++ {
		for k, ids := range sampler.Plan(epoch) {
			if at := epoch*per + k/max(o.Accumulate, 1); at < from || at >= to {
				continue
			}
			for _, i := range ids {
				out[i]++
			}
		}
	}
	return out, nil
}
