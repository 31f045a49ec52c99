package wire

import (
	"fmt"
	"strings"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/text"
	"tercet/internal/train"
	"tercet/internal/weights"
)

// modelSpec is the network that cfg names, for images of ds after augmentation; without
// ds their size is left open.
func modelSpec(cfg *config.Config, ds data.Dataset) nn.Spec {
	s := nn.Spec{
		Name:      cfg.Model.Name,
		Embedding: cfg.Model.Embedding, Normalize: cfg.Model.Normalize, Init: cfg.Model.Init,
	}
	if ds != nil {
		s.Height, s.Width, s.Channels = ds.Shape()
	}
	if k, ok := cfg.Model.Options.(nn.Setter); ok {
		k.Set(&s)
	}
	return s
}

// BuildModel makes the untrained network of cfg for images like those of ds.
func BuildModel(cfg *config.Config, ds data.Dataset) (*nn.Model, error) {
	return nn.Build(modelSpec(cfg, ds), rng.New(cfg.Seed, "init"))
}

// checkedSide is the size of images for checks that need a network before the data are known.
const checkedSide = 28

// CheckBinding returns what a defense that needs the network's layers has against them, as
// far as that does not depend on the images.
func CheckBinding(cfg *config.Config, d adversary.Defense) error {
	binding, ok := d.(adversary.Binding)
	if !ok || !binding.Binds() {
		return nil
	}
	s := modelSpec(cfg, nil)
	s.Height, s.Width, s.Channels = checkedSide, checkedSide, 1
	m, err := nn.Build(s, rng.New(cfg.Seed, "init"))
	if err != nil {
		return nil // such as one for larger images: known with the data
	}
	return binding.Bind(m)
}

// CheckWeights returns what is wrong with the file of weights that cfg names, as far as
// that does not depend on the data.
func CheckWeights(cfg *config.Config) error {
	if cfg.Model.Weights == "" {
		return nil
	}
	f, err := weights.Open(cfg.Model.Weights)
	if err != nil {
		return fmt.Errorf("model.%w", err)
	}
	s := modelSpec(cfg, nil)
	m, err := f.AnySize(s)
	if err != nil {
		return InConfig("model", err)
	}
	if m == nil {
		return nil
	}
	if _, err = f.Fill(m); err != nil {
		return fmt.Errorf("model.%w", err)
	}
	return nil
}

// StartModel is BuildModel with the weights that training begins with: those of the
// file that cfg names, which it describes, in place of drawn ones.
func StartModel(cfg *config.Config, ds data.Dataset) (*nn.Model, *record.StartWeights, error) {
	return startModel(cfg, modelSpec(cfg, ds))
}

func startModel(cfg *config.Config, s nn.Spec) (*nn.Model, *record.StartWeights, error) {
	m, err := nn.Build(s, rng.New(cfg.Seed, "init"))
	if err != nil {
		return nil, nil, InConfig("model", err)
	}
	if cfg.Model.Weights == "" {
		return m, nil, nil
	}
	f, err := weights.Open(cfg.Model.Weights)
	if err != nil {
		return nil, nil, fmt.Errorf("model.%w", err)
	}
	start, err := f.Fill(m)
	if err != nil {
		return nil, nil, fmt.Errorf("model.%w", err)
	}
	return m, start, nil
}

// BuildSampler makes the batcher of cfg, and the pairs that it gives, if any.
func BuildSampler(cfg *config.Config, sets *Sets) (batch.Sampler, *tuples, error) {
	if s, t, ok, err := sets.given(cfg); ok {
		return s, t, err
	}
	k, ok := cfg.Batch.Options.(batch.ByLabels)
	if !ok {
		return nil, nil, fmt.Errorf("sampler %s: makes no batches of labeled images", cfg.Batch.Sampler)
	}
	s, err := k.New(sets.Seen(), batch.Options{DropLast: cfg.Batch.DropLast, Seed: cfg.Seed})
	if g, ok := k.(batch.OfClasses); ok && g.ClassesPerBatch() > 0 && err != nil {
		err = fmt.Errorf("%w; %s", err, sets.batchHint())
	}
	if err != nil {
		return nil, nil, err
	}
	return batch.Views(s, cfg.Batch.Views), nil, nil
}

