package watch

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
)

type options struct {
	every time.Duration
	once  bool
	http  string
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "watch [RUN...]",
		Short: "Show the progress of runs while other processes train them",
		Long: `
Shows the progress of runs while other processes train them, also on other machines that
share the folder. It only reads their logs. RUN is a run directory, a folder of run
directories or a glob (default: runs). Runs that start later are included.

On a terminal it draws one line per run with its curves, or a larger plot for a single
run. Otherwise it prints a line for each epoch, each evaluation and each change of status:
resumed, finished, killed. Of runs that ended before, it prints only the status.

The command exits when three checks in a row find no process that trains the runs.

With --http it instead serves the page of tercet report to browsers on this machine,
without pictures. Curves update automatically, and the page reloads when a run starts or
ends.`,
		Examples: []base.Example{
			{Why: "show the present state of all runs in the folder runs, and exit", Line: "tercet watch runs --once"},
			{Why: "follow one run until it ends", Line: "tercet watch runs/first --interval 10ms"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.DurationVar(&o.every, "interval", time.Second, "time between updates")
			fs.BoolVar(&o.once, "once", false, "print the present state and exit")
			fs.StringVar(&o.http, "http", "", "serve the page of tercet report live at `ADDRESS`, such as 127.0.0.1:8080, until Ctrl-C")
			cmd.MarkFlagsMutuallyExclusive("http", "once")
		},
		Run: func(ctx context.Context, args []string) error {
			if o.every <= 0 {
				return base.Usagef("--interval is %v; give a time such as 500ms or 5s", o.every)
			}
			if o.http != "" {
				return serve(ctx, s, o, args)
			}
			return watch(ctx, s, o, args)
		},
	}.Build()
}

// serve is watch with a browser.
func serve(ctx context.Context, s *base.Streams, o options, patterns []string) error {
	v := &server{patterns: patterns, every: o.every}
	if _, _, err := v.read(); err != nil {
		return report.RunsError(err)
	}
	l, err := listen(o.http)
	if err != nil {
		return err
	}
	s.Note("http://%s/ until Ctrl-C", l.Addr())
	return v.serve(ctx, l)
}

// looks are how many times in a row no run is trained before the command ends.
const looks = 3

func watch(ctx context.Context, s *base.Streams, o options, patterns []string) error {
	if s.JSON {
		return base.Usagef("watch prints no document: tercet runs list --json has the state of runs, and events.jsonl their logs")
	}
	v := view{s: s, once: o.once, runs: map[string]*followed{}}
	defer v.end()
	for quiet := 0; ; {
		dirs, err := rundir.Find(patterns)
		if err != nil && len(v.order) == 0 {
			return report.RunsError(err)
		}
		busy, err := v.look(dirs)
		if err != nil {
			return report.RunsError(err)
		}
		v.draw()
		if quiet++; busy {
			quiet = 0
		}
		if o.once || quiet == looks {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // to stop looking is how it ends
		case <-time.After(o.every):
		}
	}
}

// look reads what is new of all runs, and says whether a process works on one of them. It is
// an error where the first look finds none that can be read.
func (v *view) look(dirs []string) (busy bool, err error) {
	first := len(v.order) == 0
	v.lines.Reset()
	for _, dir := range dirs {
		if v.runs[dir] == nil {
			v.runs[dir] = follow(dir)
			v.order = append(v.order, dir)
			v.name(v.runs[dir])
		}
	}
	for _, dir := range v.order {
		f := v.runs[dir]
		before := f.SweptRun
		if f.SweptRun, err = run.Standing(dir, nil); err != nil {
			return false, err
		}
		tell := v.tell(f)
		if v.once || before.Status == "" && f.Status != printed.InTraining { // it has ended before
			tell = func(*record.Event) {}
		}
		f.unread = f.read(tell) // which ends the watch of no other run
		if f.unread != nil {
			f.Status, f.Message = printed.Unreadable, f.unread.Error()
		}
		f.Steps = max(f.Steps, f.step)
		if before.Status != f.Status {
			v.changed(f, before.Status)
		}
		busy = busy || f.Status == printed.InTraining
	}
	if err := v.unreadable(); first && err != nil {
		return false, err
	}
	_, err = io.WriteString(v.s.Out, v.lines.String())
	return busy, err
}

// unreadable is an error where none of the runs can be read.
func (v *view) unreadable() error {
	for _, f := range v.runs {
		if f.Status != printed.Unreadable {
			return nil
		}
	}
	f := v.runs[v.order[0]]
	return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("%w: %s%s", rundir.ErrRun, f.Message, others(len(v.order)))}
}

// others says that more runs than one cannot be read.
func others(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("; none of the %d runs can be read", n)
}
