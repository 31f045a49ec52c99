package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/optim"
)

// Validate checks every value and how they fit together, and returns all
// mistakes at once. Load has done so already; it is for configs changed in code.
func (c *Config) Validate() error {
	var errs []*Error
	c.check(nil, func(e *Error) { errs = append(errs, e) })
	return join(errs)
}

// check reports mistakes in keys that are not in skip.
func (c *Config) check(skip map[string]bool, report func(*Error)) {
	fail := func(key, format string, args ...any) {
		if !skip[key] {
			report(c.src.origin(key).errorf(key, fmt.Sprintf(format, args...)))
		}
	}
	c.walk(func(l leaf) {
		if !skip[l.path] {
			checkLeaf(l, fail)
		}
	})
	c.refuseIdle(fail)
	checkers(reflect.ValueOf(c).Elem(), "", fail)
	c.rules(fail)
}

// checkers reports what components find wrong in their own options.
func checkers(section reflect.Value, path string, fail func(key, format string, args ...any)) {
	check := func(v reflect.Value) {
		for _, f := range fields(v.Type()) {
			if component.IsSection(f.typ) {
				checkers(v.Field(f.index), path+f.name+".", fail)
			}
		}
	}
	check(section)
	if _, _, ok := choice(section.Type()); !ok {
		return
	}
	options := section.FieldByName("Options").Elem()
	if !options.IsValid() {
		return
	}
	check(options)
	if o, ok := options.Interface().(component.Checker); ok && len(component.CheckTags(o)) == 0 {
		report(path, o.Check(), fail)
	}
}

func checkLeaf(l leaf, fail func(key, format string, args ...any)) {
	for _, msg := range component.CheckValue(l.v, l.f.tag) {
		fail(l.path, "%s", msg)
	}
}