// TrainingSampler is the batcher that training follows: that of BuildSampler, each batch of
// which a defense may replay.
func TrainingSampler(cfg *config.Config, sets *Sets) (batch.Sampler, *tuples, error) {
	s, t, err := BuildSampler(cfg, sets)
	if d, ok := cfg.Defense.Options.(adversary.Replaying); ok && err == nil {
		s = batch.Replay(s, d.Times())
	}
	return s, t, err
}

// batchHint names the keys that a batch of classes depends on.
func (s *Sets) batchHint() string {
	hint := "the keys are batch.classes and batch.per_class"
	if s.Validation != nil {
		held := data.Distinct(s.Validation.Labels())
		hint += fmt.Sprintf("; data.split.validation holds out images of %s", text.Plural(held, "class", "classes"))
	}
	return hint
}

// BuildObjective makes the loss of cfg. weights are those of a loss that knows how
// probable wrong triplets are, nil for other losses and for clean triplets.
func BuildObjective(cfg *config.Config, weights *record.TripletProbabilities) (loss.Objective, error) {
	o := cfg.Loss.Options
	if w, ok := o.(loss.NoiseAware); ok && weights != nil {
		o = w.Weigh(weights.W1, weights.W2)
	}
	return o.New()
}

// minerName is the miner of cfg, or the sampler that its defense puts in its place.
func minerName(cfg *config.Config) string {
	if s := cfg.Defense.Sampler(); s != "" {
		return s
	}
	return cfg.Miner.Name
}

// mineOptions are the options of every miner of cfg, for batches of the sampler's
// layout. The band is in units of the loss's distance; its default is the loss's
// margin.
func mineOptions(cfg *config.Config, layout string, obj loss.Objective) mine.Options {
	o := mine.Options{Layout: mine.Layout(layout), Margin: obj.Margin()}
	if l, ok := cfg.Loss.Options.(loss.OnSquares); ok {
		o.Squared = l.Squared()
	}
	if k, ok := cfg.Miner.Options.(mine.Setter); ok {
		k.Set(&o)
	}
	// As published, pairs of one class only yield triplets with any row.
	r, ok := cfg.Batch.Options.(batch.Repeating)
	o.AnyRow = ok && r.Repeating()
	return o
}

// BuildMiner makes the miner of cfg. A sampler that gives tuples needs none, and
// neither does a loss over all pairs or on labels, which gets them. labels are those of
// the training images.
func BuildMiner(cfg *config.Config, layout string, obj loss.Objective, labels []int32) (mine.Miner, error) {
	if cfg.Batch.Gives() != "" {
		return mine.NewGiven(mine.Layout(layout))
	}
	switch cfg.Loss.Options.Takes() {
	case loss.Labels:
		return mine.NewLabels(labels), nil
	case loss.Triplets:
		m, err := mine.New(minerName(cfg), mineOptions(cfg, layout, obj))
		if l, ok := cfg.Loss.Options.(loss.WithLabels); ok && err == nil {
			if _, _, ok := l.WithLabels(); ok {
				m = mine.NewLabels(labels).With(m)
			}
		}
		return m, err
	}
	return mine.AllPairs{}, nil
}

// OptimizerConfig is that of cfg, for all parameters.
func OptimizerConfig(cfg *config.Config) optim.Config {
	o := cfg.Optimizer
	return optim.Config{Name: o.Name, Keys: o.Options, WeightDecay: o.WeightDecay, Decay: o.Decay, DecayAll: o.DecayAll}
}

// buildOptimizer makes the optimizer of cfg for model and the parameters of its loss.
func buildOptimizer(cfg *config.Config, model *nn.Model, obj loss.Objective, headOnly int) (optim.Optimizer, error) {
	groups, err := networkGroups(cfg, model, headOnly)
	if err != nil {
		return nil, err
	}
	if p, ok := obj.(loss.Parametric); ok {
		g := optim.Group{Params: p.Params(), Rate: 1}
		if l, ok := cfg.Loss.Options.(loss.Learned); ok {
			factor, decay := l.Rate()
			if g.Rate = factor; decay.Given {
				g.WeightDecay = &decay.N
			}
		}
		groups = append(groups, g)
	}
	return optim.NewGroups(OptimizerConfig(cfg), groups)
}

