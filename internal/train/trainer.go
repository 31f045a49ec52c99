package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// Batches gives the training batches in order, from the trainer's position on.
type Batches interface {
	Next(ctx context.Context) (*batch.Batch, error)
	Recycle(*batch.Batch)
}

// Trainer is a wired run. All fields up to State are set by the caller.
type Trainer struct {
	Options
	Model     Model
	Batches   Batches
	Miner     mine.Miner
	Objective loss.Objective
	Classes   []string // names of the classes that the objective has parameters for
	Defense   adversary.Defense
	Memory    *Memory  // nil for none
	Average   *Average // nil for none
	Optimizer optim.Optimizer
	Schedule  func(step int) float64 // learning rate of a step, counted from 0
	Plateau   optim.FollowsScores    // drops of the learning rate; nil for none

	// Log receives events; Cover, where set, says what an epoch (from 0) of the
	// sampler shows of the data; Evaluate, where set, measures images;
	// Save writes the last (or the best) checkpoint; Progress is told of every
	// step done.
	Log      func(*record.Event) error
	Cover    func(epoch int) any
	Evaluate func(ctx context.Context) (map[string]float64, error)
	// Evaluated names the images that Evaluate measures: test, validation or train.
	Evaluated string
	Save      func(best bool) error
	Progress  func(*State, float64)

	// Meet, where set, is called in every step, once its batch is there or could not be had,
	// and returns what is to be done about it: an error that wraps context.Canceled stops
	// training with a checkpoint. Ranks that train together stop at the same step by it.
	Meet func(err error) error

	State State
	Mined *rng.Stream // draws of the miner; its state is in the checkpoint

	params  []*nn.Param // of the network, then of the objective
	network int         // how many are the network's
	checked int         // rows of the last batch that CheckBatch passed
	batch   adversary.Batch
	mined   loss.Tuples
	dz      *array.Array
	sums    [][]float32 // gradients of a step's batches, added up
	spread  spreadMeter
	window  window
	pace    pace
	start   time.Time
}

// Model is an embedder that can refuse a batch of the wrong shape or size.
type Model interface {
	nn.Embedder
	CheckBatch(x *array.Array, mode nn.Mode) error
}

// HeadOnly is implemented by models of which the last layer can be trained alone.
type HeadOnly interface {
	// TrainHead leaves out the gradients of all other layers, until TrainHead(false).
	TrainHead(alone bool)
}

// Dealer is implemented by models that deal the rows of a batch to shards.
type Dealer interface {
	// Roles says that the rows of the next batch are so many runs of equal length, where
	// row i of each belongs to tuple i; 0 where they are not.
	Roles(n int)
}

// Options sets the loop's lengths and intervals, in steps unless named
// otherwise. 0 switches an interval off.
type Options struct {
	Seed            uint64
	Steps           int // in all
	StepsPerEpoch   int
	Accumulate      int     // batches whose mean gradient a step takes; below 2 one
	BatchesPerEpoch int     // of the sampler, where Accumulate is above 1
	Mode            nn.Mode // nn.Train, or nn.Frozen for frozen batch norm
	Clip            float64 // largest gradient norm; 0 for none
	ClipValue       float64 // largest number of the gradient; 0 for none
	HeadOnly        int     // steps at the start that train the head alone
	LogEvery        int
	CheckpointEvery int           // 0 writes a checkpoint at each epoch's end
	CheckpointAfter time.Duration // and one after that long a time; changes no bits
	KeepEvery       int           // checkpoints that stay; there is one at each of these steps
	EvalEvery       int           // epochs; 0 evaluates at the end only
	Collapse        CollapseOptions
	Stop            EarlyStop
}

// EarlyStop ends a run whose monitored metric has not improved by MinDelta for
// Patience evaluations (for "loss": epochs). Patience 0 never stops; the best
// checkpoint is kept all the same.
type EarlyStop struct {
	Metric   string // "loss", or a key of Evaluate's result
	Patience int
	MinDelta float64
}

// State is what a checkpoint holds beside tensors. It depends on the config and
// the seed alone, never on the clock.
type State struct {
	Step      int             `json:"step"` // optimizer steps done
	Cost      record.Cost     `json:"cost"` // images passed forward and backward
	Crafted   *record.Crafted `json:"crafted,omitempty"`
	EpochLoss float64         `json:"epoch_loss"`
	EpochSeen int             `json:"epoch_seen"` // steps summed in EpochLoss
	Best      *float64        `json:"best,omitempty"`
	BestStep  int             `json:"best_step"`
	Stale     int             `json:"stale"`     // evaluations since the best one
	Collapsed int             `json:"collapsed"` // collapsed checks in a row
	Stopped   bool            `json:"stopped"`   // ended early
	// Plateau is the state of a schedule that follows evaluations.
	Plateau *optim.PlateauState `json:"plateau,omitempty"`
	// Window holds the sums of the steps since the last logged one, in a checkpoint
	// alone.
	Window *window `json:"window,omitempty"`
}

// StoppedEarly reports whether training has ended before its last step.
func (t *Trainer) StoppedEarly() bool { return t.State.Stopped && t.State.Step < t.Steps }

// StopReason says why training has ended early.
func (t *Trainer) StopReason() string {
	n := "evaluations"
	if t.State.Stale == 1 {
		n = "evaluation"
	}
	return fmt.Sprintf("%s on %s images has not improved for %d %s", t.Stop.Metric, t.Evaluated, t.State.Stale, n)
}

// better says whether value improves on best.
func (s EarlyStop) better(value, best float64) bool {
	if s.Metric == "loss" {
		return value < best-s.MinDelta
	}
	return value > best+s.MinDelta
}

// trained lists the parameters of the network, and those of the objective.
func (t *Trainer) trained() []*nn.Param {
	out := slices.Clone(t.Model.Params())
	if p, ok := t.Objective.(loss.Parametric); ok {
		out = append(out, p.Params()...)
	}
	return out
}
