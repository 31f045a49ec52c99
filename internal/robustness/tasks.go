package robustness

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/kernel"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/scheduler"
)

// AttackTask attacks the queries of a task and writes what it found as a part of the
// result in out; program is the version of the program. It returns the path. An existing
// part of the same attack is reused. A part of another attack is an error, unless it is
// to be replaced.
func AttackTask(ctx context.Context, r *run.Run, checkpoint, set string, o record.AttackOptions, t scheduler.Task, out, program string, replace bool, p progress.Progress) (string, *record.AttackPart, error) {
	e, g, err := prepareShared(ctx, r, checkpoint, set, &o, out, program, p)
	if err != nil {
		return "", nil, err
	}
	path := run.PartPath(out, t)
	if !replace {
		there, err := record.ReadIfThere[record.AttackPart](path)
		if there == nil && err != nil {
			return "", nil, err
		}
		var want record.AttackPart
		sign(&want, e.Source, o, t, program)
		if there != nil {
			if what := unlike(there, &want); what != "" {
				return "", nil, option.Errorf("%s is of another attack (%s); remove it, or write elsewhere", path, what)
			}
			return path, there, nil
		}
	}
	part, err := attack.RunShare(ctx, e.Model, e.Data, g, attackOptions(o, p.Say.Of("attack")), t)
	if err != nil {
		return "", nil, err
	}
	sign(part, e.Source, o, t, program)
	return path, part, record.Write(path, part)
}

// prepareShared is prepare for tasks of a program, which share the embeddings in a file next
// to out.
func prepareShared(ctx context.Context, r *run.Run, checkpoint, set string, o *record.AttackOptions, out, program string, p progress.Progress) (*run.Embedded, *retrieval.Gallery, error) {
	if err := images(r); err != nil {
		return nil, nil, err
	}
	e, g, err := galleryOf(r.EmbedShared(ctx, checkpoint, set, out+".gallery", program, p))
	settle(o, g)
	return e, g, err
}

// sign says what a part is of.
func sign(p *record.AttackPart, src record.Source, o record.AttackOptions, t scheduler.Task, program string) {
	p.Schema, p.Source, p.Options = record.AttackPartSchema, src, o
	p.Program, p.Kernel, p.Task, p.Tasks = program, kernel.Setting(), t.Index, t.Of
}

// MergeAttack combines the parts of all tasks in out. The result is that of Attack in one
// process, except that its times are the sums of the tasks'.
func MergeAttack(ctx context.Context, r *run.Run, checkpoint, set string, o record.AttackOptions, out, program string, p progress.Progress) (*Attacked, error) {
	start := time.Now()
	n, err := run.Parts(out)
	if err != nil {
		return nil, err
	}
	e, g, err := prepareShared(ctx, r, checkpoint, set, &o, out, program, p)
	if err != nil {
		return nil, err
	}
	var parts []*record.AttackPart
	for i := 1; i <= n; i++ {
		t := scheduler.Task{Index: i, Of: n}
		path := run.PartPath(out, t)
		part, err := record.Read[record.AttackPart](path)
		if err != nil {
			return nil, err
		}
		var want record.AttackPart
		sign(&want, e.Source, o, t, program)
		if what := unlike(part, &want); what != "" {
			return nil, option.Errorf("%s is of another attack (%s); remove it and run task %d/%d again", path, what, i, n)
		}
		parts = append(parts, part)
	}
	res, err := attack.Merge(ctx, e.Model, e.Data, g, attackOptions(o, nil), parts)
	if err != nil {
		return nil, err
	}
	a, err := describe(ctx, o, e, g, res)
	if err != nil {
		return nil, err
	}
	a.Doc.Warnings = append(a.Doc.Warnings, r.Omitted()...)
	a.Doc.Cost.Seconds = time.Since(start).Seconds()
	for _, ran := range res.Attacks {
		a.Doc.Cost.Seconds += ran.Seconds
	}
	return a, nil
}

// unlike says in what two parts differ that are of one attack, "" where in nothing.
func unlike(p, want *record.AttackPart) string {
	for _, c := range []struct {
		what string
		a, b any
	}{
		{"version of the program", p.Program, want.Program},
		{"kernel level", p.Kernel, want.Kernel},
		{"step of the checkpoint", p.Source.Step, want.Source.Step},
		{"images (SHA-256)", p.Source.Fingerprint, want.Source.Fingerprint},
		{"config", p.Source.Config, want.Source.Config},
		{"checkpoint", p.Source.Checkpoint, want.Source.Checkpoint},
		{"split", p.Source.Set, want.Source.Set},
		{"task", fmt.Sprintf("%d/%d", p.Task, p.Tasks), fmt.Sprintf("%d/%d", want.Task, want.Tasks)},
	} {
		if c.a != c.b {
			return fmt.Sprintf("%s: %v there, %v here", c.what, c.a, c.b)
		}
	}
	if !record.SameJSON(p.Options, want.Options) {
		return "other options"
	}
	return ""
}
