package scheduler

import (
	"fmt"
	"os"
	"strings"
	"unicode"
)

// Self says which process this is: its number, its host, and the job that it belongs to.
func Self(getenv func(string) string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	who := fmt.Sprintf("process %d on %s", os.Getpid(), host)
	if job := Job(getenv); job != "" {
		who += ", " + job
	}
	return who
}

// Job names the job of the scheduler that started this process, such as "Slurm job 17,
// task 3"; "" where none did.
func Job(getenv func(string) string) string {
	for _, s := range Systems {
		// JOB_ID is a common name: SGE and LSF give every job a task, too.
		if s.Job == "" || getenv(s.Job) == "" || s.Unset != "" && getenv(s.Index) == "" {
			continue
		}
		out := s.Name + " job " + getenv(s.Job)
		if index := getenv(s.Index); index != "" && index != s.Unset {
			out += ", task " + index
		}
		return out
	}
	return ""
}

// Readable is the first line of a text that Self wrote, without what no terminal should get.
func Readable(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line)
}
