package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/testutil"
)

func tree() *cobra.Command {
	root := cli.NewRoot(base.NewStreams(nil, &bytes.Buffer{}, &bytes.Buffer{}), &cli.Profiles{})
	root.InitDefaultHelpCmd()
	return root
}

func visit(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		visit(c, f)
	}
}

// TestHelpGolden compares every command's help with testdata/help.
func TestHelpGolden(t *testing.T) {
	visit(tree(), func(cmd *cobra.Command) {
		path := filepath.Join("testdata", "help", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".txt")
		cmd.InitDefaultHelpFlag()
		testutil.Golden(t, path, []byte(cli.HelpText(cmd)))
	})
}

func TestEveryCommandSaysWhatUsersNeed(t *testing.T) {
	visit(tree(), func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		help := cli.HelpText(cmd)
		if cmd.HasParent() && !strings.Contains(help, "Examples:\n  # ") {
			t.Errorf("%s has no examples", cmd.CommandPath())
		}
		if !strings.Contains(help, "EXIT STATUS\n  0    done\n") {
			t.Errorf("%s does not say how it exits", cmd.CommandPath())
		}
		if cmd.Short == "" || cmd.Long == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short %q, long %q", cmd.CommandPath(), cmd.Short, cmd.Long)
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			if len(line) > 90 {
				t.Errorf("%s: a line of the help is %d characters wide: %s", cmd.CommandPath(), len(line), line)
			}
		}
	})
}

