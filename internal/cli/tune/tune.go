// Package tune is the command tune.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/train"
	"tercet/internal/config"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/tune"
)

type options struct {
	base.ConfigFlags
	runs   string
	out    string
	optuna string
	jobs   string
	list   bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "tune [FILE.yaml]",
		Short: "Search for good values of config keys, scored on validation images",
		Long: `
Searches hyperparameters: trains trials of a config, each with random values for the keys
in its search section, and writes the config of the best trial:

  search:
    trials: 20
    space:
      optimizer.lr: [log-uniform, 1e-4, 1e-2]
      loss.margin: [uniform, 0.05, 0.5]
      batch.per_class: [integer, 2, 8]
      miner.name: [choice, semihard, softhard]

Trials are compared by their best score on validation images (train.early_stop.metric, or
recall@1 if that is not set). Test images are not scored, and data.split.validation must
hold out images. Each trial is a normal run, NAME-trial-000 and so on.

search.method: halving is successive halving: it trains all trials for a short time, then
retrains the best 1/search.eta of them from the start for search.eta times as long, and so
on, up to the length in the config.

tercet train FILE.yaml --task i/n trains a share of the trials of a random search; tune
then uses these results. The same command resumes an interrupted search. Random values
depend on search.seed and the order of the keys, so a search with more trials starts with
the same ones. Trials that diverge, collapse or do not fit the data get no score. The
result is NAME-tuned.yaml in the folder of runs, with a comment on how it was chosen.

--optuna FILE also writes the trials as a study for Optuna's JournalStorage. Optuna can
then show or continue the search.`,
		Examples: []base.Example{
			{Why: "list the trials and their values without training", Line: "tercet tune search.yaml --list"},
			{Why: "also write the trials for Optuna", Line: "tercet tune search.yaml --optuna search.journal"},
			{Why: "train one trial per thread at a time", Line: "tercet tune search.yaml --jobs auto"},
		},
		Exits: []int{base.ExitData, base.ExitDiverged, base.ExitInterrupted},
		Args:  o.OneConfig,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddFlags(cmd)
			fs.StringVarP(&o.runs, "runs-dir", "o", "runs", "folder of run directories")
			fs.StringVar(&o.out, "out", "", "write the chosen config to `FILE`.yaml; default: RUNS-DIR/NAME-tuned.yaml")
			fs.StringVar(&o.optuna, "optuna", "", "also write the trials to `FILE`, a journal that Optuna reads")
			fs.StringVar(&o.jobs, "jobs", "1", "train `N` trials at once, each on one thread; auto: one per thread")
			fs.BoolVar(&o.list, "list", false, "print the trials and their values, and exit")
		},
		Run: func(ctx context.Context, _ []string) error { return run(ctx, s, o) },
	}.Build()
}

// begins is the first line of a chosen config up to what depends on the search: a file that
// begins otherwise is not replaced.
const begins = "# Chosen by tercet tune: "

func run(ctx context.Context, s *base.Streams, o options) error {
	jobs, err := base.ParseJobs(o.jobs)
	if err != nil {
		return err
	}
	cfg, err := o.Load(s)
	if err != nil {
		return err
	}
	if len(cfg.Search.Space) == 0 {
		return &config.Error{Key: "search.space", Msg: "names no key to search; see tercet tune --help"}
	}
	if len(cfg.Axes) > 0 {
		return &config.Error{Key: "sweep", Msg: "cannot be together with a search that chooses: remove it; tercet train trains the trials for each of its configs"}
	}
	trials, err := tune.Trials(cfg)
	if err != nil {
		return err
	}
	doc := printed.Tuned{Schema: record.TuneSchema, Name: cfg.Name, Method: cfg.Search.Method, Seed: cfg.Search.Seed, Trials: len(trials)}
	if o.list {
		for _, t := range trials {
			doc.Runs = append(doc.Runs, printed.Trial{Trial: t.Number, Values: t.Sets})
		}
		return s.Result(doc, func(w io.Writer) error { return table(w, doc) })
	}
	if o.out == "" {
		o.out = filepath.Join(o.runs, cfg.Name+"-tuned.yaml")
	}
	if err := writable(o.out); err != nil {
		return err
	}
	if err := o.journalWritable(); err != nil {
		return err
	}
	best, chosen, err := search(ctx, s, o, cfg, trials, jobs, &doc)
	if err != nil {
		return err
	}
	if err := write(o.out, cfg, best, chosen, &doc); err != nil {
		return err
	}
	if err := o.journal(cfg, doc); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error {
		if err := table(w, doc); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w, o.out)
		return err
	})
}

