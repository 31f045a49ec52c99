package printed

import "tercet/internal/record"

// Script is what tercet train --emit prints, schema tercet.script/1.
type Script struct {
	Schema  string  `json:"schema" doc:"the name and number of the schema"`
	Format  string  `json:"format" doc:"'slurm', 'kubernetes', 'jobset', 'parallel', 'make' or 'snakemake'"`
	Runs    int     `json:"runs" doc:"number of runs"`
	Tasks   int     `json:"tasks" doc:"number of tasks that share them"`
	Seconds float64 `json:"seconds" doc:"estimated time of the longest task, without evaluation"`
	Memory  int64   `json:"memory_bytes" doc:"estimated memory of a task, with its data"`
	Script  string  `json:"script" doc:"the script"`
}

// SweepStatus is what tercet sweep status prints, schema tercet.sweep-status/1.
type SweepStatus struct {
	Schema string         `json:"schema" doc:"the name and number of the schema"`
	Counts map[string]int `json:"counts" doc:"number of runs by status"`
	Tasks  int            `json:"tasks,omitempty" doc:"number of tasks that share the runs; only with a config"`
	Again  []int          `json:"again,omitempty" doc:"tasks to submit again, numbered from 1; only with a config"`
	Array  string         `json:"array,omitempty" doc:"the same as a Slurm array takes it, such as '3,17,40-44'"`
	Runs   []SweptRun     `json:"runs" doc:"the runs, in the order of the sweep"`
}

// The states of a run of a sweep, beside those of manifests.
const (
	InTraining record.Status = "training"
	Dead       record.Status = "dead"
	NotBegun   record.Status = "not begun"
	Unreadable record.Status = "unreadable"
	OtherRun   record.Status = "other"
)

// Statuses are all of them, in the order of lists.
func Statuses() []record.Status {
	return []record.Status{record.Finished, InTraining, record.Interrupted, Dead, NotBegun, record.Failed, record.Diverged, record.Collapsed, Unreadable, OtherRun}
}

// SweptRun is where a run of a sweep stands.
type SweptRun struct {
	Dir     string        `json:"dir" doc:"its directory"`
	Task    int           `json:"task,omitempty" doc:"number of the task that trains it, from 1; only with a config"`
	Status  record.Status `json:"status" doc:"'finished', 'training', 'interrupted', 'dead' (killed), 'not begun', 'failed', 'diverged', 'collapsed', 'unreadable' or 'other' (a run of another config)"`
	Steps   int           `json:"steps,omitempty" doc:"optimizer steps done at the last checkpoint"`
	Of      int           `json:"steps_planned,omitempty" doc:"optimizer steps planned"`
	By      string        `json:"process,omitempty" doc:"process, host and job that train it, or trained it when they were killed"`
	Message string        `json:"message,omitempty" doc:"what is wrong"`
}

// Again reports whether the run's task is worth another try: the run was not begun or has
// not come to its end, and no process works on it.
func (r SweptRun) Again() bool {
	switch r.Status {
	case NotBegun, Dead, record.Interrupted, record.Failed:
		return true
	}
	return false
}

// Tuned is what tercet tune prints, schema tercet.tune/1.
type Tuned struct {
	Schema string  `json:"schema" doc:"the name and number of the schema"`
	Name   string  `json:"name" doc:"name of the config"`
	Method string  `json:"method" doc:"'random' or 'halving'"`
	Seed   uint64  `json:"seed" doc:"seed of the draws"`
	Trials int     `json:"trials" doc:"number of draws"`
	Metric string  `json:"metric,omitempty" doc:"validation score that chose the trial; absent if nothing was trained"`
	Best   *int    `json:"best,omitempty" doc:"number of the chosen trial"`
	Config string  `json:"config,omitempty" doc:"file with the chosen config"`
	Runs   []Trial `json:"runs" doc:"the trials, by rung and number"`
}

// Trial is a draw, and the run that was trained with it.
type Trial struct {
	Trial  int           `json:"trial" doc:"number of the trial, from 0"`
	Rung   int           `json:"rung,omitempty" doc:"round of successive halving, from 0"`
	Values []string      `json:"values" doc:"KEY=VALUE for each searched key"`
	Run    string        `json:"run,omitempty" doc:"directory of the run"`
	Status record.Status `json:"status,omitempty" doc:"'finished', 'collapsed' or 'diverged'"`
	Score  *float64      `json:"score,omitempty" doc:"best score of the validation images"`
	Step   int           `json:"step,omitempty" doc:"step of that score"`
}