var (
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,+=-]*$`)
	metricForm = regexp.MustCompile(`^(retrieval|clustering)\.[a-z0-9_@]+$|^pair_(train_)?accuracy$`)
)

// rules holds what must fit together across keys.
func (c *Config) rules(fail func(key, format string, args ...any)) {
	c.nameRule(fail)
	if s, ok := c.Data.Options.(data.Needy); ok {
		for _, f := range s.Missing(c.Data.Split.Kind == "file") {
			fail("data."+f.Key, "must be set for data %q: %s", c.Data.Name, f.Msg)
		}
	}
	if c.Data.Classes == 1 {
		fail("data.classes", "is 1: nothing is different where all is of one class; set 2 or more, or 0 for all")
	}
	c.sourceRules(fail)
	if d := c.Data.Distort; d.Fresh && d.Strength == 0 {
		fail("data.distort.fresh", "draws no maps at a strength of 0: set data.distort.strength")
	}
	if c.Data.Size > 0 && c.Data.Crop > c.Data.Size {
		fail("data.crop", "is larger than data.size (%d)", c.Data.Size)
	}
	if (c.Train.Epochs > 0) == (c.Train.Steps > 0) {
		fail("train.epochs", "set exactly one of train.epochs and train.steps above 0 (they are %d and %d)", c.Train.Epochs, c.Train.Steps)
	}
	if c.LearnsMetric() {
		c.metricRules(fail)
	} else {
		c.stepRules(fail)
		c.shardRules(fail)
		c.minerRules(fail)
		c.lossRules(fail)
		c.tupleRules(fail)
		c.noiseRules(fail)
		c.defenseRules(fail)
		c.stopRules(fail)
	}
	c.searchRules(fail)
	if c.Eval.Bootstrap > maxResamples {
		fail("eval.bootstrap", "must be at most %d, is %d", maxResamples, c.Eval.Bootstrap)
	}
	if c.Eval.Pairs%2 != 0 {
		fail("eval.pairs", "must be even, half similar and half different, is %d", c.Eval.Pairs)
	}
	for i := 1; i < len(c.Eval.Ks); i++ {
		if c.Eval.Ks[i] <= c.Eval.Ks[i-1] {
			fail("eval.ks", "must rise: %d comes after %d", c.Eval.Ks[i], c.Eval.Ks[i-1])
			break
		}
	}
}

func (c *Config) nameRule(fail func(key, format string, args ...any)) {
	if !nameForm.MatchString(c.Name) || len(c.Name) > 200 {
		fail("name", "names a folder: letters, digits and _ . , + = - only, at most 200, not starting with a dot or sign; is %q", c.Name)
	}
}

// sourceRules holds what only some sources of data have a meaning for.
func (c *Config) sourceRules(fail func(key, format string, args ...any)) {
	d := c.Data
	traits := d.Options.Traits()
	c.transformRules(fail)
	if traits.Drawn && d.Crop > 0 {
		fail("data.crop", "has no meaning for data %s: characters are drawn at data.size; remove it", d.Name)
	}
	if !traits.Vectors {
		return
	}
	for _, k := range []struct {
		key string
		set bool
	}{
		{"data.distort.strength", d.Distort.Strength > 0}, {"data.size", d.Size > 0}, {"data.crop", d.Crop > 0}, {"data.color", d.Color != "native"},
		{"data.augment.crop_padding", d.Augment.CropPadding > 0}, {"data.augment.flip", d.Augment.Flip},
	} {
		if k.set {
			fail(k.key, "changes images; data %s are vectors: remove it", d.Name)
		}
	}
}

// stepRules holds what an optimizer and a schedule ask of the rest. A warm-up is
// compared with the length of the run where no data are needed to know that: where
// both count in the same unit.
func (c *Config) stepRules(fail func(key, format string, args ...any)) {
	o := c.Optimizer
	if o.Clip > 0 && o.ClipValue > 0 {
		fail("optimizer.clip_value", "limits the gradient together with optimizer.clip: set one of them to 0")
	}
	if f, ok := o.Options.(optim.Fitter); ok {
		report("optimizer.", f.Fit(optim.Config{Name: o.Name, Keys: o.Options, WeightDecay: o.WeightDecay, Decay: o.Decay}), fail)
	}
	if _, err := optim.ParseExtensions(o.Schedule.Before, max(c.Train.Epochs, c.Train.Steps)); err != nil {
		fail("optimizer.schedule.extended", "%v", err)
	}
	if _, ok := o.Schedule.Options.(optim.FollowsScores); ok {
		c.plateauRules(fail)
	}
	if f, ok := o.Schedule.Options.(optim.ScheduleFitter); ok {
		warmup, length := float64(o.Schedule.Warmup.Steps(1)), c.Train.Steps
		if o.Schedule.Warmup.Unit == "epochs" {
			warmup, length = o.Schedule.Warmup.N, c.Train.Epochs
		}
		report("optimizer.schedule.", f.Fit(optim.Course{LR: o.LR, Warmup: warmup, Length: float64(length), Unit: o.Schedule.Warmup.Unit}), fail)
	}
}

// plateauRules holds what a schedule asks of the rest that follows scores of validation
// images.
func (c *Config) plateauRules(fail func(key, format string, args ...any)) {
	const key = "optimizer.schedule.name"
	if c.Data.Split.Validation == 0 {
		fail(key, "plateau follows scores of validation images, and none are held out: set data.split.validation")
	}
	if c.Train.EvalEvery == 0 {
		fail(key, "plateau needs evaluations during training: set train.eval_every")
	}
	if stop := c.Train.EarlyStop; stop.Metric == "pair_train_accuracy" || stop.Metric != "" && stop.On != "validation" {
		fail(key, "plateau follows train.early_stop.metric on validation images, not %s on %s images: change train.early_stop", stop.Metric, stop.On)
	}
}

// minerRules holds what a miner asks of the rest.
func (c *Config) minerRules(fail func(key, format string, args ...any)) {
	if f, ok := c.Miner.Options.(mine.Fitter); ok {
		report("miner.", f.Fit(c.Model.Normalize), fail)
	}
}

// report reports the faults of a component in the section of that path.
func report(path string, faults []component.Fault, fail func(key, format string, args ...any)) {
	for _, f := range faults {
		fail(path+f.Key, "%s", f.Msg)
	}
}

// maxResamples is metric.MaxResamples, from which a test of package run
// keeps it from parting.
const maxResamples = 1_000_000

func (c *Config) stopRules(fail func(key, format string, args ...any)) {
	m := c.Train.EarlyStop.Metric
	if m == "" {
		return
	}
	if !metricForm.MatchString(m) {
		fail("train.early_stop.metric", "is not a key of an evaluation such as retrieval.recall@1 or clustering.nmi: %q", m)
	}
	if strings.HasPrefix(m, "pair_") && c.Batch.Gives() != loss.Pairs {
		fail("train.early_stop.metric", "%s is measured on runs that train on pairs: set batch.sampler: pair-graph", m)
	}
	if m == "pair_accuracy" && c.Eval.Pairs == 0 {
		fail("train.early_stop.metric", "pair_accuracy is measured on held-out pairs: set eval.pairs above 0")
	}
	if c.Train.EvalEvery == 0 {
		fail("train.early_stop.metric", "needs evaluations during training: set train.eval_every")
	}
}
