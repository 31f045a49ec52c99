package config

import (
	"slices"
	"strings"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/noise"
)

// Metric says how model mahalanobis is fitted (Chen et al., 2023): to the losses of
// the triplets of two items of one class and one of another. Options is a
// component of mahalanobis.Family.
type Metric struct {
	Algorithm  string           `yaml:"algorithm" choice:"algorithm" doc:"with model mahalanobis: how the metric is found"`
	Loss       string           `yaml:"loss" enum:"logistic|logistic-printed|hinge|least-squares|huber" doc:"loss of u, the positive's squared distance minus the negative's plus zeta; logistic is log(1 + exp(u)), logistic-printed the paper's log(1 + exp(-u)), which learns the opposite"`
	Zeta       float64          `yaml:"zeta" check:">=0" doc:"the target gap between the two squared distances; above 0 with hinge, least-squares and huber"`
	HuberDelta float64          `yaml:"huber_delta" check:">0" doc:"with loss huber: where it turns from a parabola to a line"`
	Positive   string           `yaml:"positive" doc:"name of the class whose items are the positives, all others the negatives; each takes the mean over all classes"`
	Options    mahalanobis.Keys `yaml:"-"`
}

// each is the value of Positive that means all classes.
const each = "each"

// LearnsMetric says whether the model is fitted as Metric says, and not trained by
// the sections of networks.
func (c *Config) LearnsMetric() bool {
	_, ok := c.Model.Options.(nn.Fitted)
	return ok
}

// Radius returns the radius of the ball that the points of a fitted metric lie in, 0 for
// other models.
func (c *Config) Radius() float64 {
	if m, ok := c.Model.Options.(nn.Fitted); ok {
		return m.Features().Radius
	}
	return 0
}

// OneClass returns the name of the class whose items are the positives, "" where
// each class is in turn.
func (m Metric) OneClass() string {
	if m.Positive == each {
		return ""
	}
	return m.Positive
}

// networkKeys are what a fitted metric has no use for: sections and keys.
var networkKeys = []string{"model.embedding", "model.normalize", "model.init", "model.weights", "batch", "loss", "miner", "defense", "optimizer", "train", "data.augment"}

// transformed are the keys whose place data.transform takes.
var transformed = []string{"data.size", "data.fit", "data.crop", "data.augment", "data.distort"}

// idle returns the section or key of path that has no effect in c, "" where path
// counts. It is left out of the resolved config and refused where it is set.
func (c *Config) idle(path string) string { return within(path, c.idleKeys()) }

// idleKeys are the sections and keys that have no effect.
func (c *Config) idleKeys() []string {
	list := []string{"metric"}
	if c.LearnsMetric() {
		list = slices.Clone(networkKeys)
		if c.Metric.Loss != mahalanobis.Huber {
			list = append(list, "metric.huber_delta")
		}
	}
	if c.Data.Transform.Given() {
		list = append(list, transformed...)
	}
	return list
}

// within is the one of keys that is path or a section which path lies in, "" if none is.
func within(path string, keys []string) string {
	for _, key := range keys {
		if rest, ok := strings.CutPrefix(path, key); ok && (rest == "" || rest[0] == '.') {
			return key
		}
	}
	return ""
}

// refuseIdle reports the keys that are set and have no effect, one of each section.
func (c *Config) refuseIdle(fail func(key, format string, args ...any)) {
	said, idle := map[string]bool{}, c.idleKeys()
	c.walkAll(func(l leaf) {
		key := within(l.path, idle)
		if key == "" || said[key] || c.src.origin(l.path) == (origin{}) {
			return
		}
		said[key] = true
		if c.Data.Transform.Given() && slices.Contains(transformed, key) {
			fail(l.path, "changes images, and data.transform takes its place: remove it, or write it as a step")
			return
		}
		switch key {
		case "metric":
			fail(l.path, "section metric fits model mahalanobis, and the model is %s: set model: mahalanobis, or remove metric", c.Model.Name)
		case "metric.huber_delta":
			fail(l.path, "is of loss huber, and metric.loss is %s: remove it", c.Metric.Loss)
		default:
			fail(l.path, "model mahalanobis is fitted as section metric says and does not ask for %s: remove it", key)
		}
	})
}

// metricRules holds what a fitted metric asks of the rest.
func (c *Config) metricRules(fail func(key, format string, args ...any)) {
	if c.Metric.Positive == "" {
		fail("metric.positive", "is empty: name a class, or write %s for the mean over all", each)
	}
	l, err := mahalanobis.NewLoss(c.Metric.Loss, c.Metric.Zeta, c.Metric.HuberDelta)
	if err != nil && c.Metric.Zeta == 0 {
		fail("metric.loss", "%s is least at w = 0 where metric.zeta is 0: set metric.zeta above 0, such as 1", c.Metric.Loss)
	}
	if f, ok := c.Metric.Options.(mahalanobis.Restricted); ok && err == nil {
		report("metric.", f.Restrict(l, c.Radius()), fail)
	}
	if c.Data.Distort.Fresh {
		fail("data.distort.fresh", "model mahalanobis is fitted to one set of images: remove it, so that each has one map")
	}
	_, onPairs := c.Noise.Options.(noise.OnPairs)
	_, onTriplets := c.Noise.Options.(noise.OnTriplets)
	if onPairs || onTriplets {
		fail("noise.kind", "%s is on lists of tuples, and model mahalanobis is fitted to all triplets: use sln, which perturbs labels", c.Noise.Kind)
	} else {
		c.noiseRules(fail)
	}
}