// writable refuses a file that is no chosen config, or cannot be written.
func writable(path string) error {
	if err := base.Writable(path); err != nil {
		return err
	}
	b, err := fsx.ReadFile(path, config.MaxBytes)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !strings.HasPrefix(string(b), begins):
		return base.Usagef("%s was not written by tune and is not replaced: give another --out", path)
	}
	return nil
}

// journalWritable refuses a file for Optuna that is no journal of tune, or that Optuna has
// continued.
func (o options) journalWritable() error {
	if o.optuna == "" {
		return nil
	}
	if err := base.Writable(o.optuna); err != nil {
		return err
	}
	b, err := fsx.ReadFile(o.optuna, tune.MaxJournal)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !tune.OnlyOurs(b):
		return base.Usagef("%s has lines that tune did not write and is not replaced: give another --optuna", o.optuna)
	}
	return nil
}

// journal writes the trials for Optuna.
func (o options) journal(cfg *config.Config, doc printed.Tuned) error {
	if o.optuna == "" {
		return nil
	}
	ranges, err := cfg.Ranges()
	if err != nil {
		return err
	}
	rungs := tune.Rungs(cfg)
	outcomes := make([]tune.Outcome, len(doc.Runs))
	for i, r := range doc.Runs {
		outcomes[i] = tune.Outcome{Trial: tune.Trial{Number: r.Trial, Sets: r.Values}, Rung: r.Rung, Length: rungs[r.Rung].Length, Lost: r.Score == nil, Run: filepath.Base(r.Run)}
		if r.Score != nil {
			outcomes[i].Score = *r.Score
		}
	}
	b, err := tune.Journal(cfg.Name, ranges, len(rungs), outcomes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.optuna), 0o755); err != nil {
		return err
	}
	return fsx.WriteFile(o.optuna, b, 0o644)
}

