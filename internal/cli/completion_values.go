package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/configs/tables"
	"tercet/internal/attack"
	"tercet/internal/attack/worst"
	"tercet/internal/cli/base"
	"tercet/internal/cli/bench"
	"tercet/internal/cli/bound"
	"tercet/internal/cli/cluster"
	"tercet/internal/cli/report"
	"tercet/internal/cli/runs"
	"tercet/internal/config"
	"tercet/internal/data/annotated"
	"tercet/internal/device"
	"tercet/internal/emit"
	"tercet/internal/engine/optim"
	"tercet/internal/generalize"
	"tercet/internal/lists"
	"tercet/internal/noise"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/study"
	"tercet/internal/theory/stability"
	"tercet/internal/vectors"
)

// flagValues are the values of flags that a shell completes, by the flag's name and
// where the name means different things by "COMMAND --FLAG".
var flagValues = map[string]cobra.CompletionFunc{
	"set":        completeSettings,
	"config":     base.Files("yaml", "yml"),
	"embeddings": vectorFiles, "fit-embeddings": vectorFiles, "eval --queries": vectorFiles, "graph-lists": base.Files(vectors.Formats(true)...), "eval --neighbors": base.Files(vectors.Formats(true)...),
	"labels": base.Files("npy", "csv"), "fit-labels": base.Files("npy", "csv"), "query-labels": base.Files("npy", "csv"),
	"run": base.CompleteRuns, "transfer": base.CompleteRuns, "runs": base.CompleteRuns, "resume": base.CompleteRuns, "reference": base.CompleteRuns,
	"config init --out": base.Files("yaml"), "clusters": folders, "out-dir": folders, "runs-dir": folders, "save-images": folders, "verify": folders, "data preview --out": base.Files("png"), "export torch --out": folders, "export tensorboard --out": folders, "export mlflow --out": folders, "export csv --out": base.Files("csv"), "export onnx --out": base.Files("onnx"), "page": base.Files("md", "html"),
	"cluster --clusters": nothing,

	"embed --out": folders, "embed --root": folders, "weights": base.Files("safetensors"),
	"attack --gallery": oneOf(worst.Galleries()...),
	"search --gallery": folders, "search --queries": folders, "search --out": base.Files("csv", "jsonl"), "montage": base.Files("png"),

	"job": bench.CompleteJobs,

	"runs list --status": list(runs.Statuses), "runs prune --status": list(runs.Statuses), "runs list --sort": oneOf(runs.SortKeys()...), "runs list --where": completeSettings,
	"schedule": oneOf(optim.Continuations()...),

	"source":                     oneOf(annotated.Names()...),
	"checkpoint":                 completeCheckpoints,
	"split":                      oneOf("test", "validation", "train"),
	"export embeddings --format": oneOf(vectors.Written()...),
	"device":                     oneOf(device.CPU, device.OpenCL, device.CUDA),
	"train --jobs":               oneOf("auto"),
	"tune --jobs":                oneOf("auto"),
	"tune --out":                 base.Files("yaml"),
	"study run --jobs":           oneOf("auto"),
	"emit":                       oneOf(emit.Formats()...),

	"threshold": nothing, "cluster --threshold": oneOf("auto", "margins", "fit"),
	"starts":             list(func() []string { return cluster.FactoredStarts }),
	"cluster --restarts": oneOf("auto", "none"),

	"attack":               list(attack.Attacks),
	"example-attacks":      list(attack.Attacks),
	"suite":                oneOf("ers", "worst", "plus"),
	"certify --fail-under": limits(robustness.CertifyKeys),

	"influence --replace": oneOf(replacements(generalize.ImageReplacements())...),
	"stability --replace": list(func() []string {
		return append(replacements(generalize.Replacements()), generalize.ReplacementWord(generalize.ReplaceTriple))
	}),
	"gap --split": unseen, "stability --split": unseen, "influence --split": unseen,
	"negatives": oneOf(noise.SameIndex, noise.RandomOne),
	"form":      oneOf(stability.Paper, stability.Corrected, bound.BothForms),
	"constants": oneOf(stability.Paper, stability.Tight),

	"table":            completeTable,
	"metric":           list(scoreNames),
	"columns":          completeColumns,
	"report --variant": oneOf("both", "published", "fixed"),
	"select":           oneOf("best"),
	"by":               oneOf(selectors()...),
	"group-by":         list(base.ConfigKeys),

	"fail-under":                  limits(func() []string { return append(evalScores(), run.PairKeys(true)...) }),
	"attack --fail-under":         limits(func() []string { return attack.Keys(attack.Attacks()) }),
	"fail-over":                   limits(func() []string { return attack.Keys(attack.Attacks()) }),
	"cluster --fail-under":        limits(run.ClusteringKeys),
	"cluster assign --fail-under": limits(run.ClusteringKeys),
}

