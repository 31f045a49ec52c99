package eval

import (
	"context"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
)

// runExport writes a run's embeddings and scores nothing: what asks for less than all
// scores is passed over, what asks for some is refused.
func runExport(ctx context.Context, s *base.Streams, o options) error {
	if o.Run == "" {
		return base.Usagef("--save-embeddings exports those of a run: give --run")
	}
	scores := []string{"k", "distance", "bootstrap", "clusters", "n-init", "seed", "pairs", "threshold", "per-query", "per-class", "class-scores", "fail-under", "all-scores", "if-needed", "out"}
	if given := base.Given(o.changed, scores...); given != "" {
		return base.Usagef("--save-embeddings exports embeddings and scores nothing: leave out %s, and score by a command without --save-embeddings", given)
	}
	for _, path := range evaluate.ExportPaths(o.save) {
		if err := base.Writable(path); err != nil {
			return err
		}
	}
	r, err := o.OpenNoted(s)
	if err != nil {
		return err
	}
	defer r.Close()
	view := &base.Stages{Streams: s}
	defer view.Close()
	e, err := r.Embed(ctx, o.Checkpoint, o.Set, o.Limit, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	return base.Export(s, evaluate.OfRun(e), o.save, "npy", o.Format, o.force)
}
