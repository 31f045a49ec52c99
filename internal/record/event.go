package record

import "fmt"

// Coverage says how much of the data one epoch of a sampler shows.
type Coverage struct {
	Items       int `json:"items" doc:"number of items"`
	Seen        int `json:"seen" doc:"items that occur in the epoch"`
	Rows        int `json:"rows" doc:"images drawn"`
	Repeats     int `json:"repeats" doc:"images drawn again"`
	MaxRepeat   int `json:"max_repeat" doc:"occurrences of the most frequent item"`
	Classes     int `json:"classes" doc:"classes that have items"`
	ClassesSeen int `json:"classes_seen" doc:"classes that occur"`
	Batches     int `json:"batches" doc:"number of batches"`
	ShortBatch  int `json:"short_batch" doc:"items in a short last batch, else 0"`
	SelfPairs   int `json:"self_pairs" doc:"pairs of an item with itself"`
	MinClasses  int `json:"min_classes" doc:"fewest classes in a batch"`
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
	Kind     string             `json:"event" doc:"'start', 'resume', 'step', 'epoch', 'eval', 'stop' or 'end'"`
	Step     int                `json:"step" doc:"optimizer steps done"`
	Epoch    float64            `json:"epoch" doc:"epochs done, with fraction"`
	Loss     *float64           `json:"loss,omitempty" doc:"mean loss since the last logged step, or over the epoch"`
	Penalty  *float64           `json:"penalty,omitempty" doc:"mean penalty of the defense, over the same steps"`
	LR       *float64           `json:"lr,omitempty" doc:"learning rate of this step"`
	Active   *float64           `json:"active,omitempty" doc:"fraction of tuples with a gradient"`
	Tuples   int                `json:"tuples,omitempty" doc:"tuples in a step"`
	Positive *float64           `json:"d_positive,omitempty" doc:"mean distance between anchors and positives, in the distance of the loss"`
	Negative *float64           `json:"d_negative,omitempty" doc:"mean distance between anchors and negatives"`
	Easy     *float64           `json:"easy,omitempty" doc:"fraction of easy mined tuples"`
	Semihard *float64           `json:"semihard,omitempty" doc:"fraction of semihard mined tuples"`
	Hard     *float64           `json:"hard,omitempty" doc:"fraction of hard mined tuples"`
	Fallback int                `json:"fallback,omitempty" doc:"anchors for which the miner found no tuple of its kind"`
	GradNorm *float64           `json:"grad_norm,omitempty" doc:"gradient norm of this step, before clipping"`
	Cosine   *float64           `json:"cosine,omitempty" doc:"mean cosine of two embeddings of the batch"`
	Rank     *float64           `json:"effective_rank,omitempty" doc:"effective rank of the batch's embeddings"`
	Crafted  *Crafted           `json:"crafted,omitempty" doc:"statistics of the defense since the last 'step' event"`
	Forward  int64              `json:"forward,omitempty" doc:"images passed forward so far"`
	Backward int64              `json:"backward,omitempty" doc:"images passed backward so far"`
	Rate     float64            `json:"images_per_s,omitempty" doc:"images per second"`
	Seconds  float64            `json:"seconds,omitempty" doc:"seconds since this process began to train"`
	Metrics  map[string]float64 `json:"metrics,omitempty" doc:"scores of 'eval'"`
	Split    string             `json:"split,omitempty" doc:"split of these scores: 'validation', 'test' or 'train'"`
	Best     bool               `json:"best,omitempty" doc:"whether they are the best so far"`
	Coverage any                `json:"coverage,omitempty" doc:"coverage of the data in the sampler's first epoch"`
	Reason   string             `json:"reason,omitempty" doc:"reason of 'stop': 'early_stop', 'collapse' or 'interrupted'"`
	Note     string             `json:"note,omitempty" doc:"a note"`
	Version  string             `json:"version,omitempty" doc:"version that trains from this step on"`
	Kernel   string             `json:"kernel,omitempty" doc:"kernel level from this step on"`
	CPU      string             `json:"cpu,omitempty" doc:"processor from this step on"`
}

// LogRecord says what a log has when a checkpoint is written. It is of all events but
// "stop" and "end", which a resumed run removes.
type LogRecord struct {
	Step   int    `json:"step" doc:"step of the checkpoint"`
	Events int    `json:"events" doc:"number of events, not counting 'stop' and 'end'"`
	SHA256 string `json:"sha256" doc:"SHA-256 of their lines"`
}