// vectorFiles completes files of vectors.
var vectorFiles = base.Files(vectors.Formats(false)...)

// replacements are what training images are replaced by, as users name it.
func replacements(kinds []string) []string {
	return lists.Map(kinds, generalize.ReplacementWord)
}

// unseen completes images that training has not seen.
var unseen = oneOf("test", "validation")

// completeFlags gives every flag of the tree that takes one of known values its
// completion. Cobra keeps such flags, and all that they can reach, until the process
// ends: so this is for a process that completes, and no other.
func completeFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		completeFlags(cmd)
	}
	path := strings.TrimPrefix(root.CommandPath(), "tercet ")
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete := flagValues[path+" --"+f.Name]
		if complete == nil {
			complete = flagValues[f.Name]
		}
		if words := base.WordsOf(f); words != nil {
			complete = oneOf(words...)
		}
		if complete != nil && root.Flags().Lookup(f.Name) != nil {
			// An unknown flag is the only other error, and this one was just found.
			_ = root.RegisterFlagCompletionFunc(f.Name, complete)
		}
	})
}

func nothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeCheckpoints proposes the checkpoints that results can be of, and those that the run
// of the command line keeps.
func completeCheckpoints(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	dirs := args
	if f := cmd.Flags().Lookup("run"); f != nil {
		dirs = append(dirs[:len(dirs):len(dirs)], f.Value.String())
	}
	out := []string{"last", "best"}
	for _, dir := range dirs {
		out = append(out, run.KeptNames(dir)...)
	}
	return base.Begins(out, word), cobra.ShellCompDirectiveNoFileComp
}

// oneOf proposes one of the values.
func oneOf(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return base.Begins(values, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// list proposes the last of several values with commas between them, one that is not
// there yet.
func list(values func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		given, last := "", word
		if i := strings.LastIndex(word, ","); i >= 0 {
			given, last = word[:i+1], word[i+1:]
		}
		there := strings.Split(given, ",")
		var out []string
		for _, v := range base.Begins(values(), last) {
			if !slices.Contains(there, v) {
				out = append(out, given+v)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// limits proposes scores, behind which a limit is written.
func limits(scores func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		out := lists.Map(base.Begins(scores(), word), func(s string) string { return s + "=" })
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeSettings proposes keys of a config, and behind KEY= the key's values.
func completeSettings(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	key, value, valued := strings.Cut(word, "=")
	var out []string
	if valued {
		for _, v := range config.ValuesOf(key) {
			if strings.HasPrefix(v.Value, value) {
				out = append(out, key+"="+v.Value+"\t"+v.Doc)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	said := map[string]bool{}
	for _, k := range config.Keys() { // one that several components have stands there for each
		if strings.HasPrefix(k.Key, word) && !said[k.Key] {
			out = append(out, k.Key+"=\t"+k.Doc)
		}
		said[k.Key] = true
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func completeTable(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	own := append(tables.All.Names(), report.StabilityTable, report.StabilityChecks, report.BandTable)
	return base.Begins(slices.Concat(own, study.BuiltInTables(func(*study.Table) bool { return true })), word), cobra.ShellCompDirectiveDefault
}

func evalScores() []string {
	return append(run.RetrievalKeys([]int{1, 2, 4, 8}), run.ClusteringKeys()...)
}

func scoreNames() []string { return append(evalScores(), attack.Keys(attack.Attacks())...) }

// selectors are the scores that --by selects by.
func selectors() []string {
	var out []string
	for _, split := range []string{"validation", "test", "train"} {
		for _, score := range evalScores() {
			out = append(out, split+":"+score)
		}
	}
	return out
}
