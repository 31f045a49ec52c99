package attack_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/attack"
	attackcmd "tercet/internal/cli/attack"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record"
	"tercet/internal/robustness"
)

// The defaults of flags are the values that all profiles share: a profile sets eps and
// step alone.
func TestFlagsHaveTheProfilesValues(t *testing.T) {
	flags := attackcmd.New(&base.Streams{}).Flags()
	for _, p := range attack.Profiles() {
		var a record.AttackOptions
		if err := robustness.Profile(&a, p.Name, 0); err != nil {
			t.Fatal(err)
		}
		for flag, want := range map[string]string{
			"pgd-steps": fmt.Sprint(a.Iterations), "norm": a.Norm, "direction": a.Direction, "rule": a.Rule, "start": a.Start, "restarts": fmt.Sprint(a.Restarts), "iterate": a.Keep,
		} {
			if got := flags.Lookup(flag).DefValue; got != want {
				t.Errorf("--%s is %s, profile %s has %s", flag, got, p.Name, want)
			}
		}
	}
}

// All attacks in both variants, their files and pictures.
func TestSuite(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	line := "attack --run runs/tiny --suite ERS --queries 7 --pgd-steps 2 --batch 3 --bootstrap 100 --save-images f --example-attacks GTM,es --examples 2"
	doc := clitest.Document(t, line)
	suite := []string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES:D", "ES:R", "LTM", "GTM", "GTT", "ERS"}
	for _, group := range []string{"scores", "clean"} {
		for _, v := range []string{"published", "fixed"} {
			for _, k := range suite {
				if doc[group].(map[string]any)[v].(map[string]any)[k] == nil {
					t.Errorf("no %s of %s in %s", k, v, group)
				}
			}
		}
	}
	table := clitest.Must(t, 0, line+" --fail-under ERS=0 --fail-under 'ERS(published)=0' --format csv")
	for _, want := range []string{"score,published,published_low,published_high,fixed,fixed_low,fixed_high,\"clean, published\",\"clean, fixed\"\nCA+,", "\nERS,", "\n\"ES:R, right when clean\","} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if info, err := os.Stat("runs/tiny/figures/attack.png"); err != nil || info.Size() == 0 {
		t.Error(err)
	}
	savedFiles(t, doc)

	clitest.Must(t, 4, "attack --run runs/tiny --attack LTM --variant published --queries 4 --pgd-steps 1 --force --fail-under 'LTM(published)=1.01'")
	clitest.Refuse(t, 2, "attack --run runs/tiny --attack LTM --variant published --fail-under LTM=0.5", `"LTM" will not be measured; did you mean LTM(published)?`)
	if one := clitest.Document(t, "attack --run runs/tiny --attack ltm,CA+ --variant fixed --queries 4 --eps 0 --target-draws 2 --near-targets --out-dir elsewhere"); len(one["scores"].(map[string]any)) != 1 {
		t.Errorf("variants %v", one["scores"])
	} else if s := one["scores"].(map[string]any)["fixed"]; fmt.Sprint(s) != fmt.Sprint(one["clean"].(map[string]any)["fixed"]) {
		t.Errorf("eps 0: %v is not the clean value %v", s, one["clean"])
	}
}

// savedFiles have the shapes that docs/documents.md states and hold the document's
// numbers.
func savedFiles(t *testing.T, doc map[string]any) {
	for name, shape := range map[string]string{
		"clean": "(7, 16, 16, 1)", "adversarial": "(7, 16, 16, 1)", "gallery": "(36, 8)", "labels": "(36,)", "queries": "(7,)",
		"adversarial_CA+_published": "(7, 16, 16, 1)", "targets_CA+_published": "(7, 1)", "targets_GTM_fixed": "(7, 1)", "targets_TMA_fixed": "(7, 1)",
		"first_objective_LTM_fixed": "(7,)", "values_QA-_published": "(7,)", "values_ES_fixed_ES-D": "(7,)", "values_ES_published_ES-R": "(7,)",
	} {
		b, err := os.ReadFile(filepath.Join("f", name+".npy"))
		if err != nil || !strings.Contains(string(b[:min(len(b), 128)]), "'shape': "+shape) {
			t.Errorf("%s: %v %.120q, want shape %s", name, err, b, shape)
		}
	}
	for _, name := range []string{"targets_ES_fixed", "targets_LTM_published"} {
		if _, err := os.Stat(filepath.Join("f", name+".npy")); err == nil {
			t.Errorf("%s is there, but the attack aims at nothing", name)
		}
	}
	a, errA := os.ReadFile("f/adversarial.npy")
	b, errB := os.ReadFile("f/adversarial_ES_fixed.npy")
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("adversarial.npy is not that of ES: %v %v", errA, errB)
	}
	file, err := os.ReadFile("f/values_QA+_published.npy")
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 7) // behind the header
	if err := binary.Read(bytes.NewReader(file[len(file)-4*7:]), binary.LittleEndian, x); err != nil {
		t.Fatal(err)
	}
	// Batches of 3, 3 and 1: the last query counts as much as three others.
	mean := 0.0
	for i, w := range []float64{1, 1, 1, 1, 1, 1, 3} {
		mean += w / 9 * float64(x[i])
	}
	got := doc["scores"].(map[string]any)["published"].(map[string]any)["QA+"].(map[string]any)["value"].(float64)
	if math.Abs(got-mean) > 1e-6 {
		t.Errorf("QA+ is %v, the mean of its values %v", got, mean)
	}
}