// search trains the rungs, and returns the best trial of the last with its config.
func search(ctx context.Context, s *base.Streams, o options, cfg *config.Config, trials []tune.Trial, jobs int, doc *printed.Tuned) (tune.Scored, *config.Config, error) {
	rungs := tune.Rungs(cfg)
	for k, r := range rungs {
		if len(rungs) > 1 {
			s.Note("rung %d of %d: %d trials, %s %d", k+1, len(rungs), len(trials), r.Key, r.Length)
		}
		configs := make([]*config.Config, len(trials))
		for i, t := range trials {
			var err error
			if configs[i], err = t.Config(cfg, k, len(rungs), r); err != nil {
				return tune.Scored{}, nil, err
			}
		}
		ended, err := train.Trials(ctx, s, o.runs, configs, jobs)
		if err != nil {
			return tune.Scored{}, nil, err
		}
		all := make([]tune.Scored, len(trials))
		for i, t := range trials {
			all[i] = tune.Scored{Trial: t, Lost: true}
		}
		var unfit error
		for _, e := range ended {
			if e.Run == nil {
				unfit = cmp.Or(unfit, e.Err)
				doc.Runs = append(doc.Runs, printed.Trial{Trial: trials[e.Variant].Number, Rung: k, Values: trials[e.Variant].Sets, Status: record.Failed})
				continue
			}
			m := e.Run.Manifest
			row := printed.Trial{Trial: trials[e.Variant].Number, Rung: k, Run: e.Run.Dir, Values: trials[e.Variant].Sets, Status: m.Status}
			if m.Status == record.Finished {
				if m.Best == nil || m.Selection == nil || m.Selection.Split != "validation" {
					return tune.Scored{}, nil, fmt.Errorf("%s: its best checkpoint was not chosen by validation images", e.Run.Dir)
				}
				all[e.Variant].Score, all[e.Variant].Lost = m.Best.Value, false
				row.Score, row.Step, doc.Metric = &m.Best.Value, m.Best.Step, m.Best.Metric
			}
			doc.Runs = append(doc.Runs, row)
		}
		keep := 1
		if k < len(rungs)-1 {
			keep = rungs[k+1].Trials
		}
		best := tune.Best(all, keep)
		if len(best) == 0 && unfit != nil {
			return tune.Scored{}, nil, base.RunError(fmt.Errorf("no trial of %d has a score; narrow search.space: %w", len(trials), unfit))
		}
		if len(best) == 0 {
			return tune.Scored{}, nil, &base.ExitError{Code: base.ExitDiverged, Err: fmt.Errorf("no trial of %d has a score: all diverged or collapsed; narrow search.space", len(trials))}
		}
		if k == len(rungs)-1 {
			for i, t := range trials {
				if t.Number == best[0].Trial.Number {
					return best[0], configs[i], nil
				}
			}
		}
		trials = trials[:0:0]
		for _, b := range best {
			trials = append(trials, b.Trial)
		}
	}
	panic("tune: a search has no rung")
}

// write writes the chosen config with how it was chosen.
func write(path string, cfg *config.Config, best tune.Scored, chosen *config.Config, doc *printed.Tuned) error {
	trial := chosen.Name
	chosen.Name = cfg.Name + "-tuned"
	text, err := chosen.Resolved()
	if err != nil {
		return err
	}
	doc.Best, doc.Config = &best.Trial.Number, path
	lost := 0
	for _, r := range doc.Runs {
		if r.Score == nil {
			lost++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s of validation images,\n", begins, doc.Metric, fmt.Sprintf("%.4f", best.Score))
	fmt.Fprintf(&b, "# the best of %d trials (%s search, seed %d; %d runs, %d without a score).\n", doc.Trials, doc.Method, doc.Seed, len(doc.Runs), lost)
	fmt.Fprintf(&b, "# Trial: %s. This score is optimistic: it is the best of many. No test images were used.\n", trial)
	for _, set := range best.Trial.Sets {
		fmt.Fprintf(&b, "#   %s\n", strings.Replace(set, "=", ": ", 1))
	}
	b.Write(text)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return fsx.WriteFile(path, []byte(b.String()), 0o644)
}

// table prints the trials.
func table(w io.Writer, doc printed.Tuned) error {
	t := &render.Table{Title: "trials"}
	trained := doc.Config != ""
	t.Columns = []render.Column{{Name: "trial", Digits: -1}}
	if trained {
		t.Columns = append(t.Columns, render.Column{Name: "rung", Digits: -1}, render.Column{Name: "run"}, render.Column{Name: "status"}, render.Column{Name: doc.Metric, Digits: 4, Better: 1}, render.Column{Name: "step", Digits: -1})
	}
	t.Columns = append(t.Columns, render.Column{Name: "values"})
	for _, r := range doc.Runs {
		row := []render.Cell{render.Int(r.Trial)}
		if trained {
			score, step := render.Missing(), render.Missing()
			if r.Score != nil {
				score, step = render.Number(*r.Score), render.Int(r.Step)
			}
			row = append(row, render.Int(r.Rung), render.Text(r.Run), render.Text(string(r.Status)), score, step)
		}
		t.Rows = append(t.Rows, append(row, render.Text(strings.Join(r.Values, " "))))
	}
	return t.Write(w, "text")
}
