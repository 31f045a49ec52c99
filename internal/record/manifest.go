package record

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
	Schema  string                `json:"schema"`
	Name    string                `json:"name"`
	Version string                `json:"version"`
	Status  Status                `json:"status"`
	Message string                `json:"message,omitempty"`
	Seed    uint64                `json:"seed"`
	Config  string                `json:"config_hash"`
	Data    Data                  `json:"data"`
	Model   Model                 `json:"model"`
	Weights *TripletProbabilities `json:"triplet_weights,omitempty"` // of triplet-robust
	Steps   int                   `json:"steps"`                     // optimiser steps done
	Of      int                   `json:"steps_planned"`
	// Checkpoint is the step of last.safetensors; 0 where there is none yet.
	Checkpoint int `json:"checkpoint_step,omitempty"`
	// Log is what events.jsonl had when that was written.
	Log     *LogRecord `json:"log,omitempty"`
	Cost    Cost       `json:"cost"`              // images forward and backward
	Crafted *Crafted   `json:"crafted,omitempty"` // what the defence did, over all steps
	Seconds float64    `json:"seconds"`           // training time over all sessions
	Best    *Best      `json:"best,omitempty"`
	// Selection says by what Best and an early stop are chosen, Stopped that there was
	// one: the run is finished all the same.
	Selection *Selection `json:"selection,omitempty"`
	Stopped   *Stop      `json:"stopped,omitempty"`
	CPU       string     `json:"cpu"` // version, cpu and kernel: of the first step
	Kernel    string     `json:"kernel"`
	Builds    []Build    `json:"builds,omitempty"`
	OS        string     `json:"os"`
	Started   string     `json:"started"`
	Updated   string     `json:"updated"`
}

// Best names the best checkpoint.
type Best struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Step   int     `json:"step"`
}

// Data identifies what a run was trained and evaluated on: sets under their true
// labels.
type Data struct {
	Name string `json:"name"`
	// From is the directory that relative paths of the data counted from: a hint, "" for
	// data without such paths.
	From       string `json:"from,omitempty"`
	Train      Set    `json:"train"`
	Validation *Set   `json:"validation,omitempty"`
	Test       Set    `json:"test"`
	// Noise says how many labels of Train were trained on as another class's, or how
	// many pairs or triplets of the first epoch were wrong.
	Noise *Noise `json:"noise,omitempty"`
	// Graph and Triplets describe the tuples of the first epoch of a sampler that
	// gives them.
	Graph    *PairGraph `json:"graph,omitempty"`
	Triplets *Triplets  `json:"triplets,omitempty"`
}

// Set identifies one set.
type Set struct {
	Items       int    `json:"items"`
	Classes     int    `json:"classes"`
	Shape       [3]int `json:"shape"` // H, W, C
	Fingerprint string `json:"fingerprint"`
}

// Model describes the network.
type Model struct {
	Name       string `json:"name"`
	Embedding  int    `json:"embedding"`
	Parameters int    `json:"parameters"`
}

// Selection says by what a run chooses its best checkpoint and, where it may, its
// last step.
type Selection struct {
	Split  string `json:"split"` // test, validation or train
	Metric string `json:"metric"`
	Note   string `json:"note,omitempty"` // that the choice makes test scores too good
}

// Stop says why a run ended before its last step.
type Stop struct {
	Step   int    `json:"step"`
	Reason string `json:"reason"`
}

// TripletProbabilities says what triplet-robust takes for the probabilities of its triplets.
type TripletProbabilities struct {
	From string  `json:"from"` // "config", "noise" or the file of noise_from
	W1   float64 `json:"w1"`   // a triplet is right
	W2   float64 `json:"w2"`   // positive and negative are exchanged
	// Contrast is W1 - W2, the share of the clean signal that is left.
	Contrast float64 `json:"contrast"`
	TripletWeights
}

// Build is what has trained a run from a step on. Another version or kernel may give
// other last bits.
type Build struct {
	Step    int    `json:"step"` // steps done before
	Version string `json:"version"`
	Kernel  string `json:"kernel"`
	CPU     string `json:"cpu"`
}

func (Manifest) kind() kind { return kind{schemas: []string{RunSchema}, max: 1 << 20} }