func TestCurve(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	doc := clitest.Document(t, "attack --run runs/tiny --attack ES,TMA --queries 6 --pgd-steps 2 --bootstrap 0 --curve eps=0..12/255:3")
	if doc["schema"] != "tercet.curve/1" || len(doc["points"].([]any)) != 3 {
		t.Errorf("%v", doc)
	}
	b, err := os.ReadFile("runs/tiny/curve.json")
	var stored map[string]any
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if err != nil || stored["schema"] != "tercet.curve/1" {
		t.Error(err)
	}
	for _, name := range []string{"attack-curve.png", "attack-curve.svg"} {
		if info, err := os.Stat(filepath.Join("runs/tiny/figures", name)); err != nil || info.Size() == 0 {
			t.Error(err)
		}
	}
	if _, err := os.Stat("runs/tiny/attack.json"); err == nil {
		t.Error("a curve writes attack.json")
	}
	table := clitest.Must(t, 0, "attack --run runs/tiny --attack ES --queries 6 --pgd-steps 2 --curve eps=0..12/255:3 --no-pictures --force --format csv")
	if !strings.HasPrefix(table, "score,variant,0,6/255,12/255\nES:D,published,") {
		t.Error(table)
	}
	table = clitest.Must(t, 0, "attack --run runs/tiny --attack ES --queries 6 --pgd-steps 1 --curve eps=0..12/255:2 --split train --no-pictures")
	if !strings.Contains(table, "train images, checkpoint last (step ") {
		t.Errorf("the table does not say of which images it is: %s", table)
	}
}

