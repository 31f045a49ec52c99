package config

import (
	"tercet/internal/component"
	"tercet/internal/engine/loss"
	"tercet/internal/noise"
	"tercet/internal/text"
)

// For returns the key of the loss with which it takes tuples of that kind, and the
// key's value; ok is false where there is none.
func (l Loss) For(k loss.Kind) (key, value string, ok bool) {
	if s, is := l.Options.(loss.Switchable); is {
		return s.For(k)
	}
	return "", "", false
}

// losses lists the losses that take tuples of that kind as they are.
func losses(k loss.Kind) string {
	var out []string
	for _, c := range loss.Family.All() {
		if c.Defaults.Takes() == k {
			out = append(out, c.Name)
		}
	}
	return text.List(out, "or")
}

// lossRules holds what a loss asks of the rest.
func (c *Config) lossRules(fail func(key, format string, args ...any)) {
	c.viewRules(fail)
	c.memoryRules(fail)
	o, ok := c.Loss.Options.(loss.Fitter)
	if !ok {
		return
	}
	report("loss.", o.Fit(loss.Setting{Normalized: c.Model.Normalize, Views: c.Batch.Views, Collapse: c.Train.Collapse.Enabled, Noise: c.Noise.Kind, Contrast: c.contrast}), fail)
}

// viewRules holds what views of an image ask of the rest.
func (c *Config) viewRules(fail func(key, format string, args ...any)) {
	if c.Batch.Views < 2 {
		return
	}
	if gives := c.Batch.Gives(); gives != "" {
		fail("batch.views", "sampler %s gives %s of images, each image once: remove it, or use another sampler", c.Batch.Sampler, gives)
	}
	d := c.Data
	if !d.Transform.Given() && d.Augment == (Augment{}) && !d.Distort.Fresh {
		fail("batch.views", "views of an image differ by random changes, and there are none: set data.augment, data.distort.fresh or data.transform")
	}
}

// memoryRules holds what a memory of embeddings asks of the rest.
func (c *Config) memoryRules(fail func(key, format string, args ...any)) {
	m, takes := c.Loss.Memory, c.Loss.Options.Takes()
	if m.Size == 0 {
		if m.Warmup.N > 0 {
			fail("loss.memory.warmup", "has no effect without a memory: set loss.memory.size, or remove it")
		}
		return
	}
	if takes != loss.Pairs && takes != loss.Triplets {
		fail("loss.memory.size", "embeddings are remembered for losses on pairs (%s) and on triplets (%s); %s takes %s: remove it, or change the loss", losses(loss.Pairs), losses(loss.Triplets), c.Loss.Name, everything(takes))
	}
	if gives := c.Batch.Gives(); gives != "" {
		fail("loss.memory.size", "sampler %s gives the %s of a batch, none of them with earlier images: remove it, or use another sampler", c.Batch.Sampler, gives)
	}
	if c.Defense.Name != families["defense"][0].Name {
		fail("loss.memory.size", "embeddings of earlier batches are not those of images that defense %s perturbs: remove it, or the defense", c.Defense.Name)
	}
}

// contrast is that of loss.Setting. It moves one way with the number of classes, so
// that few and many bound it.
func (c *Config) contrast(product bool) (most float64, known bool) {
	o, known := c.Noise.Options.(noise.Weighted)
	if !known || len(component.Check(o)) > 0 { // its own faults are said elsewhere
		return 1, known
	}
	for _, classes := range []int{2, 1_000_000} {
		w, err := o.TripletWeights(classes)
		if err != nil { // no such noise with so many classes
			continue
		}
		if product {
			w = noise.Product(w)
		}
		most = max(most, w.W11-w.W00)
	}
	return most, true
}
