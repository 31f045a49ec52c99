package run

import (
	"context"
	"math"
	"runtime"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
	"tercet/internal/run/points"
	"tercet/internal/wire"
)

// MakePlan builds what cfg names, times a few passes on random images, and
// trains nothing.
func MakePlan(ctx context.Context, cfg *config.Config) (*printed.PlannedRun, error) {
	empty := heap()
	sets, err := wire.OpenData(ctx, cfg)
	if err != nil {
		return nil, err
	}
	before := heap()
	shown, err := sets.Record(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.LearnsMetric() {
		p := &printed.PlannedRun{Schema: record.PlanSchema, Name: cfg.Name, Data: shown, DataMemory: before - empty}
		return p, planMetric(ctx, cfg, sets, p)
	}
	if _, err := wire.Assemble(cfg, sets); err != nil { // what training would refuse
		return nil, err
	}
	t, err := wire.Assemble(wire.AtMost(cfg), sets)
	if err != nil {
		return nil, err
	}
	if err := checkStop(cfg); err != nil {
		return nil, err
	}
	if _, err := monitor(cfg, t, sets, Watch{}); err != nil { // what training would refuse, the plan does
		return nil, err
	}
	spec := t.Model.Spec()
	_, saves := cfg.Defense.Options.(adversary.Saving)
	p := &printed.PlannedRun{
		Schema: record.PlanSchema, Name: cfg.Name, Defense: cfg.Defense.Name, Data: shown, DataMemory: before - empty,
		Model:  record.Model{Name: spec.Name, Embedding: spec.Embedding, Parameters: t.Model.ParamCount()},
		Layers: t.Model.Describe(), AtMost: saves, BatchRows: t.Sampler.BatchSize(),
		PerEpoch: t.StepsPerEpoch, Steps: t.Steps, Coverage: batch.Cover(t.Sampler, sets.Seen(), 0),
	}
	var flops, state int64
	for _, l := range p.Layers {
		flops += l.FLOPs
	}
	for _, s := range t.Optimizer.State() {
		state += int64(len(s.Data))
	}
	params := int64(p.Model.Parameters)
	if l, ok := t.Objective.(loss.Parametric); ok {
		params += int64(nn.CountParams(l.Params()))
	}
	if t.Average != nil {
		params += int64(p.Model.Parameters)
	}
	if t.Memory != nil {
		params += int64(t.Memory.Size) * int64(t.Model.Dim())
	}
	if t.Accumulate > 1 {
		p.Accumulate = t.Accumulate
	}
	p.Checkpoint = 4 * (params + state)
	labels := firstLabels(t.Sampler, sets.Seen())
	seconds, cost, trained, err := timeStep(t, labels, shapeOf(sets.Train))
	if err != nil {
		return nil, err
	}
	p.StepTime = seconds * float64(t.BatchesPerEpoch) / float64(max(p.PerEpoch, 1))
	// Steps, a short last batch counted as the part that it is.
	steps := float64(p.Coverage.Rows) * float64(p.Steps) / float64(max(p.PerEpoch, 1)) / float64(len(labels))
	p.Passes = record.Cost{Forward: int64(math.Round(steps * float64(cost.Forward))), Backward: int64(math.Round(steps * float64(cost.Backward)))}
	// Crafting asks for the images' gradient, training for the weights' too.
	p.FLOPs = float64(flops) * steps * (float64(cost.Forward) + float64(cost.Backward) + float64(trained))
	// What the steps have made stays; images wait in the loader's batches.
	p.Memory = heap() - before + 4*int64(cfg.Batch.Prefetch)*int64(p.BatchRows)*int64(array.Size(shapeOf(sets.Train)))
	runtime.KeepAlive(t)
	p.Seconds = p.StepTime * float64(p.Steps)
	return p, nil
}

// heap returns the bytes of all that this process has made and still needs.
func heap() int64 {
	runtime.GC()
	runtime.GC() // pools let go of what they hold in two steps
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func shapeOf(ds data.Dataset) []int {
	h, w, c := ds.Shape()
	return []int{h, w, c}
}

// firstLabels returns the labels of the first epoch's first batch.
func firstLabels(s batch.Sampler, ds data.Dataset) []int32 {
	if own, ok := s.(batch.RowLabels); ok {
		return own.RowLabels(0)[0]
	}
	return lists.Map(s.Plan(0)[0], func(i int32) int32 { return ds.Labels()[i] })
}

// timeStep returns the best of three steps on a batch of random images, in seconds
// without the optimizer's, the passes of one and how many images of them were
// trained on. The weights are left as they were drawn.
func timeStep(t *wire.Assembled, labels []int32, shape []int) (seconds float64, passes record.Cost, trained int, err error) {
	s := newRehearsal(t, labels, shape)
	for i := range 4 { // the first makes the buffers
		start := time.Now()
		if passes, err = s.step(uint64(i)); err != nil {
			return 0, passes, 0, err
		}
		if d := time.Since(start).Seconds(); i == 1 || i > 1 && d < seconds {
			seconds = d
		}
	}
	return seconds, passes, s.trained, nil
}

// rehearsal is a training step on random images without the optimizer, after which
// the running statistics are as before.
type rehearsal struct {
	t     *wire.Assembled
	batch adversary.Batch
	dz    *array.Array
	mode  nn.Mode

	trained int // rows of the last step's training pass
}

func newRehearsal(t *wire.Assembled, labels []int32, shape []int) *rehearsal {
	s := &rehearsal{t: t, mode: t.Mode, dz: array.New(1, t.Model.Dim())}
	s.batch.Images = array.New(append([]int{len(labels)}, shape...)...)
	r := rng.New(t.Seed, "plan")
	for i := range s.batch.Images.Data {
		s.batch.Images.Data[i] = float32(r.Float64())
	}
	s.batch.Labels = labels
	ids := t.Sampler.Plan(0)[0]
	for i := range labels {
		s.batch.IDs = append(s.batch.IDs, uint64(ids[i]))
	}
	if s.mode == nn.Train {
		s.mode = nn.BatchStats
	}
	return s
}

func (s *rehearsal) step(n uint64) (record.Cost, error) {
	var cost record.Cost
	t, in := s.t, s.batch
	mine := func(z *array.Array, b *adversary.Batch) error {
		b.Tuples = &loss.Tuples{Items: b.IDs}
		_, err := t.Miner.Mine(z, b.Labels, rng.New(t.Seed, "plan"), b.Tuples)
		return err
	}
	if t.Defense.MinesClean() {
		in.Clean = t.Model.Embed(in.Images, nn.Eval)
		cost.Forward += int64(in.Clean.Rows())
		if err := mine(in.Clean, &in); err != nil {
			return cost, err
		}
	}
	crafted, c, err := t.Defense.Craft(t.Model, &in, t.Seed, n)
	if err != nil {
		return cost, err
	}
	cost.Add(c)
	z := t.Model.Embed(crafted.Images, s.mode)
	if crafted.Tuples == nil {
		if err := mine(z, crafted); err != nil {
			return cost, err
		}
	}
	s.dz.SetRows(z.Rows())
	r, err := t.Objective.Eval(z, crafted.Tuples, s.dz)
	if err != nil {
		return cost, err
	}
	if o, ok := t.Defense.(adversary.Observer); ok {
		o.Observe(r.Loss)
	}
	if _, err := t.Defense.Penalty(crafted, z, s.dz); err != nil {
		return cost, err
	}
	t.Model.Backward(s.dz, nn.Weights)
	if d, ok := t.Defense.(adversary.Weighing); ok {
		d.AddGradients()
	}
	s.trained = z.Rows()
	cost.Add(record.Cost{Forward: int64(z.Rows()), Backward: int64(z.Rows())})
	return cost, nil
}

// planMetric fills p for a run whose model is a fitted metric: it fits the features
// and evaluates the risk once.
func planMetric(ctx context.Context, cfg *config.Config, sets *wire.Sets, p *printed.PlannedRun) error {
	of, err := points.Prepare(ctx, cfg, sets.Seen())
	if err != nil {
		return err
	}
	m, ps := of.Model, of.Problems
	risk, steps, err := cfg.Metric.Options.Plan(of.Task)
	if err != nil {
		return InMetric(err)
	}
	if steps > 0 {
		p.Steps = steps
	}
	d := m.Dim()
	p.Model = record.Model{Name: m.Spec().Name, Embedding: d, Parameters: risk.Dim()}
	p.Layers, p.Defense = m.Describe(), cfg.Defense.Name
	p.Passes = record.Cost{Forward: int64(of.Task.Items)}
	p.Metric = &printed.PlannedFit{
		Algorithm: cfg.Metric.Algorithm, Loss: cfg.Metric.Loss, Classes: len(ps.List), Skipped: ps.Skipped,
		Triplets: ps.Triplets(), Parameters: risk.Dim(),
	}
	for _, q := range m.Params() {
		p.Checkpoint += 4 * int64(len(q.Value.Data))
	}
	start := time.Now()
	risk.ValueGrad(mahalanobis.Identity(d), make([]float64, risk.Dim()))
	p.Metric.Evaluation = time.Since(start).Seconds()
	return nil
}
