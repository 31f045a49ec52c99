package gallery

import (
	"context"
	"errors"
	"io/fs"

	"tercet/internal/data/fault"
	"tercet/internal/evaluate"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/scheduler"
)

// Task counts one share of the gallery for all queries and keeps the counts beside Out; a
// call that was interrupted is resumed.
func Task(ctx context.Context, o Options, t scheduler.Task, say progress.Say) (*record.EvalTask, error) {
	if t.Of > maxTasks {
		return nil, option.Errorf("%d tasks; give at most %d", t.Of, maxTasks)
	}
	in, err := open(ctx, o, say)
	if err != nil {
		return nil, err
	}
	defer in.close()
	st := in.stored
	if t.Of > in.g.Len() {
		return nil, option.Errorf("%d tasks of a gallery of %d items; give at most one a task", t.Of, in.g.Len())
	}
	part, err := openPart(run.PartPath(o.Out, t), in.header("counts", t.Index, t.Of))
	if err != nil {
		return nil, err
	}
	defer part.close()
	from, to := st.Share(t.Index, t.Of)
	_, all := st.Queries(st.Chunks() - 1)
	for k := range st.Chunks() {
		if part.has(k) {
			continue
		}
		lo, hi := st.Queries(k)
		p := part.resumed(k, from, to)
		p.Told = queriesOf(say, lo, hi, all)
		counts, err := st.Count(ctx, k, p)
		if err != nil {
			return nil, stopped(err, part)
		}
		if err := part.write(k, counts); err != nil {
			return nil, err
		}
	}
	return &record.EvalTask{Schema: record.EvalTaskSchema, Source: in.src, Counts: part.path, Task: t.Index, Tasks: t.Of, First: from, Rows: to - from}, nil
}

// maxTasks bounds the files that Merge has open.
const maxTasks = 512

// Merge adds up the counts of all tasks, which lie beside Out, and evaluates them. The
// vectors are read again for the keys of relevant items. The result has the bytes of
// Evaluate for any number of tasks; the tasks' files stay.
func Merge(ctx context.Context, o Options, say progress.Say) (*evaluate.Evaluation, error) {
	n, err := run.Parts(o.Out)
	if err != nil {
		return nil, err
	}
	in, err := open(ctx, o, say)
	if err != nil {
		return nil, err
	}
	defer in.close()
	var parts []*partFile
	for i := 1; i <= n; i++ {
		p, err := finishedPart(run.PartPath(o.Out, scheduler.Task{Index: i, Of: n}), in.header("counts", i, n))
		if err != nil {
			return nil, err
		}
		defer p.close()
		parts = append(parts, p)
	}
	var values []float64
	st := in.stored
	for k := range st.Chunks() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, part := make([]int32, st.CountsOf(k)), make([]int32, st.CountsOf(k))
		for _, p := range parts {
			if err := p.read(k, part); err != nil {
				return nil, err
			}
			for i, c := range part {
				sum[i] += c
			}
		}
		v, err := st.Score(k, sum)
		if err != nil {
			return nil, err
		}
		values = append(values, v...)
		say("merge", k+1, st.Chunks())
	}
	return in.result(ctx, values)
}

// finishedPart opens the counts of a task that has ended.
func finishedPart(path string, head header) (*partFile, error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(nil, "%s is missing", path)
	}
	if err != nil {
		return nil, err
	}
	p := &partFile{path: path, head: head, f: f, at: make([]int64, head.Chunks)}
	there, _, err := p.scan()
	switch {
	case err != nil:
	case there == nil:
		err = fault.Bad("%s is cut off in its first line: run task %d/%d again", path, head.Task, head.Of)
	case there.unlike(head) != "":
		err = option.Errorf("%s holds counts of another evaluation (%s)", path, there.unlike(head))
	case p.done < head.Chunks:
		err = fault.Missing(nil, "%s is unfinished, %d of %d parts of the queries: run task %d/%d again, which continues", path, p.done, head.Chunks, head.Task, head.Of)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}
