package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/bench"
	"tercet/internal/cli/base"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/text"
)

type options struct {
	jobs    []string
	seconds float64
	quick   bool
	check   bool
	scaling []int
	format  string
	changed func(flag string) bool
}

const (
	seconds      = 10 // of a job
	quickSeconds = 1
	checkSteps   = 3
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "bench",
		Short: "Measure the speed of this machine, job by job, as a share of its peak",
		Long: `Measures this machine's peak (fused multiply-adds on registers) and its memory copy rate,
then runs jobs: matrix products, convolutions, training steps of real networks on images
in memory, exact search and k-means. The share of the peak is that of the best repetition.
For Winograd layers it counts the multiplications that they actually do.

` + jobList() + `
Times are medians over repetitions. A repetition is one step of the training loop, one
search, one fit, or each operation of the job once. Other running programs increase the
times; --json also has the best repetition.`,
		Examples: []base.Example{
			{Why: "one training job, on one thread", Line: "tercet bench --job mlp --threads 1 --seconds 0.2"},
			{Why: "how much do 2 and 4 threads gain?", Line: "tercet bench --job mlp --scaling 1,2,4 --seconds 0.2"},
			{Why: "are results bit-identical for any number of threads?", Line: "tercet bench --job mlp --check --json"},
		},
		Exits: []int{base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringArrayVar(&o.jobs, "job", nil, "measure only the job `NAME` from the list above (repeatable)")
			fs.Float64Var(&o.seconds, "seconds", seconds, "seconds for each job; each operation is repeated at least three times")
			fs.BoolVar(&o.quick, "quick", false, fmt.Sprintf("quick mode: %d s per job, smaller searches and fits", quickSeconds))
			fs.BoolVar(&o.check, "check", false, "instead of measuring speed, check that one thread and --threads (at least two) give identical bits")
			fs.IntSliceVar(&o.scaling, "scaling", nil, "measure with each of these numbers of `threads`, interleaved: speed-up and efficiency")
			base.AddFormat(fs, &o.format)
			o.changed = fs.Changed
			cmd.MarkFlagsMutuallyExclusive("check", "scaling")
		},
		Run: func(ctx context.Context, _ []string) error { return runBench(ctx, s, o) },
	}.Build()
}

// jobList says what each job is, indented as far as a man page needs to keep lines.
func jobList() string {
	var b strings.Builder
	for _, j := range bench.Jobs() {
		fmt.Fprintf(&b, "    %-10s  %s\n", j.Name, j.What(false))
	}
	return b.String()
}

// CompleteJobs proposes the names of jobs, each with what it measures.
func CompleteJobs(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, j := range bench.Jobs() {
		if strings.HasPrefix(j.Name, word) {
			out = append(out, j.Name+"\t"+j.What(false))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func runBench(ctx context.Context, s *base.Streams, o options) error {
	jobs, err := o.pick()
	if err != nil {
		return err
	}
	if !(o.seconds > 0) || math.IsInf(o.seconds, 0) {
		return base.Usagef("--seconds is %v; give a number above 0", o.seconds)
	}
	if err := o.checkScaling(); err != nil {
		return err
	}
	if o.quick && !o.changed("seconds") {
		o.seconds = quickSeconds
	}
	doc := &printed.Bench{Schema: record.BenchSchema, Build: base.BuildInfo(), Machine: &printed.Machine{
		CPU: run.CPUName(), Level: kernel.Setting(), Threads: par.Threads(),
	}, Quick: o.quick}
	if o.check {
		return checkJobs(ctx, s, o, jobs, doc)
	}
	if o.scaling != nil {
		return runScaling(ctx, s, o, jobs, doc)
	}
	bench.MeasurePeak(doc.Machine, doc.Machine.Ends(), o.seconds)
	opts := bench.Options{Seconds: o.seconds, Quick: o.quick, Peak: doc.Machine.PeakFLOPS()}
	for i, j := range jobs {
		s.Note("%s (%d of %d): %s", j.Name, i+1, len(jobs), j.What(o.quick))
		r, err := j.Measure(ctx, opts)
		if err != nil {
			return errors.Join(o.printMeasured(s, doc), interruption(ctx, j, err))
		}
		doc.Results = append(doc.Results, r)
	}
	bench.MeasureCopy(doc.Machine, doc.Machine.Ends(), o.seconds) // last: its buffers would count as a job's memory
	return o.printMeasured(s, doc)
}

// printMeasured prints the jobs measured so far: all of them, or those before an
// interruption.
func (o options) printMeasured(s *base.Streams, doc *printed.Bench) error {
	if len(doc.Results) == 0 {
		return nil
	}
	return s.Result(doc, func(w io.Writer) error { return Print(w, doc, o.format) })
}

// interruption is err, or what interrupted the job.
func interruption(ctx context.Context, j bench.Job, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("job %s: %w", j.Name, context.Cause(ctx))
}

// pick returns the jobs asked for, in the order of the flags, or all of them.
func (o options) pick() ([]bench.Job, error) {
	if len(o.jobs) == 0 {
		return slices.DeleteFunc(bench.Jobs(), func(j bench.Job) bool { return !j.Usual() }), nil
	}
	var out []bench.Job
	for i, name := range o.jobs {
		j, err := bench.Find(name)
		if err != nil {
			return nil, &base.ExitError{Code: base.ExitUsage, Err: err}
		}
		if !slices.Contains(o.jobs[:i], name) {
			out = append(out, j)
		}
	}
	return out, nil
}

// checkJobs fails if a job's results depend on the number of threads.
func checkJobs(ctx context.Context, s *base.Streams, o options, jobs []bench.Job, doc *printed.Bench) error {
	var bad []string
	for i, j := range jobs {
		s.Note("%s (%d of %d)", j.Name, i+1, len(jobs))
		c, err := j.Check(ctx, bench.Options{Quick: o.quick}, checkSteps)
		if err != nil {
			return interruption(ctx, j, err)
		}
		doc.Checks = append(doc.Checks, c)
		if !c.Identical {
			bad = append(bad, fmt.Sprintf("%s (%s)", j.Name, c.Difference))
		}
	}
	if err := s.Result(doc, func(w io.Writer) error { return checkTable(doc).Write(w, o.format) }); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("results depend on the number of threads: %s", strings.Join(bad, ", "))
	}
	return nil
}

func checkTable(d *printed.Bench) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("bits with %d and with %d threads, kernel %s", d.Checks[0].Threads[0], d.Checks[0].Threads[1], d.Machine.Level),
		Columns: []render.Column{{Name: "job"}, {Name: "repetitions"}, {Name: "arrays"}, {Name: "bits"}},
	}
	for _, c := range d.Checks {
		verdict := "identical"
		if !c.Identical {
			verdict = "differ in " + c.Difference
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(c.Job), render.Int(c.Repetitions), render.Int(c.Arrays), render.Text(verdict)})
	}
	return t
}

