package scheduler

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"tercet/internal/option"
)

func env(pairs string) func(string) string {
	vars := map[string]string{}
	for _, p := range strings.Fields(pairs) {
		k, v, _ := strings.Cut(p, "=")
		vars[k] = v
	}
	return func(name string) string { return vars[name] }
}

func TestParseTask(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, env string
		want      Task
		err       string // parts of the message, with | between them
	}{
		{"", "SLURM_ARRAY_TASK_ID=2", Task{}, ""},
		{"2/4", "SLURM_ARRAY_TASK_ID=3", Task{2, 4}, ""},
		// The first and the last task of each scheduler, as its manual counts.
		{"auto/4", "SLURM_ARRAY_TASK_ID=1", Task{1, 4}, ""},
		{"auto/4", "SLURM_ARRAY_TASK_ID=4", Task{4, 4}, ""},
		{"auto/4", "PBS_ARRAY_INDEX=1", Task{1, 4}, ""},
		{"auto/4", "PBS_ARRAY_INDEX=4", Task{4, 4}, ""},
		{"auto/4", "PBS_ARRAYID=1", Task{1, 4}, ""},
		{"auto/4", "PBS_ARRAYID=4", Task{4, 4}, ""},
		{"auto/4", "SGE_TASK_ID=1", Task{1, 4}, ""},
		{"auto/4", "SGE_TASK_ID=4", Task{4, 4}, ""},
		{"auto/4", "LSB_JOBINDEX=1", Task{1, 4}, ""},
		{"auto/4", "LSB_JOBINDEX=4", Task{4, 4}, ""},
		{"auto/4", "PARALLEL_SEQ=1", Task{1, 4}, ""},
		{"auto/4", "PARALLEL_SEQ=4", Task{4, 4}, ""},
		{"auto/4", "JOB_COMPLETION_INDEX=0", Task{1, 4}, ""},
		{"auto/4", "JOB_COMPLETION_INDEX=3", Task{4, 4}, ""},
		{"auto/4", "AWS_BATCH_JOB_ARRAY_INDEX=0", Task{1, 4}, ""},
		{"auto/4", "AWS_BATCH_JOB_ARRAY_INDEX=3", Task{4, 4}, ""},
		// A part of an array that is submitted again: n stays the script's.
		{"auto/8", "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MAX=4", Task{4, 8}, ""},
		// What jobs outside of arrays have.
		{"auto/4", "SGE_TASK_ID=undefined LSB_JOBINDEX=0 PARALLEL_SEQ=3", Task{3, 4}, ""},
		{"auto/4", "SGE_TASK_ID=undefined", Task{}, "none of SLURM_ARRAY_TASK_ID|AWS_BATCH_JOB_ARRAY_INDEX is set"},
		{"auto/4", "", Task{}, "none of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX"},
		// Two that agree, counting from 1 and from 0, and two that do not.
		{"auto/4", "SLURM_ARRAY_TASK_ID=2 JOB_COMPLETION_INDEX=1", Task{2, 4}, ""},
		{"auto/4", "SLURM_ARRAY_TASK_ID=2 JOB_COMPLETION_INDEX=2", Task{}, "SLURM_ARRAY_TASK_ID is 2 (task 2 of 4)|JOB_COMPLETION_INDEX is 2 (task 3 of 4)|i/4"},
		{"auto/4", "SLURM_ARRAY_TASK_ID=2 PARALLEL_SEQ=3", Task{}, "SLURM_ARRAY_TASK_ID|PARALLEL_SEQ"},
		// Outside of the script's n.
		{"auto/4", "SLURM_ARRAY_TASK_ID=0", Task{}, `SLURM_ARRAY_TASK_ID is "0"|1 to 4`},
		{"auto/4", "SLURM_ARRAY_TASK_ID=5", Task{}, `SLURM_ARRAY_TASK_ID is "5"|1 to 4`},
		{"auto/4", "JOB_COMPLETION_INDEX=4", Task{}, `JOB_COMPLETION_INDEX is "4"|0 to 3`},
		{"auto/4", "SGE_TASK_ID=first", Task{}, `SGE_TASK_ID is "first"`},
		{"auto", "SLURM_ARRAY_TASK_ID=1", Task{}, "neither i/n"},
		{"auto/0", "SLURM_ARRAY_TASK_ID=1", Task{}, "neither i/n"},
		{"auto/", "SLURM_ARRAY_TASK_ID=1", Task{}, "neither i/n"},
		{"Auto/4", "SLURM_ARRAY_TASK_ID=1", Task{}, "neither i/n"},
	} {
		got, err := ParseTask(tc.text, env(tc.env))
		if got != tc.want || (err != nil) != (tc.err != "") {
			t.Errorf("%s with %q: %v, %v; want %v", tc.text, tc.env, got, err, tc.want)
			continue
		}
		var mistake *option.Error
		if err != nil && !errors.As(err, &mistake) {
			t.Errorf("%s: %v is not a mistake in options", tc.text, err)
		}
		for _, part := range strings.Split(tc.err, "|") {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s with %q: %v, without %q", tc.text, tc.env, err, part)
			}
		}
	}
	for _, bad := range []string{"0/3", "4/3", "1", "1/", "/3", "a/b", "1/0", "-1/3", "1/3/5", "1.5/3", " 1/3"} {
		if _, err := ParseTask(bad, env("")); err == nil || !strings.Contains(err.Error(), "neither i/n") {
			t.Errorf("task %q: error %v", bad, err)
		}
	}
}

func TestTasksShareAll(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 8; n++ {
		for k := range 20 {
			var has []string
			for i := 1; i <= n; i++ {
				if (Task{i, n}).Has(k) {
					has = append(has, fmt.Sprint(i))
				}
			}
			if len(has) != 1 || !(Task{}).Has(k) {
				t.Errorf("item %d of %d tasks is in %v", k, n, has)
			}
		}
	}
}

func TestJob(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"SLURM_JOB_ID=17":                       "Slurm job 17",
		"SLURM_JOB_ID=17 SLURM_ARRAY_TASK_ID=3": "Slurm job 17, task 3",
		"PBS_JOBID=5[2].head PBS_ARRAY_INDEX=2": "PBS job 5[2].head, task 2",
		"JOB_ID=9 SGE_TASK_ID=undefined":        "SGE job 9",
		"JOB_ID=9":                              "",
		"LSB_JOBID=4 LSB_JOBINDEX=0":            "LSF job 4",
		"AWS_BATCH_JOB_ID=a:1 AWS_BATCH_JOB_ARRAY_INDEX=1": "AWS Batch job a:1, task 1",
		"JOB_COMPLETION_INDEX=1":                           "", // the host is the pod's name
	} {
		if got := Job(env(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	who := Self(env("SLURM_JOB_ID=17"))
	if !strings.HasPrefix(who, fmt.Sprintf("process %d on ", os.Getpid())) || !strings.HasSuffix(who, ", Slurm job 17") {
		t.Errorf("this is %q", who)
	}
	for in, want := range map[string]string{"a\x1b[2Jb\nc": "a[2Jb", "\xff\x00a": "a", "": ""} {
		if got := Readable(in); got != want {
			t.Errorf("%q reads as %q, want %q", in, got, want)
		}
	}
}
