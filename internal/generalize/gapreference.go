package generalize

import (
	"context"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/nn"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/wire"
)

// openReference is a network as control variate.
type gapReference struct {
	model  *nn.Model
	record record.GapReference
}

// openReference opens the run in dir as the control variate of r's gap between sets.Train
// and heldOut, the set of that name. R_S - R of a network has mean 0 over the choice of
// both where the network does not depend on it: where it has learned from none of their
// images and, if they are of different classes, from no image of these.
//
// Errors: ErrNoRun where dir holds no finished run; data.ErrUnfit where that is of a
// metric, sees images in another form, or has learned from what it must not.
func openReference(ctx context.Context, r *run.Run, dir string, sets *wire.Sets, heldOut data.Dataset, set string) (*gapReference, error) {
	ref, err := run.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option.Name("reference"), err)
	}
	if ref.Config.LearnsMetric() {
		return nil, fmt.Errorf("%w: %s %s has model mahalanobis; the reference of a network must be a network", data.ErrUnfit, option.Name("reference"), dir)
	}
	if s := ref.Manifest.Status; s != record.Finished {
		return nil, fmt.Errorf("%w: %s %s is %s, not finished; `tercet train %s %s` continues it", run.ErrNoRun, option.Name("reference"), dir, s, option.Name("resume"), dir)
	}
	const checkpoint = "last"
	c, m, own, err := ref.Loaded(ctx, checkpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option.Name("reference"), err)
	}
	trained, err := wire.SetRecord(ctx, own.Train)
	if err != nil {
		return nil, err
	}
	h, w, channels := sets.Train.Shape()
	if err := sameForm(ref.Config, r.Config, trained.Shape, [3]int{h, w, channels}); err != nil {
		return nil, fmt.Errorf("%w: %s %s was trained on images of another form: %w", data.ErrUnfit, option.Name("reference"), dir, err)
	}
	g := &gapReference{model: m, record: record.GapReference{Run: dir, Checkpoint: checkpoint, Step: c.State.Step, Train: trained}}
	knows := learnedFrom(own)
	s, err := newOverlap(ctx, knows, sets, heldOut)
	if err != nil {
		return nil, err
	}
	if s.train+s.heldOut > 0 {
		return nil, fmt.Errorf("%w: %s %s was trained on %d of the %d training images and %d of the %d %s images of %s: its difference has mean 0 only without them; train it on others, with data.skip_per_class no less than the limit_per_class of this run and the same data.split, seed included", data.ErrUnfit, option.Name("reference"), dir, s.train, sets.Train.Len(), s.heldOut, heldOut.Len(), set, r.Dir)
	}
	g.record.Copies = s.copies
	if stop := stopping(own, ref.Config); stop != nil {
		s, err := newOverlap(ctx, []data.Dataset{stop}, sets, heldOut)
		if err != nil {
			return nil, err
		}
		if s.train+s.heldOut > 0 {
			return nil, fmt.Errorf("%w: the training of %s %s was to stop by its test images (train.early_stop.metric %s), which are %d of the %d training images and %d of the %d %s images of %s: its difference has mean 0 only where it does not depend on them; train it with data.split.validation, by whose images it then stops, or without train.early_stop", data.ErrUnfit, option.Name("reference"), dir, ref.Config.Train.EarlyStop.Metric, s.train, sets.Train.Len(), s.heldOut, heldOut.Len(), set, r.Dir)
		}
		g.record.Copies += s.copies
		knows = append(knows, stop)
	}
	if !wire.Disjoint(sets.Train, heldOut) {
		return g, nil
	}
	for _, ds := range knows {
		if !wire.Disjoint(ds, sets.Train) || !wire.Disjoint(ds, heldOut) {
			return nil, fmt.Errorf("%w: %s %s was trained on classes of %s, whose %s images are of other classes than its training images: it is better on the classes that it knows, so its difference has no mean of 0; take a run on other classes", data.ErrUnfit, option.Name("reference"), dir, r.Dir, set)
		}
	}
	return g, nil
}

// sameForm returns an error where two configs, or their images (H, W, C), differ in how
// images are brought to a form.
func sameForm(ref, own *config.Config, refShape, ownShape [3]int) error {
	a, b := wire.DataOptions(ref), wire.DataOptions(own)
	for _, k := range []struct {
		key      string
		ref, own any
	}{{"size", a.Size, b.Size}, {"crop", a.Crop, b.Crop}, {"fit", a.Fit, b.Fit}, {"color", ref.Data.Color, own.Data.Color}} {
		if k.ref != k.own {
			return fmt.Errorf("data.%s is %v there and %v here", k.key, k.ref, k.own)
		}
	}
	if refShape != ownShape {
		return fmt.Errorf("%dx%dx%d there and %dx%dx%d here", refShape[0], refShape[1], refShape[2], ownShape[0], ownShape[1], ownShape[2])
	}
	return nil
}

// learnedFrom are the sets that a run's weights depend on whatever stops it: what it
// trains on, and what is held out of that.
func learnedFrom(s *wire.Sets) []data.Dataset {
	out := []data.Dataset{s.Train}
	if s.Validation != nil {
		out = append(out, s.Validation)
	}
	return out
}

// stopping are the test images where it is they that may stop a run of cfg; else nil.
func stopping(s *wire.Sets, cfg *config.Config) data.Dataset {
	if s.Test == nil || !run.StopsOnTest(cfg, s.Validation != nil) {
		return nil
	}
	return s.Test
}

// overlap is how many images that a reference knows are training or held-out images of a
// run, and how many only look like one.
type overlap struct{ train, heldOut, copies int }

func newOverlap(ctx context.Context, knows []data.Dataset, sets *wire.Sets, heldOut data.Dataset) (overlap, error) {
	var beside []data.Dataset
	for _, ds := range []data.Dataset{sets.Train, sets.Validation, sets.Test} {
		if ds != nil {
			beside = append(beside, ds)
		}
	}
	var s overlap
	train, err := data.NewItemSet(ctx, sets.Train, beside...)
	if err != nil {
		return s, err
	}
	held, err := data.NewItemSet(ctx, heldOut, beside...)
	if err != nil {
		return s, err
	}
	for _, ds := range knows {
		k, err := data.NewItemSet(ctx, ds)
		if err != nil {
			return s, err
		}
		a, copies := k.Shared(train)
		b, more := k.Shared(held)
		s.train, s.heldOut, s.copies = s.train+a, s.heldOut+b, s.copies+copies+more
	}
	return s, nil
}

// referenceCautions say where the control variate is worth less than it seems.
func (d *GapDoc) referenceCautions() []string {
	var out []string
	if n := d.Reference.Copies; n > 0 {
		out = append(out, fmt.Sprintf("%d training images of the reference equal training or evaluated images in all pixels: they are stored separately and count as others", n))
	}
	for _, v := range []struct {
		name string
		record.Sides
	}{{"loss", d.Loss.Sides}, {"triplet error", d.Error}} {
		if v.Control == nil || v.Control.CI95 == nil {
			continue
		}
		better := ""
		switch ci := v.Control.CI95; {
		case ci[0] > 0:
			better = d.Source.Set
		case ci[1] < 0:
			better = "training"
		default:
			continue
		}
		out = append(out, fmt.Sprintf("the control of the %s is %.4g [%.4g, %.4g], not about 0: the reference does better on %s images; unless that is chance, as once in twenty, training and %s images are not of one distribution, or it knows something of them, and the controlled gap is off",
			v.name, v.Control.Value, v.Control.CI95[0], v.Control.CI95[1], better, d.Source.Set))
	}
	return out
}
