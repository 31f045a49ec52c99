package runs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// none reads no results.
const none = ""

const dryRun = "Without --yes the command only prints what it would remove. Nothing is removed while\nanother process uses one of the runs: trains it, retrains it for tercet stability, or\ncomputes results, like tercet eval and attack."

func newRemove(s *base.Streams) *cobra.Command {
	var yes bool
	return base.Command{
		Use:   "rm RUN...",
		Short: "Remove runs",
		Long: `
Removes run directories with all their files.

` + dryRun,
		Examples: []base.Example{
			{Why: "print what would be removed", Line: "tercet runs rm runs/first"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) { cmd.Flags().BoolVar(&yes, "yes", false, "really remove") },
		Run: func(_ context.Context, args []string) error {
			runs, err := find(args, none)
			if err != nil {
				return err
			}
			list := lists.Map(runs, func(f found) removal { return removal{found: f} })
			return remove(s, list, yes)
		},
	}.Build()
}

type pruneOptions struct {
	status      []string
	checkpoints string
	older       string
	yes         bool
}

// The words of prune --checkpoints, with globs of the files that each removes.
var prunable = map[string][]string{
	"previous": {"previous.safetensors"},
	"best":     {"best.safetensors"},
	"kept":     {fmt.Sprintf(run.KeptCheckpoints, "*")},
	"all":      {"previous.safetensors", "best.safetensors", fmt.Sprintf(run.KeptCheckpoints, "*"), "last.safetensors"},
}

// prunableCheckpoints are the words of prune --checkpoints.
func prunableCheckpoints() []string { return []string{"previous", "best", "kept", "all"} }

func newPrune(s *base.Streams) *cobra.Command {
	var o pruneOptions
	return base.Command{
		Use:   "prune [RUNS...]",
		Short: "Remove runs by status, or weights of finished runs",
		Long: `
Removes from the runs in RUNS (default: runs)

  --status       complete runs with one of these states, such as failed,diverged
  --checkpoints  weights of finished runs: previous (the last but one, a backup in case
                 the last one is damaged), best, kept (those of train.keep_every), or all.
                 Results and logs stay. Without its last checkpoint a run can no longer
                 be evaluated, attacked, extended or exported. tercet train still treats
                 it as finished

With --older it considers only runs that have not changed for that time.

` + dryRun,
		Examples: []base.Example{
			{Why: "failed runs", Line: "tercet runs prune runs --status failed,diverged,collapsed"},
			{Why: "backup checkpoints that are a week old", Line: "tercet runs prune runs --checkpoints previous --older 7d"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringSliceVar(&o.status, "status", nil, "remove runs with one of: "+strings.Join(Statuses(), ", "))
			base.Words(fs, &o.checkpoints, "checkpoints", "", prunableCheckpoints(), "remove weights of finished runs: "+strings.Join(prunableCheckpoints(), ", "))
			fs.StringVar(&o.older, "older", "", "only runs unchanged for this `TIME`, such as 30d or 12h")
			fs.BoolVar(&o.yes, "yes", false, "really remove")
		},
		Run: func(_ context.Context, args []string) error { return prune(s, o, args) },
	}.Build()
}

func prune(s *base.Streams, o pruneOptions, patterns []string) error {
	names := prunable[o.checkpoints]
	switch {
	case o.status == nil && o.checkpoints == "":
		return base.Usagef("say what to remove: --status LIST (whole runs), --checkpoints %s (weights of finished runs)", strings.Join(prunableCheckpoints(), "|"))
	case o.status != nil && o.checkpoints != "":
		return base.Usagef("--status removes whole runs, and --checkpoints weights of finished ones: give one of the two")
	}
	if err := checkStatuses(o.status); err != nil {
		return err
	}
	older, err := olderThan(o.older)
	if err != nil {
		return err
	}
	runs, err := find(patterns, none)
	if err != nil {
		return err
	}
	var list []removal
	for _, f := range runs {
		switch {
		case older > 0 && !unchangedFor(f, older):
		case slices.Contains(o.status, string(f.Status)):
			list = append(list, removal{found: f})
		case names != nil && f.Status == record.Finished:
			r := removal{found: f}
			r.Bytes = 0
			for _, name := range names {
				paths, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(f.Dir), "checkpoints", name))
				if err != nil {
					return err
				}
				for _, path := range paths {
					if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
						r.files, r.Bytes = append(r.files, filepath.Join("checkpoints", filepath.Base(path))), r.Bytes+info.Size()
					}
				}
			}
			if r.files != nil {
				list = append(list, r)
			}
		}
	}
	return remove(s, list, o.yes)
}

