package scheduler

// A System starts many tasks of one script, each with an index in its environment.
type System struct {
	Name  string
	Index string // the variable with the task's index
	First int    // the index of the first task
	Unset string // what the variable holds outside of an array, where that is not empty
	Job   string // the variable with the job's name; "" where there is none
}

// Systems are all that are known. This table is the one place that declares them.
var Systems = []System{
	{Name: "Slurm", Index: "SLURM_ARRAY_TASK_ID", First: 1, Job: "SLURM_JOB_ID"},
	{Name: "PBS", Index: "PBS_ARRAY_INDEX", First: 1, Job: "PBS_JOBID"},
	{Name: "Torque", Index: "PBS_ARRAYID", First: 1, Job: "PBS_JOBID"},
	{Name: "SGE", Index: "SGE_TASK_ID", First: 1, Unset: "undefined", Job: "JOB_ID"},
	{Name: "LSF", Index: "LSB_JOBINDEX", First: 1, Unset: "0", Job: "LSB_JOBID"},
	{Name: "GNU parallel", Index: "PARALLEL_SEQ", First: 1},
	{Name: "Kubernetes", Index: "JOB_COMPLETION_INDEX", First: 0},
	{Name: "AWS Batch", Index: "AWS_BATCH_JOB_ARRAY_INDEX", First: 0, Job: "AWS_BATCH_JOB_ID"},
}
