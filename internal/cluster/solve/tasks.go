package solve

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"tercet/internal/cluster"
	"tercet/internal/data/fault"
	"tercet/internal/engine/kernel"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/scheduler"
	"tercet/internal/unfinished"
)

// Share divides the starts of k-means among tasks. The zero value does everything.
type Share struct {
	Task    scheduler.Task // of which the starts are done and kept
	Merge   int            // tasks whose starts are there, from which the clusters are made
	Path    func(scheduler.Task) string
	Program string // version of the program
}

// Check refuses what has no starts to share.
func (s Share) Check(o record.ClusterOptions) error {
	if s.Task.Of == 0 && s.Merge == 0 || o.Method == KMeans && o.KMeans.Ks == nil && o.KMeans.MiniBatch == 0 {
		return nil
	}
	return option.Errorf("tasks share the starts of k-means with one number of clusters and without %s; here is nothing to share", option.Name("mini-batch"))
}

// chunks are the numbers of the starts of a task: every n-th.
func chunks(t scheduler.Task, starts int) (numbers []int) {
	for k := range starts {
		if t.Has(k) {
			numbers = append(numbers, k)
		}
	}
	return numbers
}

// head says what the starts of so many tasks are of; chunks and task are those of one.
func (j *Job) head(o cluster.KMeansOptions, tasks int) (unfinished.Head, error) {
	if tasks > o.Restarts {
		return unfinished.Head{}, option.Errorf("%d tasks for %d starts (%s): give at most one task a start", tasks, o.Restarts, option.Name("n-init"))
	}
	settings := j.Options
	settings.K, settings.Maps = o.K, record.MapOptions{}
	words, err := json.Marshal(settings)
	if err != nil {
		return unfinished.Head{}, err
	}
	return unfinished.Head{Schema: record.ClusterPartFormat, Of: tasks, Facts: []unfinished.Fact{
		{What: "version of the program", Value: j.Share.Program},
		{What: "kernel level", Value: kernel.Current().String()},
		{What: "vectors and labels (SHA-256)", Value: j.Items.Fingerprint()},
		{What: "settings", Value: string(words)},
	}}, nil
}

// starts does those of the task that are not there yet.
func (j *Job) starts(ctx context.Context, o cluster.KMeansOptions, src record.Source) (*record.ClusterTask, error) {
	t := j.Share.Task
	head, err := j.head(o, t.Of)
	if err != nil {
		return nil, err
	}
	numbers := chunks(t, o.Restarts)
	head.Task, head.Chunks = t.Index, len(numbers)
	f, err := unfinished.Open(j.Share.Path(t), head)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var todo []int
	for chunk, number := range numbers {
		if !f.Has(chunk) {
			todo = append(todo, number)
		}
	}
	doc := &record.ClusterTask{Schema: record.ClusterTaskSchema, Source: src, Starts: f.Path, Task: t.Index, Tasks: t.Of, Count: head.Chunks}
	if len(todo) == 0 {
		return doc, nil
	}
	o.Progress = func(ended, _ int) { j.Say("k-means", head.Chunks-len(todo)+ended, head.Chunks) }
	err = cluster.Starts(ctx, j.Items.X, j.Items.N, j.Items.D, o, todo, func(number int, s cluster.Start) error {
		return f.Write(number/t.Of, packStart(s))
	})
	if err != nil && f.Done() > 0 {
		err = fmt.Errorf("%w; %s keeps the starts that have ended, and the same command continues", err, f.Path)
	}
	return doc, err
}

// merge makes the clusters of the starts of all tasks.
func (j *Job) merge(ctx context.Context, o cluster.KMeansOptions) (*cluster.KMeansResult, error) {
	files := make([]*unfinished.File, j.Share.Merge)
	head, err := j.head(o, len(files))
	if err != nil {
		return nil, err
	}
	for i := range files {
		t := scheduler.Task{Index: i + 1, Of: len(files)}
		head.Task, head.Chunks = t.Index, len(chunks(t, o.Restarts))
		if files[i], err = unfinished.Finished(j.Share.Path(t), head); err != nil {
			return nil, err
		}
		defer files[i].Close()
	}
	return cluster.FromStarts(ctx, j.Items.X, j.Items.N, j.Items.D, o, func(number int) (cluster.Start, error) {
		f := files[number%len(files)]
		b := make([]uint64, 3+o.K*j.Items.D+(j.Items.N+1)/2)
		if err := f.Read(number/len(files), b); err != nil {
			return cluster.Start{}, err
		}
		s := unpackStart(b, j.Items.N, o.K*j.Items.D)
		if !(s.Inertia >= 0) || math.IsInf(s.Inertia, 1) {
			return s, fault.Bad("%s: start %d has an inertia of %v", f.Path, number+1, s.Inertia)
		}
		return s, nil
	})
}

// packStart writes a start as numbers of 64 bits: inertia, iterations, whether it converged,
// the centers, and the labels by twos.
func packStart(s cluster.Start) []uint64 {
	b := make([]uint64, 3, 3+len(s.Center)+(len(s.Labels)+1)/2)
	b[0], b[1] = math.Float64bits(s.Inertia), uint64(s.Iterations)
	if s.Converged {
		b[2] = 1
	}
	for _, v := range s.Center {
		b = append(b, math.Float64bits(v))
	}
	for i := 0; i < len(s.Labels); i += 2 {
		two := uint64(uint32(s.Labels[i]))
		if i+1 < len(s.Labels) {
			two |= uint64(uint32(s.Labels[i+1])) << 32
		}
		b = append(b, two)
	}
	return b
}

func unpackStart(b []uint64, n, centers int) cluster.Start {
	s := cluster.Start{Inertia: math.Float64frombits(b[0]), Iterations: int(b[1]), Converged: b[2] == 1, Center: make([]float64, centers), Labels: make([]int32, n)}
	for i := range s.Center {
		s.Center[i] = math.Float64frombits(b[3+i])
	}
	for i := range s.Labels {
		s.Labels[i] = int32(b[3+centers+i/2] >> (32 * (i % 2)))
	}
	return s
}
