package emit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// threads are the words that limit a task's threads.
func (s Script) threads() []string { return []string{"--threads", strconv.Itoa(s.Threads)} }

// parallel is a script for GNU parallel, on one machine or in one allocation. Its usual {}
// may stand in a setting.
func parallel(s Script) string {
	words := slices.Concat(s.Command, s.task("{task}"), s.threads())
	return fmt.Sprintf(`#!/bin/bash
%s# Usage: bash SCRIPT [JOBS]: so many tasks at once, by default 1.
exec parallel -I '{task}' --quote --line-buffer --jobs "${1:-1}" --termseq TERM,%d,KILL,1000 %s ::: $(seq %d)
`, s.about("#"), 1000*s.grace(), shell(words), s.Tasks)
}

// makefile is one for make -k -j JOBS.
func makefile(s Script) string {
	words := slices.Concat(s.Command, s.task("@"), s.threads())
	line := strings.ReplaceAll(shell(words), "$", "$$")
	line = strings.Replace(line, fmt.Sprintf("--task @/%d", s.Tasks), fmt.Sprintf("--task $*/%d", s.Tasks), 1)
	return s.about("#") + fmt.Sprintf(`# Usage: make -k -j JOBS -f FILE
.PHONY: all
all: $(addprefix task-,$(shell seq %d))

task-%%:
	exec %s
`, s.Tasks, line)
}

// snakefile is one for Snakemake. The output of a task is a mark and none of the run's
// files: Snakemake removes the outputs of what it starts again.
func snakefile(s Script) string {
	words := slices.Concat(s.Command, s.task("@"))
	line := strings.NewReplacer("{", "{{", "}", "}}").Replace(shell(words))
	line = strings.Replace(line, fmt.Sprintf("--task @/%d", s.Tasks), fmt.Sprintf("--task {wildcards.task}/%d", s.Tasks), 1)
	mark := label(s.Name) + ".tasks/{task}"
	quote := func(text string) string {
		b, _ := json.Marshal(text) // a string always encodes, and so that Python reads it
		return string(b)
	}
	return s.about("#") + fmt.Sprintf(`# Usage: snakemake --snakefile FILE --keep-going --cores CORES
rule all:
    input: expand(%[1]s, task=range(1, %[2]d + 1))

rule train:
    output: touch(%[1]s)
    threads: %[3]d
    resources: mem_mb=%[4]d, runtime=%[5]d
    shell: %[6]s
`, quote(mark), s.Tasks, s.Threads, 1024*s.gib(), s.minutes(), quote("exec "+line+" --threads {threads}"))
}
