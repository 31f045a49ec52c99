package generalize

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/evaluate"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run"
	"tercet/internal/stat"
	"tercet/internal/wire"
)

// GapTriplets is how many triplets of each set are drawn by default, LeastTriplets the
// least that are worth a mean, MostTriplets the most that are held in memory.
const (
	GapTriplets   = 200_000
	LeastTriplets = 100
	MostTriplets  = 10_000_000 // some 200 MB for each of two sets
)

// GapDoc is the document of a gap, which people are shown as a table.
type GapDoc struct{ record.Gap }

// Gap measures the generalization gap of a trained network, between its training images
// and others.
//
// Errors: *record.KeptError, before the work, where the document of the same weights has
// more, unless o.Force is set.
func Gap(ctx context.Context, r *run.Run, o GapOptions, say progress.Say) (*GapDoc, error) {
	start := time.Now()
	if err := ofNetwork(r, ", not a network"); err != nil {
		return nil, err
	}
	if o.Set == "train" {
		return nil, fmt.Errorf("%w: the gap is between the training images and others: use split test or validation", data.ErrUnfit)
	}
	if o.Triplets == 0 {
		o.Triplets = GapTriplets
	}
	if o.Delta == 0 {
		o.Delta = GapDelta
	}
	c, m, sets, err := r.Loaded(ctx, o.Checkpoint)
	if err != nil {
		return nil, err
	}
	ds, err := sets.Pick(o.Set)
	if err != nil {
		return nil, err
	}
	if err := keepGap(r, o); err != nil {
		return nil, err
	}
	weights, err := wire.RobustWeights(r.Config, sets)
	if err != nil {
		return nil, err
	}
	l, err := newTripletLoss(r.Config, weights)
	if err != nil {
		return nil, err
	}
	stored, err := storedTraining(ctx, r, sets)
	if err != nil {
		return nil, err
	}
	g := &gapSides{run: r, model: m, loss: l, options: o, say: say, by: byImages}
	if wire.Disjoint(sets.Train, ds) {
		g.by = byClasses
	}
	if o.Reference != "" {
		if g.reference, err = openReference(ctx, r, o.Reference, sets, ds, o.Set); err != nil {
			return nil, err
		}
	}
	if err := g.side(ctx, &g.train, stored, "train"); err != nil {
		return nil, err
	}
	if err := g.side(ctx, &g.test, ds, o.Set); err != nil {
		return nil, err
	}
	of, err := wire.SetRecord(ctx, sets.Train)
	if err != nil {
		return nil, err
	}
	print, err := ds.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	d := &GapDoc{record.Gap{
		Schema: record.GapSchema, Options: record.GapOptions{Triplets: o.Triplets, Bootstrap: o.Bootstrap, Seed: o.Seed, Limit: o.Limit}, Train: of, Resampled: g.by,
		Source: record.Source{
			Run: r.Dir, Config: r.Manifest.Config, Checkpoint: o.Checkpoint, Step: c.State.Step, Set: o.Set, Items: g.test.items.Len(),
			Classes: data.Distinct(g.test.items.Labels()), Dim: m.Dim(), Fingerprint: print,
		},
		Loss: record.LossGap{Name: l.Name, Of: l.Of, Sup: l.sup(r.Config)},
	}}
	d.Loss.Sides, d.Error = g.gaps()
	seen := slices.Concat(g.train.columns[0], g.test.columns[0])
	d.Loss.Largest, d.Loss.Smallest = slices.Max(seen), slices.Min(seen)
	if d.Bound, err = boundGap(&d.Loss, sets.Train, measuredGamma(r, o.Checkpoint, c.State.Step, m), o.Delta); err != nil {
		return nil, err
	}
	if sets.Noisy != nil {
		d.Warnings = append(d.Warnings, "trained on noisy labels: both sets are evaluated with true labels, so the training risk is not the one that was minimized")
	}
	if r.Config.Data.Distort.Strength > 0 {
		d.Warnings = append(d.Warnings, "trained on distorted images: both sets are evaluated without distortion, so the training risk is not the one that was minimized")
	}
	if g.reference != nil {
		d.Reference = &g.reference.record
		d.Warnings = append(d.Warnings, d.referenceCautions()...)
	}
	d.Warnings = append(d.Warnings, evaluate.Coarse(record.EvalOptions{Bootstrap: o.Bootstrap})...)
	d.Cost = record.CostRecord{Cost: record.Cost{Forward: int64(g.networks() * (g.train.items.Len() + g.test.items.Len()))}, Seconds: time.Since(start).Seconds()}
	return d, nil
}

