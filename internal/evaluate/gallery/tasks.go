package gallery

import (
	"context"

	"tercet/internal/engine/kernel"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/scheduler"
	"tercet/internal/unfinished"
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
	part, err := unfinished.Open(run.PartPath(o.Out, t), in.head("counts", t.Index, t.Of))
	if err != nil {
		return nil, err
	}
	defer part.Close()
	from, to := st.Share(t.Index, t.Of)
	_, all := st.Queries(st.Chunks() - 1)
	for k := range st.Chunks() {
		if part.Has(k) {
			continue
		}
		lo, hi := st.Queries(k)
		p := resumed(part, k, from, to)
		p.Told = queriesOf(say, lo, hi, all)
		counts, err := st.Count(ctx, k, p)
		if err != nil {
			return nil, stopped(err, part)
		}
		if err := part.Write(k, counts); err != nil {
			return nil, err
		}
	}
	return &record.EvalTask{Schema: record.EvalTaskSchema, Source: in.src, Counts: part.Path, Task: t.Index, Tasks: t.Of, First: from, Rows: to - from}, nil
}

// head says what unfinished work is of; it holds values or counts.
func (in *input) head(holds string, task, of int) unfinished.Head {
	e := in.o.Eval
	return unfinished.Head{Schema: record.EvalPartFormat, Chunks: in.stored.Chunks(), Task: task, Of: of, Facts: []unfinished.Fact{
		{What: "numbers", Value: holds},
		{What: "version of the program", Value: in.o.Program},
		{What: "data (SHA-256)", Value: in.src.Fingerprint},
		unfinished.FactOf("k of recall@k", e.Ks),
		{What: "distance", Value: e.Distance},
		{What: "kernel level", Value: kernel.Current().String()},
	}}
}

// resumed is the part of the gallery [from, to) for a chunk, with what f has counted of it
// before, and keeps further counts.
func resumed(f *unfinished.File, chunk, from, to int) metric.Part {
	out := metric.Part{From: from, To: to}
	if f == nil {
		return out
	}
	out.Done, out.Counts = f.Kept(chunk)
	out.Save = func(done int, counts []int32) error { return f.Keep(chunk, done, counts) }
	return out
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
	var parts []*unfinished.File
	for i := 1; i <= n; i++ {
		p, err := unfinished.Finished(run.PartPath(o.Out, scheduler.Task{Index: i, Of: n}), in.head("counts", i, n))
		if err != nil {
			return nil, err
		}
		defer p.Close()
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
			if err := p.Read(k, part); err != nil {
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
