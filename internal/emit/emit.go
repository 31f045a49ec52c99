// Package emit writes the scripts that train a sweep on many machines: for Slurm,
// Kubernetes, GNU parallel, make and Snakemake, or each of its runs on several. Each format is a file with one function.
package emit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tercet/internal/lists"
	"tercet/internal/option"
	"tercet/internal/text"
)

// Script is what a script starts: Tasks times Command, with the task's index.
type Script struct {
	Name    string   // of the sweep
	Command []string // words of a shell's line, without the task and the threads
	Config  []string // the words that tercet sweep status takes
	Out     string   // folder of the runs
	Runs    int
	Tasks   int
	Ranks   int     // of a run, where a format has several
	Threads int     // of a task, or of a rank
	Seconds float64 // estimated training time of the longest task
	Memory  int64   // bytes that a task takes, estimated
	Step    float64 // seconds of a training step: a signal waits for one
}

// A format is one kind of script.
type format struct {
	name  string
	write func(s Script) string
	ranks bool // it trains each run with Script.Ranks processes, and has one task
}

var formats = []format{
	{"slurm", slurm, false},
	{"kubernetes", kubernetes, false},
	{"jobset", jobSet, false},
	{"mpijob", mpiJob, true},
	{"parallel", parallel, false},
	{"make", makefile, false},
	{"snakemake", snakefile, false},
}

// Formats are the names of all formats.
func Formats() []string {
	return lists.Map(formats, func(f format) string { return f.name })
}

// InRanks reports whether a format trains each run with several processes.
func InRanks(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.name == name && f.ranks })
}

// Write returns the script of the format with that name. An unknown name, and a word that
// no line of a script can hold, are an *option.Error.
func Write(name string, s Script) (string, error) {
	for _, w := range slices.Concat(s.Command, s.Config, []string{s.Out}) {
		if strings.ContainsFunc(w, unicode.IsControl) {
			return "", option.Errorf("%q has a line break or another control character, which no script can hold; put it into the config", w)
		}
	}
	for _, f := range formats {
		if f.name == name {
			if f.ranks && s.Ranks < 2 {
				return "", option.Errorf("%s %s starts a rank for each shard of a batch, and train.shards is %d: set it to the number of processes", option.Name("emit"), name, s.Ranks)
			}
			return f.write(s), nil
		}
	}
	return "", option.Errorf("%s is %q; formats: %s", option.Name("emit"), name, strings.Join(Formats(), ", "))
}

// task are the words that choose a task's share.
func (s Script) task(index string) []string {
	return []string{"--task", fmt.Sprintf("%s/%d", index, s.Tasks)}
}

// about are the lines of the comment that every script has, after mark.
func (s Script) about(mark string) string {
	status := append([]string{"tercet", "sweep", "status"}, s.Config...)
	status = append(status, "--tasks", strconv.Itoa(s.Tasks), s.Out)
	var b strings.Builder
	for _, line := range []string{
		fmt.Sprintf("%s in %s, each on %s: about %s and %d GiB.", text.Count(s.Runs, "run"), text.Count(s.Tasks, "task"), text.Count(s.Threads, "thread"), text.Duration(s.Seconds), s.gib()),
		"That is the plan of tercet train --dry-run where this was printed, without evaluation;",
		"limits below leave room. A task that is started again resumes its runs.",
		"Where they stand: " + shell(status),
	} {
		b.WriteString(mark + " " + line + "\n")
	}
	return b.String()
}

// minutes is a time limit: half as long again as the plan for slower machines, and ten
// minutes for data and evaluation, in steps of five.
func (s Script) minutes() int { return 5 * int(math.Ceil((1.5*s.Seconds/60+10)/5)) }

// grace is how many seconds a task needs between a signal and its end, with room: a step
// and a checkpoint.
func (s Script) grace() int { return 60 + int(math.Ceil(2*s.Step)) }

// gib is a memory limit in GiB: garbage takes as much as what is in use, and an
// evaluation of 60,000 images 1 GiB.
func (s Script) gib() int { return 1 + int(math.Ceil(2*float64(s.Memory)/(1<<30))) }

// shell is a line of a shell.
func shell(words []string) string {
	out := lists.Map(words, text.ShellWord)
	return strings.Join(out, " ")
}
