package emit

import (
	"fmt"
	"slices"

	"tercet/internal/scheduler"
)

// slurm is an array job. exec puts the program in the place of the shell, so that signals
// reach it and its exit code is the job's.
func slurm(s Script) string {
	words := slices.Concat(s.Command, s.task(scheduler.Auto), []string{"--threads"})
	m := s.minutes()
	return fmt.Sprintf(`#!/bin/bash
#SBATCH --job-name=%s
#SBATCH --array=1-%d
#SBATCH --cpus-per-task=%d
#SBATCH --mem=%dG
#SBATCH --time=%d-%02d:%02d:00
#SBATCH --signal=B:TERM@%d
#SBATCH --requeue
#SBATCH --open-mode=append
%sexec %s "${SLURM_CPUS_PER_TASK:-%d}"
`, label(s.Name), s.Tasks, s.Threads, s.gib(), m/(24*60), m/60%24, m%60, s.grace(), s.about("#"), shell(words), s.Threads)
}