// storedTraining returns the training images of sets, opened by r's config, as they are
// stored: test images are not distorted, and what is compared with them is of one
// distribution with them only if it is not either.
func storedTraining(ctx context.Context, r *run.Run, sets *wire.Sets) (data.Dataset, error) {
	if r.Config.Data.Distort.Strength == 0 {
		return sets.Train, nil
	}
	var plain data.Dataset
	_, err := wire.OpenWith(ctx, r.Config, r.Elsewhere(data.Open), func(s *wire.Sets) error { // before it distorts
		plain = s.Train
		return nil
	})
	return plain, err
}

// gapSides are the two sets of a gap under one network.
type gapSides struct {
	run         *run.Run
	model       *nn.Model
	loss        *tripletLoss
	options     GapOptions
	say         progress.Say
	by          string
	reference   *gapReference // nil for none
	train, test gapSide
}

// networks is how many evaluate the images.
func (g *gapSides) networks() int {
	if g.reference != nil {
		return 2
	}
	return 1
}

// gapSide is one set with its triplets and their values: losses, and errors as 0 or 1,
// then both of the reference where there is one.
type gapSide struct {
	items    data.Dataset
	triplets []loss.Triplet
	columns  [][]float64
}

// side draws and evaluates the triplets of ds.
func (g *gapSides) side(ctx context.Context, s *gapSide, ds data.Dataset, set string) error {
	o := g.options
	var err error
	if s.items, err = embed.Sample(ds, o.Limit); err != nil {
		return err
	}
	// Before the work: what cannot be drawn need not be embedded.
	if s.triplets, err = drawTriplets(s.items.Labels(), o.Triplets, set, rng.New(o.Seed, "gap/triplets "+set)); err != nil {
		return err
	}
	if err := g.evaluate(ctx, s, g.model, set, set); err != nil {
		return err
	}
	if g.reference == nil {
		return nil
	}
	if err := g.evaluate(ctx, s, g.reference.model, set, set+", reference"); err != nil {
		return fmt.Errorf("%s %s: %w", option.Name("reference"), g.reference.record.Run, err)
	}
	return nil
}

// evaluate adds the columns of one network.
func (g *gapSides) evaluate(ctx context.Context, s *gapSide, m *nn.Model, set, stage string) error {
	z, err := embed.Batches(ctx, m, s.items, g.run.Config.Eval.Batch, g.say.Of("embed "+stage))
	if err != nil {
		return err
	}
	if err := finiteRows(z, set); err != nil {
		return err
	}
	v, err := g.loss.eval(z, s.triplets)
	if err != nil {
		return err
	}
	s.columns = append(s.columns, v.loss, v.errors())
	return nil
}

// errors are 1 where the order is wrong, else 0.
func (v tripletValues) errors() []float64 {
	out := make([]float64, len(v.wrong))
	for i, w := range v.wrong {
		if w {
			out[i] = 1
		}
	}
	return out
}

// gaps are those of the loss and of the 0-1 error, with their intervals.
func (g *gapSides) gaps() (ofLoss, ofError record.Sides) {
	var out [2]record.Sides
	for c, name := range []string{"loss", "0-1 error"} {
		def := name + "(random triplets)"
		s := &out[c]
		s.Train = record.Value{Value: stat.Mean(g.train.columns[c]), Definition: def}
		s.Test = record.Value{Value: stat.Mean(g.test.columns[c]), Definition: def}
		s.Gap = record.Value{Value: s.Test.Value - s.Train.Value, Definition: "test - train of " + def}
		if g.reference != nil {
			s.Control = &record.Value{Value: stat.Mean(g.train.columns[2+c]) - stat.Mean(g.test.columns[2+c]), Definition: "train - test of " + def + " of the reference"}
			s.Coefficient, s.Controlled = new(1.0), &record.Value{Definition: "gap + coefficient * control"}
		}
	}
	if g.options.Bootstrap > 0 {
		g.intervals(&out)
	}
	for c := range out {
		if s := &out[c]; s.Control != nil {
			s.Controlled.Value = s.Gap.Value + float64(*s.Coefficient*s.Control.Value)
		}
	}
	return out[0], out[1]
}
