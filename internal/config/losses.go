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
	o, ok := c.Loss.Options.(loss.Fitter)
	if !ok {
		return
	}
	report("loss.", o.Fit(loss.Setting{Normalized: c.Model.Normalize, Noise: c.Noise.Kind, Contrast: c.contrast}), fail)
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
