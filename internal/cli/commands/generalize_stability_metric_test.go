package commands_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestStabilityOfAMetric(t *testing.T) {
	clitest.InTiny(t)
	clitest.WriteFile(t, "metric.yaml", `name: metric
data: {name: glyphs, size: 16, glyphs: {classes: 4, per_class: 40, test_classes: 2}}
model: {name: mahalanobis, dims: 3}
metric: {sigma: 0.5, positive: each}
`)
	clitest.Must(t, 0, "train -c metric.yaml")
	doc := clitest.Document(t, "stability --run runs/metric --positive 'U+00*' --sizes 3,6 --samples 2 --triplets 100")
	series, _ := doc["series"].([]any)
	if doc["schema"] != "tercet.metricstability/1" || len(series) != 7 {
		t.Errorf("%v", doc)
	}
	if out := clitest.Must(t, 0, "gap --run runs/metric --positive 'U+00*' --sizes 3,6 --samples 2 --format csv"); !strings.Contains(out, "expected gap") || !strings.Contains(out, "Theorem 1") {
		t.Error(out)
	}
	if out := clitest.Must(t, 0, "stability claim s1 --run runs/metric --data circle --samples 1 --triplets 100 --no-pictures"); !strings.Contains(out, "T4 (S1)") {
		t.Error(out)
	}
	for _, file := range []string{"stability.json", "gap.json", "stability/T4-circle.json", "figures/stability-glyphs-stability.png"} {
		if _, err := os.Stat("runs/metric/" + file); err != nil {
			t.Error(err)
		}
	}
	if out := clitest.Must(t, 0, "report --table stability --format csv runs/metric"); strings.Count(out, "uniform stability") != 2 || !strings.Contains(out, "T4 (S1),circle") {
		t.Error(out)
	}
	for flags, want := range map[string]string{
		"stability --claim T99":          "T1, T2",
		"stability claim T3 --sizes 4":   "unknown flag: --sizes",
		"stability claim T3 --data moon": "give run or circle",
		"gap --claim T3":                 "unknown flag: --claim",
		"gap --reference runs/x":         "--reference is for networks",
		"gap --delta 0.5":                "(0, 1/e)",
		"stability --sizes 1":            "--sizes: 1 is too small",
		"stability --sizes 5,9,5":        "5 is given twice",
		"gap --checkpoint best":          "--checkpoint is for networks",
		"gap --triplets 500":             "--triplets is for networks",

		"stability claim T4 --data circle --positive 2": "leave out --positive",

		"stability --images 1":        "is for networks",
		"stability --replace triplet": "also measures the on-average stability",
	} {
		name, rest, _ := strings.Cut(flags, " ")
		clitest.Refuse(t, base.ExitUsage, name+" --run runs/metric "+rest, want)
	}
	clitest.Refuse(t, base.ExitUsage, "stability --run runs/metric", "one class against the rest")
	clitest.Refuse(t, base.ExitData, "stability --run runs/metric --force --positive 'U+00*' --sizes 4,4000", "smaller sizes, up to n = ")
}

// Interrupted, a measurement of a metric resumes where it was, to the same document.
func TestStabilityOfAMetricGoesOn(t *testing.T) {
	clitest.InTiny(t)
	clitest.WriteFile(t, "metric.yaml", `name: metric
data: {name: glyphs, size: 16, glyphs: {classes: 4, per_class: 40, test_classes: 2}}
model: {name: mahalanobis, dims: 3}
metric: {sigma: 0.5, positive: each}
`)
	clitest.Must(t, 0, "train -c metric.yaml")
	run := func(flags string) (code int, stderr string) {
		code, _, stderr = clitest.Run(strings.Fields("gap --run runs/metric --no-pictures --positive U+00* --samples 2 " + flags)...)
		return code, stderr
	}
	if code, stderr := run("--sizes 3"); code != 0 {
		t.Fatal(stderr)
	}
	code, stderr := run("--sizes 3,6")
	if code != 0 || strings.Count(stderr, "are taken from runs/metric/stability/points") != 1 {
		t.Errorf("%d %s", code, stderr)
	}
	files, err := os.ReadDir("runs/metric/stability/points")
	if err != nil || len(files) != 2 {
		t.Errorf("%v %v", files, err)
	}
	kept := clitest.Document(t, "gap --run runs/metric --positive U+00* --samples 2 --sizes 3,6")
	if err := os.RemoveAll("runs/metric/stability"); err != nil {
		t.Fatal(err)
	}
	anew := clitest.Document(t, "gap --run runs/metric --positive U+00* --samples 2 --sizes 3,6")
	delete(kept, "seconds")
	delete(anew, "seconds")
	if !reflect.DeepEqual(kept, anew) {
		t.Errorf("kept %v\nanew %v", kept, anew)
	}
	for flags, want := range map[string]string{
		"--sizes 3":               "replacing runs/metric/gap.json would lose: the sizes [6]; --force replaces it",
		"--sizes 3,6 --seed 4":    "would lose: seed 0 instead of 4",
		"--sizes 6,3 --samples 1": "would lose: 2 repeats instead of 1",
		"--sizes 3,6 --delta 0.2": "would lose: delta 0.01 instead of 0.2",
	} {
		clitest.Refuse(t, base.ExitUsage, "gap --run runs/metric --no-pictures --positive U+00* --samples 2 "+flags, want)
	}
	clitest.Must(t, 0, "gap --run runs/metric --no-pictures --positive U+00* --samples 1 --sizes 3 --force")
	options, _ := anew["options"].(map[string]any)
	if options["repeats"] != 2.0 || options["delta"] != 0.01 || fmt.Sprint(options["sizes"]) != "[3 6]" {
		t.Errorf("options %v", options)
	}
}
