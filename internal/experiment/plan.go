package experiment

import (
	"runtime"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Plan is what a run would do, schema tercet.plan/1.
type Plan struct {
	Schema     string         `json:"schema"`
	Name       string         `json:"name"`
	Data       DataRecord     `json:"data"`
	Model      ModelRecord    `json:"model"`
	Layers     []nn.LayerInfo `json:"layers"`
	BatchRows  int            `json:"batch_rows"`
	PerEpoch   int            `json:"steps_per_epoch"`
	Steps      int            `json:"steps"`
	Coverage   data.Coverage  `json:"coverage"`
	Passes     adversary.Cost `json:"passes"`       // images, over the whole run
	FLOPs      float64        `json:"flops"`        // of the products in those passes
	Memory     int64          `json:"memory_bytes"` // beside the data: measured after a few steps
	StepTime   float64        `json:"step_seconds"` // measured on random images
	Seconds    float64        `json:"seconds"`      // estimate, without evaluation
	Checkpoint int64          `json:"checkpoint_bytes"`
}

// MakePlan builds what cfg names, times a few passes on random images, and
// trains nothing.
func MakePlan(cfg *config.Config) (*Plan, error) {
	sets, err := OpenData(cfg)
	if err != nil {
		return nil, err
	}
	before := heap()
	t, err := assemble(cfg, sets)
	if err != nil {
		return nil, err
	}
	if err := monitor(cfg, t, sets, Watch{}); err != nil { // what training would refuse, the plan does
		return nil, err
	}
	spec := t.model.Spec()
	p := &Plan{
		Schema: "tercet.plan/1", Name: cfg.Name, Data: sets.record(cfg),
		Model:  ModelRecord{spec.Name, spec.Embedding, t.model.ParamCount()},
		Layers: t.model.Describe(), BatchRows: t.sampler.BatchSize(),
		PerEpoch: t.sampler.Steps(), Steps: t.Steps, Coverage: data.Cover(t.sampler, sets.Train, 0),
	}
	images := int64(p.Coverage.Rows) * int64(p.Steps) / int64(max(p.PerEpoch, 1))
	p.Passes = adversary.Cost{Forward: images, Backward: images}
	var flops, state int64
	for _, l := range p.Layers {
		flops += l.FLOPs
	}
	for _, s := range t.Optimizer.State() {
		state += int64(len(s.Data))
	}
	params := int64(p.Model.Parameters)
	p.FLOPs = float64(flops) * float64(p.Passes.Forward+2*p.Passes.Backward)
	p.Checkpoint = 4 * (params + state)
	p.StepTime = timeStep(t, shapeOf(sets.Train))
	// What the steps have made stays; images wait in the loader's batches.
	p.Memory = heap() - before + 4*int64(cfg.Batch.Prefetch)*int64(p.BatchRows)*int64(array.Size(shapeOf(sets.Train)))
	runtime.KeepAlive(t)
	p.Seconds = p.StepTime * float64(p.Steps)
	return p, nil
}

// heap returns the bytes of all that this process has made and still needs.
func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func shapeOf(ds data.Dataset) []int {
	h, w, c := ds.Shape()
	return []int{h, w, c}
}

// timeStep returns the best of three forward and backward passes on a batch of
// random images, in seconds. The weights are left as they were drawn.
func timeStep(t *assembled, shape []int) float64 {
	x := array.New(append([]int{t.sampler.BatchSize()}, shape...)...)
	r := rng.New(t.Seed, "plan")
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	dz := array.New(x.Rows(), t.model.Dim())
	for i := range dz.Data {
		dz.Data[i] = float32(r.NormFloat64()) * 1e-3
	}
	mode := t.Mode
	if mode == nn.Train {
		mode = nn.BatchStats // leaves the running statistics alone
	}
	best := 0.0
	for i := range 4 { // the first makes the buffers
		start := time.Now()
		t.model.Embed(x, mode)
		t.model.Backward(dz, nn.Weights)
		if d := time.Since(start).Seconds(); i == 1 || i > 1 && d < best {
			best = d
		}
	}
	return best
}