// examples returns the command lines of a help text.
func examples(cmd *cobra.Command) []string {
	var out []string
	for _, line := range strings.Split(cmd.Example, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// exampleFolder has what the examples name: the project's configs, a small
// trained and clustered run runs/first, and its embeddings as X.npy with labels Y.npy.
func exampleFolder(t *testing.T) string {
	t.Helper()
	configs, err := filepath.Abs("../../configs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.CopyFS("configs", os.DirFS(configs)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sweep.yaml": exampleSweep, "metric.yaml": exampleMetric, "search.yaml": exampleSearch, "resnet18.yaml": exampleBackbone + filepath.Join(configs, "../internal/weights/testdata/resnet18.pth") + "}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	clitest.ClassFolders(t, "photos", 6, 6)
	clitest.ClassFolders(t, "birds", 6, 6)
	clitest.WriteFile(t, "birds.yaml", "data: {name: folder, root: birds, split: {kind: class}}\n")
	for _, args := range [][]string{
		{"train", "--set", "name=first", "--set", "train.epochs=1", "--set", "data.size=16", "--set", "model=linear",
			"--set", "data.glyphs.classes=60", "--set", "data.glyphs.per_class=4", "--set", "data.glyphs.test_classes=10"},
		{"eval", "--run", "runs/first", "--no-kmeans", "--no-baselines", "--no-pictures"},
		{"eval", "--run", "runs/first", "--save-embeddings", "X.npy"},
		{"embed", "--run", "runs/first", "photos", "--out", "vectors"},
		{"cluster", "--run", "runs/first", "--no-pictures"},
		{"gap", "--run", "runs/first", "--triplets", "100", "--bootstrap", "0"},
		{"stability", "--run", "runs/first", "--replacements", "1", "--triplets", "100", "--no-pictures"},
		{"train", "-c", "sweep.yaml", "--set", "name=dd"},
		{"train", "-c", "sweep.yaml", "--set", "name=floor", "--set", "batch.negatives=same-index", "--set", "noise={kind: pln, effective: 0.1}"},
		{"train", "-c", "sweep.yaml", "--set", "name=val", "--set", "data.split.validation=0.5"},
		{"eval", "--run", "runs/val-width-4", "--split", "validation", "--no-pictures"},
		{"eval", "--run", "runs/val-width-8", "--split", "validation", "--no-pictures"},
		{"train", "-c", "sweep.yaml", "--set", "sweep={}", "--set", "name=pairs", "--set", "batch.scenario=full", "--set", "batch.pairs=0", "--set", "noise={kind: pln, effective: 0.2}"},
		{"train", "-c", "metric.yaml"},
		{"stability", "claim", "s1", "--run", "runs/stability-glyphs", "--data", "circle", "--samples", "1", "--triplets", "100", "--no-pictures"},
	} {
		if code, _, stderr := clitest.Run(args...); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
		}
	}
	if err := os.Rename("X.labels.npy", "Y.npy"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// exampleBackbone is a small network whose weights come from PyTorch.
const exampleBackbone = `
data: {name: folder, root: photos, transform: {test: [Resize(40), CenterCrop(32)]}}
model: {name: resnet18, width: 2, head: none, embedding: 0, mean_std: imagenet, normalize: false, weights: `

// exampleSweep is two small networks on pairs.
const exampleSweep = `
data: {size: 16, glyphs: {classes: 10, per_class: 4, test_classes: 10}}
model: {name: mlp, normalize: false}
loss: contrastive
batch: {sampler: pair-graph, scenario: s2, pairs: 40, size: 20}
train: {epochs: 1}
eval: {pairs: 40}
sweep: {model.width: [4, 8]}
`

// exampleSearch draws two small networks.
const exampleSearch = `
name: search
data: {size: 16, glyphs: {classes: 20, per_class: 4, test_classes: 10}, split: {validation: 0.5}}
model: {name: mlp}
batch: {pairs: 4}
train: {epochs: 1}
search: {trials: 2, space: {model.width: [integer, 4, 8]}}
`

// exampleMetric is a metric of three dimensions.
const exampleMetric = `
name: stability-glyphs
data: {size: 16, glyphs: {classes: 4, per_class: 20, test_classes: 2}}
model: {name: mahalanobis, dims: 3}
metric: {sigma: 0.5, positive: each}
`

// copyNamed copies to the current folder what a command line names of the folder
// source: files and folders by their name, runs by their directory or a pattern.
func copyNamed(t *testing.T, source, line string) {
	t.Helper()
	names := func(path string) bool {
		for _, w := range strings.Fields(line) {
			w = strings.Trim(w, "'")
			if glob, _ := filepath.Match(w, path); glob || w == filepath.Dir(path) || w == path || w == path+".yaml" || strings.HasPrefix(w, path+"/") {
				return true
			}
		}
		return false
	}
	for _, pattern := range []string{"*", "runs/*"} {
		found, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, err := filepath.Rel(source, path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "configs" || name == "runs" || !names(name) {
				continue
			}
			info, err := os.Stat(path)
			if err == nil && info.IsDir() {
				err = os.CopyFS(name, os.DirFS(path))
			} else if err == nil {
				testutil.Write(t, name, testutil.Read(t, path))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestExamples runs the examples of every help, each in a folder of its own
// like exampleFolder. Examples marked as heavy get --dry-run, gaps fewer triplets and
// resamples; a gate may fail.
func TestExamples(t *testing.T) {
	source := exampleFolder(t)
	visit(tree(), func(cmd *cobra.Command) {
		for _, line := range examples(cmd) {
			t.Run(line, func(t *testing.T) {
				t.Chdir(t.TempDir())
				copyNamed(t, source, line)
				if err := os.Symlink(filepath.Join(source, "configs"), "configs"); err != nil { // which no command writes
					t.Fatal(err)
				}
				run, target, redirected := strings.Cut(line, " > ")
				words := clitest.ShellWords(run)
				if len(words) == 0 || words[0] != "tercet" {
					t.Fatalf("an example begins with tercet: %s", line)
				}
				args := words[1:]
				if cmd.Annotations[base.HeavyKey+line] != "" && !strings.Contains(line, "--dry-run") {
					args = append(args, "--dry-run")
				}
				if line == "tercet gap --run runs/first" {
					args = append(args, "--triplets", "1000", "--bootstrap", "100")
				}
				if cmd.Name() == "bench" {
					args = append(args, "--seconds", "0.02")
				}
				code, out, stderr := clitest.Run(args...)
				if code != 0 && !(code == base.ExitGate && strings.Contains(line, "--fail-")) {
					t.Fatalf("exit code %d\n%s", code, stderr)
				}
				if out == "" {
					t.Error("nothing on stdout")
				}
				if redirected && strings.ContainsAny(target, " |;&") {
					t.Errorf("the harness cannot run what follows > in %s", line)
				}
			})
		}
	})
}

func TestShellWords(t *testing.T) {
	got := clitest.ShellWords(`tercet x  --set 'a=[1, 2]' --set b="c d" ''`)
	want := []string{"tercet", "x", "--set", "a=[1, 2]", "--set", "b=c d", ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
