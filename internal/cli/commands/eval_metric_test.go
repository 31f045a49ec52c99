package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// A fitted metric by the command line: plan, data, training twice, evaluation, and
// what is refused with which code.
func TestFittedMetric(t *testing.T) {
	clitest.InTiny(t)
	clitest.WriteFile(t, "fit.yaml", "name: fit\ndata: {name: glyphs, size: 16, glyphs: {classes: 6, per_class: 4, test_classes: 4}}\nmodel: {name: mahalanobis, dims: 3}\nmetric: {sigma: 0.1}\neval: {bootstrap: 0, kmeans: {n_init: 1}}\n")
	plan := clitest.Must(t, 0, "train -c fit.yaml --dry-run")
	for _, want := range []string{"mahalanobis, embedding 3, 6 parameters", "triplets    1440, 6 classes as positives", "fit         rrm, logistic"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in\n%s", want, plan)
		}
	}
	if plan := clitest.Must(t, 0, "train -c fit.yaml --dry-run --set metric=sgd"); !strings.Contains(plan, "sgd, logistic, 24 steps") {
		t.Error(plan)
	}
	clitest.Must(t, 0, "data inspect -c fit.yaml")
	clitest.Must(t, 0, "train -c fit.yaml")
	clitest.Must(t, 0, "train -c fit.yaml")
	out := clitest.Must(t, 0, "eval --run runs/fit --no-pictures")
	for _, want := range []string{"triplet_error.train", "triplet_error.test", "recall@1 by h_w", "metric: rrm, logistic, each class as positives, risk 0.", "whitened within the training classes: triplet_error.train"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	doc := clitest.Document(t, "eval --run runs/fit --no-pictures")
	if m, _ := doc["metric_learning"].(map[string]any); m["dim"] != 3.0 || m["positive"] != "each" {
		t.Errorf("metric_learning %v", m)
	}
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=a --set metric.sigma=0", "metric.sigma: must be >0, is 0")
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=b --set metric.positive=none", `no training item is of class "none"`)
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=c --set metric=sgd --set metric.steps=1 --set metric.c=2", "above 2/alpha = 0.5")
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=c --set metric=sgd --set metric.steps=1 --set metric.c=2 --dry-run", "above 2/alpha = 0.5")
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=d --set train.epochs=1", "does not ask for train: remove it")
	clitest.Refuse(t, base.ExitUsage, "train -c fit.yaml --set name=e --set model.dims=300", "asks for 300 principal components of images of 256 numbers")
}
