package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/engine/optim"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/text"
)

func newExtend(s *base.Streams) *cobra.Command {
	var o run.Longer
	return base.Command{
		Use:   "extend RUN",
		Short: "Create a longer run that continues a finished one",
		Long: `
Creates a longer run that continues the finished run RUN, in the same folder. RUN and its
results do not change. The command does not train; it prints the command that does.

If the learning rate depends on the length of the run, as with a cosine schedule,
--schedule must say how it continues:

  keep     keep the learning rate of the last step
  restart  repeat the schedule over the further steps, without its warm-up
  stretch  follow the schedule of the total length from here on; the learning rate jumps

The config of the longer run records this in optimizer.schedule.extended, and its manifest
names the run that it continues. Training that config from its first step gives the same
last weights. It also gives the same best checkpoint, with one exception: the evaluation
at the end of RUN may not be among those of train.eval_every. The command then says so.`,
		Examples: []base.Example{
			{Why: "extend to ten epochs in total", Line: "tercet runs extend runs/first --epochs 10"},
			{Why: "with a cosine schedule, restarted", Line: "tercet runs extend runs/first --epochs 10 --name first-again --schedule restart"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ExactArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.IntVar(&o.Epochs, "epochs", 0, "total length in epochs, including those of RUN")
			fs.IntVar(&o.Steps, "steps", 0, "total length in optimizer steps, for runs with train.steps")
			fs.StringVar(&o.Schedule, "schedule", "", "learning rate schedule of the further steps: "+strings.Join(optim.Continuations(), ", "))
			fs.StringVar(&o.Name, "name", "", "`NAME` of the longer run (default: the name of RUN with the new length)")
			cmd.MarkFlagsMutuallyExclusive("epochs", "steps")
			base.Least(fs, 0, "epochs", "steps")
		},
		Run: func(_ context.Context, args []string) error { return extend(s, o, args[0]) },
	}.Build()
}

func extend(s *base.Streams, o run.Longer, dir string) error {
	switch {
	case o.Epochs == 0 && o.Steps == 0:
		return base.Usagef("say how long the run shall be in all: --epochs N, or --steps N")
	case o.Schedule != "" && !slices.Contains(optim.Continuations(), o.Schedule):
		return base.Usagef("--schedule is %q; %s", o.Schedule, names.Unknown(o.Schedule, optim.Continuations()))
	}
	r, err := run.Open(dir)
	if err != nil {
		return base.RunError(err)
	}
	if o.Name == "" {
		unit := "epochs"
		if o.Steps > 0 {
			unit = "steps"
		}
		own := filepath.Base(filepath.Clean(dir))
		if own == "." || own == ".." {
			own = r.Config.Name
		}
		o.Name = fmt.Sprintf("%s-%d-%s", own, cmp.Or(o.Epochs, o.Steps), unit)
	}
	longer, err := r.Extend(o)
	if errors.Is(err, run.ErrExtend) {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if err != nil {
		return base.RunError(err)
	}
	if end, err := r.EndIsBest(); err != nil {
		return base.RunError(err)
	} else if end {
		s.Note("warning: the best checkpoint is of the end of %s, which train.eval_every: %d does not evaluate in a longer run: until a later one is better, it is another than that of a run from the first step", dir, r.Config.Train.EvalEvery)
	}
	doc := printed.ExtendedRun{
		Schema: record.ExtendedRunSchema, Dir: longer.Dir, Of: dir, Step: longer.Manifest.Steps, Planned: longer.Manifest.Of, Schedule: o.Schedule,
		Next: "tercet train --resume " + text.ShellWord(longer.Dir),
	}
	return s.Line(doc, "%s: at step %d of %d\n%s", doc.Dir, doc.Step, doc.Planned, doc.Next)
}
