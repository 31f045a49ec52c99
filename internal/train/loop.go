package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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

// ErrInterrupted says that the context was canceled; the run's checkpoint was
// written and can be resumed.
var ErrInterrupted = errors.New("interrupted; the checkpoint is written")

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
	Plateau   *optim.Plateau         // drops of the learning rate; nil for none

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

// Run trains from State.Step to the end. It returns nil when the run is
// complete (or stopped early), ErrInterrupted after a checkpoint when ctx was
// canceled, a *NonFiniteError or *CollapseError when the run is lost, or
// whatever failed. Bits depend on neither threads, timing nor interruptions.
func (t *Trainer) Run(ctx context.Context) (err error) {
	defer nn.RecoverEngine(&err)
	t.params = t.trained()
	t.network = len(t.Model.Params())
	t.beginAverage()
	t.start = time.Now()
	saved, savedAt := t.State.Step, time.Now()
	for t.State.Step < t.Steps && !t.State.Stopped {
		res, err := t.step(ctx)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return t.interrupt()
			}
			return err
		}
		if err := t.observe(res); err != nil {
			return err
		}
		epochEnd := t.State.Step%t.StepsPerEpoch == 0 || t.State.Step == t.Steps
		due := t.due(saved, savedAt)
		if epochEnd || due {
			if err := t.finiteState(); err != nil {
				return err
			}
		}
		if epochEnd {
			if err := t.endEpoch(ctx); err != nil {
				return err
			}
		}
		if due || t.State.Stopped {
			if err := t.Save(false); err != nil {
				return err
			}
			saved, savedAt = t.State.Step, time.Now()
		}
		if t.Meet == nil && ctx.Err() != nil && t.State.Step < t.Steps && !t.State.Stopped {
			return t.interrupt()
		}
	}
	return t.Log(t.event("end"))
}

// trained lists the parameters of the network, and those of the objective.
func (t *Trainer) trained() []*nn.Param {
	out := slices.Clone(t.Model.Params())
	if p, ok := t.Objective.(loss.Parametric); ok {
		out = append(out, p.Params()...)
	}
	return out
}

// due says whether a checkpoint is to be written, the last of which was at step
// saved. An interval in steps takes the place of the epochs' ends: where those of a
// small network follow one another within milliseconds, to sync files takes longer
// than to train.
func (t *Trainer) due(saved int, at time.Time) bool {
	step := t.State.Step
	switch {
	case step == t.Steps, t.Keeps():
		return true
	case t.CheckpointEvery > 0:
		return step-saved >= t.CheckpointEvery
	}
	return step%t.StepsPerEpoch == 0 || t.CheckpointAfter > 0 && time.Since(at) >= t.CheckpointAfter
}

// Keeps says whether the checkpoint of the present step is one that stays.
func (t *Trainer) Keeps() bool {
	return t.KeepEvery > 0 && t.State.Step > 0 && t.State.Step%t.KeepEvery == 0
}

// step does one optimizer step.
func (t *Trainer) step(ctx context.Context) (r stepResult, err error) {
	step := t.State.Step
	n := t.batches(step)
	for k := range n {
		b, err := t.gradient(ctx, k)
		if err != nil {
			return r, err
		}
		t.accumulate(k, n)
		r.add(b)
	}
	r.mean(n)
	r.norm = optim.ClipByNorm(t.params, t.Clip)
	if math.IsNaN(r.norm) || math.IsInf(r.norm, 0) {
		return r, t.blameGradient(step)
	}
	optim.ClipByValue(t.params, t.ClipValue)
	r.lr = t.lowered(step)
	t.Optimizer.Step(r.lr)
	t.followAverage()

	t.State.Step++
	t.State.EpochLoss += r.loss.Loss + r.penalty
	t.State.EpochSeen++
	return r, nil
}

