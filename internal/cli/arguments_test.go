package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// Arguments where a command takes flags name the flag.
func TestStrayArgumentsNameTheFlag(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml --set train.epochs=1")
	clitest.Put(t, "shapes/a/1.png", clitest.PicturePNG(4))
	for _, tc := range []struct{ line, want string }{
		{"train shapes", `got "shapes": write --set data.name=folder --set data.root=shapes, or begin with tercet config init folder shapes`},
		{"data inspect shapes", `got "shapes": write --set data.name=folder --set data.root=shapes`},
		{"train runs/tiny", `got "runs/tiny": write --resume runs/tiny`},
		{"eval runs/tiny --run runs/other", "takes one run; got runs/tiny and --run runs/other"},
		{"eval runs/tiny runs/tiny", "takes one run; got runs/tiny and runs/tiny: repeat the command for each"},
		{"eval runs/tiny --embeddings x.npy", "--embeddings and --run cannot be combined"},
		{"attack recall@1 runs/tiny", "takes one run; got recall@1 and runs/tiny"},
		{"eval --run runs/tiny --k 1 10 100", `got "10": write --k 1,10,100`},
		{"eval x.npy", `got "x.npy": write --embeddings x.npy`},
		{"attack --run runs/tiny --attack ES CA+", `got "CA+": write --attack ES,CA+`},
		{"train shapes", "tercet train takes a config FILE.yaml and no other arguments"},
		{"train seed=3 loss.margin=0.5", `got "seed=3": write --set seed=3 --set loss.margin=0.5`},
		{"train tiny.yaml loss.margin=0.5", `got also "loss.margin=0.5": write --set loss.margin=0.5`},
		{"train tiny.yaml --epochs 3", "unknown flag: --epochs; it is a config key: --set train.epochs=VALUE"},
		{"train tiny.yaml --lr=0.1", "--set optimizer.lr=VALUE"},
		{"train tiny.yaml --per-class 3", "--set batch.per_class=VALUE"},
		{"train tiny.yaml --loss.margin 0.1", "--set loss.margin=VALUE"},
		{"train tiny.yaml --sed 3", "did you mean --seed?"},
		{"init folder things", `unknown command "init"; did you mean tercet config init?`},
		{"test", `unknown command "test"; did you mean tercet eval?`},
		{"help train eval", `train has no commands, so it has no help on "eval"; try: tercet help train`},
		{"train tiny.yaml -c tiny.yaml", "takes one config; got --config tiny.yaml and tiny.yaml"},
		{"train tiny.yaml other.yaml", "takes one config; got tiny.yaml and other.yaml"},
		{"train tiny.yaml --resume runs/tiny", "--resume continues a run with its own config; leave out tiny.yaml"},
		{"data inspect tiny.yaml --embeddings x.npy --labels y.npy", "give a config or --embeddings, not both"},
		{"version 7", `got "7" (usage: tercet version [flags])`},
	} {
		clitest.Refuse(t, base.ExitUsage, tc.line, tc.want)
	}
}

func TestAConfigAsAnArgument(t *testing.T) {
	clitest.InTiny(t)
	if out := clitest.Must(t, 0, "train tiny.yaml --list"); out != "runs/tiny\n" {
		t.Errorf("listed %q", out)
	}
	if out := clitest.Must(t, 0, "data inspect tiny.yaml"); !strings.Contains(out, "tiny: glyphs") {
		t.Errorf("printed %s", out)
	}
	clitest.Must(t, 0, "data preview tiny.yaml --classes 2 --out sheet.png")
	if out := clitest.Must(t, 0, "doctor tiny.yaml"); !strings.Contains(out, "config: valid, 1 run") || !strings.Contains(out, "signal: a run ends about ") {
		t.Errorf("printed %s", out)
	}
}

// seconds are what a command took, which differs from call to call.
var seconds = regexp.MustCompile(`[0-9.]+ s\b`)

// A run as an argument is --run.
func TestARunAsAnArgument(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml --set train.epochs=1")
	for _, line := range []string{"eval %s --no-kmeans --no-baselines --bootstrap 0 --no-pictures", "attack %s --attack ES --queries 4 --no-pictures", "cluster %s --method kmeans --map none --no-pictures"} {
		by := seconds.ReplaceAllString(clitest.Must(t, 0, fmt.Sprintf(line, "--run runs/tiny")), "")
		if got := seconds.ReplaceAllString(clitest.Must(t, 0, fmt.Sprintf(line, "runs/tiny")+" --force"), ""); got != by {
			t.Errorf("%s: printed\n%s\nand with --run\n%s", line, got, by)
		}
	}
	clitest.Refuse(t, base.ExitData, "eval runs/there-is-none", "runs/there-is-none does not exist")
	clitest.Must(t, 0, "eval runs/tiny --run runs/tiny --if-needed --no-kmeans --no-baselines --bootstrap 0")
}

// Labels that are not written are not written without a word.
func TestClusterSaysThatLabelsAreNotWritten(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml")
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures --save-embeddings x.npy")
	const line = "cluster --embeddings x.npy -k 3 --map none"
	for _, tc := range []struct {
		out  string
		said int
	}{{"", 1}, {" --out-dir clusters", 0}} {
		code, _, stderr := clitest.Run(strings.Fields(line + tc.out)...)
		if n := strings.Count(stderr, "labels are not written; --out-dir FOLDER writes them\n"); code != 0 || n != tc.said {
			t.Errorf("%s: code %d, said\n%s", tc.out, code, stderr)
		}
	}
}
