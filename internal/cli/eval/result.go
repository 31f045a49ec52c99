package eval

import (
	"context"
	"os"
	"path/filepath"

	"tercet/internal/cli/base"
	"tercet/internal/embed/store"
	"tercet/internal/evaluate"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

func files(ctx context.Context, s *base.Streams, o options, say progress.Say) (*evaluate.Evaluation, error) {
	if o.Labels == "" && !store.Is(o.Embeddings) {
		return nil, base.Usagef("--embeddings needs --labels: scores compare with true labels")
	}
	if o.queries != "" && o.Labels != "" {
		return nil, base.Usagef("--embeddings %s is a folder and has its labels in items.csv: leave out --labels", o.Embeddings)
	}
	set := o.fileSettings()
	var e *evaluate.Evaluation
	var err error
	if o.queries != "" {
		e, err = evaluate.Folders(ctx, o.Embeddings, o.queries, set, o.keeper(set), say)
	} else {
		e, err = evaluate.Files(ctx, o.Embeddings, o.LabelFile(), set, o.keeper(set), say)
	}
	if err != nil {
		return nil, base.RunError(base.LabelsError(err))
	}
	if o.out == "" {
		return e, nil
	}
	return e, writeEval(s, o.out, e.Doc)
}

// writeEval writes the document, and says where if that was asked for.
func writeEval(s *base.Streams, path string, d *record.Eval) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := record.Write(path, d); err != nil {
		return err
	}
	s.Note("wrote %s", path)
	return nil
}

func evaluated(ctx context.Context, s *base.Streams, o options, view *base.Stages) (*evaluate.Evaluation, error) {
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	set := o.settings(evaluate.Defaults(r.Config))
	path := o.out
	if path == "" {
		path = run.ResultPath(r.Dir, "eval", o.Set, o.Checkpoint)
	}
	with := base.Replacing{Force: o.force, IfNeeded: o.ifNeeded, Place: "--out FILE"}
	if d, err := base.Stored(r, &o.Subject, path, with, record.Eval{Options: set}, func(d *record.Eval) (bool, error) { return evaluate.Holds(r, d, set) }); err != nil {
		return nil, err
	} else if d != nil {
		s.Note("%s is up to date", path)
		return &evaluate.Evaluation{Doc: d}, nil
	}
	draw := !o.NoPictures && o.out == ""
	if draw {
		set.Neighbors = 8
	}
	e, err := evaluate.Eval(ctx, r, o.Checkpoint, o.Set, set, view.Say)
	if err != nil {
		return nil, base.RunError(err)
	}
	view.Close()
	figures := run.FigureFolder(r.Dir, o.Set, o.Checkpoint)
	if !draw && o.out == "" {
		if err := undraw(path, e.Doc.Source, figures); err != nil {
			return nil, err
		}
	}
	if err := writeEval(s, path, e.Doc); err != nil {
		return nil, err
	}
	if draw {
		for _, picture := range []func() (string, error){func() (string, error) { return e.DrawRetrieval(figures, 10) }, r.DrawCurves} {
			if err := base.Picture(s, picture); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

// undraw removes the picture of the result in path where one of other images or weights
// replaces it that is not drawn: a page would show the two together.
func undraw(path string, now record.Source, figures string) error {
	before, err := record.ReadKept[record.Eval](path)
	if before == nil || err == nil && before.Source.Items == now.Items && before.Source.Step == now.Step {
		return nil
	}
	return base.Undraw(figures, "retrieval", "retrieval-gallery")
}

// keeper refuses to replace what --out has by less of the same files, or by the result of
// others; nil where there is nothing to refuse.
func (o *options) keeper(set record.EvalOptions) run.Keeper {
	if o.out == "" || o.force {
		return nil
	}
	return func(now record.Source) error {
		return base.KeptError(record.KeepFiles(o.out, record.Eval{Options: set, Source: now}), "--out FILE")
	}
}