// gradient takes the gradient of batch k of a step: the algorithm, read from top to bottom.
func (t *Trainer) gradient(ctx context.Context, k int) (stepResult, error) {
	step := t.State.Step
	if k > 0 { // a step is interrupted before its first batch alone
		ctx = context.WithoutCancel(ctx)
	}
	b, err := t.Batches.Next(ctx)
	if t.Meet != nil {
		err = t.Meet(cmp.Or(err, ctx.Err()))
	}
	if err != nil {
		return stepResult{}, err
	}
	defer t.Batches.Recycle(b)
	in := t.wrap(b)
	if n := in.Images.Rows(); n != t.checked { // the check allocates
		if err := t.Model.CheckBatch(in.Images, t.Mode); err != nil {
			return stepResult{}, err
		}
		t.checked = n
	}

	r := stepResult{images: len(b.Labels)}
	benign := math.NaN()
	if t.Defense.MinesClean() {
		z := t.Model.Embed(in.Images, nn.Eval)
		t.State.Cost.Forward += int64(z.Rows())
		in.Clean = z
		if err := finiteEmbeddings(step, z, in.Images); err != nil {
			return r, err
		}
		if r.mined, err = t.mine(z, in, 0); err != nil {
			return r, err
		}
		benign = adversary.Hardness(z, in.Tuples, 0)
	}
	crafted, cost, err := t.Defense.Craft(t.Model, in, t.Seed, uint64(step*max(t.Accumulate, 1)+k))
	if err != nil {
		return r, t.lostCrafting(err)
	}
	t.State.Cost.Add(cost)

	if d, ok := t.Model.(Dealer); ok {
		d.Roles(crafted.Roles)
	}
	z := t.Model.Embed(crafted.Images, t.Mode)
	if err := finiteEmbeddings(step, z, crafted.Images); err != nil {
		return r, err
	}
	all, compared := z, crafted
	if t.Memory != nil {
		all, compared = t.Memory.join(z, crafted)
		compared.Tuples = crafted.Tuples
	}
	if compared.Tuples == nil {
		if r.mined, err = t.mine(all, compared, z.Rows()); err != nil {
			return r, err
		}
	}

	t.fit(all)
	if r.loss, err = t.Objective.Eval(all, compared.Tuples, t.dz); err != nil {
		return r, err
	}
	t.dz.SetRows(z.Rows())
	if t.Memory != nil && step >= t.Memory.From {
		t.Memory.push(z, crafted)
	}
	t.crafted(crafted, z, benign)
	if o, ok := t.Defense.(adversary.Observer); ok {
		o.Observe(r.loss.Loss)
	}
	if r.penalty, err = t.Defense.Penalty(crafted, z, t.dz); err != nil {
		return r, err
	}
	if total := r.loss.Loss + r.penalty; math.IsNaN(total) || math.IsInf(total, 0) {
		return r, &NonFiniteError{step, "loss", 0, t.cause(causeObject)}
	}

	if t.HeadOnly > 0 {
		t.Model.(HeadOnly).TrainHead(step < t.HeadOnly)
	}
	optim.ZeroGrad(t.params[:t.network]) // the objective has written those of its own
	t.Model.Backward(t.dz, nn.Weights)
	if d, ok := t.Defense.(adversary.Weighing); ok {
		d.AddGradients()
	}
	t.State.Cost.Add(record.Cost{Forward: int64(z.Rows()), Backward: int64(z.Rows())})
	r.z = z
	return r, nil
}

// stepResult is what a step leaves for logging.
type stepResult struct {
	images  int // in the batch, which belongs to the loader again
	z       *array.Array
	mined   mine.Stats
	loss    loss.Result
	penalty float64
	norm    float64
	lr      float64
}

// wrap presents a loaded batch as a defense's input, reusing t's buffers.
func (t *Trainer) wrap(b *batch.Batch) *adversary.Batch {
	t.batch.Images, t.batch.Labels, t.batch.Tuples, t.batch.Clean = b.Images, b.Labels, nil, nil
	t.batch.IDs = t.batch.IDs[:0]
	for _, i := range b.Index {
		t.batch.IDs = append(t.batch.IDs, uint64(i))
	}
	return &t.batch
}

// mine finds the tuples of b in its embeddings z (B, D). With a memory they are those whose
// anchor is one of the first rows.
func (t *Trainer) mine(z *array.Array, b *adversary.Batch, anchors int) (mine.Stats, error) {
	miner := t.Miner
	if t.Memory != nil {
		miner = anchored{miner, anchors}
	}
	s, err := miner.Mine(z, b.Labels, t.Mined, &t.mined)
	if err != nil {
		return s, fmt.Errorf("step %d: mining: %w", t.State.Step, err)
	}
	t.mined.Items = b.IDs
	b.Tuples = &t.mined
	return s, nil
}

// fit gives the gradient buffer the shape of z.
func (t *Trainer) fit(z *array.Array) {
	if t.dz == nil || t.dz.Cols() != z.Cols() {
		t.dz = array.New(z.Rows(), z.Cols())
	}
	t.dz.SetRows(z.Rows())
}

// lostCrafting makes an overflow met while crafting the end of a run that has
// diverged, as any other overflow is.
func (t *Trainer) lostCrafting(err error) error {
	if !errors.Is(err, adversary.ErrNonFinite) {
		return fmt.Errorf("step %d: %w", t.State.Step, err)
	}
	lost := &NonFiniteError{Step: t.State.Step, Tensor: "the objective or gradient of a crafted image", Cause: CauseRate}
	var bad *adversary.ImageError
	if errors.As(err, &bad) {
		lost.Index = bad.Image
	}
	return lost
}

// interrupt writes the checkpoint of the last whole step.
func (t *Trainer) interrupt() error {
	if err := t.finiteState(); err != nil {
		return err
	}
	stop := t.event("stop")
	stop.Reason = StopInterrupted
	if err := t.Log(stop); err != nil {
		return err
	}
	if err := t.Save(false); err != nil {
		return err
	}
	return ErrInterrupted
}
