package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/component"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
)

const fitted = "model: mahalanobis\n"

func TestMetricRules(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"radius of 0":               {"model: {name: mahalanobis, radius: 0}", "f.yaml:1: model.radius: must be >0 and <=1e6, is 0"},
		"negative radius":           {"model: {name: mahalanobis, radius: -1}", "f.yaml:1: model.radius: must be >0 and <=1e6, is -1"},
		"too many dims":             {"model: {name: mahalanobis, dims: 5000}", "f.yaml:1: model.dims: must be >=0 and <=1024, is 5000"},
		"whiten what":               {"model: {name: mahalanobis, dims: 0, whiten: true}", "f.yaml:1: model.whiten: divides principal components"},
		"width":                     {"model: {name: mahalanobis, width: 3}", `f.yaml:1: model.width: model "mahalanobis" does not have this key`},
		"embedding":                 {"model: {name: mahalanobis, embedding: 8}", "f.yaml:1: model.embedding: model mahalanobis is fitted as section metric says and does not ask for model.embedding: remove it"},
		"unit length":               {"model: {name: mahalanobis, normalize: true}", "f.yaml:1: model.normalize: model mahalanobis is fitted"},
		"c above the limit":         {"model: mahalanobis\nmetric: {algorithm: sgd, steps: 4, c: 1.1}", "f.yaml:2: metric.c: cannot learn a metric: step eta = 0.55 is above 2/alpha = 0.5"},
		"initialiser":               {"model: {name: mahalanobis, init: pytorch}", "f.yaml:1: model.init: model mahalanobis is fitted"},
		"loss":                      {fitted + "loss: {margin: 0.1}", "f.yaml:2: loss.margin: model mahalanobis is fitted as section metric says and does not ask for loss: remove it"},
		"loss by name":              {fitted + "loss: triplet", "f.yaml:2: loss.name: model mahalanobis"},
		"batch":                     {fitted + "batch: {prefetch: 2}", "f.yaml:2: batch.prefetch: model mahalanobis"},
		"miner":                     {fitted + "miner: semihard", "f.yaml:2: miner.name: model mahalanobis"},
		"defence":                   {fitted + "defense: none", "f.yaml:2: defense.name: model mahalanobis"},
		"optimiser":                 {fitted + "optimizer: {schedule: cosine}", "f.yaml:2: optimizer.schedule.name: model mahalanobis is fitted as section metric says and does not ask for optimizer: remove it"},
		"epochs":                    {fitted + "train: {epochs: 10}", "f.yaml:2: train.epochs: model mahalanobis"},
		"augment":                   {fitted + "data: {augment: {flip: false}}", "f.yaml:2: data.augment.flip: model mahalanobis"},
		"fresh maps":                {fitted + "data: {distort: {strength: 0.1, fresh: true}}", "f.yaml:2: data.distort.fresh: model mahalanobis is fitted to one set of images"},
		"noise of pairs":            {fitted + "noise: pln", "f.yaml:2: noise.kind: pln is on lists of tuples"},
		"noise of triplets":         {fitted + "noise: triplet-flip", "f.yaml:2: noise.kind: triplet-flip is on lists of tuples"},
		"two amounts of noise":      {fitted + "noise: {kind: sln, rate: 0.1, q: 0.2}", "noise.kind: set exactly one of"},
		"metric of a network":       {"model: c2f2\nmetric: {sigma: 1}", "f.yaml:2: metric.sigma: section metric fits model mahalanobis, and the model is c2f2: set model: mahalanobis, or remove metric"},
		"metric of the default":     {"metric: sgd", "f.yaml:1: metric.algorithm: section metric fits model mahalanobis, and the model is cnn"},
		"sigma of 0":                {fitted + "metric: {sigma: 0}", "f.yaml:2: metric.sigma: must be >0, is 0"},
		"negative sigma":            {fitted + "metric: {sigma: -1e-3}", "f.yaml:2: metric.sigma: must be >0, is -0.001"},
		"tol of 1":                  {fitted + "metric: {tol: 1}", "f.yaml:2: metric.tol: must be >=0 and <1, is 1"},
		"a method that is none":     {fitted + "metric: {method: bfgs}", `f.yaml:2: metric.method: unknown value "bfgs"; did you mean lbfgs?`},
		"an algorithm that is none": {fitted + "metric: {algorithm: adam}", `f.yaml:2: metric.algorithm: unknown algorithm "adam"; valid: rrm, sgd`},
		"a loss that is none":       {fitted + "metric: {loss: triplet}", `f.yaml:2: metric.loss: unknown value "triplet"; valid: hinge, huber, least-squares, logistic, logistic-printed`},
		"key of the other":          {fitted + "metric: {algorithm: sgd, sigma: 1}", `f.yaml:2: metric.sigma: algorithm "sgd" does not have this key; rrm has it`},
		"step of rrm":               {fitted + "metric: {c: 1}", `f.yaml:2: metric.c: algorithm "rrm" does not have this key; sgd has it`},
		"c of 0":                    {fitted + "metric: {algorithm: sgd, c: 0}", "f.yaml:2: metric.c: must be >0, is 0"},
		"c of the hinge":            {fitted + "metric: {algorithm: sgd, loss: hinge, zeta: 1}", "metric.c: auto is 2/alpha, and the hinge has no alpha"},
		"half a step":               {fitted + "metric: {algorithm: sgd, steps: 1.5}", "f.yaml:2: metric.steps: must be auto or a whole number up to 1e9, is 1.5"},
		"no steps":                  {fitted + "metric: {algorithm: sgd, steps: 0}", "f.yaml:2: metric.steps: must be >=1, is 0"},
		"delta of no huber":         {fitted + "metric: {huber_delta: 1}", "f.yaml:2: metric.huber_delta: is of loss huber, and metric.loss is logistic: remove it"},
		"delta of 0":                {fitted + "metric: {loss: huber, huber_delta: 0}", "f.yaml:2: metric.huber_delta: must be >0, is 0"},
		"negative zeta":             {fitted + "metric: {zeta: -1}", "f.yaml:2: metric.zeta: must be >=0, is -1"},
		"hinge without a margin":    {fitted + "metric: {loss: hinge}", "f.yaml:2: metric.loss: hinge is least at w = 0 where metric.zeta is 0: set metric.zeta above 0"},
		"huber without a margin":    {fitted + "metric: {loss: huber, zeta: 0}", "f.yaml:2: metric.loss: huber is least"},
		"no class":                  {fitted + "metric: {positive: \"\"}", "f.yaml:2: metric.positive: is empty"},
		"an axis that is none's":    {fitted + "sweep: {loss.margin: [0.1, 0.2]}", "f.yaml:2: loss.margin: model mahalanobis"},
	} {
		_, err := LoadBytes([]byte(tc.text), "f.yaml", nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got  %v\nwant %s", name, err, tc.want)
		}
	}
}