func TestRefuses(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	before := clitest.Snapshot(t, ".")
	for _, tc := range []struct {
		flags string
		code  int
		want  string
	}{
		{"--attack LTN", 2, `unknown attack "LTN"; did you mean LTM?`},
		{"--attack ''", 2, "no attack given"},
		{"--attack es,ES", 2, "names ES twice"},
		{"--suite erz", 2, `--suite is "erz"; give ers`},
		{"--suite ers --attack es", 2, "--attack and --suite cannot be combined"},
		{"--variant fix", 2, `--variant is "fix"; give published, fixed or both`},
		{"--attack es --example-attacks LTM", 2, "--example-attacks names LTM, which is not among the attacks: ES"},
		{"--pgd-steps 0", 2, "--pgd-steps is 0; give at least 1"},
		{"--target-draws 0", 2, "--target-draws is 0"},
		{"--ca-queries 0", 2, "--ca-queries is 0"},
		{"--qa-candidates -1", 2, "--qa-candidates is -1"},
		{"--eps 77", 2, "write 77/255"},
		{"--eps 1.5", 2, "no image is further than 1 away in the linf norm"},
		{"--norm l2 --eps 17 --step 1", 2, "no image is further than 16 away in the l2 norm"},
		{"--eps 8/0", 2, "is not a number"},
		{"--step 0/255", 2, "--step is 0/255; give a length above 0"},
		{"--attack SPQA+ --spqa-weight -1", 2, "--spqa-weight is -1"},
		{"--spqa-weight 1 --spqa-weight-scale 1", 2, "--spqa-weight and --spqa-weight-scale cannot be combined"},
		{"--curve eps=0..1:3 --eps 0.1", 2, "--curve sets eps itself; leave out --eps"},
		{"--curve eps=0..1:3 --save-images f", 2, "--save-images applies to a single eps"},
		{"--curve eps=0..1:3 --fail-under ES:R=1", 2, "--fail-under applies to a single eps"},
		{"--curve eps=0..1:3 --per-query", 2, "--per-query applies to a single eps"},
		{"--curve eps=0..2:3", 2, "no image is further than 1 away"},
		{"--curve ''", 2, "a curve goes over eps"},
		{"--attack QA+ --qa-candidates 40", 2, "--qa-candidates is 40, but the gallery has 36 images"},
		{"--attack QA- --qa-candidates 2", 2, "m is 2, but there are 1"},
		{"--attack SPQA-", 3, "m is 1, but there are 0"},
		{"--attack CA+,SPQA- --distance-objective", 2, "--distance-objective cannot be used with SPQA"},
		{"--profile rob299", 2, `--profile is "rob299"; give auto, rob28 or rob224`},
		{"--rule automatic", 2, `--rule is "automatic"; give fixed or auto`},
		{"--start warm", 2, `--start is "warm"; give clean or random`},
		{"--iterate first", 2, `--iterate is "first"; give last or best`},
		{"--norm l1", 2, `--norm is "l1"; give linf or l2`},
		{"--direction up", 2, `--direction is "up"; give sign or normalized`},
		{"--near-targets", 2, "--near-targets has no effect on ES; it is for CA+, QA+"},
		{"--attack CA-,LTM --near-targets", 2, "--near-targets has no effect on CA-, LTM"},
		{"--distance-objective", 2, "--distance-objective has no effect on ES"},
		{"--attack QA+ --spqa-weight 1", 2, "--spqa-weight has no effect on QA+; it is for SPQA+, SPQA-"},
		{"--suite ers --spqa-weight-scale 1", 2, "--spqa-weight-scale has no effect"},
		{"--attack QA+ --ca-queries 2", 2, "--ca-queries has no effect on QA+; it is for CA+, CA-"},
		{"--attack CA+ --qa-candidates 2", 2, "--qa-candidates has no effect on CA+"},
		{"--attack GTM --target-draws 2", 2, "--target-draws has no effect on GTM"},
		{"--bootstrap 1", 2, "--bootstrap is 1: too few for 95 % intervals; give at least 100, or 0 for none"},
		{"--bootstrap 99", 2, "--bootstrap is 99: too few"},
		{"--bootstrap -1", 2, "--bootstrap is -1"},
		{"--fail-under ES:D=0.01", 2, "a lower ES:D is more robust; write --fail-over ES:D=0.01"},
		{"--attack TMA --fail-under 'TMA(published)=0.5'", 2, "write --fail-over TMA(published)=0.5"},
		{"--fail-over ES:R=0.5", 2, "a higher ES:R is more robust; write --fail-under ES:R=0.5"},
		{"--fail-over ES:X=0.5", 2, `--fail-over: "ES:X" will not be measured`},
		{"--fail-over ES:D", 2, "--fail-over \"ES:D\" is not SCORE=LIMIT"},
		{"--curve eps=0..1:3 --fail-over ES:D=1", 2, "--fail-over applies to a single eps"},
		{"--curve eps=0..1:3 --if-needed", 2, "--if-needed applies to a single eps and its attack.json"},
		{"--force --if-needed", 2, "cannot be combined"},
		{"--format tsv", 2, "unknown table format"},
	} {
		t.Run(tc.flags, func(t *testing.T) {
			clitest.Refuse(t, tc.code, "attack --run runs/tiny --queries 2 "+tc.flags, tc.want)
		})
	}
	clitest.Unchanged(t, ".", before, nil)
}

// Embeddings of any length are attacked, and it is said what their scores are worth.
func TestOfEmbeddingsOfAnyLength(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set model.normalize=false --set train.epochs=1")
	_, _, stderr := clitest.Run(clitest.ShellWords("attack --run runs/tiny --suite ers --queries 4 --pgd-steps 1")...)
	if !strings.Contains(stderr, "warning: embeddings are not of length 1") || !strings.Contains(stderr, "ERS means nothing") {
		t.Error(stderr)
	}
}

// An attack that published and fixed have no file of in common would be lost.
func TestScoreFilesAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range attack.Attacks() {
		for _, k := range attack.Keys([]string{a}) {
			file := a + strings.ReplaceAll(k, ":", "-")
			if seen[file] || strings.ContainsAny(file, `:/\*?"<>|`) {
				t.Errorf("file %q", file)
			}
			seen[file] = true
		}
	}
}
