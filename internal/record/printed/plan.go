package printed

import "tercet/internal/record"

// Plan is what tercet train --dry-run prints, schema tercet.plan/1.
type Plan struct {
	Schema string        `json:"schema" doc:"the name and number of the schema"`
	Runs   []*PlannedRun `json:"runs" doc:"the runs"`
}

// PlannedRun is what a run would do.
type PlannedRun struct {
	Schema     string          `json:"schema" doc:"the name and number of the schema"`
	Name       string          `json:"name" doc:"name of the run"`
	Data       record.Data     `json:"data" see:"manifestjson" doc:"the data, as in manifests"`
	Model      record.Model    `json:"model" see:"manifestjson" doc:"the network, as in manifests"`
	Layers     []record.Layer  `json:"layers" doc:"its layers in order"`
	BatchRows  int             `json:"batch_rows" doc:"images in a batch"`
	Accumulate int             `json:"accumulate,omitempty" doc:"batches for each step, if more than one"`
	PerEpoch   int             `json:"steps_per_epoch" doc:"steps of an epoch"`
	Steps      int             `json:"steps" doc:"steps in all"`
	Coverage   record.Coverage `json:"coverage" doc:"coverage of the data in the first epoch"`
	Defense    string          `json:"defense" doc:"name of the defense"`
	Passes     record.Cost     `json:"passes" doc:"image passes of the whole run, crafted images included"`
	AtMost     bool            `json:"at_most,omitempty" doc:"whether passes, flops and time are upper limits, because the defense skips images that need no crafting"`
	FLOPs      float64         `json:"flops" doc:"operations of the products in those passes"`
	Memory     int64           `json:"memory_bytes" doc:"memory without the data, measured after a few steps"`
	DataMemory int64           `json:"data_memory_bytes" doc:"memory of the data sets, measured; small if images are decoded when needed"`
	StepTime   float64         `json:"step_seconds" doc:"time of a step, measured on random images"`
	Seconds    float64         `json:"seconds" doc:"estimated time, without evaluation"`
	Checkpoint int64           `json:"checkpoint_bytes" doc:"size of a checkpoint"`
	Metric     *PlannedFit     `json:"metric_learning,omitempty" doc:"of model mahalanobis"`
}

// PlannedFit is the part of a plan about a metric to be fitted.
type PlannedFit struct {
	Algorithm  string  `json:"algorithm" doc:"'rrm' or 'sgd'"`
	Loss       string  `json:"loss" doc:"the loss"`
	Classes    int     `json:"classes" doc:"number of classes that serve as positives, one after the other"`
	Skipped    int     `json:"skipped" doc:"number of classes of one item, which have no triplet"`
	Triplets   float64 `json:"triplets" doc:"triplets in the risk"`
	Parameters int     `json:"parameters" doc:"number of fitted numbers"`
	Evaluation float64 `json:"evaluation_seconds" doc:"measured time of the risk over all triplets, with its gradient"`
}