// networkGroups are all parameters of model in one group, or the trunk, which begins after
// the steps of the head alone, and the head.
func networkGroups(cfg *config.Config, model *nn.Model, headOnly int) ([]optim.Group, error) {
	o := cfg.Optimizer
	if !o.Head.LR.Given && !o.Head.WeightDecay.Given && headOnly == 0 {
		return []optim.Group{{Params: model.Params(), Rate: 1}}, nil
	}
	trunk, head, err := model.Parts()
	if err != nil {
		return nil, fmt.Errorf("optimizer.head and train.head_only: %w", err)
	}
	own := optim.Group{Params: head, Rate: 1}
	if o.Head.LR.Given {
		own.Rate = o.Head.LR.N / o.LR
	}
	if o.Head.WeightDecay.Given {
		own.WeightDecay = &o.Head.WeightDecay.N
	}
	return []optim.Group{{Params: trunk, Rate: 1, From: int64(headOnly)}, own}, nil
}

// buildSchedule makes the learning rate of cfg for a run of that many steps.
func buildSchedule(cfg *config.Config, steps, perEpoch int) (optim.Extended, error) {
	s := optim.Extended{Schedule: PlainSchedule(cfg, steps, perEpoch)}
	var err error
	if s.Before, err = optim.ParseExtensions(cfg.Optimizer.Schedule.Before, max(cfg.Train.Epochs, cfg.Train.Steps)); err != nil {
		return s, err
	}
	for i := range s.Before {
		if cfg.Train.Epochs > 0 {
			s.Before[i].End *= perEpoch
		}
	}
	return s, s.Check()
}

// PlainSchedule is the schedule of a run of that many steps that was never lengthened.
func PlainSchedule(cfg *config.Config, steps, perEpoch int) optim.Schedule {
	o := cfg.Optimizer
	return optim.Schedule{Keys: o.Schedule.Options, Base: o.LR, Warmup: o.Schedule.Warmup.Steps(perEpoch), Total: steps, PerEpoch: perEpoch}
}

// collapseChecks is the distance of two checks of the collapse monitor, in
// steps.
const collapseChecks = 10

// TrainOptions are the loop's lengths and intervals in steps, given the batches of an epoch.
func TrainOptions(cfg *config.Config, batches int) train.Options {
	t := cfg.Train
	perEpoch := train.StepsPerEpoch(batches, t.Accumulate)
	o := train.Options{
		Seed: cfg.Seed, Steps: t.Steps, StepsPerEpoch: perEpoch, Accumulate: t.Accumulate, BatchesPerEpoch: batches, Mode: nn.Train,
		Clip: cfg.Optimizer.Clip, ClipValue: cfg.Optimizer.ClipValue, HeadOnly: t.HeadOnly.Steps(perEpoch), LogEvery: t.LogEvery, EvalEvery: t.EvalEvery,
	}
	if t.KeepEvery.N > 0 {
		o.KeepEvery = max(1, t.KeepEvery.Steps(perEpoch))
	}
	if t.Epochs > 0 {
		o.Steps = t.Epochs * perEpoch
	}
	if strings.HasPrefix(t.BatchNorm, "frozen") {
		o.Mode = nn.Frozen
	}
	if t.CheckpointEvery.Unit == "minutes" {
		o.CheckpointAfter = time.Duration(min(t.CheckpointEvery.N*float64(time.Minute), 1<<62))
	} else {
		o.CheckpointEvery = t.CheckpointEvery.Steps(perEpoch)
	}
	if c := t.Collapse; c.Enabled {
		o.Collapse = train.CollapseOptions{
			Every: collapseChecks, Cosine: c.Cosine, Rank: c.Rank, Active: c.Active,
			Patience: max(1, c.Window/collapseChecks), Grace: c.Window,
		}
	}
	o.Stop.Metric = "loss"
	if t.EarlyStop.Metric != "" {
		o.Stop = train.EarlyStop{Metric: t.EarlyStop.Metric, Patience: t.EarlyStop.Patience, MinDelta: t.EarlyStop.MinDelta}
	}
	return o
}
