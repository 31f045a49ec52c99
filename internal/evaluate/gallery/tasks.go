package gallery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/evaluate"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/scheduler"
	"tercet/internal/text"
)

// PartPath is where task i of n of the result in out keeps its counts.
func PartPath(out string, t scheduler.Task) string {
	return fmt.Sprintf("%s.part-%d-of-%d", out, t.Index, t.Of)
}

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
	part, err := openPart(PartPath(o.Out, t), in.header("counts", t.Index, t.Of))
	if err != nil {
		return nil, err
	}
	defer part.close()
	from, to := share(in.g.Len(), t)
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

// share are the gallery rows [from, to) of a task.
func share(n int, t scheduler.Task) (from, to int) {
	return int(int64(n) * int64(t.Index-1) / int64(t.Of)), int(int64(n) * int64(t.Index) / int64(t.Of))
}

// Merge adds up the counts of all tasks, which lie beside Out, and evaluates them. The
// vectors are read again for the keys of relevant items. The result has the bytes of
// Evaluate for any number of tasks; the tasks' files stay.
func Merge(ctx context.Context, o Options, say progress.Say) (*evaluate.Evaluation, error) {
	n, err := tasksOf(o.Out)
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
		p, err := finishedPart(PartPath(o.Out, scheduler.Task{Index: i, Of: n}), in.header("counts", i, n))
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

// tasksOf finds how many tasks the files beside out are of.
func tasksOf(out string) (int, error) {
	list, err := filepath.Glob(fsx.QuoteGlob(out) + ".part-*-of-*")
	if err != nil {
		return 0, err
	}
	there := map[int][]int{}
	for _, path := range list {
		index, of, _ := strings.Cut(strings.TrimPrefix(path, out+".part-"), "-of-")
		i, errI := strconv.Atoi(index)
		n, errN := strconv.Atoi(of)
		if errI == nil && errN == nil && i >= 1 && i <= n {
			there[n] = append(there[n], i)
		}
	}
	var sizes []string
	most := 0
	for n := range there {
		sizes = append(sizes, strconv.Itoa(n))
		most = n
	}
	switch slices.Sort(sizes); {
	case len(sizes) == 0:
		return 0, fault.Missing(nil, "there are no counts of tasks to merge: %s", out+".part-1-of-N is not there")
	case len(sizes) > 1:
		return 0, option.Errorf("%s has counts of %s tasks; remove those that are not meant", out, text.List(sizes, "and of"))
	}
	var missing []string
	for i := 1; i <= most; i++ {
		if !slices.Contains(there[most], i) {
			missing = append(missing, fmt.Sprintf("%d/%d", i, most))
		}
	}
	if len(missing) > 0 {
		return 0, fault.Missing(nil, "%s lacks counts of %s: run %s", out, text.Plural(len(missing), "task", "tasks"), text.List(missing, "and"))
	}
	return most, nil
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
