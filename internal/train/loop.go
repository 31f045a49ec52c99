package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/record"
)

// ErrInterrupted says that the context was canceled; the run's checkpoint was
// written and can be resumed.
var ErrInterrupted = errors.New("interrupted; the checkpoint is written")

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
