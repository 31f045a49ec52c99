package compare

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/compare"
	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/metric"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rundir"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type options struct {
	scores            []string
	groupBy           []string
	split, checkpoint string
	resamples, flips  int
	seed              uint64
	format            string
	queries           string
	force             bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "compare A B...",
		Paged: true,
		Short: "Test whether runs, configurations or embeddings differ, paired by seed and by query",
		Long: `
Compares each further side with the first one. A side is a run directory, the runs of one
configuration with several seeds, or the eval.json of embeddings, also from another tool
(tercet eval --embeddings X.npy --per-query --out x.json). An argument that matches
several configurations, such as 'runs/*', gives one side per configuration; --group-by
groups runs by the given config keys only.

For each score it prints the mean difference to the first side and

  over seeds    if both sides have at least two runs with equal seeds: the 95 % interval
                by Student's t, the p value of a permutation test (sign flips of the
                differences), and the number of seeds that would detect such a
                difference with power 0.8. It covers the randomness of training. With n
                seeds p is at least 2/2^n: 0.25 with three, 0.03 with six
  over queries  if the results store the values of each query (tercet eval
                --per-query): the 95 % interval of a paired bootstrap, and p. It covers
                the choice of test images, for these weights only

The verdict is better or worse if the whole interval lies on one side of 0, otherwise
inconclusive. The interval is the one over seeds, where two seeds are too few for a
verdict; for one pair of runs it is the one over queries. p values are not corrected for
multiple comparisons. Scores that were measured with different settings or on different
images are not compared.`,
		Examples: []base.Example{
			{Why: "two runs", Line: "tercet compare runs/val-width-4 runs/val-width-8 --split validation"},
			{Why: "each configuration of a sweep with the first one, by one score", Line: "tercet compare 'runs/val-*' --split validation --metric recall@1"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringSliceVar(&o.scores, "metric", nil, "scores to compare, such as recall@1,map@r,nmi,ES:R; default: the usual scores that are available")
			fs.StringSliceVar(&o.groupBy, "group-by", nil, "config keys that the runs of a side have in common, such as loss,loss.margin; default: all but name and seed")
			base.AddSplit(fs, &o.split, "test", "images: test, validation or train")
			fs.StringVar(&o.checkpoint, "checkpoint", "last", "weights: last, best or step-N")
			fs.IntVar(&o.resamples, "resamples", compare.Draws, "resamples of the bootstrap over queries")
			fs.IntVar(&o.flips, "permutations", compare.Draws, "number of random sign flips in the permutation test, if there are more than 16 differences")
			fs.Uint64Var(&o.seed, "seed", 0, "seed of the permutation test and the bootstrap")
			base.AddFormat(fs, &o.format)
			fs.StringVar(&o.queries, "save-queries", "", "also write the values of each query to `FILE`.csv")
			fs.BoolVar(&o.force, "force", false, "replace the file of --save-queries")
		},
		Run: func(_ context.Context, args []string) error { return run(s, o, args) },
	}.Build()
}

// most bounds resamples and flips.
const most = 1_000_000

func run(s *base.Streams, o options, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	var sides []compare.Side
	var all []*rundir.Run
	var pooled []string
	for _, arg := range args {
		more, runs, notes, err := o.sides(s, arg)
		if err != nil {
			return err
		}
		sides, all, pooled = append(sides, more...), append(all, runs...), append(pooled, notes...)
	}
	if err := o.notInput(sides); err != nil {
		return err
	}
	if len(sides) < 2 {
		return base.Usagef("%s is one side, %s; name another to compare it with", strings.Join(args, " "), sides[0].Name)
	}
	if err := rename(sides); err != nil {
		return err
	}
	scores, err := o.choose(sides)
	if err != nil {
		return err
	}
	doc := compare.Sides(sides, scores, compare.Options{Resamples: o.resamples, Flips: o.flips, Seed: o.seed, Lower: func(score string) bool {
		higher, err := summary.HigherIsBetter(score)
		return err == nil && !higher
	}})
	of := rundir.Of{Split: o.split, Checkpoint: o.checkpoint}.Full()
	if !slices.ContainsFunc(doc.Differences, func(d printed.PairedDifference) bool { return d.Pairs > 0 || d.Unlike != "" }) {
		return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("no score of the %s is on both sides of a comparison: %s", of.Words(), strings.Join(doc.Notes, "; "))}
	}
	doc.Split, doc.Checkpoint = of.Split, of.Checkpoint
	doc.Notes = append(append(doc.Notes, pooled...), notes(all)...)
	if o.queries != "" {
		if err := writeQueries(o.queries, sides, scores); err != nil {
			return err
		}
		s.Note("wrote %s", o.queries)
	}
	return s.Result(doc, func(w io.Writer) error { return table(doc, o.format).Write(w, o.format) })
}

