package attack

import (
	"context"
	"os"

	"tercet/internal/cli/base"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/scheduler"
)

// runTask attacks a share of the queries.
func runTask(ctx context.Context, s *base.Streams, o options, r *run.Run, opts record.AttackOptions, view *base.Stages) error {
	if given := base.Given(o.changed, "fail-under", "fail-over"); given != "" {
		return base.Usagef("%s: for the merged result; add --merge", given)
	}
	t, err := scheduler.ParseTask(o.task, os.Getenv)
	if err != nil {
		return base.RunError(err)
	}
	opts.Pictures = 0
	path, p, err := robustness.AttackTask(ctx, r, o.Checkpoint, o.Set, opts, t, o.path(), base.Program(), o.force, progress.Progress{Say: view.Say, Note: s.Note})
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	p.Adversarial, p.Clean, p.Attacks = nil, nil, nil // the file has them
	return s.Line(p, "%s: %d queries attacked; when all %d tasks have ended, replace --task by --merge", path, p.Queries, p.Tasks)
}
