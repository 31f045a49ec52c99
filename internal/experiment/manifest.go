package experiment

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/noise"
	"tercet/internal/train"
)

// Status is where a run stands.
type Status string

// The states of a run.
const (
	Running     Status = "running"
	Finished    Status = "finished"
	Interrupted Status = "interrupted"
	Failed      Status = "failed"
	Collapsed   Status = "collapsed"
	Diverged    Status = "diverged"
)

// Manifest is manifest.json, schema tercet.run/1.
type Manifest struct {
	Schema  string         `json:"schema"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Status  Status         `json:"status"`
	Message string         `json:"message,omitempty"`
	Seed    uint64         `json:"seed"`
	Config  string         `json:"config_hash"`
	Data    DataRecord     `json:"data"`
	Model   ModelRecord    `json:"model"`
	Weights *WeightsRecord `json:"triplet_weights,omitempty"` // of triplet-robust
	Steps   int            `json:"steps"`                     // optimiser steps done
	Of      int            `json:"steps_planned"`
	// Checkpoint is the step of last.safetensors; 0 where there is none yet.
	Checkpoint int `json:"checkpoint_step,omitempty"`
	// Log is what events.jsonl had when that was written.
	Log     *train.LogRecord `json:"log,omitempty"`
	Cost    adversary.Cost   `json:"cost"`              // images forward and backward
	Crafted *train.Crafted   `json:"crafted,omitempty"` // what the defence did, over all steps
	Seconds float64          `json:"seconds"`           // training time over all sessions
	Best    *Best            `json:"best,omitempty"`
	// Selection says by what Best and an early stop are chosen, Stopped that there was
	// one: the run is finished all the same.
	Selection *SelectionRecord `json:"selection,omitempty"`
	Stopped   *StopRecord      `json:"stopped,omitempty"`
	CPU       string           `json:"cpu"` // version, cpu and kernel: of the first step
	Kernel    string           `json:"kernel"`
	Builds    []Build          `json:"builds,omitempty"`
	OS        string           `json:"os"`
	Started   string           `json:"started"`
	Updated   string           `json:"updated"`
}

// Best names the best checkpoint.
type Best struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Step   int     `json:"step"`
}

// DataRecord identifies what a run was trained and evaluated on: sets under their true
// labels.
type DataRecord struct {
	Name string `json:"name"`
	// From is the directory that relative paths of the data counted from: a hint, "" for
	// data without such paths.
	From       string     `json:"from,omitempty"`
	Train      SetRecord  `json:"train"`
	Validation *SetRecord `json:"validation,omitempty"`
	Test       SetRecord  `json:"test"`
	// Noise says how many labels of Train were trained on as another class's, or how
	// many pairs or triplets of the first epoch were wrong.
	Noise *noise.Report `json:"noise,omitempty"`
	// Graph and Triplets describe the tuples of the first epoch of a sampler that
	// gives them.
	Graph    *noise.GraphReport   `json:"graph,omitempty"`
	Triplets *noise.TripletReport `json:"triplets,omitempty"`
}

// SetRecord identifies one set.
type SetRecord struct {
	Items       int    `json:"items"`
	Classes     int    `json:"classes"`
	Shape       [3]int `json:"shape"` // H, W, C
	Fingerprint string `json:"fingerprint"`
}

// ModelRecord describes the network.
type ModelRecord struct {
	Name       string `json:"name"`
	Embedding  int    `json:"embedding"`
	Parameters int    `json:"parameters"`
}
