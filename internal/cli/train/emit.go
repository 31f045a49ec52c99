package train

import (
	"context"
	"strconv"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/emit"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/scheduler"
)

// emitScript prints the script that trains the variants of a sweep, jobs of a task at once.
func emitScript(ctx context.Context, s *base.Streams, o options, name string, variants []*config.Config, jobs int) error {
	script := emit.Script{Name: name, Command: o.command(), Config: o.configWords(), Out: o.out, Runs: len(variants), Tasks: len(variants), Threads: par.Threads()}
	if emit.InRanks(o.emit) {
		if o.task != "" || jobs > 1 {
			return base.Usagef("--emit %s trains the runs one after another, each with several processes: leave out --task and --jobs", o.emit)
		}
		script.Tasks, script.Ranks = 1, ranksOf(variants)
	}
	if o.task != "" {
		n, err := tasks(o.task)
		if err != nil {
			return err
		}
		script.Tasks = n
	}
	if jobs > 1 {
		script.Threads = jobs
		script.Command = append(script.Command, "--jobs", strconv.Itoa(jobs))
	}
	if _, err := emit.Write(o.emit, script); err != nil { // before the plan, which takes time
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if err := plan(ctx, &script, variants, jobs); err != nil {
		return base.RunError(err)
	}
	text, err := emit.Write(o.emit, script)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	doc := printed.Script{Schema: record.ScriptSchema, Format: o.emit, Runs: script.Runs, Tasks: script.Tasks, Seconds: script.Seconds, Memory: script.Memory, Script: text}
	return s.Text(doc, text)
}

// ranksOf are as many ranks as all runs can use: shards are powers of two.
func ranksOf(variants []*config.Config) int {
	n := variants[0].Train.Shards
	for _, v := range variants {
		n = min(n, v.Train.Shards)
	}
	return n
}

// tasks is the n of "auto/n".
func tasks(task string) (int, error) {
	if !strings.HasPrefix(task, scheduler.Auto+"/") {
		return 0, base.Usagef("--task is %q; with --emit, give auto/n: the script chooses each task", task)
	}
	t, err := scheduler.ParseTask(task, func(name string) string { // the first task is in every n
		if name == scheduler.Systems[0].Index {
			return strconv.Itoa(scheduler.Systems[0].First)
		}
		return ""
	})
	if err != nil {
		return 0, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if most := base.FlagLimits["tasks"]; int64(t.Of) > most {
		return 0, base.Usagef("--task is %q; with --emit, give at most %d tasks", task, most)
	}
	return t.Of, nil
}

// command is the command line without what a script adds for each task.
func (o options) command() []string {
	out := append([]string{"tercet", "train"}, o.configWords()...)
	return append(out, "--runs-dir", o.out)
}

// configWords are the words about the config, as tercet sweep status takes them, too.
func (o options) configWords() []string {
	var out []string
	if o.Path != "" {
		out = append(out, "--config", o.Path)
	}
	for _, set := range o.Sets {
		out = append(out, "--set", set)
	}
	if o.seed != "" {
		out = append(out, "--set", "seed="+o.seed)
	}
	return out
}

// plan fills in the time of the longest task, the memory and the time of a step. Runs that
// differ in their seeds alone have one plan.
func plan(ctx context.Context, script *emit.Script, variants []*config.Config, jobs int) error {
	if jobs > 1 {
		defer par.SetThreads(par.Threads())
		par.SetThreads(1)
	}
	known := map[string]*printed.PlannedRun{}
	seconds := make([]float64, script.Tasks)
	for i, v := range variants {
		same := *v
		same.Name, same.Seed = "plan", 0
		key := same.Hash()
		p := known[key]
		if p == nil {
			var err error
			if p, err = run.MakePlan(ctx, v); err != nil {
				return err
			}
			known[key] = p
		}
		seconds[i%script.Tasks] += estimate(p) / float64(jobs)
		script.Memory = max(script.Memory, int64(jobs)*p.Memory+p.DataMemory)
		script.Step = max(script.Step, p.StepTime)
	}
	for _, s := range seconds {
		script.Seconds = max(script.Seconds, s)
	}
	return nil
}

// evaluations are how many times the risk is evaluated when a metric is fitted: "some ten
// to a hundred".
const evaluations = 100

func estimate(p *printed.PlannedRun) float64 {
	if p.Metric != nil && p.Seconds == 0 {
		return evaluations * p.Metric.Evaluation
	}
	return p.Seconds
}
