package record

import "fmt"

// Coverage says how much of the data one epoch of a sampler shows.
type Coverage struct {
	Items       int `json:"items"`      // N
	Seen        int `json:"seen"`       // items that occur
	Rows        int `json:"rows"`       // images drawn
	Repeats     int `json:"repeats"`    // Rows less Seen
	MaxRepeat   int `json:"max_repeat"` // occurrences of the item that occurs most
	Classes     int `json:"classes"`    // classes that have items
	ClassesSeen int `json:"classes_seen"`
	Batches     int `json:"batches"`
	ShortBatch  int `json:"short_batch"` // items in the last batch where it is shorter, else 0
	SelfPairs   int `json:"self_pairs"`  // pairs of an item with itself (layouts "pairs", "given-pairs")
	MinClasses  int `json:"min_classes"` // fewest different classes in a batch
}

// String describes the coverage in one line.
func (c Coverage) String() string {
	s := fmt.Sprintf("%d of %d items (%.1f %%) and %d of %d classes in %d batches; %d images drawn, an item at most %d times; at least %d classes in a batch",
		c.Seen, c.Items, 100*float64(c.Seen)/float64(max(c.Items, 1)), c.ClassesSeen, c.Classes, c.Batches, c.Rows, c.MaxRepeat, c.MinClasses)
	if c.ShortBatch > 0 {
		s += fmt.Sprintf("; last batch has %d", c.ShortBatch)
	}
	if c.SelfPairs > 0 {
		s += fmt.Sprintf("; %d items paired with themselves", c.SelfPairs)
	}
	return s
}

// Event is one line of events.jsonl. Kinds: start, resume, step, epoch, eval,
// end, stop. Fields that do not apply are left out.
type Event struct {
	Kind     string             `json:"event"`
	Step     int                `json:"step"`  // optimiser steps done
	Epoch    float64            `json:"epoch"` // epochs done, with fraction
	Loss     *float64           `json:"loss,omitempty"`
	Penalty  *float64           `json:"penalty,omitempty"`
	LR       *float64           `json:"lr,omitempty"`
	Active   *float64           `json:"active,omitempty"` // fraction of tuples with a gradient
	Tuples   int                `json:"tuples,omitempty"`
	Positive *float64           `json:"d_positive,omitempty"`
	Negative *float64           `json:"d_negative,omitempty"`
	Easy     *float64           `json:"easy,omitempty"` // fractions of the mined tuples
	Semihard *float64           `json:"semihard,omitempty"`
	Hard     *float64           `json:"hard,omitempty"`
	Fallback int                `json:"fallback,omitempty"` // anchors that found no wanted tuple
	GradNorm *float64           `json:"grad_norm,omitempty"`
	Cosine   *float64           `json:"cosine,omitempty"`
	Rank     *float64           `json:"effective_rank,omitempty"`
	Crafted  *Crafted           `json:"crafted,omitempty"` // what the defence did since the last step event
	Forward  int64              `json:"forward,omitempty"` // images forwarded so far
	Backward int64              `json:"backward,omitempty"`
	Rate     float64            `json:"images_per_s,omitempty"`
	Seconds  float64            `json:"seconds,omitempty"` // since this process began training
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Split    string             `json:"split,omitempty"` // of the images that Metrics are of
	Best     bool               `json:"best,omitempty"`
	Coverage any                `json:"coverage,omitempty"`
	Reason   string             `json:"reason,omitempty"` // of stop: StopEarly, ...
	Note     string             `json:"note,omitempty"`
	Version  string             `json:"version,omitempty"` // of start and resume: what trains from here on
	Kernel   string             `json:"kernel,omitempty"`
	CPU      string             `json:"cpu,omitempty"`
}

// LogRecord says what a log has when a checkpoint is written. It is of all events but
// "stop" and "end", which a run that goes on takes out.
type LogRecord struct {
	Step   int    `json:"step"` // of the checkpoint
	Events int    `json:"events"`
	SHA256 string `json:"sha256"` // of their lines
}
