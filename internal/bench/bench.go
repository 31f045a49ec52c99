package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/par"
	"tercet/internal/record/printed"
)

// Options says how long and how large.
type Options struct {
	Seconds float64 // length of each job's measurement; a job of several parts divides it
	Quick   bool    // smaller search and clustering jobs
	Peak    float64 // FLOP/s of the machine with the threads in use; 0: not known
}

// Job is a piece of work with a name that users know.
type Job struct {
	Name    string
	what    string
	quick   string // what it is with Options.Quick, where that differs
	prepare func(o Options) ([]task, error)
}

// What says what the job does, or does with Options.Quick.
func (j Job) What(quick bool) string {
	if quick && j.quick != "" {
		return j.quick
	}
	return j.what
}

// task is one part of a prepared job.
type task struct {
	name     string
	images   int     // rows or images of one call
	direct   float64 // FLOPs of one call by the textbook method, 0 where unknown
	executed float64 // float32 FLOPs of one call as computed, 0 where unknown
	warmUp   int     // repetitions that do not count
	calls    int     // of the work in one repetition, 0 for 1; times are of one call
	// run repeats the work, calling tick after each repetition, until tick says
	// stop or the work fails.
	run func(ctx context.Context, tick func() (more bool)) error
	// after, where set, is called after each repetition; its time does not count.
	after func()
	least int // repetitions that are timed, however long they take; 0 for leastRepetitions
	// results gives the numbers that the repetitions so far have computed.
	results func(visit func(name string, data []float32))
	// describe, where set, adds to r what the repetitions were.
	describe func(r *printed.BenchResult)
}

// Jobs lists the jobs in the order in which they run.
func Jobs() []Job {
	return slices.Concat([]Job{
		{"gemm", "products of 64 to 2048, all transposes, and of the networks' layers", "", prepareGemm},
		{"conv", "convolutions of the networks: forward, input gradient, weight gradient", "", prepareConv},
	}, trainingJobs(), embedJobs(), pointJobs(), searchJobs(), ersJobs(), worstJobs(), rrmJobs(), photoJobs(), lossJobs())
}

// Names lists the names of the jobs.
func Names() []string {
	return lists.Map(Jobs(), func(j Job) string { return j.Name })
}

// Find returns the job of that name, or an error with the closest one.
func Find(name string) (Job, error) {
	for _, j := range Jobs() {
		if j.Name == name {
			return j, nil
		}
	}
	hint := ""
	if c := names.Closest(name, Names()); c != "" {
		hint = "did you mean " + c + "? "
	}
	return Job{}, fmt.Errorf("unknown job %q; %svalid: %s", name, hint, strings.Join(Names(), ", "))
}

// Measure runs j for about o.Seconds and returns what it did. It is interrupted
// between repetitions by ctx.
func (j Job) Measure(ctx context.Context, o Options) (*printed.BenchResult, error) {
	resetPeakRSS()
	base := peakRSS()
	tasks, err := j.prepare(o)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Name, err)
	}
	r := &printed.BenchResult{Job: j.Name, What: j.What(o.Quick), Threads: par.Threads(), BaseRSS: base}
	var direct, executed float64
	for i := range tasks {
		t := &tasks[i]
		times, err := t.measure(ctx, o.Seconds/float64(len(tasks)))
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", strings.TrimSuffix(j.Name+", "+t.name, ", "), err)
		}
		r.Seconds += times.median()
		r.BestSeconds += times.best()
		r.Repetitions += len(times)
		r.Images = t.images
		if t.describe != nil {
			t.describe(r)
		}
		direct, executed = direct+t.direct, executed+t.executed
		if len(tasks) > 1 {
			p := printed.BenchPart{Name: t.name, Seconds: times.median(), BestSeconds: times.best()}
			p.GFLOPS, p.BestGFLOPS, p.ExecutedGFLOPS, p.PeakShare = rates(t.direct, t.executed, p.Seconds, p.BestSeconds, o.Peak)
			r.Parts = append(r.Parts, p)
		}
		tasks[i] = task{} // its memory is free for the next one
	}
	r.GFLOPS, r.BestGFLOPS, r.ExecutedGFLOPS, r.PeakShare = rates(direct, executed, r.Seconds, r.BestSeconds, o.Peak)
	if r.Images > 0 {
		r.ImagesPerS, r.BestImages = float64(r.Images)/r.Seconds, float64(r.Images)/r.BestSeconds
	}
	if r.NetworkSeconds > 0 {
		r.NetworkRatio = r.Seconds / r.NetworkSeconds
	}
	r.PeakRSS = peakRSS()
	return r, nil
}

// rates returns speeds in 10^9 FLOPs a second, and the share of the peak that
// the best repetition reaches.
func rates(direct, executed, seconds, best, peak float64) (gflops, bestGFLOPS, executedGFLOPS, share float64) {
	if peak > 0 {
		share = executed / best / peak
	}
	return direct / seconds / 1e9, direct / best / 1e9, executed / seconds / 1e9, share
}
