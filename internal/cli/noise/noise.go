// Package noise is the command that estimates the noise of what a run is trained on.
package noise

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
)

type options struct {
	base.Subject
	base.Outcome
	force bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	o := options{Subject: base.Subject{Set: "train"}}
	return base.Command{
		Use:   "noise [RUN]",
		Short: "Estimate the share of wrong labels, pairs or triplets in training",
		Long: `
Estimates the share of wrong labels, pairs or triplets in a run's training data: from
image pairs with contradictory labels, or from the losses under the trained network. If
the run's config injects noise, the true rate is printed for comparison.

It writes noise.json into the run's directory (with --checkpoint best, noise-best.json).
loss.noise_from reads beta and gamma from it. An existing result is replaced only with
--force, or if the new one covers it.`,
		Examples: []base.Example{
			{Why: "the share of wrong training pairs", Line: "tercet noise --run runs/pairs"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			o.AddWeights(cmd)
			o.AddLimit(cmd)
			o.AddFormat(cmd)
			cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing result even if it has more scores or other settings")
		},
		Run: func(ctx context.Context, _ []string) error { return runNoise(ctx, s, o) },
	}.Build()
}

// runNoise estimates the noise of what a run is trained on and writes noise.json.
func runNoise(ctx context.Context, s *base.Streams, o options) error {
	if err := o.CheckRun(); err != nil {
		return err
	}
	r, err := o.OpenNoted(s)
	if err != nil {
		return err
	}
	defer r.Close()
	path := run.ResultPath(r.Dir, "noise", "", o.Checkpoint)
	if !o.force {
		now := record.NoiseRate{Source: record.Source{Items: o.Limit}}
		if err := base.KeptError(run.Keep(r, path, now, "train", o.Checkpoint), ""); err != nil {
			return err
		}
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	doc, err := evaluate.NoiseRate(ctx, r, o.Checkpoint, o.Limit, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	if err := record.Write(path, doc); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error { return noiseTable(doc).Write(w, o.Format) })
}

// noiseTable shows what each method says, and the truth where it is known.
func noiseTable(d *record.NoiseRate) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: noise of the %s", d.Source.Run, d.Of),
		Columns: []render.Column{{Name: "method"}, {Name: "rate"}, {Name: "from"}},
	}
	for _, e := range append([]record.NoiseEstimate{d.Estimate}, d.Others...) {
		what := "losses"
		if e.Method == noise.Contradictions {
			what = fmt.Sprintf("image pairs listed more than once, %d with contradictory labels", e.Contradictions)
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(e.Method), render.Interval(e.P, e.CI95[0], e.CI95[1]), render.Text(fmt.Sprintf("%d %s", e.N, what))})
	}
	if tr := d.Truth; tr != nil {
		t.Rows = append(t.Rows, []render.Cell{render.Text("truth (" + tr.Kind + ")"), render.Number(tr.Found), render.Text(fmt.Sprintf("target %.4g", tr.Wanted))})
	}
	if d.Effective != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("of balanced pairs %.4f are wrong then (effective noise)", *d.Effective))
	}
	methods := slices.Sorted(maps.Keys(d.Failed))
	for _, m := range methods {
		t.Notes = append(t.Notes, m+": "+d.Failed[m])
	}
	return t
}