// Print writes what was measured as a table, or several of one format.
func Print(w io.Writer, d *printed.Bench, format string) error {
	if d.Results[0].SpeedUp > 0 {
		return scalingTable(d).Write(w, format)
	}
	if err := benchTable(d).Write(w, format); err != nil || format != "text" && format != "markdown" {
		return err // csv and json hold one table
	}
	for _, r := range d.Results {
		if len(r.Parts) > 0 {
			fmt.Fprintln(w)
			if err := partTable(r).Write(w, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func benchTable(d *printed.Bench) *render.Table {
	m := d.Machine
	t := &render.Table{
		Title: fmt.Sprintf("%s, %s/%s, kernel %s, %s", m.CPU, runtime.GOOS, runtime.GOARCH, m.Level, text.Count(m.Threads, "thread")),
		Columns: []render.Column{{Name: "job"}, {Name: "time (ms)", Digits: 2}, {Name: "images or rows/s", Digits: 1}, {Name: "GFLOP/s", Digits: 1},
			{Name: "of the peak", Percent: true}, {Name: "memory (MiB)", Digits: 1}},
	}
	for _, r := range d.Results {
		t.Rows = append(t.Rows, []render.Cell{render.Text(r.Job), render.Number(r.Seconds * 1e3), known(r.ImagesPerS), known(r.GFLOPS),
			known(r.PeakShare), known(float64(r.PeakRSS) / (1 << 20))})
	}
	if d.Quick {
		t.Title += ", quick"
	}
	t.Notes = append(t.Notes, "Medians, operations as the textbook counts them. The share is that of the best repetition,",
		"Winograd layers and symmetric products by the operations that they do.")
	for _, r := range d.Results {
		if r.NetworkRatio > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %.2f times its network passes alone, timed interleaved", r.Job, r.NetworkRatio))
		}
		if r.SurvivorSeconds > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %.2f s for each query that survives every attack", r.Job, r.SurvivorSeconds))
		}
		if r.PointSeconds > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %.0f s for all epochs of a point", r.Job, r.PointSeconds))
		}
	}
	for _, p := range m.Peak {
		note := fmt.Sprintf("peak on %s: %.0f GFLOP/s", text.Count(p.Threads, "thread"), p.GFLOPS)
		if p.BF16 > 0 {
			note += fmt.Sprintf(", %.0f in dot products of bfloat16", p.BF16)
		}
		if p.BF16Tiles > 0 {
			note += fmt.Sprintf(", %.0f in tiles of bfloat16", p.BF16Tiles)
		}
		if p.ByteTiles > 0 {
			note += fmt.Sprintf(", %.0f in tiles of bytes", p.ByteTiles)
		}
		t.Notes = append(t.Notes, note)
	}
	for _, c := range m.Copy {
		t.Notes = append(t.Notes, fmt.Sprintf("copy on %s: %.1f GB/s read and written", text.Count(c.Threads, "thread"), c.GBPerS))
	}
	return t
}

func partTable(r *printed.BenchResult) *render.Table {
	t := &render.Table{Title: r.Job, Columns: []render.Column{{Name: "part"}, {Name: "time (ms)"}, {Name: "GFLOP/s", Digits: 1}, {Name: "of the peak", Percent: true}}}
	for _, p := range r.Parts {
		t.Rows = append(t.Rows, []render.Cell{render.Text(p.Name), render.Number(p.Seconds * 1e3), known(p.GFLOPS), known(p.PeakShare)})
	}
	return t
}

// known is v, or no cell where v is 0: not measured.
func known(v float64) render.Cell {
	if v == 0 {
		return render.Missing()
	}
	return render.Number(v)
}