// mostDays is 100 years, which a time.Duration can hold.
const mostDays = 36_500

// olderThan reads --older.
func olderThan(word string) (time.Duration, error) {
	if word == "" {
		return 0, nil
	}
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(word, "d"); ok {
		var n float64
		if n, err = strconv.ParseFloat(days, 64); err == nil && n <= mostDays { // not NaN
			d = time.Duration(n * 24 * float64(time.Hour))
		}
	} else {
		d, err = time.ParseDuration(word)
	}
	if err != nil || d <= 0 {
		return 0, base.Usagef("--older is %q; give a time such as 30d, 12h or 45m", word)
	}
	return d, nil
}

// unchangedFor says that the manifest and all else in the run's directory, but its lock, is
// at least so old.
func unchangedFor(f found, d time.Duration) bool {
	if at, err := time.Parse(time.RFC3339, f.Updated); err == nil && time.Since(at) < d {
		return false
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if info, err := e.Info(); e.Name() != "lock" && (err != nil || time.Since(info.ModTime()) < d) {
			return false
		}
	}
	return true
}

// removal is a run of which something is removed: the files, or all.
type removal struct {
	found
	files []string // below its directory; nil for the whole run
}

// remove removes what the list names, or says what it would. If a process works on one of
// the runs, nothing is removed.
func remove(s *base.Streams, list []removal, yes bool) error {
	doc := printed.RemovedRuns{Schema: record.RemovedRunsSchema, Removed: yes, Runs: []printed.RemovedRun{}}
	for _, r := range list {
		if err := r.removable(); err != nil {
			return err
		}
	}
	for _, r := range list {
		if yes {
			if err := r.away(); err != nil {
				return fmt.Errorf("%s was not removed: %w", r.Dir, err)
			}
		}
		doc.Runs = append(doc.Runs, printed.RemovedRun{Dir: r.Dir, Status: r.Status, Files: r.files, Bytes: r.Bytes})
		doc.Bytes += r.Bytes
	}
	if yes {
		if err := finishRemovals(list); err != nil {
			return err
		}
	}
	return s.Text(doc, removedText(doc))
}

// away removes the files, or the whole run, under the run's lock. A whole run is renamed
// first: killed in between, it is not there any more under its name, and no half of it is.
//
// Errors: one that wraps run.ErrBusy where a process works on the run.
func (r removal) away() error {
	of := &run.Run{Dir: r.Dir}
	if err := of.Lock(); err != nil {
		return err
	}
	defer of.Close()
	if r.files != nil {
		return of.Prune(r.files)
	}
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	gone := filepath.Join(filepath.Dir(abs), fmt.Sprintf("%s%d-%s", rundir.Removed, os.Getpid(), filepath.Base(abs)))
	if err := os.Rename(abs, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// finishRemovals removes what a killed removal has left in the folders of the runs.
func finishRemovals(list []removal) error {
	for _, r := range list {
		left, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(filepath.Dir(filepath.Clean(r.Dir))), rundir.Removed+"*"))
		if err != nil {
			return err
		}
		for _, dir := range left {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func removedText(d printed.RemovedRuns) string {
	var b strings.Builder
	for _, r := range d.Runs {
		what := "all"
		if r.Files != nil {
			what = strings.Join(r.Files, ", ")
		}
		fmt.Fprintf(&b, "%s (%s): %s, %s\n", text.Visible(r.Dir), r.Status, what, text.Bytes(r.Bytes))
	}
	switch {
	case len(d.Runs) == 0:
		b.WriteString("nothing to remove\n")
	case d.Removed:
		fmt.Fprintf(&b, "removed: %s of %s\n", text.Bytes(d.Bytes), text.Count(len(d.Runs), "run"))
	default:
		fmt.Fprintf(&b, "would remove %s of %s; --yes removes it\n", text.Bytes(d.Bytes), text.Count(len(d.Runs), "run"))
	}
	return b.String()
}