func (o *options) check() error {
	if err := base.CheckSplit(o.split, o.checkpoint); err != nil {
		return err
	}
	switch {
	case o.resamples < metric.MinResamples || o.resamples > most:
		return base.Usagef("--resamples is %d; give a number from %d to %d", o.resamples, metric.MinResamples, most)
	case o.flips < metric.MinResamples || o.flips > most:
		return base.Usagef("--permutations is %d; give a number from %d to %d", o.flips, metric.MinResamples, most)
	case o.queries == "":
		return nil
	case !strings.HasSuffix(o.queries, ".csv"):
		return base.Usagef("--save-queries is %q; give a file that ends in .csv", o.queries)
	}
	if err := base.Writable(o.queries); err != nil {
		return err
	}
	if err := base.Placeable(o.queries); err != nil {
		return err
	}
	if _, err := os.Stat(o.queries); err == nil && !o.force {
		return base.Usagef("--save-queries: %s exists; --force replaces it", o.queries)
	}
	return nil
}

// sides are those of one argument, with its runs and notes on what they pool.
func (o *options) sides(s *base.Streams, arg string) ([]compare.Side, []*rundir.Run, []string, error) {
	of := rundir.Of{Split: o.split, Checkpoint: o.checkpoint}.Full()
	if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() && strings.HasSuffix(arg, ".json") {
		e, err := record.ReadIfThere[record.Eval](arg)
		if err != nil {
			return nil, nil, nil, &base.ExitError{Code: base.ExitData, Err: err}
		}
		if is := rundir.SourceOf(e.Source); e.Source.Run != "" && is != of {
			return nil, nil, nil, base.Usagef("%s is of the %s, not of the %s: --split and --checkpoint choose", arg, is.Words(), of.Words())
		}
		r, err := compare.FromEval(arg, e)
		return []compare.Side{{Name: arg, Results: []*compare.Result{r}}}, nil, nil, report.RunsError(err)
	}
	runs, err := report.ReadRuns(s, []string{arg}, of)
	if err != nil {
		return nil, nil, nil, err
	}
	sum, err := summary.Summarize(runs, summary.Options{GroupBy: o.groupBy})
	if err != nil {
		return nil, nil, nil, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	var sides []compare.Side
	for _, g := range sum.Groups {
		side := compare.Side{Name: g.Name}
		of := lists.Filter(runs, func(r *rundir.Run) bool { return slices.Contains(g.Dirs, r.Dir) })
		if twice := rundir.SameSeed(g.Name, of); twice != nil {
			return nil, nil, nil, base.Usagef("%s; name one of them", twice[0])
		}
		for _, r := range of {
			result, err := compare.FromRun(r)
			if err != nil {
				return nil, nil, nil, report.RunsError(err)
			}
			side.Results = append(side.Results, result)
		}
		sides = append(sides, side)
	}
	return sides, runs, sum.PoolNotes(), nil
}

// rename gives sides of one name that of their first directory or file.
func rename(sides []compare.Side) error {
	count := map[string]int{}
	for _, s := range sides {
		count[s.Name]++
	}
	from := map[string]bool{}
	for i, s := range sides {
		first := s.Results[0].From
		if from[first] {
			return base.Usagef("%s is named twice", first)
		}
		from[first] = true
		if count[s.Name] < 2 {
			continue
		}
		if sides[i].Name = first; len(s.Results) > 1 {
			sides[i].Name = fmt.Sprintf("%s and %d more", first, len(s.Results)-1)
		}
	}
	return nil
}

// notInput refuses to write the values of queries over a document of what is compared.
func (o *options) notInput(sides []compare.Side) error {
	var inputs []string
	for _, s := range sides {
		for _, r := range s.Results {
			inputs = append(inputs, r.From)
			files, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(r.From), "*"))
			if err != nil {
				return err
			}
			inputs = append(inputs, files...)
		}
	}
	if o.queries == "" {
		return nil
	}
	return base.NotInput("--save-queries", o.queries, inputs...)
}

// choose are the scores that are compared.
func (o *options) choose(sides []compare.Side) ([]string, error) {
	var all []string
	for _, s := range sides {
		for _, r := range s.Results {
			for _, sc := range r.Scores {
				all = lists.AppendNew(all, sc.Key)
			}
		}
	}
	if all == nil {
		return nil, &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("no score of the %s images, checkpoint %s, is stored; compute them for each run first: tercet eval %s --per-query%s", o.split, o.checkpoint, text.ShellWord(sides[0].Results[0].From), o.flagsOf())}
	}
	out, unknown := summary.ChooseScores(all, o.scores)
	if unknown != "" {
		return nil, base.Usagef("nothing that is compared has the score %s; %s", unknown, names.Unknown(unknown, all))
	}
	return out, nil
}

// flagsOf are the flags of a command for the same images and weights, where they are not the
// usual ones.
func (o *options) flagsOf() (flags string) {
	if o.split != names.Test {
		flags += " --split " + o.split
	}
	if o.checkpoint != names.Last {
		flags += " --checkpoint " + o.checkpoint
	}
	return flags
}

// notes say what of runs is not as it seems.
func notes(runs []*rundir.Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Left...)
		if !r.Finished() {
			out = append(out, fmt.Sprintf("%s: %s at step %d of %d", r.Dir, strings.Trim(r.Status(), "*"), r.Manifest.Steps, r.Manifest.Of))
		}
	}
	return append(out, rundir.Pooled("what is compared", runs)...)
}
