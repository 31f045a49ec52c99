package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli"
	"tercet/internal/cli/clitest"
)

// offered returns what a shell is offered for the last word of a line, without
// descriptions.
func offered(t *testing.T, line ...string) []string {
	t.Helper()
	code, out, stderr := clitest.Run(append([]string{"__complete"}, line...)...)
	if code != 0 {
		t.Fatalf("%q: %s", line, stderr)
	}
	var words []string
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if word, _, _ := strings.Cut(l, "\t"); !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words
}

func TestCompletionOfValues(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml --set train.epochs=1")
	clitest.Put(t, "runs/notes/todo.txt", "mine")
	for _, tc := range []struct {
		line []string
		want string // all that is offered; with ... some of it
	}{
		{[]string{"train", "--set", "loss.mar"}, "loss.margin="},
		{[]string{"config", "show", "--set", "loss.mar"}, "loss.margin="},
		{[]string{"train", "--set", "loss.name=tri"}, "loss.name=triplet loss.name=triplet-capped loss.name=triplet-threshold loss.name=triplet-robust"},
		{[]string{"train", "--set", "miner=soft"}, "miner=softhard miner=softhard-strict"},
		{[]string{"train", "--set", "data.split="}, "data.split=file data.split=class data.split=fraction"},
		{[]string{"train", "--set", "model.normalize="}, "model.normalize=true model.normalize=false"},
		{[]string{"train", "--set", "loss.form=h"}, "loss.form=hinge"},
		{[]string{"config", "keys", "min"}, "miner ... miner.name miner.margin"},
		{[]string{"train", "--config", ""}, "yaml yml"},
		{[]string{"train", ""}, "yaml yml"},
		{[]string{"train", "--resume", "runs/"}, "runs/tiny"},
		{[]string{"eval", "--run", ""}, "runs/tiny"},
		{[]string{"eval", "--run", "runs/t"}, "runs/tiny"},
		{[]string{"compare", ""}, "runs/tiny"},
		{[]string{"compare", "runs/tiny", "runs/t"}, "runs/tiny"},
		{[]string{"runs", "list", "--where", "loss.form=h"}, "loss.form=hinge"},
		{[]string{"report", "--runs", ""}, "runs/tiny"},
		{[]string{"cluster", "--method", ""}, "auto kmeans multicut agglomerative hdbscan"},
		{[]string{"cluster", "--solver", "k"}, "... kl"},
		{[]string{"cluster", "--starts", "one,k"}, "one,kmeans one,klj"},
		{[]string{"cluster", "--threshold", "m"}, "margins"},
		{[]string{"report", "--table", "hm"}, "hm-grid"},
		{[]string{"report", "--metric", "nmi,recall@"}, "nmi,recall@1 nmi,recall@2 ..."},
		{[]string{"report", "--group-by", "loss.marg"}, "loss.margin"},
		{[]string{"report", "--columns", "run,m"}, "run,map@r"},
		{[]string{"report", "--metric", "map@10", "--columns", "run,m"}, "run,map@10"},
		{[]string{"report", "--select", "best", "--by", "validation:recall@1", "--columns", ""}, "... validation:recall@1 test:recall@1 ..."},
		{[]string{"report", "--by", "validation:recall@1"}, "... validation:recall@1"},
		{[]string{"attack", "--attack", "CA+,LT"}, "CA+,LTM"},
		{[]string{"attack", "--fail-under", "ER"}, "ERS="},
		{[]string{"eval", "--fail-under", "nm"}, "... nmi="},
		{[]string{"eval", "--fail-under", "recall@1"}, "... recall@1="},
		{[]string{"eval", "--checkpoint", ""}, "last best"},
		{[]string{"bench", "--job", "ml"}, "mlp"},
		{[]string{"study", "run", "los"}, "losses"},
		{[]string{"study", "run", "losses", "glyphs-n"}, "glyphs-noise"},
		{[]string{"study", "run", "losses", "glyphs-noise", "glyphs-n"}, ""},
		{[]string{"study", "list", "losses", ""}, ""},
		{[]string{"study", "report", "losses", ""}, "runs/tiny"},
		{[]string{"help", "data", "in"}, "inspect"},
		{[]string{"help", "exit"}, "exit-codes"},
	} {
		got := offered(t, tc.line...)
		some := strings.Contains(tc.want, "...")
		want := strings.Fields(strings.ReplaceAll(tc.want, "...", ""))
		if !some && !slices.Equal(got, want) {
			t.Errorf("%q: offered %q, want %q", tc.line, got, want)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: offered %q, without %q", tc.line, got, w)
			}
		}
	}
}

// A new flag that takes words gets a completion, or is said to take any text.
func TestEveryFlagOfWordsIsCompleted(t *testing.T) {
	root := tree()
	cli.CompleteFlags(root)
	visit(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if kind != "string" && kind != "stringSlice" && kind != "stringArray" || f.Hidden || cmd.InheritedFlags().Lookup(f.Name) != nil {
				return
			}
			_, completed := cmd.GetFlagCompletionFunc(f.Name)
			file := strings.Contains(f.Usage, "FILE") || strings.Contains(f.Usage, "profile")
			if !completed && !file && !slices.Contains(cli.FreeFlags, f.Name) {
				t.Errorf("%s --%s is not completed: add its values to flagValues in completion_values.go, or its name to FreeFlags in export_test.go", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// A command that takes arguments completes them; those of a folder or any file, by the shell.
func TestEveryArgumentIsCompleted(t *testing.T) {
	anyFile := []string{"tercet embed", "tercet search"}
	visit(tree(), func(cmd *cobra.Command) {
		_, args, _ := strings.Cut(cmd.Use, " ")
		switch completed := cmd.ValidArgsFunction != nil || cmd.ValidArgs != nil; {
		case cmd.Hidden || args == "" || !cmd.Runnable():
		case completed == slices.Contains(anyFile, cmd.CommandPath()):
			t.Errorf("%s %s: completed: %v", cmd.CommandPath(), args, completed)
		}
	})
}

// Words that are offered are words that the help of the flag or the command names.
func TestCompletedWordsAreInTheHelp(t *testing.T) {
	root := tree()
	cli.CompleteFlags(root)
	visit(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok || f.Hidden || slices.Contains([]string{"set", "where", "runs", "metric", "group-by", "by", "columns", "table", "fail-under", "fail-over", "attack", "examples-of", "job"}, f.Name) {
				return
			}
			list, directive := complete(cmd, nil, "")
			if directive&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0 {
				return
			}
			for _, w := range list {
				if !strings.Contains(f.Usage+f.DefValue+cmd.Long, w) {
					t.Errorf("%s --%s: offers %q, which its help does not name: %s", cmd.CommandPath(), f.Name, w, f.Usage)
				}
			}
		})
	})
}

func TestCompletionHelpNamesThePackageThatBashNeeds(t *testing.T) {
	if out := clitest.Must(t, 0, "completion --help"); !strings.Contains(out, "bash-completion") || !strings.Contains(out, "_get_comp_words_by_ref") {
		t.Errorf("printed\n%s", out)
	}
}

func TestConfigKeysSayWhatValuesMean(t *testing.T) {
	out := clitest.Must(t, 0, "config keys miner.name")
	for _, want := range []string{"miner.name: semihard\n", "\n      semihard              negatives farther than the positive, within the margin\n", "\n      batch-all             every valid triplet\n"} {
		if !strings.Contains("\n"+out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if out := clitest.Must(t, 0, "config keys data.split.kind"); !strings.Contains(out, "class                 train and test classes are disjoint: ") {
		t.Errorf("printed\n%s", out)
	}
}
