package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cluster/solve"
	"tercet/internal/text"
)

// A flag of one mode is refused in every other mode, by a line that says with which mode it
// goes. The flags of tercet cluster are those that it declares for some methods.
func TestFlagsOfClusterMethods(t *testing.T) {
	cmd, _, err := cli.NewRoot(&base.Streams{}, &cli.Profiles{}).Find([]string{"cluster"})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		modes := base.Modes(cmd.Flags(), f.Name)
		if modes == nil {
			return
		}
		value := map[string]string{"int": "3", "float64": "0.3", "bool": "true"}[f.Value.Type()]
		if words := base.WordsOf(f); words != nil {
			value = words[1]
		}
		if value == "" {
			value = "3"
		}
		line := []string{"cluster", "--run", "none", "--" + f.Name + "=" + value}
		switch f.Name {
		case "starts":
			line[3] = "--starts=one"
		case "fit-embeddings", "fit-labels": // which go together, and without --run
			line = []string{"cluster", "--embeddings", "X.npy", "--fit-embeddings", "Y.npy", "--fit-labels", "Z.npy"}
		}
		for _, m := range solve.Methods() {
			if slices.Contains(modes, m) {
				continue
			}
			refused++
			code, _, stderr := clitest.Run(append(slices.Clip(line), "--method", m)...)
			want := " is for " + text.List(modes, "or") + ", not for " + m
			if code != base.ExitUsage || !strings.Contains(stderr, want) {
				t.Errorf("%s --method %s: exit %d, %s, want %q", strings.Join(line, " "), m, code, stderr, want)
			}
		}
	})
	if refused < 60 {
		t.Errorf("only %d flags and methods: the search is broken", refused)
	}
}

// The same for the other commands with modes.
func TestFlagsOfModes(t *testing.T) {
	for line, want := range map[string]string{
		"attack --run none --gallery trimmed":                                  "--gallery is for --suite worst and plus",
		"attack --run none --k 2":                                              "--k is for --suite worst and plus",
		"attack --run none --move-gallery":                                     "--move-gallery is for --suite worst and plus",
		"attack --run none --battery":                                          "--battery is for --suite worst and plus",
		"attack --run none --suite ers --transfer x":                           "--transfer is for --suite worst and plus",
		"attack --run none --suite worst --target-draws 3":                     "--target-draws is for --attack and --suite ers",
		"attack --run none --suite worst --ca-queries 3":                       "--ca-queries is for --attack and --suite ers",
		"attack --run none --suite worst --near-targets":                       "--near-targets is for --attack and --suite ers",
		"attack --run none --suite worst --curve eps=0..8/255:3":               "--curve is for --attack and --suite ers",
		"attack --run none --suite plus --variant fixed":                       "--variant is for --attack and --suite ers",
		"attack --run none --suite worst --per-query":                          "--per-query is for --attack and --suite ers",
		"attack --run none --suite worst --pgd-steps 5":                        "--pgd-steps is for --attack and --suite ers",
		"attack --run none --suite worst --fail-over ES:D=1":                   "--fail-over is for --attack and --suite ers",
		"attack --run none --suite worst --task 1/2":                           "--suite worst is not divided into tasks",
		"attack --run none --attack ES --ca-queries 3":                         "--ca-queries has no effect on ES; it is for CA+, CA-",
		"attack --run none --attack CA+ --spqa-weight 3":                       "--spqa-weight has no effect on CA+; it is for SPQA+, SPQA-",
		"certify --run none --method ibp --sigma 0.1":                          "--sigma: only for --method vote and mean",
		"certify --run none --method lipschitz --samples 100":                  "--samples: only for --method vote and mean",
		"certify --run none --method vote --radii":                             "--radii is for --method ibp, crown-ibp and lipschitz",
		"certify --run none --method vote --gallery trimmed":                   "--gallery trimmed is for --method mean, ibp, crown-ibp or lipschitz",
		"certify --run none --method mean --move-gallery":                      "--move-gallery needs --method ibp or crown-ibp",
		"eval --run none --queries x":                                          "--queries and --run cannot be combined",
		"eval --embeddings X.npy --split train":                                "--limit, --split and --checkpoint need --run",
		"eval --embeddings X.npy --device opencl":                              "--device applies to the network of a run",
		"eval --embeddings X.npy --no-baselines":                               "--no-baselines is for runs",
		"eval --run none --no-kmeans --clusters 3":                             "--clusters: only for k-means",
		"eval --run none --save-embeddings X.npy --k 3":                        "--save-embeddings exports embeddings and scores nothing: leave out --k",
		"train --config none.yaml --from best":                                 "--from needs --resume",
		"train --resume none --set seed=1":                                     "--resume and --set cannot be combined",
		"train --resume none --dry-run":                                        "--resume cannot be combined with --dry-run or --list",
		"train --emit slurm --dry-run":                                         "--dry-run and --emit cannot be combined",
		"report --runs none --curves x":                                        "--curves needs --table",
		"report --runs none --variant fixed":                                   "--variant and --grid need --table",
		"report --runs none --by validation:recall@1":                          "give --select best as well",
		"report --runs none --no-pictures":                                     "--no-pictures is for --page",
		"report --table clustering --bold none":                                "go without --table",
		"report --table stability --variant fixed none":                        "--table stability has its own columns and rows",
		"stability claim S1 --data circle --positive x --run none":             "leave out --positive",
		"stability --run none --replace triplet --triplets 300":                "leave out --triplets",
		"influence --run none --replace one-ulp":                               "--replace one-ulp is for tercet stability",
		"bound stability --lemma 1 --gamma 0.1 --n-pos 3":                      "Lemma 1 does not use --n-pos; it needs --gamma",
		"bench --scaling 1,2 --check":                                          "--check and --scaling cannot be combined",
		"cluster --graph x --map pca":                                          "--map needs points; --graph gives only costs",
		"cluster --run none --map pca --perplexity 5":                          "--perplexity: only for t-SNE",
		"cluster --run none --method multicut --solver kl --starts one":        "--starts and --min-cluster-size are for --solver factored",
		"cluster --run none --method multicut --threshold 1 --fit-prior pairs": "--fit-prior is for --threshold fit",
		"sweep status none --tasks 3":                                          "--tasks needs --config",
		"data inspect --embeddings X.npy":                                      "--embeddings and --labels go together; --labels is missing",
	} {
		if code, _, stderr := clitest.Run(strings.Fields(line)...); code != base.ExitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s, want %q", line, code, stderr, want)
		}
	}
}