// One mistake for each section, however many of its keys are set.
func TestIdleSectionsAreRefusedOnce(t *testing.T) {
	_, err := LoadBytes([]byte(fitted+"train: {epochs: 1, log_every: 2}\nloss: {margin: 1, eps: 0}\n"), "f.yaml", nil)
	if err == nil || strings.Count(err.Error(), "\n")+1 != 2 {
		t.Errorf("%v", err)
	}
}

func TestMetricValuesReachTheirStructs(t *testing.T) {
	c := mustLoad(t, "model: {name: mahalanobis, dims: 5, whiten: true, radius: 2}\nmetric: {loss: huber, zeta: 0.5, huber_delta: 0.25, positive: 3, sigma: 0.01, prior: 2, method: newton, tol: 1e-6, sums: exact}\n")
	if d := cmp.Diff(nn.MahalanobisKeys{Dims: 5, Whiten: true, Radius: 2}, c.Model.Options); d != "" {
		t.Error(d)
	}
	want := Metric{"rrm", "huber", 0.5, 0.25, "3", mahalanobis.RRMKeys{Sigma: 0.01, Prior: 2, Method: "newton", Tol: 1e-6, Sums: "exact"}}
	if d := cmp.Diff(want, c.Metric); d != "" {
		t.Error(d)
	}
	if c.Model.Normalize || !c.LearnsMetric() || c.Metric.OneClass() != "3" {
		t.Errorf("%+v", c.Model)
	}
	checkFixedPoint(t, c)
	c = mustLoad(t, fitted+"metric: sgd\n", "metric.c=0.25", "metric.steps=1e4", "metric.psd=true", "metric.constants=paper")
	if d := cmp.Diff(mahalanobis.SGDKeys{C: component.Auto{Given: true, N: 0.25}, Steps: component.Auto{Given: true, N: 1e4}, PSD: true, Constants: "paper"}, c.Metric.Options); d != "" {
		t.Error(d)
	}
	if c.Metric.OneClass() != "" {
		t.Error("each is a class")
	}
	checkFixedPoint(t, c)
}

// The resolved config has the sections that count and no others.
func TestIdleSectionsAreNotResolved(t *testing.T) {
	top := func(c *Config) []string {
		text, _ := c.Resolved()
		var out []string
		for _, line := range strings.Split(string(text), "\n") {
			if key, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, " ") {
				out = append(out, key)
			}
		}
		return out
	}
	if got, want := top(mustLoad(t, fitted)), []string{"name", "seed", "data", "noise", "model", "metric", "eval", "sweep"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := top(mustLoad(t, "name: x")); len(got) != 13 || strings.Contains(strings.Join(got, " "), "metric") {
		t.Errorf("of a network: %v", got)
	}
	text, _ := mustLoad(t, fitted).Resolved()
	for _, key := range []string{"embedding", "normalize", "init", "augment", "huber_delta"} {
		if strings.Contains(string(text), "  "+key+":") {
			t.Errorf("%s is in\n%s", key, text)
		}
	}
	for _, o := range mustLoad(t, fitted).Origins() {
		if strings.HasPrefix(o.Key, "train.") {
			t.Errorf("%s counts", o.Key)
		}
	}
}
