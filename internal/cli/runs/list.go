package runs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/scheduler"
	"tercet/internal/study/observe"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type listOptions struct {
	score   string
	status  []string
	where   []string
	sort    string
	reverse bool
	limit   int
	format  string
}

func newList(s *base.Streams) *cobra.Command {
	var o listOptions
	return base.Command{
		Use:   "list [RUNS...]",
		Paged: true,
		Short: "List runs with status, progress, scores, age, size and time",
		Long: `
Lists the runs in RUNS (default: runs): folders of run directories, run directories, or
globs of either. Columns:

  best   score of the best checkpoint, and the split that selected it
  score  score on test images with the last checkpoint, as stored by tercet eval and
         others: recall@1, or that of --metric, such as map@r, ES:R or cluster:nmi
  time   total training time
  size   total size of the run's files

--status and --where filter the list. --where selects runs by the value of a config key,
or by several values, as in --where loss=triplet,contrastive.`,
		Examples: []base.Example{
			{Why: "all runs", Line: "tercet runs list runs"},
			{Why: "the three best by mean average precision", Line: "tercet runs list runs --sort score --metric map@r --limit 3"},
			{Why: "killed and interrupted runs", Line: "tercet runs list runs --status dead,interrupted"},
			{Why: "runs with a certain loss, for a script", Line: "tercet runs list runs --where loss=triplet --format csv"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringSliceVar(&o.status, "status", nil, "only runs with one of: "+strings.Join(Statuses(), ", "))
			fs.StringArrayVar(&o.where, "where", nil, "only runs with this config value: `KEY=VALUE[,VALUE...]` (repeatable)")
			fs.StringVar(&o.score, "metric", "", "score to print (default recall@1)")
			fs.StringVar(&o.sort, "sort", "name", "order: "+strings.Join(SortKeys(), ", "))
			fs.BoolVar(&o.reverse, "reverse", false, "reverse the order")
			fs.IntVar(&o.limit, "limit", 0, "list the first `N` (default: all)")
			base.AddFormat(fs, &o.format)
		},
		Run: func(_ context.Context, args []string) error { return list(s, o, args) },
	}.Build()
}

func list(s *base.Streams, o listOptions, patterns []string) error {
	order := orders[o.sort]
	switch {
	case order == nil:
		return base.Usagef("--sort is %q; %s", o.sort, names.Unknown(o.sort, SortKeys()))
	case o.limit < 0:
		return base.Usagef("--limit is %d; give a number of runs", o.limit)
	}
	if err := checkStatuses(o.status); err != nil {
		return err
	}
	where, err := conditions(o.where)
	if err != nil {
		return err
	}
	runs, err := find(patterns, "eval")
	if err != nil {
		return err
	}
	all := len(runs)
	runs = slices.DeleteFunc(runs, func(f found) bool { return o.status != nil && !slices.Contains(o.status, string(f.Status)) })
	if len(where) > 0 {
		runs = slices.DeleteFunc(runs, func(f found) bool { return !has(f.Dir, where) })
	}
	score, err := setScore(runs, o.score)
	if err != nil {
		return err
	}
	slices.SortStableFunc(runs, func(a, b found) int {
		c := order(a, b, score)
		if o.reverse && (o.sort != "score" || (a.Score == nil) == (b.Score == nil)) { // what lacks a score stays last
			return -c
		}
		return c
	})
	kept := len(runs)
	if o.limit > 0 {
		runs = runs[:min(o.limit, kept)]
	}
	doc := printed.RunListing{Schema: record.RunListingSchema, Score: score, Runs: []printed.ListedRun{}}
	for _, f := range runs {
		doc.Runs = append(doc.Runs, f.ListedRun)
	}
	if kept < all || len(runs) < kept {
		s.Note("%d of %s", len(runs), text.Count(all, "run"))
	}
	return s.Result(doc, func(w io.Writer) error {
		t := listTable(doc, o.format, time.Now())
		if o.format != "text" {
			return t.Write(w, o.format)
		}
		var b strings.Builder
		if err := t.Write(&b, o.format); err != nil {
			return err
		}
		_, err := io.WriteString(w, painted(s, b.String()))
		return err
	})
}

// painted colors the statuses of a table, which shows control characters of its cells.
func painted(s *base.Streams, table string) string {
	for _, status := range printed.Statuses() {
		cell := "│ " + string(status) + " "
		table = strings.ReplaceAll(table, cell, "│ "+s.Paint(base.StatusTone(status), string(status))+" ")
	}
	return table
}

// conditions reads --where.
func conditions(list []string) (observe.Where, error) {
	out := observe.Where{}
	keys := map[string]bool{}
	for _, k := range config.Keys() {
		keys[k.Key] = true
	}
	for _, text := range list {
		key, values, ok := strings.Cut(text, "=")
		if !ok {
			return nil, base.Usagef("--where is %q; give KEY=VALUE, such as loss=triplet", text)
		}
		if keys[key+".name"] { // as in loss=triplet
			key += ".name"
		}
		if !keys[key] {
			return nil, base.Usagef("--where: unknown config key %s; %stercet config keys lists them", key, base.DidYouMean(key, base.ConfigKeys()))
		}
		any := lists.Map(strings.Split(values, ","), func(v string) any { return v })
		out[key] = any
	}
	return out, nil
}

// has says whether the config of the run in dir fits; that of a run that cannot be read
// does not.
func has(dir string, where observe.Where) bool {
	labels, err := report.Settings(dir, "")
	if err != nil {
		return false
	}
	return where.Fits(func(key string) string { return rundir.PartOf(labels, key) })
}

// listTable has numbers in full for programs, and words for people.
func listTable(doc printed.RunListing, format string, now time.Time) *render.Table {
	t := &render.Table{Title: "runs"}
	heads := []string{"run", "status", "step", "of", "best", doc.Score, "age", "time", "size"}
	if base.Bare(format) {
		heads = []string{"run", "status", "step", "steps_planned", "best_metric", "best_split", "best", doc.Score, "started", "seconds", "forward", "backward", "bytes"}
	}
	t.Columns = render.Columns(heads...)
	for _, r := range doc.Runs {
		if base.Bare(format) {
			t.Rows = append(t.Rows, bareRow(r))
			continue
		}
		row := []render.Cell{render.Text(r.Dir), render.Text(string(r.Status)), render.Missing(), render.Missing(), render.Missing(), scoreCell(r.Score), render.Missing(), render.Missing(), render.Text(text.Bytes(r.Bytes))}
		if r.Of > 0 {
			row[2], row[3] = render.Int(r.Steps), render.Int(r.Of)
		}
		if r.Best != nil {
			row[4] = render.Text(fmt.Sprintf("%s %.3f", bestName(r.RunState), r.Best.Value))
		}
		if at, err := time.Parse(time.RFC3339, r.Started); err == nil {
			row[6] = render.Text(text.Age(now.Sub(at).Seconds()))
		}
		if r.Seconds > 0 {
			row[7] = render.Text(text.Duration(r.Seconds))
		}
		if r.Bytes == 0 {
			row[8] = render.Missing()
		}
		t.Rows = append(t.Rows, row)
	}
	for _, r := range doc.Runs {
		if note := details(r.SweptRun); note != "" {
			t.Notes = append(t.Notes, r.Dir+": "+note)
		}
	}
	return t
}

func bareRow(r printed.ListedRun) []render.Cell {
	row := []render.Cell{render.Text(r.Dir), render.Text(string(r.Status)), render.Int(r.Steps), render.Int(r.Of),
		render.Missing(), render.Text(r.Split), render.Missing(), scoreCell(r.Score), render.Text(r.Started), render.Number(r.Seconds),
		render.Int(int(r.Cost.Forward)), render.Int(int(r.Cost.Backward)), render.Int(int(r.Bytes))}
	if r.Best != nil {
		row[4], row[6] = render.Text(r.Best.Metric), render.Number(r.Best.Value)
	}
	return row
}

// bestName names what a best checkpoint was best by.
func bestName(r printed.RunState) string {
	if r.Split == "" {
		return r.Best.Metric
	}
	return r.Split + ":" + r.Best.Metric
}

// scoreCell is a score with its interval; nothing where there is none.
func scoreCell(v *record.Value) render.Cell {
	if v == nil {
		return render.Missing()
	}
	return summary.Measured(*v)
}

// details are what is wrong with a run, or who works on it.
func details(r printed.SweptRun) string {
	var out []string
	if r.By != "" {
		out = append(out, r.By)
	}
	if r.Message != "" {
		out = append(out, r.Message)
	}
	return scheduler.Readable(strings.Join(out, "; ")) // of a file that anyone may have written
}
